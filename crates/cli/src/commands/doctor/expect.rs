//! `--expect schedule=NAME,within=PERIOD`: whether a schedule fired recently, for a cron job that
//! monitors Almanack itself.

use almanack_core::{
    plan::{ScheduleName, State},
    store::{LedgerPage, Store},
};

use super::Finding;
use crate::commands::prelude::*;

/// Ledger rows looked at: skipped slots that follow each other share one.
const ROWS: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expectation {
    schedule: ScheduleName,
    within: SignedDuration,
}

/// Reads all of them.
pub(super) fn parse_all(texts: &[String]) -> Result<Vec<Expectation>> {
    texts.iter().map(|text| parse(text)).collect()
}

fn parse(text: &str) -> Result<Expectation> {
    let unclear = |what: String| {
        Failure::usage(format!("--expect: {what}"))
            .hint("write schedule=NAME,within=PERIOD, like schedule=nightly,within=25h")
    };
    let (mut schedule, mut within) = (None, None);
    for part in text.split(',') {
        match part.split_once('=') {
            Some(("schedule", name)) => {
                let name = ScheduleName::parse(name).map_err(|error| unclear(error.to_string()))?;
                schedule = Some(name);
            }
            Some(("within", period)) => {
                let period = when::parse_duration(period).map_err(|it| unclear(it.what))?;
                within = Some(period);
            }
            _ => return Err(unclear(format!("`{part}` is not understood"))),
        }
    }
    match (schedule, within) {
        (Some(schedule), Some(within)) => Ok(Expectation { schedule, within }),
        _ => Err(unclear(
            "schedule= and within= are both required".to_owned(),
        )),
    }
}

/// Checks each. Opening the store may migrate it, so this is done only with `--expect`.
pub(super) async fn look(
    settings: &Settings,
    expectations: &[Expectation],
) -> Result<Vec<Finding>> {
    if let Some(file) = wiring::missing_file(&settings.database) {
        let what = format!("no database at {}", file.display());
        return Err(Failure::not_found(what));
    }
    let store = wiring::open_store(&settings.database).await?;
    let clock = wiring::clock(store.as_ref()).await?;
    let mut findings = Vec::new();
    for expectation in expectations {
        let newest = newest(store.as_ref(), expectation).await?;
        findings.push(judge(expectation, newest, clock.now()));
    }
    Ok(findings)
}

/// The state of a schedule, if there is one, and its newest slot that fired.
type Newest = Option<(State, Option<Timestamp>)>;

async fn newest(store: &dyn Store, expected: &Expectation) -> Result<Newest> {
    let found = store
        .load_schedules(std::slice::from_ref(&expected.schedule))
        .await?;
    let Some(Some(schedule)) = found.into_iter().next() else {
        return Ok(None);
    };
    let page = LedgerPage {
        before: Timestamp::MAX,
        limit: ROWS,
    };
    let slots = store.load_slots(schedule.id, page).await?;
    let fired = slots.iter().find(|slot| slot.verdict.is_fired());
    Ok(Some((schedule.state, fired.map(|slot| slot.slot_at))))
}

fn judge(expected: &Expectation, newest: Newest, now: Timestamp) -> Finding {
    let check = format!("expected {}", expected.schedule);
    let Some((state, fired_at)) = newest else {
        return Finding::failed(check, "there is no such schedule")
            .hint("`almanack schedule list` lists all");
    };
    let resting = match state {
        State::Active => "",
        _ => "; it is not active",
    };
    let what = match fired_at {
        None => format!("no slot has fired{resting}"),
        Some(at) => format!("its newest slot was {at}{resting}"),
    };
    if fired_at.is_some_and(|at| now.duration_since(at) <= expected.within) {
        return Finding::ok(check, what);
    }
    Finding::failed(check, what).hint(format!(
        "`almanack why {} TIME` explains why a slot did not fire",
        expected.schedule
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Verdict;

    #[test]
    fn an_expectation_names_a_schedule_and_a_period() {
        let read = parse("schedule=nightly,within=25h").unwrap();
        assert_eq!(read.within, SignedDuration::from_hours(25));
        for text in [
            "",
            "nightly",
            "schedule=nightly",
            "within=1h",
            "schedule=n,within=soon",
            "a=b",
        ] {
            let refusal = parse(text).unwrap_err();
            assert_eq!(refusal.exit(), Exit::Usage, "{text}");
        }
    }

    #[test]
    fn a_firing_that_is_too_old_fails() {
        let expected = parse("schedule=nightly,within=1h").unwrap();
        let now: Timestamp = "2026-02-01T02:00:00Z".parse().unwrap();
        let at = |text: &str| Some((State::Active, Some(text.parse().unwrap())));
        for (newest, verdict) in [
            (at("2026-02-01T01:00:00Z"), Verdict::Ok),
            (at("2026-02-01T00:59:59Z"), Verdict::Failed),
            (Some((State::Active, None)), Verdict::Failed),
            (None, Verdict::Failed),
        ] {
            assert_eq!(judge(&expected, newest, now).verdict, verdict);
        }
    }
}
