//! The list of sources: when each is checked and why, and what needs attention.

use almanack_core::source::why::{next_look, next_look_at};
use almanack_core::source::{SourceType, State as SourceState};

use super::fleet::{self, Counted};
use super::{adding, called, courtesy, filter::Filter, opml, search, words};
use crate::paging::cursor;
use crate::ui::prelude::*;

/// Most rows of the due list; it has no further pages, because it empties itself.
const DUE_MAX: usize = 100;

pub(crate) async fn show(
    Extension(counted): Extension<Arc<Counted>>,
    sought: Sought<Filter>,
) -> Page {
    let Sought(state, viewer, filter) = sought;
    let lang = viewer.lang;
    let numbers = counted.numbers(&state, &viewer).await?;
    let (sources, next) = found(&state, &viewer, &filter).await?;
    let ids: Vec<SourceId> = sources.iter().map(|source| source.id).collect();
    let tasks = state.sources.tasks(&ids).await?;
    let rows: Vec<(Source, Option<Task>)> = sources.into_iter().zip(tasks).collect();
    let body = html! {
        @if let Some(did) = filter.did.as_deref().and_then(|code| done(lang, code)) { (notice(&html! { p { (did) } })) }
        @if rows.is_empty() && !filter.is_narrow() {
            p { (pick!(lang;
                "A source is a feed or a page. Almanack learns when it publishes, looks then, and keeps what is new. Nothing is stored before you add it: preview what it would bring.",
                "信源是订阅源或网页。Almanack 学习它的发布时间，按时检查并保留新内容。添加之前不会存储任何内容：可以先预览。")) }
        }
        @if viewer.may(Scope::Operate) {
            (section("add", lang.pick("Add a source", "添加信源"), &adding::form(&viewer, &adding::Addition::default(), &Faults::default())))
        }
        (live("fleet", &fleet::show(lang, &numbers)))
        (section("sources", lang.pick("Sources", "信源"), &html! { div class="stack" {
            (filter.form(lang))
            (live("rows", &list(&viewer, &filter, &rows, next.as_deref())))
            (filter.equivalent().show(&viewer))
        } }))
        (live("failing", &fleet::failures(lang, &numbers)))
        (section("entries", lang.pick("Find entries", "查找条目"), &search::Query::default().form(lang, search::PATH, None)))
        p { a href=(courtesy::PATH) { (lang.pick("Courtesy report: what is asked of which host", "礼貌报告：向哪些主机发出了哪些请求")) } }
        (section("opml", lang.pick("Lists of sources (OPML)", "信源列表（OPML）"), &opml::ways(&viewer)))
    };
    Ok(Place::Sources.page(&viewer, &body))
}

/// The result of an action, by its code.
fn done(lang: Lang, code: &str) -> Option<&'static str> {
    words! { lang, code?; "removed" => "Source and entries removed.", "信源及其条目已移除。"; }
}

/// The rows of the page, and the cursor of the next.
async fn found(
    state: &AppState,
    viewer: &Viewer,
    filter: &Filter,
) -> Result<(Vec<Source>, Option<String>)> {
    if filter.due.is_some() {
        let of_type = filter.asked.source_type.as_deref();
        let of_type = of_type.and_then(SourceType::parse);
        let due = state.store.load_due_sources(of_type, viewer.now, DUE_MAX);
        return Ok((due.await?, None));
    }
    let wanted = filter.asked.clone().into_filter()?;
    let found = state.store.list_sources(&wanted).await?;
    Ok((found.rows, found.next.map(|last| cursor(last.0))))
}

fn list(
    viewer: &Viewer,
    filter: &Filter,
    rows: &[(Source, Option<Task>)],
    next: Option<&str>,
) -> Markup {
    let lang = viewer.lang;
    let percent = |rate: f64| format!("{:.0} %", rate * 100.0);
    let table = table! { lang; "Sources", "信源";
        for ((source, task) in rows) tr(data-row id={ "source-" (source.id) })
        "Source", "信源" {
            th scope="row" class="line name" title={ (called(source)) " · " (source.definition.address) } {
                a href=(links::source(source.id)) data-open { (called(source)) }
            }
        }
        "State", "状态" {
            td class="flat" {
                // An active source that fails is a failing one; its page says the rest.
                @match source.stats.last_error_class.filter(|_| source.state == SourceState::Active) {
                    Some(class) => {
                        (badge("failed", words::failure(lang, class)))
                        @if source.stats.fail_count > 1 { " ×" (source.stats.fail_count) }
                    }
                    None => (words::standing(lang, source)),
                }
            }
        }
        "Cadence", "节奏" [mid] { td class="flat" { (cadence(lang, source)) } }
        "Newest entry", "最新条目" [wide] { td class="flat" { (viewer.at_or_dash(source.stats.last_article_at)) } }
        "Hit rate", "命中率" [wide] { td class="number" { (or_dash(source.hit_rate().map(percent))) } }
        "Next check", "下次检查" { td class="flat" { (viewer.at_or_dash(next_look_at(source, task.as_ref()))) } }
        "Why then", "原因" [mid] {
            @let why = next_look(source, task.as_ref(), viewer.now, lang);
            td class="line why" title=(why) { (reason(lang, &why)) }
        }
    };
    let first = filter.asked.cursor.as_ref().map(|_| filter.href(None));
    let next = next.map(|next| filter.href(Some(next)));
    html! {
        @if rows.is_empty() { (empty(nothing(lang, filter))) } @else { (table) }
        (parts::pages(lang, first.as_deref(), next.as_deref()))
    }
}

/// A sentence without the instant that it begins with; that has a column.
fn reason(lang: Lang, why: &str) -> &str {
    let (begin, colon) = match lang {
        Lang::English => ("Next check at ", ": "),
        Lang::Chinese => ("下一次检查在 ", "："),
    };
    let rest = why.strip_prefix(begin);
    let reason = rest.and_then(|rest| rest.split_once(colon));
    reason.map_or(why, |(_, reason)| reason)
}

fn nothing(lang: Lang, filter: &Filter) -> &'static str {
    words! { lang, (filter.due.is_some(), filter.is_narrow());
        (true, _) => "No sources are due.", "没有到期的信源。";
        (false, true) => "No source matches.", "没有符合条件的信源。";
        (false, false) => "No sources yet.", "还没有信源。";
    }
}

/// The active cadence, and whether a person set it.
pub(super) fn cadence(lang: Lang, source: &Source) -> Markup {
    let by_hand = source.definition.cadence;
    let known = by_hand.or(source.stats.cadence);
    html! {
        (or_dash(known.map(|cadence| words::cadence(lang, cadence))))
        @if by_hand.is_some() { " " span class="hint" { (lang.pick("set by hand", "手动设定")) } }
    }
}
