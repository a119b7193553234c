//! What schedules did, as pictures.

use almanack_core::plan::ScheduleName;
use maud::{Markup, html};

use super::{
    runs::{Became, Run},
    told,
};
use crate::ui::{lang::say, viewer::Viewer};

/// The last slots in a row of a list.
pub(crate) fn strip(viewer: &Viewer, _: &ScheduleName, runs: &[Run]) -> Markup {
    html! { (summary(viewer, runs)) }
}

/// `58 of 60 done, 1 failed, 1 skipped`.
fn summary(viewer: &Viewer, runs: &[Run]) -> String {
    let lang = viewer.lang;
    let (total, done) = (runs.len(), count(runs, "done", viewer));
    let kinds = [
        Became::Failed,
        Became::Retrying,
        Became::Running,
        Became::Planned,
        Became::Cancelled,
        Became::Forgotten,
        Became::Skipped(almanack_core::plan::Reason::Paused),
    ];
    let mut told = say!(lang, "{done} of {total} done", "{total} 次中 {done} 次成功").into_owned();
    for kind in kinds {
        let (class, word) = told::became(lang, kind);
        let count = count(runs, class, viewer);
        if count > 0 {
            told.push_str(&say!(lang, ", {count} {word}", "，{count} 次{word}"));
        }
    }
    told
}

fn count(runs: &[Run], class: &str, viewer: &Viewer) -> usize {
    let of_class = |run: &&Run| told::became(viewer.lang, run.became).0 == class;
    runs.iter().filter(of_class).count()
}

/// The last slots, each with its link and its words.
pub(crate) fn strip_in_full(viewer: &Viewer, _: &ScheduleName, runs: &[Run]) -> Markup {
    html! { p { (summary(viewer, runs)) } }
}

/// How long the last runs took and how late they began, against the interval.
pub(crate) fn against(
    _: &Viewer,
    _: &ScheduleName,
    _: &[Run],
    _: Option<jiff::SignedDuration>,
) -> Markup {
    html! {}
}
