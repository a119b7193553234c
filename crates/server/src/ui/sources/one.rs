//! One source: how it stands, when it is checked next and why, its week, what came, and what people may do about it.

use almanack_core::source::entry::Entry;
use almanack_core::source::reading::Reading;
use almanack_core::source::why::next_look_at;
use almanack_core::source::{Source, State as SourceState};
use almanack_core::task::Task;

use super::list::cadence;
use super::{acts, called, entries, picture, why, words};
use crate::sources::{Numbered, with_task};
use crate::ui::prelude::*;

/// Entries that are drawn into the picture, as the API draws them.
const DRAWN: usize = 200;
/// Entries that are listed.
const LISTED: usize = 10;

/// What the page is asked for besides the source.
#[derive(Debug, Deserialize)]
pub(crate) struct Query {
    did: Option<String>,
}

/// The page of a source.
pub(crate) async fn show(
    State(state): App,
    viewer: Viewer,
    Numbered(id): Numbered,
    Sought(query): Sought<Query>,
) -> Result<Markup> {
    let (source, task) = with_task(&state, id).await?;
    let newest = entries::newest(&state, id, DRAWN).await?;
    let did = query
        .did
        .as_deref()
        .and_then(|code| done(viewer.lang, code));
    let body = html! {
        @if let Some(did) = did { (notice(&html! { p { (did) } })) }
        (live("source", &standing(&viewer, &state, &source, task.as_ref(), &newest)))
        @if viewer.may(Scope::Operate) { (acts::show(&viewer, &source, None)) }
        (by_command(&viewer, &source))
    };
    Ok(page(&viewer, Place::Sources, called(&source), &body))
}

/// The page again, with what is wrong with a change.
pub(super) fn wrong(
    viewer: &Viewer,
    source: &Source,
    change: &acts::Change,
    problem: &Problem,
) -> Markup {
    let body = acts::show(viewer, source, Some((change, problem)));
    page(viewer, Place::Sources, called(source), &body)
}

/// What was done, by its code.
fn done(lang: Lang, code: &str) -> Option<&'static str> {
    Some(match code {
        "added" => pick!(lang; "It was added. A node checks it next.",
            "已添加，节点将很快检查它。"),
        "there" => pick!(lang; "It was there already; nothing changed.",
            "它已存在，没有任何改变。"),
        "check" => pick!(lang; "It is checked as soon as a node has room.",
            "节点有空时将立即检查。"),
        "paused" => lang.pick("It is paused.", "已暂停。"),
        "resumed" => lang.pick("It is checked again, from now on.", "已恢复检查。"),
        "changed" => lang.pick("It was changed.", "已修改。"),
        _ => return None,
    })
}

/// Everything that changes by itself.
fn standing(
    viewer: &Viewer,
    state: &AppState,
    source: &Source,
    task: Option<&Task>,
    newest: &[Entry],
) -> Markup {
    let lang = viewer.lang;
    let believed = state.sources.believed(source);
    let listed = newest.get(..LISTED).unwrap_or(newest);
    html! {
        @if let Some(wanted) = source.attention { p class="warning" { (words::attention_told(lang, wanted)) } }
        @if let Some(failure) = why::failure(viewer, source) { (failure) }
        (section("standing", lang.pick("How it stands", "现状"), &known(viewer, source, task)))
        (section("why", lang.pick("When it is checked, and why", "何时检查，为何如此"), &why::show(viewer, source, task, &believed)))
        (section("rhythm", lang.pick("Its week", "它的一周"), &picture::week(viewer, source, &believed, newest)))
        (section("checks", lang.pick("Last checks", "最近的检查"), &picture::looks(viewer, source)))
        (section("newest", lang.pick("Newest entries", "最新条目"), &html! {
            (entries::list(viewer, listed))
            @if newest.len() > listed.len() {
                p { a href=(entries::here(source.id)) { (lang.pick("All entries of this source", "该信源的全部条目")) } }
            }
        }))
    }
}

fn known(viewer: &Viewer, source: &Source, task: Option<&Task>) -> Markup {
    let (lang, said, stats) = (viewer.lang, &source.definition, &source.stats);
    let publishes = stats
        .frequency_type
        .map(|often| words::frequency(lang, often));
    facts(&[
        (lang.pick("State", "状态"), state(viewer, source)),
        (
            lang.pick("Address", "地址"),
            outside(&said.address, &said.address),
        ),
        (
            lang.pick("Category", "分类"),
            or_dash(Some(said.category.as_str()).filter(|c| !c.is_empty())),
        ),
        (lang.pick("Read as", "读取方式"), read_as(lang, source)),
        (
            lang.pick("Next check", "下次检查"),
            html! { (viewer.at_or_dash(next_look_at(source, task))) (task_link(lang, source)) },
        ),
        (lang.pick("Cadence", "节奏"), cadence(lang, source)),
        (lang.pick("Publishes", "发布频率"), or_dash(publishes)),
        (
            lang.pick("Newest entry", "最新条目"),
            viewer.at_or_dash(stats.last_article_at),
        ),
        (
            lang.pick("Last check", "上次检查"),
            viewer.at_or_dash(stats.last_check_at),
        ),
        (
            lang.pick("Checks that brought something", "有收获的检查"),
            hits(lang, source),
        ),
        (lang.pick("Added", "添加于"), viewer.at(source.created_at)),
        (lang.pick("Moving to", "迁移到"), moving(lang, source)),
    ])
}

fn state(viewer: &Viewer, source: &Source) -> Markup {
    let lang = viewer.lang;
    html! {
        (words::standing(lang, source))
        @match &source.state {
            SourceState::Active => {},
            SourceState::Paused { since, note } => {
                " " (viewer.at(*since))
                @if let Some(note) = note { ": " q lang="" { (note) } }
            },
            SourceState::Ended { since, reason } => { " " (viewer.at(*since)) ": " (lang.english(reason)) },
        }
    }
}

fn hits(lang: Lang, source: &Source) -> Markup {
    let (hits, checks) = (source.stats.hit_count, source.stats.check_count);
    let rate = source.hit_rate().unwrap_or(0.0) * 100.0;
    html! { (say!(lang, "{hits} of {checks} ({rate:.1} %)", "{checks} 次中 {hits} 次（{rate:.1}%）")) }
}

fn moving(lang: Lang, source: &Source) -> Markup {
    let Some(moving) = &source.memory.moving else {
        return or_dash(None);
    };
    let times = moving.times;
    html! {
        (outside(&moving.address, &moving.address)) " "
        span class="hint" { (say!(lang, "said {times} times in a row; believed once it is said often enough", "连续告知 {times} 次；次数足够后才会采信")) }
    }
}

fn read_as(lang: Lang, source: &Source) -> Markup {
    let reading = &source.definition.reading;
    html! {
        (words::source_type(lang, reading.source_type()))
        @if *reading != Reading::Feed { " (" (lang.english(&reading.to_string())) ")" }
    }
}

/// The task that checks it.
fn task_link(lang: Lang, source: &Source) -> Markup {
    let task = source.id.identity().ok();
    html! {
        @if let Some(identity) = task { " " a href=(task_path(&identity)) { (lang.pick("its task", "其任务")) } }
    }
}

fn by_command(viewer: &Viewer, source: &Source) -> Markup {
    let id = source.id.to_string();
    let call = Equivalent::call("GET", format!("/api/v1/sources/{id}"));
    call.cli(&["source", "show", &id]).show(viewer)
}
