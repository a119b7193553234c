//! What a change changes: which firings come, which go, which stay, as `almanack schedule plan` tells it.

use almanack_core::plan::{Comparison, Firings, Ready, Stretch, compare};

use crate::ui::prelude::*;

/// How far ahead firings are compared, as the command does when nobody says otherwise.
const AHEAD: SignedDuration = SignedDuration::from_hours(24);
/// Firings told one by one; all are counted.
const LISTED: usize = 10;

/// Which firings come, which go, which stay.
pub(crate) fn compared(viewer: &Viewer, old: &Ready, new: &Ready) -> Markup {
    let lang = viewer.lang;
    let until = viewer.now.saturating_add(AHEAD).unwrap_or(viewer.now);
    let stretch = Stretch {
        from: viewer.now,
        until,
        listed_max: LISTED,
    };
    let Comparison { come, go, stay, .. } = compare(Some(old), Some(new), stretch);
    let (coming, going) = (come.count, go.count);
    html! {
        p { (say!(lang; "In the coming 24 hours {coming} firings come, {going} go and {stay} stay.",
            "未来 24 小时内，新增 {coming} 次触发，取消 {going} 次，保留 {stay} 次。")) }
        @for (word, firings) in [(lang.pick("come", "新增"), &come), (lang.pick("go", "取消"), &go)] {
            (listed(viewer, word, firings))
        }
    }
}

fn listed(viewer: &Viewer, word: &str, firings: &Firings) -> Markup {
    html! {
        @if !firings.listed.is_empty() {
            p { (word) ": "
                @for (number, at) in firings.listed.iter().enumerate() {
                    @if number > 0 { ", " }
                    (viewer.instant(*at))
                }
                @if u64::try_from(firings.listed.len()).is_ok_and(|listed| listed < firings.count) { " …" }
            }
        }
    }
}
