//! One source: its state, next check and why, its week, its entries and actions.

use almanack_core::source::State as SourceState;
use almanack_core::source::entry::Entry;
use almanack_core::source::hub::{self, Reach};
use almanack_core::source::options::Options;
use almanack_core::source::reading::Reading;
use almanack_core::source::recent::PastLook;
use almanack_core::source::settle::Believed;
use almanack_core::source::why::{meaning, next_look, next_look_at, requests};

use super::{acts, called, entries, list::cadence, options, push, words};
use crate::picture::heat::{self, Heat};
use crate::picture::strip::{self, Beat};
use crate::sources::{Numbered, with_task};
use crate::ui::prelude::*;
use crate::ui::undo;

/// Entries drawn into the picture, as in the API.
const DRAWN: usize = 200;
/// Entries listed.
const LISTED: usize = 10;

#[derive(Debug, Deserialize)]
pub(crate) struct Query {
    did: Option<String>,
    #[serde(flatten)]
    undo: undo::Given,
}

pub(crate) async fn show(Numbered(id): Numbered, sought: Sought<Query>) -> Page {
    let Sought(state, viewer, query) = sought;
    let (source, task) = with_task(&state, id).await?;
    let newest = entries::newest(&state, id, DRAWN).await?;
    let did = query.did.as_deref();
    let did = did.and_then(|code| done(viewer.lang, code));
    let number = id.to_string();
    let body = html! {
        @if let Some(did) = did {
            (notice(&html! { p { (did) } (undo::offer(&viewer, &query.undo, &links::source(id))) }))
        }
        (live("source", &standing(&viewer, &state, &source, task.as_ref(), &newest)))
        @if viewer.may(Scope::Operate) { (acts::show(&viewer, &source)) }
        (Equivalent::call("GET", format!("/api/v1/sources/{id}")).cli(["source", "show", &number]).show(&viewer))
    };
    Ok(page(&viewer, Place::Sources, called(&source), &body))
}

fn done(lang: Lang, code: &str) -> Option<&'static str> {
    words! { lang, code?;
        "added" => "Source added. A node checks it soon.", "信源已添加，节点将很快检查。";
        "there" => "No change: the source already exists.", "未作更改：信源已存在。";
        "check" => "Queued for a check as soon as a node has capacity.", "已排队，节点有空闲时立即检查。";
        "paused" => "Source paused.", "信源已暂停。";
        "resumed" => "Source resumed.", "信源已恢复。";
        "undone" => "Undone.", "已撤销。";
        "changed" => "Source changed.", "信源已修改。";
    }
}

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
    let why = why(viewer, source, task, (&believed, state.publishers.reach));
    html! {
        @if let Some(wanted) = source.attention { p class="warning" { (words::attention_meaning(lang, wanted)) } }
        @if let Some(failure) = failure(viewer, source) { (failure) }
        (section("standing", lang.pick("Status", "状态"), &known(viewer, source, task)))
        (section("why", lang.pick("Check timing", "检查时间及原因"), &why))
        (section("rhythm", lang.pick("Weekly rhythm", "每周规律"), &week(viewer, source, &believed, newest)))
        (section("checks", lang.pick("Last checks", "最近的检查"), &looks(viewer, source)))
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
    let publishes = stats.frequency_type;
    let publishes = publishes.map(|often| words::frequency(lang, often));
    let category = Some(said.category.as_str()).filter(|category| !category.is_empty());
    facts! { lang;
        "State", "状态" { (self::state(viewer, source)) }
        "Address", "地址" { (outside(&said.address, &said.address)) }
        "Category", "分类" { (or_dash(category)) }
        "Read as", "读取方式" { (read_as(lang, source)) }
        "Next check", "下次检查" { (viewer.at_or_dash(next_look_at(source, task))) (task_link(lang, source)) }
        "Cadence", "节奏" { (cadence(lang, source)) }
        "Publishes", "发布频率" { (or_dash(publishes)) }
        "Newest entry", "最新条目" { (viewer.at_or_dash(stats.last_article_at)) }
        "Last check", "上次检查" { (viewer.at_or_dash(stats.last_check_at)) }
        "Checks with new entries", "有新条目的检查" { (hits(lang, source)) }
        "Added", "添加于" { (viewer.at(source.created_at)) }
        "Moving to", "迁移到" { (moving(lang, source)) }
        "Clock", "时钟" if (let Some(ahead_s) = source.memory.publisher.clock_ahead_s) { (clock(lang, ahead_s)) }
        "Options", "选项" if (said.options != Options::default()) { (options::show(lang, &said.options)) }
        "Push", "推送" { (push::standing(viewer, source)) }
    }
}

