//! Why a source is checked when it is, and what is believed of it.

use almanack_core::source::Source;
use almanack_core::source::settle::Believed;
use almanack_core::source::why::{meaning, next_look, wishes};
use almanack_core::task::Task;

use super::words;
use crate::ui::prelude::*;

/// The sentence and its parts.
pub(super) fn show(
    viewer: &Viewer,
    source: &Source,
    task: Option<&Task>,
    believed: &Believed,
) -> Markup {
    let lang = viewer.lang;
    let id = source.id.to_string();
    let asked = wishes(&source.memory.hints);
    html! {
        p { strong { (lang.english(&next_look(source, task, viewer.now))) } }
        (facts(&[
            (lang.pick("Policy in force", "生效的策略"), html! { code { (believed.policy) } }),
            (lang.pick("Expected", "预计"), html! { (expected(viewer, believed)) }),
            (lang.pick("Counts as silent", "视为沉默"), silence(viewer, source, believed)),
        ]))
        @if believed.damaged {
            p class="warning" { (pick!(lang;
                "What was learned of it is damaged. It is learned anew, and the fixed interval holds until then.",
                "已学到的规律数据损坏，正在重新学习，在此之前按固定间隔检查。")) }
        }
        @if !asked.is_empty() {
            h3 { (lang.pick("What its publisher asks for", "发布者的要求")) }
            ul { @for wish in &asked { li { (lang.english(wish)) } } }
        }
        (Equivalent::call("GET", format!("/api/v1/sources/{id}/why")).cli(&["source", "why", &id]).show(viewer))
    }
}

fn expected(viewer: &Viewer, believed: &Believed) -> Markup {
    let (lang, daily) = (viewer.lang, believed.entries_per_day);
    let (count, per) = if daily >= 1.0 {
        (daily, lang.pick("entries a day", "条/天"))
    } else if daily * 7.0 >= 0.995 {
        (daily * 7.0, lang.pick("entries a week", "条/周"))
    } else {
        (daily * 30.0, lang.pick("entries a month", "条/月"))
    };
    html! { (format!("{count:.1}")) " " (per) }
}

fn silence(viewer: &Viewer, source: &Source, believed: &Believed) -> Markup {
    let lang = viewer.lang;
    let Some(after) = believed.silent_after else {
        return html! { (lang.pick("its habits are not known yet", "尚不了解其习惯")) };
    };
    let newest = source.stats.last_article_at;
    let at = newest.and_then(|newest| newest.checked_add(after).ok());
    let after = length(lang, after);
    html! {
        (say!(lang, "{after} after its newest entry", "最新条目之后 {after}"))
        @if let Some(at) = at { ": " (viewer.at(at)) }
    }
}

/// What went wrong at the last check, if anything did.
pub(super) fn failure(viewer: &Viewer, source: &Source) -> Option<Markup> {
    let (lang, stats) = (viewer.lang, &source.stats);
    let detail = stats.last_error.as_deref()?;
    let class = stats.last_error_class;
    let times = stats.fail_count;
    Some(html! {
        div class="wrong" {
            p {
                @if let Some(class) = class { strong { (words::failure(lang, class)) } " " code { (class) } ": " }
                (lang.english(detail))
            }
            @if let Some(class) = class { p { (lang.english(meaning(class))) } }
            p {
                (say!(lang, "Failures in a row: {times}.", "连续失败 {times} 次。"))
                @if let Some(until) = stats.backoff_until {
                    " " (lang.pick("It waits until ", "等待至 ")) (viewer.at(until))
                }
            }
        }
    })
}
