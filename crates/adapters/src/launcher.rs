//! What attempts come to, in the words that launchers and handlers share.

use almanack_core::{finish::Outcome, target::Target};

/// The outcome for a target of another launcher: a wiring mistake that no retry can fix.
pub(crate) fn wrong_target(fires_at: &str, target: &Target) -> Outcome {
    let target = target.type_name();
    give_up(format!(
        "this launcher fires at {fires_at}, not at a {target}"
    ))
}

pub(crate) fn give_up(error: impl Into<String>) -> Outcome {
    let error = error.into();
    Outcome::GiveUp { error }
}

/// A failure that may pass, whenever the backoff says.
pub(crate) fn retry(error: impl Into<String>) -> Outcome {
    let (error, retry_after) = (error.into(), None);
    Outcome::Retry { error, retry_after }
}
