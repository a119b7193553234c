//! `almanack source replay`: what policies would have done with recorded publication times.

use almanack_core::source::{
    policy::{Budget, Policy},
    replay::{Class, Figures, Replay, Report, Trace},
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Map;

use crate::commands::prelude::*;

mod read;

/// What the policies are held to.
enum Wanted {
    /// Each makes as many checks as it makes.
    Own,
    /// So many in total.
    Checks(u64),
}

/// Replays every policy and shows the results.
pub(super) fn run(arguments: &ReplayArguments, output: &mut Output) -> Done {
    let policies: Vec<Policy> = arguments
        .policy
        .iter()
        .map(|text| policy(text, "--policy"))
        .collect::<Result<_, _>>()?;
    let budget = budget(arguments)?;
    let traces = read::traces(&arguments.trace)?;
    let bar = progress(output);
    let watch = || bar.inc(1);
    let replay = Replay {
        traces: &traces,
        watch: &watch,
    };
    let days = source_days(&traces, &budget)?;
    let wanted = wanted(arguments, replay, days)?;
    let mut reports = Vec::new();
    for policy in &policies {
        bar.set_message(policy.to_string());
        let budget = match wanted {
            Wanted::Own => budget,
            Wanted::Checks(checks) => replay.calibrate(policy, checks, &budget).budget,
        };
        reports.push((policy, budget, replay.report(policy, &budget)));
    }
    bar.finish_and_clear();
    if output.json {
        for (policy, budget, report) in &reports {
            output.value(&json_of(policy, budget, report))?;
        }
        return Ok(Exit::Ok);
    }
    show(&reports, output)?;
    report_unmet(&wanted, &reports, output);
    Ok(Exit::Ok)
}

fn policy(text: &str, flag: &str) -> Result<Policy, Failure> {
    text.parse()
        .map_err(|unknown| Failure::usage(format!("{flag}: {unknown}")))
}

fn budget(arguments: &ReplayArguments) -> Result<Budget, Failure> {
    let length =
        |flag: &str, text: &str| when::parse_duration(text).map_err(|unclear| unclear.of(flag));
    let plain = Budget::default();
    let rate_min_per_day = arguments.rate_min.unwrap_or(plain.rate_min_per_day);
    if !rate_min_per_day.is_finite() || rate_min_per_day < 0.0 {
        let what = "--rate-min: write a number of entries per day, like 0.04";
        return Err(Failure::usage(what));
    }
    Ok(Budget {
        floor: length("--floor", &arguments.floor)?,
        ceiling: length("--ceiling", &arguments.ceiling)?,
        rate_min_per_day,
        ..plain
    })
}

/// Days from start to last entry over all sources, which no policy changes.
fn source_days(traces: &[Trace], budget: &Budget) -> Result<f64, Failure> {
    let daily = Policy::Fixed(jiff::SignedDuration::from_hours(24));
    let runs = Replay::new(traces).runs(&daily, budget);
    if runs.is_empty() {
        let what = "no source in the trace has enough entries";
        return Err(Failure::failed(what).hint("a source needs at least four"));
    }
    Ok(runs.iter().map(|(_, run)| run.days).sum())
}

fn wanted(arguments: &ReplayArguments, replay: Replay<'_>, days: f64) -> Result<Wanted, Failure> {
    let Some(text) = &arguments.budget else {
        return Ok(Wanted::Own);
    };
    if let Ok(per_day) = text.parse::<f64>() {
        if !(per_day.is_finite() && per_day > 0.0) {
            let what = format!("--budget: `{text}` is not a number of checks per day");
            return Err(Failure::usage(what));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive number of checks; a saturating cast is what is meant"
        )]
        return Ok(Wanted::Checks((per_day * days).round() as u64));
    }
    // As that policy is by itself, whatever floor the policies to compare are given.
    let reference = policy(text, "--budget")?;
    let own = Budget {
        floor: jiff::SignedDuration::from_mins(5),
        ..Budget::default()
    };
    Ok(Wanted::Checks(replay.checks(&reference, &own)))
}

