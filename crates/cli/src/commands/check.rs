//! `almanack check`: problems of the configuration, or its effective values with their origins.

use crate::{
    commands::prelude::*,
    config::{
        Loaded, dispatch,
        reader::Effective,
        report::{Problem, Report, Severity},
    },
};

/// Checks the configuration and shows it.
pub(super) fn run(inputs: &Inputs, output: &mut Output) -> Done {
    let loaded = config::load(inputs, Need::Everything);
    let reports = reports(&loaded, inputs);
    let exit = if reports.iter().any(Report::has_errors) {
        Exit::Usage
    } else {
        Exit::Ok
    };
    if output.json {
        let settings = (exit == Exit::Ok).then_some(&loaded.effective);
        output.value(&json!({
            "ok": exit == Exit::Ok,
            "problems": reports.iter().flat_map(Report::views).collect::<Vec<_>>(),
            "settings": settings,
        }))?;
        return Ok(exit);
    }
    for severity in [Severity::Error, Severity::Warning] {
        for report in &reports {
            let text = report.render(severity);
            if !text.is_empty() {
                output.note(&format!("{text}\n"));
            }
        }
    }
    if exit == Exit::Ok {
        show(&loaded.effective, output)?;
    }
    output.note(&format!("{}\n", summary(&reports)));
    Ok(exit)
}

/// Problems of the file, and of DISPATCH if its settings are readable.
pub(super) fn reports(loaded: &Loaded, inputs: &Inputs) -> Vec<Report> {
    let settings = loaded.settings.as_ref();
    let dispatch = settings.map(|it| dispatch::read(it, &inputs.environment));
    let dispatch = match dispatch {
        Some(Ok(read)) => read.map(|text| text.report),
        Some(Err(unreadable)) => Some(Report {
            source: None,
            problems: vec![Problem::error(unreadable.to_string(), None)],
        }),
        None => None,
    };
    let mut reports = vec![loaded.whole_report()];
    reports.extend(dispatch);
    reports
}

fn show(effective: &[Effective], output: &mut Output) -> Result<(), Failure> {
    let rows: Vec<Vec<Cell>> = effective
        .iter()
        .map(|setting| {
            let by_default = setting.origin == config::reader::Origin::Default;
            let ink = if by_default { Ink::Faint } else { Ink::Notable };
            vec![
                Cell::new(&*setting.key),
                Cell::new(&*setting.value),
                Cell::new(setting.origin.to_string()).ink(ink),
            ]
        })
        .collect();
    output.table(&["KEY", "VALUE", "FROM"], &rows)
}

fn summary(reports: &[Report]) -> String {
    let total = |severity| -> usize { reports.iter().map(|it| it.of(severity).count()).sum() };
    let count = |severity, word: &str| match total(severity) {
        0 => None,
        1 => Some(format!("1 {word}")),
        many => Some(format!("{many} {word}s")),
    };
    let counts = [
        count(Severity::Error, "error"),
        count(Severity::Warning, "warning"),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    if counts.is_empty() {
        "the configuration is valid".to_owned()
    } else {
        counts.join(", ")
    }
}
