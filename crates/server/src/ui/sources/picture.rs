//! The pictures of a source: its week, and its last checks.

use almanack_core::source::Source;
use almanack_core::source::entry::Entry;
use almanack_core::source::recent::{Brought, PastLook};
use almanack_core::source::settle::Believed;

use super::words;
use crate::picture::figure::Frame;
use crate::picture::heat::{self, Heat};
use crate::picture::outcome::Outcome;
use crate::picture::strip::{self, Beat};
use crate::ui::prelude::*;

/// What is believed of a source's week, with the checks that were made and the entries that came.
pub(super) fn week(
    viewer: &Viewer,
    source: &Source,
    believed: &Believed,
    entries: &[Entry],
) -> Markup {
    let looks = source.recent.looks().iter();
    let checks: Vec<Timestamp> = looks.map(|look| look.at).collect();
    let published: Vec<Timestamp> = entries
        .iter()
        .filter_map(|entry| entry.found.published_at)
        .collect();
    let heat = Heat {
        expected: &believed.week,
        checks: &checks,
        entries: &published,
        now: viewer.now,
    };
    let frame = Frame {
        id: "week",
        caption: viewer
            .lang
            .pick("Entries expected by hour", "各小时的预计条目"),
        lang: viewer.lang,
        zone: &viewer.zone,
    };
    heat::draw(&heat, &frame)
}

/// The last checks, oldest first.
pub(super) fn looks(viewer: &Viewer, source: &Source) -> Markup {
    let beats: Vec<Beat> = source
        .recent
        .looks()
        .iter()
        .map(|look| beat(viewer, look))
        .collect();
    let frame = Frame {
        id: "looks",
        caption: viewer.lang.pick("Outcomes", "结果"),
        lang: viewer.lang,
        zone: &viewer.zone,
    };
    strip::draw(&beats, &frame)
}

fn beat(viewer: &Viewer, look: &PastLook) -> Beat {
    let lang = viewer.lang;
    let outcome = match look.brought {
        Brought::New(_) | Brought::Nothing | Brought::Unchanged => Outcome::Done,
        Brought::Failed(_) => Outcome::Failed,
    };
    Beat {
        at: look.at,
        outcome,
        why: format!(
            "{}, {} ms",
            words::brought(lang, look.brought),
            look.took_ms
        ),
        href: None,
    }
}
