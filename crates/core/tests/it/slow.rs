//! The slow way: look at every moment and ask whether it fits.
//!
//! This states the rule for changes of the clocks a second time, in terms of single instants and
//! the zone database, without spans, searches or bit sets.

use jiff::{SignedDuration, Timestamp, tz::TimeZone};

use crate::random::Job;

/// All occurrences after `from` and before `to`, looking every `step_s` seconds.
pub(crate) fn occurrences(
    job: &Job,
    zone: &TimeZone,
    (from, to): (Timestamp, Timestamp),
    step_s: i64,
) -> Vec<Timestamp> {
    let first = from.as_second().div_euclid(step_s) * step_s;
    (first..to.as_second())
        .step_by(usize::try_from(step_s).unwrap())
        .map(|second| Timestamp::from_second(second).unwrap())
        .filter(|at| *at > from && fits(job, zone, *at, step_s))
        .collect()
}

fn fits(job: &Job, zone: &TimeZone, at: Timestamp, step_s: i64) -> bool {
    let shown = zone.to_datetime(at);
    if !job.is_fixed() {
        return job.has(shown);
    }
    let first_pass = zone.to_ambiguous_timestamp(shown).earlier().unwrap() == at;
    job.has(shown) && first_pass || ends_a_gap(job, zone, at, step_s)
}

/// Whether a gap of at most three hours ends here and has swallowed an occurrence.
fn ends_a_gap(job: &Job, zone: &TimeZone, at: Timestamp, step_s: i64) -> bool {
    let before = zone.to_offset(at - SignedDuration::from_secs(1));
    let skipped = zone.to_offset(at).seconds() - before.seconds();
    let skipped = i64::from(skipped);
    if !(1..=3 * 3_600).contains(&skipped) {
        return false;
    }
    let shown = zone.to_datetime(at);
    (1..=skipped / step_s).any(|back| job.has(shown - SignedDuration::from_secs(back * step_s)))
}