fn state(viewer: &Viewer, source: &Source) -> Markup {
    html! {
        (words::standing(viewer.lang, source))
        @match &source.state {
            SourceState::Active => {},
            SourceState::Paused { since, note } => {
                " " (viewer.at(*since))
                @if let Some(note) = note { ": " q lang="" { (note) } }
            },
            SourceState::Ended { since, reason } => { " " (viewer.at(*since)) ": " (english(viewer.lang, reason)) },
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
        return dash();
    };
    let times = moving.times;
    html! {
        (outside(&moving.address, &moving.address)) " "
        span class="hint" { (say!(lang, "redirects in a row: {times}; followed once there are enough", "已连续重定向 {times} 次；次数足够后才会采用新地址")) }
    }
}

/// How far its times are off.
fn clock(lang: Lang, ahead_s: i32) -> Markup {
    let off = length(lang, SignedDuration::from_secs(ahead_s.into()));
    let off = if ahead_s > 0 {
        say!(lang, "{off} ahead", "快 {off}")
    } else {
        say!(lang, "{off} behind", "慢 {off}")
    };
    html! { (off) " " span class="hint" { (lang.pick("times of new entries are corrected", "新条目的时间已校正")) } }
}

fn read_as(lang: Lang, source: &Source) -> Markup {
    let reading = &source.definition.reading;
    html! {
        (words::source_type(lang, reading.source_type()))
        @if *reading != Reading::Feed { " (" (english(lang, &reading.to_string())) ")" }
    }
}

/// The task that checks it.
fn task_link(lang: Lang, source: &Source) -> Markup {
    let task = source.id.identity().ok();
    html! {
        @if let Some(identity) = task { " " a href=(task_path(&identity)) { (lang.pick("task", "任务")) } }
    }
}

/// Its week: what was learned, its checks, and its entries.
fn week(viewer: &Viewer, source: &Source, believed: &Believed, entries: &[Entry]) -> Markup {
    let checks: Vec<Timestamp> = source.recent.looks().iter().map(|look| look.at).collect();
    let published = entries.iter().filter_map(|entry| entry.found.published_at);
    let heat = Heat {
        expected: &believed.week,
        checks: &checks,
        entries: &published.collect::<Vec<_>>(),
        now: viewer.now,
    };
    let caption = pick!(viewer.lang; "Entries expected by hour", "各小时的预计条目");
    heat::draw(&heat, &viewer.frame("week", caption))
}

fn looks(viewer: &Viewer, source: &Source) -> Markup {
    let looks = source.recent.looks().iter();
    let beats: Vec<Beat> = looks.map(|look| beat(viewer.lang, look)).collect();
    let caption = viewer.lang.pick("Outcomes", "结果");
    strip::draw(&beats, &viewer.frame("looks", caption))
}

fn beat(lang: Lang, look: &PastLook) -> Beat {
    let result = words::outcome(lang, look.outcome);
    Beat {
        at: look.at,
        outcome: words::shape(look.outcome),
        why: format!("{result}, {} ms", look.took_ms),
        href: None,
    }
}

/// Why it is checked when it is, and what was learned.
fn why(
    viewer: &Viewer,
    source: &Source,
    task: Option<&Task>,
    (believed, reach): (&Believed, Reach),
) -> Markup {
    let lang = viewer.lang;
    let asked = requests(&source.memory.hints, lang);
    let hub = source.memory.publisher.hub.as_ref();
    let known = facts! { lang;
        "Active policy", "生效的策略" { code { (believed.policy) } }
        "Expected", "预计" { (expected(viewer, believed)) }
        "Considered silent", "视为沉默" { (silence(viewer, source, believed)) }
    };
    html! {
        p { strong { (next_look(source, task, viewer.now, lang)) } }
        (known)
        @if let Some(pushed) = hub::sentence(hub, reach, viewer.now, lang) { p { (pushed) } }
        @if believed.damaged {
            p class="warning" { (pick!(lang;
                "The learned rhythm is damaged. It is being learned again; until then the source is checked at a fixed interval.",
                "已学到的规律数据损坏，正在重新学习，在此之前按固定间隔检查。")) }
        }
        @if !asked.is_empty() {
            h3 { (lang.pick("Publisher's limits", "发布者的要求")) }
            ul { @for request in &asked { li { (request) } } }
        }
        (Equivalent::act("GET", "source", source.id, "why").show(viewer))
    }
}

fn expected(viewer: &Viewer, believed: &Believed) -> Markup {
    let lang = viewer.lang;
    let Some(daily) = believed.entries_per_day else {
        return html! { (lang.pick("not known yet", "尚不清楚")) };
    };
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
        return html! { (lang.pick("rhythm not learned yet", "尚未学到规律")) };
    };
    let newest = source.stats.last_article_at;
    let at = newest.and_then(|newest| newest.checked_add(after).ok());
    let after = length(lang, after);
    html! {
        (say!(lang, "{after} after its newest entry", "最新条目之后 {after}"))
        @if let Some(at) = at { ": " (viewer.at(at)) }
    }
}

/// The failure of the last check, if any.
fn failure(viewer: &Viewer, source: &Source) -> Option<Markup> {
    let (lang, stats) = (viewer.lang, &source.stats);
    let detail = stats.last_error.as_deref()?;
    let class = stats.last_error_class;
    let times = stats.fail_count;
    Some(html! {
        div class="wrong" {
            p {
                @if let Some(class) = class { strong { (words::failure(lang, class)) } " " code { (class) } ": " }
                (english(lang, detail))
            }
            @if let Some(class) = class { p { (meaning(class, lang)) } }
            p {
                (say!(lang, "Failures in a row: {times}.", "连续失败 {times} 次。"))
                @if let Some(until) = stats.backoff_until {
                    " " (lang.pick("Next attempt after ", "最早重试时间：")) (viewer.at(until))
                }
            }
        }
    })
}
