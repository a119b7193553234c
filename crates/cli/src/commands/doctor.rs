//! `almanack doctor`: a look at everything a node depends on.
//!
//! Every check ends in a finding: what was looked at, a verdict, what was seen, and what to do about it. Nothing is changed,
//! created, migrated or fired: whoever is unsure may always ask. The exit code is the worst verdict.

mod clock;
mod credentials;
mod database;
mod expect;
mod files;
mod outside;

use serde::Serialize;
use serde_json::json;

use super::{check, wait_for};
use crate::{
    args::DoctorArguments,
    config::{
        self, Inputs, Loaded, Need, Settings,
        report::{Report, Severity},
    },
    failure::{Exit, Failure},
    output::{Cell, Ink, Output},
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

/// What came of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    /// What was looked at.
    check: String,
    verdict: Verdict,
    /// What was seen.
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

/// Looks at everything.
pub(super) fn run(
    arguments: &DoctorArguments,
    inputs: &Inputs,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let expectations = expect::parse_all(&arguments.expect)?;
    let loaded = config::load(inputs, Need::Everything);
    let mut findings = vec![configuration(&loaded, inputs)];
    let watch = clock::Stopwatch::start();
    match &loaded.settings {
        Some(settings) => {
            findings.extend(files::look(settings, inputs));
            findings.extend(wait_for(look(arguments, &loaded, settings, &expectations))?);
        }
        None => findings.push(
            Finding::failed(
                "database",
                "not looked at: the configuration does not say where it is",
            )
            .hint("correct the configuration first: `almanack check`"),
        ),
    }
    findings.push(watch.stop());
    findings.push(clock::zones());
    show(&findings, output)
}

async fn look(
    arguments: &DoctorArguments,
    loaded: &Loaded,
    settings: &Settings,
    expectations: &[expect::Expectation],
) -> Result<Vec<Finding>, Failure> {
    let mut findings = database::look(settings).await?;
    findings.extend(expect::look(settings, expectations).await);
    findings.push(outside::port(settings).await?);
    if !arguments.offline {
        findings.extend(outside::targets(settings, &loaded.schedules.wanted).await?);
        findings.extend(credentials::look(settings).await?);
    }
    Ok(findings)
}

/// The same as `almanack check` says, in one line.
fn configuration(loaded: &Loaded, inputs: &Inputs) -> Finding {
    let reports = check::reports(loaded, inputs);
    let count = |severity| -> usize { reports.iter().map(|it| it.count(severity)).sum() };
    let first = |severity| {
        let mut told = reports.iter().map(|report| report.render(severity));
        let text = told.find(|text| !text.is_empty()).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let (_, said) = line.split_once(": ").unwrap_or(("", line));
        said.to_owned()
    };
    let hint = "`almanack check` shows all, with their places";
    if reports.iter().any(Report::has_errors) {
        let what = first(Severity::Error);
        return Finding::failed("configuration", what).hint(hint);
    }
    match count(Severity::Warning) {
        0 => Finding::ok("configuration", "it is good"),
        _ => Finding::warning("configuration", first(Severity::Warning)).hint(hint),
    }
}

fn show(findings: &[Finding], output: &mut Output) -> Result<Exit, Failure> {
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
