//! How a schedule's failed firings are tried again.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::Unsuitable;
use crate::backoff::Backoff;

/// Most retries that a schedule may ask for: its window ends them anyway.
pub(super) const RETRIES_MAX: u32 = 1_000;
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// How failed firings wait by default: windows are short, so waits are.
const WAITS: Backoff = Backoff {
    base: SignedDuration::from_secs(2),
    cap: SignedDuration::from_secs(60),
    retry_after_cap: SignedDuration::from_hours(6),
};

/// A schedule's own retries. What is not set is as for all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ScheduleRetry))]
#[serde(default, deny_unknown_fields)]
pub struct Retry {
    /// How many times a failed firing is tried again. Default: as often as `retry_for` has room
    /// for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(maximum = 1000))]
    pub count: Option<u32>,
    /// Longest wait before the first retry; each further one is up to twice as long.
    #[serde(
        skip_serializing_if = "Option::is_none",
        with = "crate::duration::optional"
    )]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, example = "2s"))]
    pub backoff: Option<SignedDuration>,
    /// Longest wait before any retry.
    #[serde(
        skip_serializing_if = "Option::is_none",
        with = "crate::duration::optional"
    )]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, example = "1m"))]
    pub backoff_max: Option<SignedDuration>,
}

impl Retry {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn check(self) -> Result<(), Unsuitable> {
        if self.count.is_some_and(|count| count > RETRIES_MAX) {
            return Err(Unsuitable::Retries);
        }
        let waits = [
            ("retry.backoff", self.backoff),
            ("retry.backoff_max", self.backoff_max),
        ];
        for (what, wait) in waits {
            let bounds = SignedDuration::from_millis(100)..=DAY;
            if wait.is_some_and(|wait| !bounds.contains(&wait)) {
                return Err(Unsuitable::Backoff { what });
            }
        }
        match (self.backoff, self.backoff_max) {
            (Some(first), Some(most)) if first > most => Err(Unsuitable::BackoffOrder),
            _ => Ok(()),
        }
    }

    /// How its tries wait. A first wait that is longer than the usual longest one raises it.
    pub fn waits(self) -> Backoff {
        let base = self.backoff.unwrap_or(WAITS.base);
        let cap = self.backoff_max.unwrap_or(WAITS.cap.max(base));
        Backoff {
            base: base.min(cap),
            cap,
            ..WAITS
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Retry {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn dp_12_what_is_not_set_is_as_for_all_others() {
        let seconds = SignedDuration::from_secs;
        for (json, base, cap) in [
            ("{}", 2, 60),
            (r#"{"backoff":"10s"}"#, 10, 60),
            (r#"{"backoff":"5m"}"#, 300, 300),
            (r#"{"backoff_max":"1s"}"#, 1, 1),
            (r#"{"backoff":"1m","backoff_max":"1h"}"#, 60, 3_600),
        ] {
            let waits = read(json).waits();
            assert_eq!(
                (waits.base, waits.cap),
                (seconds(base), seconds(cap)),
                "{json}"
            );
            assert_eq!(read(json).check(), Ok(()));
        }
    }

    #[test]
    fn dp_12_retries_that_contradict_themselves_are_refused() {
        let what = "retry.backoff_max";
        for (json, why) in [
            (r#"{"count":1001}"#, Unsuitable::Retries),
            (
                r#"{"backoff":"0s"}"#,
                Unsuitable::Backoff {
                    what: "retry.backoff",
                },
            ),
            (r#"{"backoff_max":"-1h"}"#, Unsuitable::Backoff { what }),
            (r#"{"backoff_max":"25h"}"#, Unsuitable::Backoff { what }),
            (
                r#"{"backoff":"2m","backoff_max":"1m"}"#,
                Unsuitable::BackoffOrder,
            ),
        ] {
            assert_eq!(read(json).check(), Err(why), "{json}");
        }
    }
}
