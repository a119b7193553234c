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

use crate::{callback::wait_asked_for, finish::Outcome};

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
}
