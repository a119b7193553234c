//! Schedules that are good and whose firings would still be given up: this node may not fire at them.

use almanack_core::target::Target;
use almanack_engine::schedules::Wanted;

use super::super::{report::Problem, settings::Settings};

/// A warning for each type of target that nobody here fires at.
pub(crate) fn warnings(wanted: &[Wanted], settings: &Settings) -> Vec<Problem> {
    let workflow = |target: &Target| matches!(target, Target::Workflow { .. });
    let command = |target: &Target| matches!(target, Target::Command { .. });
    let mut warnings = Vec::new();
    if settings.github.token.is_none() {
        let hint = "set github.token to \"env:NAME\", or set the variable PAT or GH_TOKEN";
        let told = warning(wanted, workflow, "workflow", "github.token is not set");
        warnings.extend(told.map(|told| told.hint(hint)));
    }
    if !settings.command.enabled {
        let hint = "command.enabled = true lets schedules run programs on this machine";
        let told = warning(wanted, command, "command", "commands are off");
        warnings.extend(told.map(|told| told.hint(hint)));
    }
    warnings
}

fn warning(
    wanted: &[Wanted],
    is_idle: fn(&Target) -> bool,
    type_name: &str,
    why: &str,
) -> Option<Problem> {
    let mut idle = wanted.iter().filter(|it| is_idle(&it.definition.target));
    let first = &idle.next()?.name;
    let others = match idle.count() {
        0 => String::new(),
        1 => " and 1 other".to_owned(),
        more => format!(" and {more} others"),
    };
    let what = format!("schedule `{first}`{others} cannot fire at a {type_name}: {why}");
    Some(Problem::warning(what, None))
}
