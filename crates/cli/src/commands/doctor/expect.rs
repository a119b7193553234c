//! `--expect schedule=NAME,within=PERIOD`: whether a schedule fired recently, for a cron job that
//! monitors Almanack itself.

use almanack_core::{
    plan::{ScheduleName, State, Verdict as SlotVerdict},
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
pub(super) fn parse_all(texts: &[String]) -> Result<Vec<Expectation>, Failure> {
    texts.iter().map(|text| parse(text)).collect()
}

fn parse(text: &str) -> Result<Expectation, Failure> {
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
pub(super) async fn look(settings: &Settings, expectations: &[Expectation]) -> Vec<Finding> {
    if expectations.is_empty() {
        return Vec::new();
    }
    let failed = |failure: &Failure| {
        let message = failure.text();
        let what = message.lines().next().unwrap_or_default();
        vec![Finding::failed(
            "expected",
            what.trim_start_matches("error: "),
        )]
    };
    if let Some(file) = wiring::missing_file(&settings.database) {
        let what = format!("no database at {}", file.display());
        return vec![Finding::failed("expected", what)];
    }
    let found = async {
        let store = wiring::open_store(&settings.database).await?;
        let clock = wiring::clock(store.as_ref()).await?;
        let mut findings = Vec::new();
        for expectation in expectations {
            let newest = newest(store.as_ref(), expectation).await?;
            findings.push(judge(expectation, newest, clock.now()));
        }
        Ok(findings)
    };
    found
        .await
        .unwrap_or_else(|failure: Failure| failed(&failure))
}

/// What is known of a schedule.
enum Newest {
    Unknown,
    Never(State),
    Fired(Timestamp, State),
}

async fn newest(store: &dyn Store, expected: &Expectation) -> Result<Newest, Failure> {
    let found = store
        .load_schedules(std::slice::from_ref(&expected.schedule))
        .await?;
    let Some(Some(schedule)) = found.into_iter().next() else {
        return Ok(Newest::Unknown);
    };
    let page = LedgerPage {
        before: Timestamp::MAX,
        limit: ROWS,
    };
    let slots = store.load_slots(schedule.id, page).await?;
    let fired = slots
        .iter()
        .find(|slot| matches!(slot.verdict, SlotVerdict::Fired | SlotVerdict::CaughtUp));
    Ok(match fired {
        Some(slot) => Newest::Fired(slot.slot_at, schedule.state),
        None => Newest::Never(schedule.state),
    })
}

fn judge(expected: &Expectation, newest: Newest, now: Timestamp) -> Finding {
    let check = format!("expected {}", expected.schedule);
    let hint = format!(
        "`almanack why {} TIME` explains why a slot did not fire",
        expected.schedule
    );
    let resting = |state: &State| match state {
        State::Active => "",
        _ => "; it is not active",
    };
    match newest {
        Newest::Unknown => Finding::failed(check, "there is no such schedule")
            .hint("`almanack schedule list` lists all"),
        Newest::Never(state) => {
            let what = format!("no slot has fired{}", resting(&state));
            Finding::failed(check, what).hint(hint)
        }
        Newest::Fired(at, state) => {
            let ago = now.duration_since(at);
            let what = format!("its newest slot was {at}{}", resting(&state));
            if ago > expected.within {
                Finding::failed(check, what).hint(hint)
            } else {
                Finding::ok(check, what)
            }
        }
    }
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
        let at = |text: &str| Newest::Fired(text.parse().unwrap(), State::Active);
        for (newest, verdict) in [
            (at("2026-02-01T01:00:00Z"), Verdict::Ok),
            (at("2026-02-01T00:59:59Z"), Verdict::Failed),
            (Newest::Never(State::Active), Verdict::Failed),
            (Newest::Unknown, Verdict::Failed),
        ] {
            assert_eq!(judge(&expected, newest, now).verdict, verdict);
        }
    }
}
