//! Valid schedules whose firings would still fail: this node may not fire at their targets.

use almanack_core::{
    edition::{EDITION_RUN, EDITION_TICK},
    target::Target,
    task::Kind,
};
use almanack_engine::schedules::Wanted;

use super::{
    super::{
        report::{Place, Problem},
        settings::Settings,
    },
    FileSchedules,
};
use crate::{suggest, wiring};

const COMMAND_HINT: &str =
    "set command.enabled = true to let schedules run programs on this machine";

/// A warning for each type of target that this node does not fire at.
pub(crate) fn warnings(wanted: &[Wanted], settings: &Settings) -> Vec<Problem> {
    let token_hint = "set github.token to \"env:NAME\", or the variable PAT or GH_TOKEN";
    let no_token = settings.github.token.is_none();
    let types = [
        ("workflow", no_token, "github.token is not set", token_hint),
        (
            "command",
            !settings.command.enabled,
            "commands are off",
            COMMAND_HINT,
        ),
    ];
    let off = types.into_iter().filter(|(_, is_off, ..)| *is_off);
    let warnings = off.filter_map(|(type_name, _, why, hint)| {
        let is_idle = |it: &&Wanted| it.definition.target.type_name() == type_name;
        let mut idle = wanted.iter().filter(is_idle);
        let first = &idle.next()?.name;
        let others = match idle.count() {
            0 => String::new(),
            1 => " and 1 other".to_owned(),
            more => format!(" and {more} others"),
        };
        let what = format!("schedule `{first}`{others} cannot fire at a {type_name}: {why}");
        Some(Problem::warning(what, None).hint(hint))
    });
    warnings.collect()
}

/// [`warnings`], and one for each kind of task in the file that has no handler.
pub(crate) fn warnings_of_file(schedules: &FileSchedules, settings: &Settings) -> Vec<Problem> {
    let mut found = warnings(&schedules.wanted, settings);
    for wanted in &schedules.wanted {
        let target = &wanted.definition.target;
        let idle = unreachable_home(target, settings).or_else(|| unknown_kind(target, settings));
        let Some((what, hint)) = idle else {
            continue;
        };
        let places = schedules.places.get(&wanted.name);
        let place = places.and_then(|it| it.get("target.kind")).cloned();
        let what = format!("schedule `{}`: {what}", wanted.name);
        let problem = Problem::warning(what, place.map(|span| Place::File { span }));
        found.push(problem.hint(hint));
    }
    found
}

/// The warning about a target that this node cannot fire at, and the hint.
pub(crate) fn of_target(target: &Target, settings: &Settings) -> Option<(String, String)> {
    match target {
        Target::Command { .. } if !settings.command.enabled => {
            Some(("commands are off".to_owned(), COMMAND_HINT.to_owned()))
        }
        target => unreachable_home(target, settings).or_else(|| unknown_kind(target, settings)),
    }
}

/// Reports need an address to come to, and a secret that signs it.
fn unreachable_home(target: &Target, settings: &Settings) -> Option<(String, String)> {
    let Target::Webhook {
        report_within: Some(_),
        ..
    } = target
    else {
        return None;
    };
    let missing = match (&settings.server.public_url, &settings.callback.secret) {
        (Some(_), Some(_)) => return None,
        (None, _) => "server.public_url is not set",
        (_, None) => "callback.secret is not set",
    };
    let what = format!("report_within cannot work: {missing}");
    let hint = "set both on every node, so that receivers can report back";
    Some((what, hint.to_owned()))
}

fn unknown_kind(target: &Target, settings: &Settings) -> Option<(String, String)> {
    let Target::Task { kind, .. } = target else {
        return None;
    };
    let own_kind = Kind::parse(kind).is_ok_and(|kind| settings.kinds.contains_key(&kind));
    let of_editions = [EDITION_TICK, EDITION_RUN].contains(&kind.as_str());
    if of_editions && settings.editions.any().is_some() {
        return None;
    }
    if of_editions && !own_kind {
        let what = "editions are off, so its tasks wait for a node that produces them";
        let hint = "put `enabled = true` under [edition]";
        return Some((what.to_owned(), hint.to_owned()));
    }
    let known = wiring::kinds(settings).configured;
    let known: Vec<&str> = known.iter().map(Kind::as_str).collect();
    if known.contains(&kind.as_str()) {
        return None;
    }
    let what = format!("kind `{kind}` is not configured, so every firing would fail");
    let near = suggest::nearest(kind, known.iter().copied());
    let hint = near.map_or_else(
        || format!("add [kinds.{kind}] with its url"),
        |near| format!("did you mean `{near}`?"),
    );
    Some((what, hint))
}
