//! `almanack source set`: what people say about a source.

use almanack_core::source::State;
use almanack_engine::sources::Changes;

use super::{acts, cadence, called, instant, load_one};
use crate::{
    args::SourceSetArguments,
    commands::Desk,
    failure::{Exit, Failure},
    output::Output,
    when::Relative,
};

/// Gives back to Almanack what a person had decided.
const AUTO: &str = "auto";

pub(super) async fn run(
    desk: &Desk,
    given: &SourceSetArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let changes = Changes {
        name: given.name.clone(),
        category: given.category.clone(),
        policy: given
            .policy
            .as_ref()
            .map(|text| by_hand(text).map(str::to_owned)),
        cadence: match given.cadence.as_deref().map(by_hand) {
            None => None,
            Some(None) => Some(None),
            Some(Some(text)) => Some(Some(cadence(text)?)),
        },
    };
    let before = load_one(desk, &given.source).await?;
    let sources = desk.sources().await?;
    let after = sources.change(before.id, &changes, &desk.origin).await?;
    let next = match (&after.state, after.stats.next_due_at) {
        (State::Active, Some(at)) => {
            let now = desk.clock.now();
            format!("; next check {} ({})", instant(at), Relative { at, now })
        }
        (state, _) => format!("; it is {}", state.as_str()),
    };
    let told = if after.definition == before.definition && after.state == before.state {
        format!("nothing changed: source {} was already so", after.id)
    } else {
        format!("changed source {}: {}{next}", after.id, called(&after))
    };
    acts::tell(&after, &told, output)
}

/// What a person wants; `None` for what Almanack would choose.
fn by_hand(text: &str) -> Option<&str> {
    (!text.eq_ignore_ascii_case(AUTO)).then_some(text)
}
