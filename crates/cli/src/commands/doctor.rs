//! `almanack doctor`: checks everything a node depends on.
//!
//! Every check ends in a finding: what was checked, a verdict, the details, and a hint. Nothing is
//! created, migrated or fired, and no row changes: it is always safe to run. The exit code is the
//! worst verdict.
//!
//! It checks what `serve` needs, by the same rules. One problem hides no other: with an invalid
//! configuration, the database that it names is still checked.

mod buses;
mod clock;
mod credentials;
mod database;
mod editions;
mod expect;
mod files;
mod outside;

use almanack_adapters::clock::{SteadyClock, SystemClock};
use almanack_core::time::Clock as _;
use serde::Serialize;

use super::check;
use crate::{
    commands::prelude::*,
    config::{Loaded, report::Severity},
};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    /// As it should be.
    Ok,
    /// It works, and may stop working.
    Warning,
    /// It does not work.
    Failed,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    /// What was checked.
    check: String,
    verdict: Verdict,
    what: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Finding {
    fn new(check: impl Into<String>, verdict: Verdict, what: impl Into<String>) -> Self {
        Self {
            check: check.into(),
            verdict,
            what: what.into(),
            hint: None,
        }
    }

    fn ok(check: impl Into<String>, what: impl Into<String>) -> Self {
        Self::new(check, Verdict::Ok, what)
    }

    fn warning(check: impl Into<String>, what: impl Into<String>) -> Self {
        Self::new(check, Verdict::Warning, what)
    }

    fn failed(check: impl Into<String>, what: impl Into<String>) -> Self {
        Self::new(check, Verdict::Failed, what)
    }

    fn hint(mut self, advice: impl Into<String>) -> Self {
        self.hint = Some(advice.into());
        self
    }
}

pub(super) fn run(arguments: &DoctorArguments, inputs: &Inputs, output: &mut Output) -> Done {
    let expectations = expect::parse_all(&arguments.expect)?;
    let loaded = config::load(inputs, Need::Everything);
    let mut findings = configuration(&loaded, inputs);
    let steady = SteadyClock::start();
    match (&loaded.settings, &loaded.readable) {
        (Some(settings), _) => {
            findings.extend(files::look(settings, inputs));
            findings.extend(wait_for(look(arguments, &loaded, settings, &expectations))?);
        }
        (None, Some(settings)) => {
            findings.extend(files::look(settings, inputs));
            findings.extend(wait_for(stored(
                arguments,
                &loaded,
                settings,
                &expectations,
            ))?);
            let what = "not checked: the configuration is invalid";
            let hint = "correct it first; `almanack check` shows each problem";
            findings.push(Finding::warning("everything else", what).hint(hint));
        }
        (None, None) => findings.push(
            Finding::failed(
                "database",
                "not checked: the configuration names no valid database",
            )
            .hint("correct the configuration first; see `almanack check`"),
        ),
    }
    findings.push(clock::judge(SystemClock.now(), steady.now()));
    findings.push(clock::zones());
    show(&findings, output)
}

async fn look(
    arguments: &DoctorArguments,
    loaded: &Loaded,
    settings: &Settings,
    expectations: &[expect::Expectation],
) -> Result<Vec<Finding>> {
    let mut findings = stored(arguments, loaded, settings, expectations).await?;
    findings.push(outside::port(settings).await?);
    if !arguments.offline {
        findings.extend(buses::look(settings).await);
        findings.extend(outside::targets(settings, &loaded.schedules.wanted).await?);
        findings.extend(credentials::look(settings).await?);
    }
    Ok(findings)
}

/// The database, and what is in it.
async fn stored(
    arguments: &DoctorArguments,
    loaded: &Loaded,
    settings: &Settings,
    expectations: &[expect::Expectation],
) -> Result<Vec<Finding>> {
    let (mut findings, filled) = database::look(settings, arguments.deep).await?;
    // A store that does not exist, or that opening would migrate, is not opened; why one cannot be
    // opened is in the finding about the database.
    if filled == database::Filled::Whole {
        findings.extend(clock::look(settings).await.unwrap_or_default());
        let sources = &loaded.sources.wanted;
        let named = editions::look(settings, sources).await;
        findings.extend(named.unwrap_or_default());
    }
    if !expectations.is_empty() {
        findings.extend(match expect::look(settings, expectations).await {
            Ok(found) => found,
            Err(failure) => vec![Finding::failed("expected", failure.parts().0)],
        });
    }
    Ok(findings)
}

/// The same as `almanack check` says, a line for each.
fn configuration(loaded: &Loaded, inputs: &Inputs) -> Vec<Finding> {
    let check = "configuration";
    let mut findings = Vec::new();
    for report in check::reports(loaded, inputs, SystemClock.now()) {
        let found = report.problems.iter().map(|problem| {
            let what = report.line(problem);
            match problem.severity {
                Severity::Error => Finding::failed(check, what),
                Severity::Warning => Finding::warning(check, what),
            }
        });
        findings.extend(found);
    }
    if findings.is_empty() {
        findings.push(Finding::ok(check, "valid"));
    }
    findings
}

fn show(findings: &[Finding], output: &mut Output) -> Done {
    let worst = findings.iter().map(|it| it.verdict).max();
    let exit = match worst.unwrap_or(Verdict::Ok) {
        Verdict::Ok => Exit::Ok,
        Verdict::Warning => Exit::Failed,
        Verdict::Failed => Exit::Usage,
    };
    if output.json {
        output.value(&json!({ "verdict": worst, "findings": findings }))?;
        return Ok(exit);
    }
    let rows: Vec<Vec<Cell>> = findings
        .iter()
        .map(|finding| {
            let (word, ink) = match finding.verdict {
                Verdict::Ok => ("ok", Ink::Good),
                Verdict::Warning => ("warning", Ink::Notable),
                Verdict::Failed => ("failed", Ink::Bad),
            };
            vec![
                Cell::new(word).ink(ink),
                Cell::new(&finding.check),
                Cell::new(&finding.what),
            ]
        })
        .collect();
    output.rows(&rows)?;
    for finding in findings {
        if let Some(hint) = &finding.hint {
            output.note(&format!("hint: {}: {hint}\n", finding.check));
        }
    }
    Ok(exit)
}