/// How long it takes is not known before: prices are looked for.
fn progress(output: &Output) -> ProgressBar {
    if !output.watched {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{spinner} {msg}: {pos} sources replayed");
    // A template that does not parse would only cost its looks.
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}

fn json_of(policy: &Policy, budget: &Budget, report: &Report) -> Value {
    let mut value = figures(&report.overall);
    value.insert("policy".to_owned(), json!(policy.to_string()));
    if matches!(policy, Policy::Adaptive) {
        value.insert("price_h".to_owned(), json!(budget.price_h));
    } else {
        value.insert("stretch".to_owned(), json!(budget.stretch));
    }
    let class = |class: &Class| {
        let mut value = figures(&class.figures);
        value.insert("fixed".to_owned(), Value::Object(figures(&class.fixed)));
        (class.frequency.to_string(), Value::Object(value))
    };
    let classes: Map<String, Value> = report.classes.iter().map(class).collect();
    value.insert("classes".to_owned(), Value::Object(classes));
    Value::Object(value)
}

fn figures(figures: &Figures) -> Map<String, Value> {
    let value = json!({
        "sources": figures.sources,
        "entries": figures.entries,
        "checks": figures.checks,
        "checks_per_source_day": figures.checks_per_source_day,
        "mean_delay_h": figures.mean_delay_h,
        "median_delay_h": figures.median_delay_h,
        "p95_delay_h": figures.p95_delay_h,
        "macro_mean_delay_h": figures.macro_mean_delay_h,
        "hit_rate": figures.hit_rate,
        "missed": figures.missed,
    });
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

const HEAD: [&str; 11] = [
    "POLICY",
    "CLASS",
    "SOURCES",
    "ENTRIES",
    "CHECKS/DAY",
    "MEAN",
    "MEDIAN",
    "P95",
    "MACRO",
    "HITS",
    "FIXED",
];

fn show(reports: &[(&Policy, Budget, Report)], output: &mut Output) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for (policy, _, report) in reports {
        rows.push(row(&policy.to_string(), "all", &report.overall, None));
        for class in &report.classes {
            let fixed = Some(&class.fixed);
            rows.push(row("", class.frequency.as_str(), &class.figures, fixed));
        }
    }
    output.table(&HEAD, &rows)?;
    let missed: u64 = reports
        .iter()
        .map(|(_, _, report)| report.overall.missed)
        .sum();
    output.note(
        "delays are in hours; FIXED is the mean delay of a fixed interval with as many checks\n",
    );
    if missed > 0 {
        output.note(&format!(
            "{missed} entries left the document before any check\n"
        ));
    }
    Ok(())
}

fn row(policy: &str, class: &str, figures: &Figures, fixed: Option<&Figures>) -> Vec<Cell> {
    let hours = |hours: f64| Cell::new(format!("{hours:.3}"));
    let ink = if policy.is_empty() {
        Ink::Faint
    } else {
        Ink::Plain
    };
    vec![
        Cell::new(policy),
        Cell::new(class).ink(ink),
        Cell::new(figures.sources.to_string()),
        Cell::new(figures.entries.to_string()),
        Cell::new(format!("{:.2}", figures.checks_per_source_day)),
        hours(figures.mean_delay_h),
        hours(figures.median_delay_h),
        hours(figures.p95_delay_h),
        hours(figures.macro_mean_delay_h),
        Cell::new(format!("{:.1} %", figures.hit_rate * 100.0)),
        fixed.map_or_else(|| Cell::new(""), |fixed| hours(fixed.mean_delay_h)),
    ]
}

/// Warns if floor and ceiling do not allow the wanted number of checks.
fn report_unmet(wanted: &Wanted, reports: &[(&Policy, Budget, Report)], output: &mut Output) {
    let Wanted::Checks(wanted) = wanted else {
        return;
    };
    for (policy, _, report) in reports {
        let made = report.overall.checks;
        if made.abs_diff(*wanted) * 200 > *wanted {
            output.note(&format!(
                "warning: {policy} makes {made} checks, not {wanted}: its bounds allow no closer number\n"
            ));
        }
    }
}
