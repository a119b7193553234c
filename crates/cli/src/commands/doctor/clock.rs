//! The machine's clock compared with its uptime and with the store, and the time zones.

use almanack_core::{
    clock::{Doubt, Standing},
    lang::{Lang, Say},
    plan::{AHEAD_MIN, ScheduleName},
};

use super::Finding;
use crate::commands::prelude::*;

/// Before this version was written; a machine without a battery starts in 1970.
const WRITTEN_AT: Timestamp = Timestamp::constant(1_767_225_600, 0);
/// How far the two may part during the check; a clock that is corrected gradually stays below.
const PARTED: SignedDuration = SignedDuration::from_millis(200);
/// Where systems keep the zones, with their version in the first line.
const ZONES: &str = "/usr/share/zoneinfo/tzdata.zi";

/// The machine's clock, compared with one that cannot be set and was started with the check.
pub(super) fn judge(wall: Timestamp, steady: Timestamp) -> Finding {
    let parted = wall.duration_since(steady);
    if wall < WRITTEN_AT {
        return Finding::failed("clock", format!("the machine's clock shows {wall}"))
            .hint("set the clock; `timedatectl` shows whether it is synchronised");
    }
    if parted.abs() > PARTED {
        let what = format!("it was set by {parted:#} during this check");
        return Finding::warning("clock", what)
            .hint("correct it gradually (chrony, systemd-timesyncd), not in steps");
    }
    Finding::ok("clock", format!("{wall}, and steady"))
}

/// Schedules named in a finding.
const NAMED_MAX: usize = 5;

/// The clock compared with the store, and what a clock that was ahead left behind.
pub(super) async fn look(settings: &Settings) -> Result<Vec<Finding>> {
    let store = wiring::open_store(&settings.database).await?;
    let clock = wiring::clock(store.as_ref()).await?;
    let ahead_of = clock.now().saturating_add(AHEAD_MIN);
    let ahead_of = ahead_of.unwrap_or(Timestamp::MAX);
    let ahead = store.load_decided_ahead(ahead_of, NAMED_MAX).await?;
    Ok(vec![trusted(clock.standing()), planned_ahead(&ahead)])
}

fn trusted(standing: Standing) -> Finding {
    let check = "clock and database";
    match standing {
        Standing::Steady => Finding::ok(check, "the clock agrees with the database"),
        Standing::InDoubt(doubt) => {
            Finding::failed(check, doubt.say(Lang::English)).hint(Doubt::HINT.0)
        }
    }
}

fn planned_ahead(names: &[ScheduleName]) -> Finding {
    let check = "planned ahead";
    if names.is_empty() {
        return Finding::ok(check, "no schedule needs a rewind");
    }
    let names: Vec<&str> = names.iter().map(ScheduleName::as_str).collect();
    let names = names.join(", ");
    let what = format!("a clock that was ahead planned {names}; they do not fire until that time");
    Finding::failed(check, what).hint("`almanack schedule rewind` plans them again from now")
}

/// Which zones are used: the system's where it has any, else those built in.
pub(super) fn zones() -> Finding {
    let version = std::fs::read_to_string(ZONES).ok();
    let version = version.as_deref().and_then(|text| {
        let first = text.lines().next()?;
        first.strip_prefix("# version ").map(str::to_owned)
    });
    match (jiff::tz::db().get("Europe/Berlin"), version) {
        (Err(error), _) => Finding::failed("time zones", error.to_string())
            .hint("the system's time zones are damaged: reinstall tzdata"),
        (Ok(_), Some(version)) => Finding::ok("time zones", format!("the system's, {version}")),
        (Ok(_), None) => Finding::ok("time zones", "found; their version is unknown"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Verdict;

    #[test]
    fn a_clock_that_is_set_or_was_never_set_is_reported() {
        let steady: Timestamp = "2026-02-01T00:00:00Z".parse().unwrap();
        for (wall, verdict) in [
            ("2026-02-01T00:00:00.1Z", Verdict::Ok),
            ("2026-02-01T00:00:01Z", Verdict::Warning),
            ("2026-01-31T23:59:00Z", Verdict::Warning),
            ("1970-01-01T00:00:09Z", Verdict::Failed),
        ] {
            let found = judge(wall.parse().unwrap(), steady);
            assert_eq!(found.verdict, verdict, "{wall}: {found:?}");
        }
    }
}
