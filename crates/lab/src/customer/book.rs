//! The customer's book: what was requested, what was promised, what arrived and when.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::figures::percentile;

/// Tolerance for calls that seem early: two clocks on one machine, truncated to microseconds, and a
/// node that follows a third.
const EARLY_TOLERATED_MS: i64 = 250;

#[derive(Debug, Clone, Copy)]
struct Line {
    at: Timestamp,
    acknowledged: bool,
    calls: u32,
}

#[derive(Debug, Default)]
pub struct Book {
    lines: BTreeMap<u64, Line>,
    unknown: u64,
    early: u64,
    refused: Option<String>,
    /// How late first calls were, in milliseconds, by the second they came in.
    late_ms: BTreeMap<i64, Vec<u32>>,
}

/// The results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    pub asked: usize,
    /// Of these, acknowledged: from then on they must not be lost.
    pub acknowledged: usize,
    /// Acknowledged and never called.
    pub lost: usize,
    /// Called at least once.
    pub called: usize,
    /// Calls after the first of each task: they have the same key and no effect.
    pub repeated: u64,
    /// Calls before their time.
    pub early: u64,
    /// Calls for unknown tasks.
    pub unknown: u64,
    /// Why Almanack refused a request, if it did.
    pub refused: Option<String>,
    /// What arrived, second by second.
    pub seconds: Vec<Second>,
}

/// What arrived in one second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Second {
    /// The second, as Unix time.
    pub unix: i64,
    pub called: usize,
    /// Median lateness, in milliseconds.
    pub late_p50_ms: u32,
    /// 99th percentile of the lateness.
    pub late_p99_ms: u32,
    /// Highest lateness.
    pub late_max_ms: u32,
}

impl Book {
    /// Records tasks before they are requested.
    pub fn asked(&mut self, requests: &[(u64, Timestamp)]) {
        for (number, at) in requests {
            let line = Line {
                at: *at,
                acknowledged: false,
                calls: 0,
            };
            self.lines.entry(*number).or_insert(line);
        }
    }

    pub fn acknowledged(&mut self, requests: &[(u64, Timestamp)]) {
        for (number, _) in requests {
            if let Some(line) = self.lines.get_mut(number) {
                line.acknowledged = true;
            }
        }
    }

    /// Records Almanack's refusal with the reason.
    pub fn refused(&mut self, why: &str) {
        self.refused.get_or_insert_with(|| why.to_owned());
    }

    pub fn called(&mut self, number: u64, now: Timestamp) {
        let Some(line) = self.lines.get_mut(&number) else {
            self.unknown += 1;
            return;
        };
        line.calls += 1;
        let late_ms = now.as_millisecond() - line.at.as_millisecond();
        if late_ms < -EARLY_TOLERATED_MS {
            self.early += 1;
        }
        if line.calls == 1 {
            let late = u32::try_from(late_ms.max(0)).unwrap_or(u32::MAX);
            self.late_ms.entry(now.as_second()).or_default().push(late);
        }
    }

    /// The results so far.
    pub fn figures(&self) -> Figures {
        let lines = || self.lines.values();
        let called = lines().filter(|line| line.calls > 0).count();
        let calls: u64 = lines().map(|line| u64::from(line.calls)).sum();
        let lost = |line: &&Line| line.acknowledged && line.calls == 0;
        Figures {
            asked: self.lines.len(),
            acknowledged: lines().filter(|line| line.acknowledged).count(),
            lost: lines().filter(lost).count(),
            called,
            repeated: calls.saturating_sub(called as u64),
            early: self.early,
            unknown: self.unknown,
            refused: self.refused.clone(),
            seconds: self.late_ms.iter().map(second).collect(),
        }
    }
}

fn second((unix, late): (&i64, &Vec<u32>)) -> Second {
    let mut late = late.clone();
    late.sort_unstable();
    let at = |share| percentile(&late, share).unwrap_or_default();
    Second {
        unix: *unix,
        called: late.len(),
        late_p50_ms: at(50),
        late_p99_ms: at(99),
        late_max_ms: at(100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(ms).unwrap()
    }

    #[test]
    fn what_was_promised_and_never_came_is_lost_and_nothing_else_is() {
        let mut book = Book::default();
        let requests = [(1, at(1_000)), (2, at(1_000)), (3, at(1_000))];
        book.asked(&requests);
        book.acknowledged(&requests[..2]);
        book.called(1, at(1_010));
        let figures = book.figures();
        assert_eq!((figures.asked, figures.acknowledged), (3, 2));
        assert_eq!((figures.called, figures.lost), (1, 1));
    }

    #[test]
    fn repeated_unknown_and_early_calls_are_distinguished() {
        let mut book = Book::default();
        book.asked(&[(1, at(10_000)), (2, at(10_000))]);
        book.called(1, at(9_900));
        book.called(1, at(10_100));
        book.called(2, at(9_000));
        book.called(7, at(10_000));
        let figures = book.figures();
        assert_eq!((figures.called, figures.repeated), (2, 1));
        assert_eq!((figures.early, figures.unknown), (1, 1));
    }

    #[test]
    fn lateness_is_reported_by_the_second_of_the_first_call() {
        let mut book = Book::default();
        let requests: Vec<_> = (0..100).map(|number| (number, at(5_000))).collect();
        book.asked(&requests);
        for number in 0..100 {
            book.called(number, at(5_000 + i64::try_from(number).unwrap()));
        }
        book.called(5, at(9_000));
        let expected = Second {
            unix: 5,
            called: 100,
            late_p50_ms: 50,
            late_p99_ms: 99,
            late_max_ms: 99,
        };
        assert_eq!(book.figures().seconds, [expected]);
    }
}
