//! `almanack source replay`: what policies would have done with recorded publication times.

use almanack_core::source::{
    policy::{Budget, Policy},
    replay::{Class, Figures, Replay, Report, Trace},
};

use crate::commands::{prelude::*, progress::drawn};

mod read;

/// Replays every policy and shows the results.
pub(super) fn run(arguments: &ReplayArguments, output: &mut Output) -> Done {
    let policies = arguments.policy.iter().map(|text| policy(text, "--policy"));
    let policies: Vec<Policy> = policies.collect::<Result<_, _>>()?;
    let budget = budget(arguments)?;
    let traces = read::traces(&arguments.trace)?;
    // How long it takes is not known before: prices are looked for.
    let bar = drawn(None, "{spinner} {msg}: {pos} sources replayed", output);
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
        let calibrated = |checks| replay.calibrate(policy, checks, &budget).budget;
        let budget = wanted.map_or(budget, calibrated);
        reports.push(view(policy, &budget, &replay.report(policy, &budget)));
    }
    bar.finish_and_clear();
    if output.json {
        for (mut all, classes) in reports {
            all["classes"] = classes.into_iter().collect();
            output.value(&all)?;
        }
        return Ok(Exit::Ok);
    }
    show(&reports, output)?;
    if let Some(wanted) = wanted {
        report_unmet(wanted, &reports, output);
    }
    Ok(Exit::Ok)
}

fn policy(text: &str, flag: &str) -> Result<Policy> {
    text.parse()
        .map_err(|unknown| Failure::usage(format!("{flag}: {unknown}")))
}

fn budget(arguments: &ReplayArguments) -> Result<Budget> {
    let plain = Budget::default();
    let rate_min_per_day = arguments.rate_min.unwrap_or(plain.rate_min_per_day);
    if !rate_min_per_day.is_finite() || rate_min_per_day < 0.0 {
        let what = "--rate-min: write a number of entries per day, like 0.04";
        return Err(Failure::usage(what));
    }
    Ok(Budget {
        floor: duration("--floor", &arguments.floor)?,
        ceiling: duration("--ceiling", &arguments.ceiling)?,
        rate_min_per_day,
        slow_share: f64::from(arguments.slow_percent) / 100.0,
        ..plain
    })
}

/// Days from start to last entry over all sources, which no policy changes.
fn source_days(traces: &[Trace], budget: &Budget) -> Result<f64> {
    let daily = Policy::Fixed(jiff::SignedDuration::from_hours(24));
    let runs = Replay::new(traces).runs(&daily, budget);
    if runs.is_empty() {
        let what = "no source in the trace has enough entries";
        return Err(Failure::failed(what).hint("a source needs at least four"));
    }
    Ok(runs.iter().map(|(_, run)| run.days).sum())
}

/// How many checks the policies are held to in total; without a number, each makes its own.
fn wanted(arguments: &ReplayArguments, replay: Replay<'_>, days: f64) -> Result<Option<u64>> {
    let Some(text) = &arguments.budget else {
        return Ok(None);
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
        return Ok(Some((per_day * days).round() as u64));
    }
    // As that policy is by itself, whatever floor the policies to compare are given.
    let reference = policy(text, "--budget")?;
    let own = Budget {
        floor: jiff::SignedDuration::from_mins(5),
        ..Budget::default()
    };
    Ok(Some(replay.checks(&reference, &own)))
}

/// The figures of all sources under a policy, and of each class of them.
type View = (Value, Vec<(String, Value)>);

fn view(policy: &Policy, budget: &Budget, report: &Report) -> View {
    let mut all = figures(&report.overall);
    all["policy"] = json!(policy.to_string());
    match policy {
        Policy::Adaptive => all["price_h"] = json!(budget.price_h),
        _ => all["stretch"] = json!(budget.stretch),
    }
    let class = |class: &Class| {
        let mut view = figures(&class.figures);
        view["fixed"] = figures(&class.fixed);
        view["even"] = figures(&class.even);
        (class.frequency.to_string(), view)
    };
    (all, report.classes.iter().map(class).collect())
}

fn figures(figures: &Figures) -> Value {
    json!({
        "sources": figures.sources,
        "entries": figures.entries,
        "checks": figures.checks,
        "checks_per_source_day": figures.checks_per_source_day,
        "mean_delay_h": figures.mean_delay_h,
        "median_delay_h": figures.median_delay_h,
        "p95_delay_h": figures.p95_delay_h,
        "macro_mean_delay_h": figures.macro_mean_delay_h,
        "first_fortnight_delay_h": figures.early_delay_h,
        "first_fortnight_checks_per_source_day": figures.early_checks_per_source_day,
        "hit_rate": figures.hit_rate,
        "missed": figures.missed,
    })
}

/// A row for all sources of a policy, and one for each class of them.
const ROWS: &[Column] = &[
    column("POLICY", "/policy", plain),
    column("CLASS", "", |it, now| match &it["class"] {
        Value::Null => Cell::new("all"),
        class => faint(class, now),
    }),
    column("SOURCES", "/sources", plain),
    column("ENTRIES", "/entries", plain),
    column("CHECKS/DAY", "/checks_per_source_day", |it, _| {
        format!("{:.2}", it.as_f64().unwrap_or_default()).into()
    }),
    column("MEAN", "/mean_delay_h", hours),
    column("MEDIAN", "/median_delay_h", hours),
    column("P95", "/p95_delay_h", hours),
    column("MACRO", "/macro_mean_delay_h", hours),
    column("HITS", "/hit_rate", |it, _| {
        format!("{:.1} %", it.as_f64().unwrap_or_default() * 100.0).into()
    }),
    column("FIXED", "/fixed/mean_delay_h", hours),
    column("EVEN", "/even/mean_delay_h", hours),
];

fn hours(value: &Value, _: Timestamp) -> Cell {
    format!("{:.3}", value.as_f64().unwrap_or_default()).into()
}

fn show(reports: &[View], output: &mut Output) -> Result<()> {
    let mut rows = Vec::new();
    for (all, classes) in reports {
        rows.push(all.clone());
        rows.extend(classes.iter().map(|(name, figures)| {
            let mut row = figures.clone();
            row["class"] = name.as_str().into();
            row
        }));
    }
    output.columns(ROWS, &rows, Timestamp::UNIX_EPOCH, true)?;
    output.note(
        "delays are in hours; FIXED is the mean delay of a fixed interval with as many checks,\n\
         EVEN that of one interval for all sources with as many checks as all of them got\n",
    );
    let missed = reports.iter().filter_map(|(all, _)| all["missed"].as_u64());
    let missed: u64 = missed.sum();
    if missed > 0 {
        output.note(&format!(
            "{missed} entries left the document before any check\n"
        ));
    }
    Ok(())
}

/// Warns if floor and ceiling do not allow the wanted number of checks.
fn report_unmet(wanted: u64, reports: &[View], output: &mut Output) {
    for (all, _) in reports {
        let (policy, made) = (text(&all["policy"]), &all["checks"]);
        let missing = made.as_u64().unwrap_or_default().abs_diff(wanted);
        if missing * 200 > wanted {
            output.note(&format!(
                "warning: {policy} makes {made} checks, not {wanted}: its bounds allow no closer number\n"
            ));
        }
    }
}
