//! The pictures of a source: its week, and its last checks.

use almanack_core::source::{Source, entry::Entry, settle::Believed};
use maud::{Markup, html};

use super::words;
use crate::ui::{parts::table, viewer::Viewer};

/// What is believed of a source's week, with the checks that were made and the entries that came.
pub(super) fn week(viewer: &Viewer, _: &Source, believed: &Believed, _: &[Entry]) -> Markup {
    let total: f64 = believed.week.iter().sum();
    html! { p { (viewer.lang.pick("Entries expected in a week: ", "预计每周条目：")) (format!("{total:.1}")) } }
}

/// The last checks.
pub(super) fn looks(viewer: &Viewer, source: &Source) -> Markup {
    let lang = viewer.lang;
    let head = [lang.pick("When", "时间"), lang.pick("Brought", "结果")];
    let rows = html! {
        @for look in source.recent.looks().iter().rev() {
            tr { td { (viewer.at(look.at)) } td { (words::brought(lang, look.brought)) ", " (look.took_ms) " ms" } }
        }
    };
    table(lang.pick("Last checks", "最近的检查"), &head, &rows)
}
