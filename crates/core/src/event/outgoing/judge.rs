//! What a subscriber's answer to a webhook means.
//!
//! | answer | meaning |
//! | --- | --- |
//! | 2xx | it was taken: done |
//! | 410 | the subscriber no longer accepts it: give up |
//! | anything else, no answer, redirects included | not yet: retry |
//!
//! Unlike the answer of a service that is called back, a refusal says nothing about the event: it
//! happened. A receiver with a wrong route or a wrong secret is fixed within the hours that retries
//! take, and then receives everything.

use jiff::Timestamp;

use super::BatchOutcome;
use crate::{callback::wait_asked_for, finish::Outcome};

/// From this attempt on, a subscriber that does not answer in time is taken to have too much to do
/// at once, or something that it cannot get done; before, to be busy.
const TOO_MUCH_FROM: u32 = 3;

/// What an answer with this status means for the attempt that got it at `now`.
pub fn judge(status: u16, retry_after: Option<&str>, now: Timestamp) -> Outcome {
    let answer = format!("HTTP {status}");
    match status {
        200..=299 => Outcome::done(answer),
        410 => Outcome::give_up(format!(
            "{answer}: the subscriber no longer accepts these events"
        )),
        300..=399 => Outcome::retry(format!("{answer}: redirects are not followed")),
        _ => Outcome::Retry {
            error: answer,
            retry_after: retry_after.and_then(|text| wait_asked_for(text, now)),
        },
    }
}

/// The same for a batch: an answer that is about what was sent does not say about which event.
pub fn judge_batch(status: u16, retry_after: Option<&str>, now: Timestamp) -> BatchOutcome {
    match status {
        400 | 409 | 413 | 422 | 500 => BatchOutcome::TakeApart {
            why: format!("HTTP {status}"),
        },
        _ => BatchOutcome::Whole(judge(status, retry_after, now)),
    }
}

/// What it means for a batch that no answer came in time, `why` in words.
pub fn judge_silence(attempt: u32, why: String) -> BatchOutcome {
    if attempt < TOO_MUCH_FROM {
        BatchOutcome::Whole(Outcome::retry(why))
    } else {
        BatchOutcome::TakeApart { why }
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn every_answer_has_a_meaning() {
        for (status, meaning) in [
            (200, "done"),
            (202, "done"),
            (204, "done"),
            (301, "retry"),
            (308, "retry"),
            (400, "retry"),
            (401, "retry"),
            (404, "retry"),
            (410, "give_up"),
            (422, "retry"),
            (429, "retry"),
            (500, "retry"),
            (503, "retry"),
        ] {
            let outcome = judge(status, None, Timestamp::UNIX_EPOCH);
            assert_eq!(outcome.name(), meaning, "{status}");
        }
        let busy = judge(503, Some("7"), Timestamp::UNIX_EPOCH);
        let Outcome::Retry { retry_after, .. } = busy else {
            panic!("{busy:?}");
        };
        assert_eq!(retry_after, Some(SignedDuration::from_secs(7)));
    }

    /// A wrong route, a wrong secret and a busy subscriber are not mended by smaller batches.
    #[test]
    fn a_batch_is_taken_apart_for_what_is_in_it() {
        for (status, apart) in [
            (204, false),
            (301, false),
            (400, true),
            (401, false),
            (404, false),
            (410, false),
            (413, true),
            (422, true),
            (429, false),
            (500, true),
            (503, false),
        ] {
            let outcome = judge_batch(status, None, Timestamp::UNIX_EPOCH);
            let is_apart = matches!(outcome, BatchOutcome::TakeApart { .. });
            assert_eq!(is_apart, apart, "{status}");
        }
        for (attempt, apart) in [(1, false), (2, false), (3, true), (7, true)] {
            let outcome = judge_silence(attempt, "no answer".to_owned());
            let is_apart = matches!(outcome, BatchOutcome::TakeApart { .. });
            assert_eq!(is_apart, apart, "attempt {attempt}");
        }
    }
}
