//! The states of an edition as a strip.

use almanack_core::edition::{Edition, State};
use almanack_engine::editions::Status;

use crate::picture::steps::{self, Step};
use crate::ui::prelude::*;

/// The regular order of states.
const WAY: [State; 5] = [
    State::Init,
    State::ListFetched,
    State::Processing,
    State::Aggregating,
    State::Published,
];

/// Draws the strip; without the details of its status in a list.
pub(super) fn draw(viewer: &Viewer, edition: &Edition, status: Option<&Status>) -> Markup {
    let (lang, edition_id) = (viewer.lang, edition.id);
    let step = |(state, stage)| {
        let detail = status.and_then(|it| detail(lang, state, stage, it));
        Step {
            name: state.word(lang).to_owned(),
            detail: detail.unwrap_or_default(),
            stage,
        }
    };
    let strip: Vec<Step> = stages(edition).into_iter().map(step).collect();
    let id = format!("state-{edition_id}");
    let caption = say!(
        lang,
        "State of the edition of {edition_id}",
        "{edition_id} 日报的状态"
    );
    steps::draw(&strip, &viewer.frame(&id, &caption))
}

/// Every state in order, and its progress.
fn stages(edition: &Edition) -> Vec<(State, Outcome)> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let stands = edition.archived_from.unwrap_or(edition.state);
    let is_archived = edition.state == State::Archived;
    // An empty edition left the regular order after the last batch.
    let here = match stands {
        State::Empty => State::Aggregating,
        stands => stands,
    };
    let stage = |state: State| match state.cmp(&here) {
        Less => (state, Outcome::Done),
        Equal if stands == State::Empty => (State::Empty, Outcome::Failed),
        Equal if stands == State::Published => (state, Outcome::Done),
        Equal if is_archived => (state, Outcome::Failed),
        Equal => (state, Outcome::Running),
        Greater if is_archived || stands == State::Empty => (state, Outcome::Skipped),
        Greater => (state, Outcome::Planned),
    };
    let archived = is_archived.then_some((State::Archived, Outcome::Done));
    WAY.into_iter().map(stage).chain(archived).collect()
}

fn detail(lang: Lang, at: State, stage: Outcome, status: &Status) -> Option<String> {
    let (account, forecast) = (&status.account, &status.forecast);
    let (done, planned) = (forecast.batches_done, forecast.batches_planned);
    let (total, revision) = (account.counts().total, account.edition.revision);
    match at {
        _ if matches!(stage, Outcome::Planned | Outcome::Skipped) => None,
        State::ListFetched if total > 0 => Some(say!(lang, "{total} stories", "{total} 篇文章")),
        State::Processing => Some(say!(lang; "{done}/{planned} batches", "{done}/{planned} 批")),
        State::Published if revision > 1 => {
            Some(say!(lang, "revision {revision}", "修订 {revision}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use jiff::{Timestamp, civil::date};

    use super::*;

    #[test]
    fn a_strip_reports_what_is_behind_where_it_stands_and_what_is_to_come() {
        use Outcome::{Done as D, Failed as F, Planned as T, Running as C, Skipped as S};
        let rows: [(State, Option<State>, &[Outcome]); 8] = [
            (State::Init, None, &[C, T, T, T, T]),
            (State::Processing, None, &[D, D, C, T, T]),
            (State::Aggregating, None, &[D, D, D, C, T]),
            (State::Published, None, &[D, D, D, D, D]),
            (State::Empty, None, &[D, D, D, F, S]),
            (State::Archived, Some(State::Published), &[D, D, D, D, D, D]),
            (
                State::Archived,
                Some(State::Processing),
                &[D, D, F, S, S, D],
            ),
            (State::Archived, Some(State::Empty), &[D, D, D, F, S, D]),
        ];
        for (state, archived_from, expected) in rows {
            let mut edition = Edition::new(date(2026, 1, 5), Timestamp::UNIX_EPOCH);
            (edition.state, edition.archived_from) = (state, archived_from);
            let found: Vec<Outcome> = stages(&edition)
                .into_iter()
                .map(|(_, stage)| stage)
                .collect();
            assert_eq!(found, expected, "{state} from {archived_from:?}");
        }
    }
}
