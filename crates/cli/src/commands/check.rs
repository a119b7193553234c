//! `almanack check`: problems of the configuration, or its effective values with their origins.

use almanack_adapters::clock::SystemClock;
use almanack_core::time::Clock as _;

use crate::{
    commands::prelude::*,
    config::{
        Loaded, dispatch,
        reader::Effective,
        report::{Problem, Report, Severity},
        schedule::advice,
    },
};

/// Checks the configuration and shows it.
pub(super) fn run(inputs: &Inputs, output: &mut Output) -> Done {
    let loaded = config::load(inputs, Need::Everything);
    let reports = reports(&loaded, inputs, SystemClock.now());
    let exit = Exit::usage_if(reports.iter().any(Report::has_errors));
    if output.json {
        let settings = (exit == Exit::Ok).then_some(&loaded.effective);
        output.value(&json!({
            "ok": exit == Exit::Ok,
            "problems": reports.iter().flat_map(Report::views).collect::<Vec<_>>(),
            "settings": settings,
        }))?;
        return Ok(exit);
    }
    output.complain(&reports);
    if exit == Exit::Ok {
        show(&loaded.effective, output)?;
    }
    output.note(&format!("{}\n", summary(&reports)));
    Ok(exit)
}

/// Problems of the file, and of DISPATCH if its settings are readable.
pub(super) fn reports(loaded: &Loaded, inputs: &Inputs, now: Timestamp) -> Vec<Report> {
    let settings = loaded.settings.as_ref();
    let dispatch = settings.map(|it| dispatch::read(it, &inputs.environment));
    let dispatch = match dispatch {
        Some(Ok(read)) => read.map(|mut text| {
            advice::add_to_dispatch(&mut text, now);
            text.report
        }),
        Some(Err(unreadable)) => Some(Report {
            source: None,
            problems: vec![Problem::error(unreadable.to_string(), None)],
        }),
        None => None,
    };
    let mut reports = vec![loaded.advised_report(now)];
    reports.extend(dispatch);
    reports
}

fn show(effective: &[Effective], output: &mut Output) -> Result<()> {
    let row = |setting: &Effective| {
        let by_default = setting.origin == config::reader::Origin::Default;
        let ink = if by_default { Ink::Faint } else { Ink::Notable };
        vec![
            Cell::new(&*setting.key),
            Cell::new(&*setting.value),
            Cell::new(setting.origin.to_string()).ink(ink),
        ]
    };
    let rows: Vec<Vec<Cell>> = effective.iter().map(row).collect();
    output.table(&["KEY", "VALUE", "FROM"], &rows)
}

fn summary(reports: &[Report]) -> String {
    let total = |severity| -> usize { reports.iter().map(|it| it.of(severity).count()).sum() };
    let counts = [
        (total(Severity::Error), "error", "errors"),
        (total(Severity::Warning), "warning", "warnings"),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let counts = counts.map(|(count, one, many)| counted(count as u64, one, many));
    let counts: Vec<String> = counts.collect();
    if counts.is_empty() {
        return "the configuration is valid".to_owned();
    }
    counts.join(", ")
}
