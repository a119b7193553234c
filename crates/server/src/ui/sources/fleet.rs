//! Source counts, each linked to its rows.
//!
//! Counting walks over every row. Opening the page counts again; live pages are rendered every
//! second and share a count that is at most [`KEPT_FOR`] old.

use std::sync::{Mutex, PoisonError};

use almanack_core::source::check::FailureClass;
use almanack_core::source::policy::cadence::Cadence;
use almanack_core::source::why::meaning;
use almanack_core::store::SourceNumbers;

use super::words;
use crate::sources::numbers::by_state;
use crate::ui::prelude::*;

/// How long live pages share a count.
const KEPT_FOR: SignedDuration = SignedDuration::from_secs(10);

#[derive(Default)]
pub(super) struct Counted(Mutex<Option<(Timestamp, Arc<SourceNumbers>)>>);

impl Counted {
    pub(super) async fn numbers(
        &self,
        state: &AppState,
        viewer: &Viewer,
    ) -> Result<Arc<SourceNumbers>> {
        let kept = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some((at, numbers)) = kept.filter(|_| viewer.live) {
            // A clock that was set back must not extend the cache.
            let age = viewer.now.duration_since(at);
            if (SignedDuration::ZERO..KEPT_FOR).contains(&age) {
                return Ok(numbers);
            }
        }
        let counted = Arc::new(state.store.count_sources(None, viewer.now).await?);
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some((viewer.now, Arc::clone(&counted)));
        Ok(counted)
    }
}

pub(super) fn show(lang: Lang, numbers: &SourceNumbers) -> Markup {
    let states = by_state(&numbers.states);
    let state = |name: &str| states.get(name).copied().unwrap_or(0);
    let wanted: u64 = numbers.attention.iter().map(|(_, count)| count).sum();
    let failed: u64 = numbers.failures.iter().map(|(_, count)| count).sum();
    let hit_rate = numbers.avg_hit_rate * 100.0;
    let tile = |count: u64, label: &str, href: &str| {
        html! { li { a href=(href) { b { (count) } (label) } } }
    };
    html! {
        ul class="numbers" {
            (tile(numbers.total_sources, lang.pick("sources", "信源"), Place::Sources.path()))
            (tile(state("active"), lang.pick("active", "启用中"), &only("state", "active")))
            (tile(state("paused"), lang.pick("paused", "已暂停"), &only("state", "paused")))
            (tile(state("ended"), lang.pick("ended", "已终止"), &only("state", "ended")))
            (tile(numbers.due_now, lang.pick("due now", "现在到期"), &only("due", "true")))
            (tile(wanted, lang.pick("need attention", "需要关注"), &only("attention", "any")))
            (tile(failed, lang.pick("last check failed", "上次检查失败"), &only("failure", "any")))
        }
        (cadences(lang, numbers))
        p class="hint" { (say!(lang; "On average, {hit_rate:.1} % of a source's checks find new entries.",
            "平均 {hit_rate:.1}% 的检查发现新条目。")) }
    }
}

/// The list narrowed by one field.
fn only(name: &str, value: &str) -> String {
    address(Place::Sources.path(), [(name, value)])
}

fn cadences(lang: Lang, numbers: &SourceNumbers) -> Markup {
    let known = &numbers.cadence_distribution;
    html! {
        @if !known.is_empty() {
            p { (lang.pick("By cadence: ", "按节奏："))
                @for (place, (cadence, count)) in known.iter().enumerate() {
                    @if place > 0 { " · " }
                    a href=(only("cadence", cadence.as_str())) title=(words::cadence(lang, *cadence)) {
                        (Cadence::as_str(*cadence)) " " (count)
                    }
                }
            }
        }
        @if !numbers.attention.is_empty() {
            ul class="wants" {
                @for (attention, count) in &numbers.attention {
                    li {
                        a href=(only("attention", attention.as_str())) { (count) " " (words::attention(lang, *attention)) }
                        ": " (words::attention_meaning(lang, *attention))
                    }
                }
            }
        }
    }
}

/// Failures of the last checks, by class, if any.
pub(super) fn failures(lang: Lang, numbers: &SourceNumbers) -> Markup {
    let mut failures = numbers.failures.clone();
    failures.sort_by_key(|(class, count)| (std::cmp::Reverse(*count), *class));
    let label = |class: FailureClass, count: u64| {
        let name = words::failure(lang, class);
        say!(lang, "{name}: {count}", "{name}：{count}")
    };
    let rows = table! { lang; "Failures of the last checks by class", "上次检查失败的分类";
        for ((class, count) in &failures) tr()
        "Failure", "失败类型" { th scope="row" { (words::failure(lang, *class)) " " code { (class) } } }
        "Sources", "信源" {
            td class="number" {
                a href=(only("failure", class.as_str())) aria-label=(label(*class, *count)) { (count) }
            }
        }
        "Meaning", "含义" { td { (meaning(*class, lang)) } }
    };
    html! {
        @if !failures.is_empty() { (section("failures", lang.pick("Failures by class", "失败分类"), &rows)) }
    }
}
