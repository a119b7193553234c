//! What the launchers share.

use almanack_core::{finish::Outcome, target::Target};

/// What a launcher says to a target that is not its own: a mistake in the wiring, and no retry
/// mends it.
pub(crate) fn wrong_target(fires_at: &str, target: &Target) -> Outcome {
    Outcome::GiveUp {
        error: format!(
            "this launcher fires at {fires_at}, not at a {}",
            target.type_name()
        ),
    }
}
