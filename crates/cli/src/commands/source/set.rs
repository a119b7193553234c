//! `almanack source set`: repairs a source in place (SS-21).

use std::collections::BTreeMap;

use super::{NamedSource, add, called, load, options, rules};
use crate::commands::prelude::*;

/// `auto` returns a manual setting to the default.
fn by_hand(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.eq_ignore_ascii_case("auto"))
}

/// Changes what was given.
pub(super) async fn run(client: &Client, given: &SourceSetArguments, output: &mut Output) -> Done {
    let before = load(client, &given.source.id).await?;
    let changes = changes(given, &before)?;
    if changes.is_empty() {
        let hint = "`almanack source set --help` lists what can be changed";
        return Err(Failure::usage("nothing to change was given").hint(hint));
    }
    let call = Call::patch(&["sources", &before.id.to_string()]).json(&changes);
    let answer = client.call(call).await?;
    output.report(&answer, |it| {
        if CHANGED.iter().all(|key| it[*key] == before.now[*key]) {
            return format!("No change: source {} is already in that state", before.id);
        }
        let next = match (it["state"].as_str(), time(&it["next_due_at"])) {
            (Some("active"), Some(at)) => format!("; next check {}", moment_of(at, answer.now)),
            (state, _) => format!("; it is {}", state.unwrap_or_default()),
        };
        format!("changed source {}: {}{next}", before.id, called(it))
    })
}

/// What a change can make different.
const CHANGED: [&str; 8] = [
    "address",
    "name",
    "category",
    "policy",
    "cadence_by_hand",
    "reading",
    "options",
    "state",
];

/// The changes that were given, as the API takes them.
fn changes(
    given: &SourceSetArguments,
    before: &NamedSource,
) -> Result<BTreeMap<&'static str, Value>> {
    let description = &given.description;
    let reading = rules::reading(&description.rules, Some(&before.now["reading"]))?;
    let changes = [
        (
            "address",
            given
                .address
                .as_deref()
                .map(|it| json!(add::with_scheme(it))),
        ),
        ("name", given.name.as_ref().map(|it| json!(it))),
        ("category", given.category.as_ref().map(|it| json!(it))),
        (
            "policy",
            given.policy.as_deref().map(|it| json!(by_hand(it))),
        ),
        (
            "cadence",
            given.cadence.as_deref().map(|it| json!(by_hand(it))),
        ),
        ("reading", reading),
        ("options", options::patch(&description.options)?),
    ];
    let given = changes.into_iter();
    Ok(given
        .filter_map(|(key, value)| Some((key, value?)))
        .collect())
}
