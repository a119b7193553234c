//! What needs attention: what Almanack will not or cannot settle by itself.

use std::collections::{BTreeMap, BTreeSet};

use almanack_core::alert::{self, About, Severity};
use almanack_core::edition::delivery::{self, Delivery};
use almanack_core::plan::State as ScheduleState;
use almanack_core::source::Attention;

use super::day::Day;
use crate::ui::prelude::*;

/// Items shown per group; a link leads to the rest.
pub(super) const SHOWN: usize = 8;
/// The class of an error; other items are only notices.
const BAD: Option<&str> = Some("bad");

/// All items, most urgent first.
pub(super) fn show(viewer: &Viewer, day: &Day) -> Markup {
    let groups: [fn(&Viewer, &Day) -> Vec<Markup>; 5] =
        [deliveries, watched, failures, parked, sources];
    let wants: Vec<Markup> = groups.iter().flat_map(|of| of(viewer, day)).collect();
    if wants.is_empty() {
        let none = "Nothing needs attention.";
        return empty(viewer.lang.pick(none, "没有需要处理的事项。"));
    }
    html! { ul class="wants" { @for want in &wants { (want) } } }
}

fn want(
    viewer: &Viewer,
    class: Option<&str>,
    sentence: impl Render,
    href: impl Render,
    since: impl Into<Option<Timestamp>>,
) -> Markup {
    let since: Option<Timestamp> = since.into();
    html! {
        li class=[class] {
            a href=(href) { (sentence) }
            @if let Some(since) = since { " " (viewer.distance(since)) }
        }
    }
}

/// How many items of a group are not shown, if any.
fn unseen(all: usize) -> Option<usize> {
    all.checked_sub(SHOWN).filter(|more| *more > 0)
}

/// Unconfirmed deliveries.
fn deliveries(viewer: &Viewer, day: &Day) -> Vec<Markup> {
    let all = day.editions.iter().flat_map(|account| {
        let unknown = |one: &&Delivery| one.state == delivery::State::Unknown;
        let unconfirmed = account.deliveries.iter().filter(unknown);
        unconfirmed.map(|one| (account.edition.id, one))
    });
    let wants = all.map(|(id, one)| {
        let to = &one.destination;
        let text = say!(viewer.lang; "Delivery of the edition of {id} to {to} is unconfirmed",
            "{id} 的日报是否送达 {to} 尚未确认");
        want(viewer, BAD, text, links::edition(id), one.updated_at)
    });
    wants.collect()
}

/// Open alerts. Those that the page finds by itself are left out: it shows more of them.
fn watched(viewer: &Viewer, day: &Day) -> Vec<Markup> {
    let shown: Vec<_> = day.alerts.iter().filter(|alert| is_shown(alert)).collect();
    let wants = shown.iter().take(SHOWN).map(|it| watch(viewer, it));
    let more = unseen(shown.len());
    let more = more.map(|more| say!(viewer.lang, "more alerts: {more}", "另有 {more} 条告警"));
    let more = more.map(|text| want(viewer, BAD, text, "/ui/activity", None));
    wants.chain(more).collect()
}

fn is_shown(alert: &alert::Alert) -> bool {
    use alert::Rule::{Budget, Clock, Failing, Gone, Late, Missing, Stuck};
    let is_source = matches!(alert.key.about, About::Source(_));
    let of_others = [Missing, Late, Stuck, Failing, Gone, Budget, Clock];
    let is_shown = alert.key.about.edition().is_some() || of_others.contains(&alert.key.rule);
    alert.is_open() && !is_source && is_shown
}

fn watch(viewer: &Viewer, alert: &alert::Alert) -> Markup {
    let lang = viewer.lang;
    let class = BAD.filter(|_| alert.severity == Severity::Critical);
    let sentence = html! { (alert.say(lang)) ": " (said(lang, &alert.detail)) };
    let href = match &alert.key.about {
        About::Schedule(name) => links::schedule(name),
        About::Source(id) => links::source(*id),
        About::Edition(edition) | About::Delivery { edition, .. } => links::edition(*edition),
        About::Kind(kind) => format!("/ui/tasks?kind={}", kind.as_str()),
        About::Calendar(_) => "/ui/schedules#calendars".to_owned(),
        About::Node(_) | About::Clock => "/ui/nodes".to_owned(),
        About::Fleet => "/ui/sources".to_owned(),
    };
    want(viewer, class, sentence, href, alert.opened_at)
}

/// Tasks out of retries within the window; the firings of a schedule in one line.
fn failures(viewer: &Viewer, day: &Day) -> Vec<Markup> {
    // Sources have their own items.
    let given_up = |task: &&TaskLine| {
        task.status == Status::Fail && !task.is_live() && !links::is_check(&task.identity)
    };
    let (fired, failed): (Vec<&TaskLine>, Vec<&TaskLine>) = day
        .finished
        .iter()
        .filter(given_up)
        .partition(|task| links::fired_schedule(&task.identity).is_some());
    let mut wants = firings(viewer, day, &fired);
    wants.extend(failed.iter().take(SHOWN).map(|task| failure(viewer, task)));
    wants.extend(unseen(failed.len()).map(|more| {
        let text = say!(
            viewer.lang,
            "more failed tasks: {more}",
            "另有 {more} 个失败任务"
        );
        want(viewer, BAD, text, links::tasks_in(Status::Fail), None)
    }));
    wants
}

