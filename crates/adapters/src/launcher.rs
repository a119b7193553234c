//! What launchers share.

use almanack_core::{finish::Outcome, target::Target};

/// The outcome for a target of another launcher: a wiring mistake that no retry can fix.
pub(crate) fn wrong_target(fires_at: &str, target: &Target) -> Outcome {
    let target = target.type_name();
    Outcome::give_up(format!(
        "this launcher fires at {fires_at}, not at a {target}"
    ))
}
