//! The states of an edition as a strip.

use almanack_core::edition::{Counts, Edition, State};

use super::words;
use crate::picture::steps::{self, Stage, Step};
use crate::ui::prelude::*;

/// The regular order of states.
const WAY: [State; 5] = [
    State::Init,
    State::ListFetched,
    State::Processing,
    State::Aggregating,
    State::Published,
];

/// Details of the steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    pub(super) counts: Counts,
    pub(super) done: u32,
    /// All batches, if nothing fails.
    pub(super) planned: u32,
}

/// Draws the strip; without details in a list.
pub(super) fn draw(viewer: &Viewer, edition: &Edition, progress: Option<Progress>) -> Markup {
    let (lang, date) = (viewer.lang, edition.date);
    let step = |(state, stage)| {
        let detail = progress.and_then(|it| detail(lang, (state, stage), edition, it));
        Step {
            name: words::state(lang, state).to_owned(),
            detail: detail.unwrap_or_default(),
            stage,
        }
    };
    let strip: Vec<Step> = stages(edition).into_iter().map(step).collect();
    let id = format!("state-{date}");
    let caption = say!(lang, "State of the edition of {date}", "{date} 日报的状态");
    steps::draw(&strip, &viewer.frame(&id, &caption))
}

/// Every state in order, and its progress.
fn stages(edition: &Edition) -> Vec<(State, Stage)> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let stands = edition.archived_from.unwrap_or(edition.state);
    let is_archived = edition.state == State::Archived;
    // An empty edition left the regular order after the last batch.
    let here = match stands {
        State::Empty => State::Aggregating,
        stands => stands,
    };
    let stage = |state: State| match state.cmp(&here) {
        Less => (state, Stage::Done),
        Equal if stands == State::Empty => (State::Empty, Stage::Failed),
        Equal if stands == State::Published => (state, Stage::Done),
        Equal if is_archived => (state, Stage::Failed),
        Equal => (state, Stage::Current),
        Greater if is_archived || stands == State::Empty => (state, Stage::Skipped),
        Greater => (state, Stage::ToCome),
    };
    let archived = is_archived.then_some((State::Archived, Stage::Done));
    WAY.into_iter().map(stage).chain(archived).collect()
}

fn detail(
    lang: Lang,
    (at, stage): (State, Stage),
    edition: &Edition,
    progress: Progress,
) -> Option<String> {
    let (done, planned) = (progress.done, progress.planned);
    let (total, revision) = (progress.counts.total, edition.revision);
    match at {
        _ if matches!(stage, Stage::ToCome | Stage::Skipped) => None,
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
        use Stage::{Current as C, Done as D, Failed as F, Skipped as S, ToCome as T};
        let rows: [(State, Option<State>, &[Stage]); 8] = [
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
            let found: Vec<Stage> = stages(&edition)
                .into_iter()
                .map(|(_, stage)| stage)
                .collect();
            assert_eq!(found, expected, "{state} from {archived_from:?}");
        }
    }
}