fn failure(viewer: &Viewer, task: &TaskLine) -> Markup {
    let times = match task.attempt {
        1 => say!(viewer.lang, "failed after 1 attempt", "尝试 1 次后失败"),
        attempts => say!(viewer.lang; "failed after {attempts} attempts",
            "尝试 {attempts} 次后失败"),
    };
    let sentence = html! { (task.identity.subject) " " (times) };
    let href = task_path(&task.identity);
    want(viewer, BAD, sentence, href, task.finished_at)
}

/// Failed firings, one line per schedule, latest first: one that fails every minute must not hide
/// everything else.
fn firings(viewer: &Viewer, day: &Day, failed: &[&TaskLine]) -> Vec<Markup> {
    let text: BTreeSet<&ScheduleName> = day.alerts.iter().filter_map(failing_schedule).collect();
    let mut counts: BTreeMap<ScheduleName, (u32, Option<Timestamp>)> = BTreeMap::new();
    for task in failed {
        let name = links::fired_schedule(&task.identity);
        let name = name.and_then(|name| ScheduleName::parse(name).ok());
        if let Some(name) = name.filter(|name| !text.contains(name)) {
            let (count, latest) = counts.entry(name).or_default();
            *count += 1;
            *latest = task.finished_at.max(*latest);
        }
    }
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by_key(|(_, (_, latest))| std::cmp::Reverse(*latest));
    let wants = rows.iter().take(SHOWN).map(|(name, (count, latest))| {
        let sentence = firings_failed(viewer.lang, name, *count);
        want(viewer, BAD, sentence, links::schedule(name), *latest)
    });
    let more = unseen(rows.len()).map(|more| {
        let text = say!(viewer.lang; "more schedules with failed firings: {more}",
            "另有 {more} 个日程失败");
        want(viewer, BAD, text, links::tasks_in(Status::Fail), None)
    });
    wants.chain(more).collect()
}

fn firings_failed(lang: Lang, name: &ScheduleName, count: u32) -> String {
    match count {
        1 => say!(lang; "Schedule {name}: 1 failed firing",
            "日程 {name}：1 次触发失败"),
        _ => say!(lang; "Schedule {name}: {count} failed firings",
            "日程 {name}：{count} 次触发失败"),
    }
}

fn failing_schedule(alert: &alert::Alert) -> Option<&ScheduleName> {
    match (&alert.key.about, alert.key.rule) {
        (About::Schedule(name), alert::Rule::Failing) if alert.is_open() => Some(name),
        _ => None,
    }
}

/// Schedules that cannot be planned.
fn parked(viewer: &Viewer, day: &Day) -> Vec<Markup> {
    let lang = viewer.lang;
    let parked = day.parked.iter().filter_map(|schedule| {
        let ScheduleState::Parked { since, reason } = &schedule.state else {
            return None;
        };
        let name = &schedule.name;
        let text = say!(lang, "Schedule {name} is parked", "日程 {name} 已搁置");
        let sentence = html! { (text) ": " (said(lang, reason)) };
        let href = links::schedule(name);
        Some(want(viewer, BAD, sentence, href, *since))
    });
    parked.collect()
}

/// Sources that need attention.
fn sources(viewer: &Viewer, day: &Day) -> Vec<Markup> {
    let lang = viewer.lang;
    let wanting = day.wanting.iter().filter_map(|source| {
        let attention = source.attention?;
        let class = BAD.filter(|_| attention == Attention::Credentials);
        let sentence = html! { (source.definition.name) ": " (wanting(lang, attention)) };
        // The start of silence is known; the start of the others is not stored.
        let newest = source.stats.last_article_at;
        let since = newest.filter(|_| attention == Attention::Silent);
        let href = links::source(source.id);
        Some(want(viewer, class, sentence, href, since))
    });
    let all = lang.pick("All sources that need attention", "所有需要关注的信源");
    let all = want(viewer, None, all, "/ui/sources?attention=any", None);
    let more = (day.wanting.len() >= SHOWN).then_some(all);
    wanting.chain(more).collect()
}

fn wanting(lang: Lang, attention: Attention) -> &'static str {
    words! { lang, attention;
        Attention::Silent => "unusually quiet", "沉默时间超出惯常";
        Attention::Truncated => "has more entries than are read", "条目多于读取上限";
        Attention::Identity => "has unreliable ids", "标识不可靠";
        Attention::Failing => "keeps failing", "持续失败";
        Attention::Duplicate => "moved to the address of another source", "已迁移到另一信源的地址";
        Attention::Credentials => "needs credentials", "需要凭据";
        Attention::Gone => "is gone for good", "已永久消失";
    }
}
