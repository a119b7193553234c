//! How long one decision about a source takes, and what surrounds it: learning, storing, loading.
//!
//! The best of several rounds counts, because a round can only be disturbed to the slow side.

#![expect(
    clippy::unwrap_used,
    reason = "a measurement that cannot begin has failed"
)]

use std::{
    hint::black_box,
    io::{self, Write},
    time::{Duration, Instant},
};

use almanack_core::source::policy::{Budget, History, Policy, next_check};
use jiff::{SignedDuration, Timestamp};

const BEGIN_S: i64 = 1_704_067_200;
const ROUNDS: usize = 9;
const ROUND_LENGTH: Duration = Duration::from_millis(40);

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{:<22}{:>12}{:>12}{:>12}{:>12}{:>12}{:>9}",
        "source", "adaptive ns", "classic ns", "learn ns", "encode ns", "decode ns", "bytes"
    )?;
    for (name, gap_s, entries) in [
        ("every 20 minutes", 1_200, 2_000),
        ("every 3 hours", 10_800, 500),
        ("daily", 86_400, 200),
        ("weekly", 604_800, 60),
        ("unknown", 86_400, 0),
    ] {
        let (history, now) = source(gap_s, entries);
        let budget = Budget {
            floor: SignedDuration::from_mins(5),
            ..Budget::default()
        };
        let decide = |policy: &Policy| {
            let mut late = 0;
            best(|| {
                late = (late + 977) % gap_s;
                let now = now + SignedDuration::from_secs(late);
                black_box(next_check(policy, black_box(&history), now, &budget, 7));
            })
        };
        let bytes = history.encode();
        let mut learner = history.clone();
        writeln!(
            out,
            "{name:<22}{:>12.0}{:>12.0}{:>12.0}{:>12.0}{:>12.0}{:>9}",
            decide(&Policy::Adaptive),
            decide(&Policy::Classic),
            best(|| learner.observe(now, black_box(&[now]), None)),
            best(|| drop(black_box(history.encode()))),
            best(|| drop(black_box(History::decode(&bytes)))),
            bytes.len(),
        )?;
    }
    Ok(())
}

/// A source with some scatter in its gaps.
fn source(gap_s: i64, entries: i64) -> (History, Timestamp) {
    let mut history = History::new();
    let mut time = BEGIN_S;
    for number in 0..entries {
        time += gap_s / 2 + (number * 7_919) % gap_s;
        let at = Timestamp::from_second(time).unwrap();
        history.observe(at, &[at], None);
    }
    (history, Timestamp::from_second(time).unwrap())
}

/// The best time of one call, in nanoseconds.
#[expect(
    clippy::disallowed_methods,
    reason = "a measurement is about the machine's time"
)]
fn best(mut call: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let (begun, mut calls) = (Instant::now(), 0_u32);
        while begun.elapsed() < ROUND_LENGTH {
            for _ in 0..64 {
                call();
            }
            calls += 64;
        }
        best = best.min(begun.elapsed().as_secs_f64() * 1e9 / f64::from(calls));
    }
    best
}
