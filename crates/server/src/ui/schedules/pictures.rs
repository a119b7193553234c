//! What schedules did, as pictures.

use almanack_core::plan::ScheduleName;

use super::runs::{Became, Run};
use super::{task_path, told};
use crate::picture::against::{self, Against};
use crate::picture::figure::Frame;
use crate::picture::outcome::Outcome;
use crate::picture::strip::{self, Beat};
use crate::ui::prelude::*;

/// The last slots, in a row of a list.
pub(crate) fn strip(viewer: &Viewer, name: &ScheduleName, runs: &[Run]) -> Markup {
    let lang = viewer.lang;
    let caption = say!(lang, "Last slots of {name}", "{name} 最近的时点");
    let id = format!("strip-{name}");
    strip::inline(&beats(viewer, runs), &frame(viewer, &id, &caption))
}

/// The last slots, each with its link and its words.
pub(crate) fn strip_in_full(viewer: &Viewer, runs: &[Run]) -> Markup {
    let caption = viewer.lang.pick("Last slots", "最近的时点");
    strip::draw(&beats(viewer, runs), &frame(viewer, "last-slots", caption))
}

/// How long the last firings took and how late they began, against the interval.
pub(crate) fn against(viewer: &Viewer, runs: &[Run], interval: Option<SignedDuration>) -> Markup {
    let lang = viewer.lang;
    let caption = pick!(lang; "Duration and lateness against the interval",
        "耗时与延迟（对照间隔）");
    let measured = runs.iter().filter_map(|run| {
        Some(against::Run {
            at: run.at,
            late: run.late?,
            took: run.took,
            outcome: outcome(run.became),
            href: run.firing.as_ref().map(task_path),
        })
    });
    let measured: Vec<_> = measured.collect();
    let picture = Against {
        interval,
        runs: &measured,
    };
    against::draw(&picture, &frame(viewer, "against", caption))
}

fn frame<'a>(viewer: &'a Viewer, id: &'a str, caption: &'a str) -> Frame<'a> {
    Frame {
        id,
        caption,
        lang: viewer.lang,
        zone: &viewer.zone,
    }
}

fn beats(viewer: &Viewer, runs: &[Run]) -> Vec<Beat> {
    let beats = runs.iter().map(|run| Beat {
        at: run.at,
        outcome: outcome(run.became),
        why: why(viewer, run),
        href: run.firing.as_ref().map(task_path),
    });
    beats.collect()
}

fn why(viewer: &Viewer, run: &Run) -> String {
    let lang = viewer.lang;
    let reason = match run.became {
        Became::Skipped(reason) => Some(told::reason(lang, reason)),
        Became::Retrying => Some(lang.pick("will be tried again", "将重试")),
        Became::Forgotten => Some(lang.pick("its firing is no longer kept", "触发记录已清除")),
        _ => None,
    };
    let parts = reason.into_iter().chain(run.detail.as_deref());
    parts.collect::<Vec<_>>().join(lang.pick("; ", "；"))
}

/// What is tried again has gone wrong so far, and that is what its picture tells.
fn outcome(became: Became) -> Outcome {
    match became {
        Became::Planned => Outcome::Planned,
        Became::Running => Outcome::Running,
        Became::Done => Outcome::Done,
        Became::Retrying | Became::Failed => Outcome::Failed,
        Became::Cancelled => Outcome::Cancelled,
        Became::Skipped(_) => Outcome::Skipped,
        Became::Forgotten => Outcome::Unknown,
    }
}
