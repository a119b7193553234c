//! What needs attention: what Almanack will not or cannot settle by itself.

use std::collections::{BTreeMap, BTreeSet};

use almanack_core::alert::{self, About, Severity};
use almanack_core::edition::delivery::{self, Delivery};
use almanack_core::plan::{ScheduleName, State as ScheduleState};
use almanack_core::{source::Attention, store::TaskLine, task::Status};

use super::day::Day;
use crate::ui::prelude::*;

/// Items shown per group; a link leads to the rest.
pub(super) const SHOWN: usize = 8;

struct Want {
    /// An error, or only a notice.
    bad: bool,
    sentence: Markup,
    href: String,
    since: Option<Timestamp>,
}

impl Want {
    fn bad(sentence: Markup, href: String, since: Option<Timestamp>) -> Self {
        let bad = true;
        Self {
            bad,
            sentence,
            href,
            since,
        }
    }
}

/// All items, most urgent first.
pub(super) fn show(viewer: &Viewer, day: &Day) -> Markup {
    let lang = viewer.lang;
    let mut wants = deliveries(lang, day);
    wants.extend(watched(lang, day));
    wants.extend(failures(lang, day));
    wants.extend(parked(lang, day));
    wants.extend(sources(lang, day));
    if wants.is_empty() {
        return parts::empty(lang.pick("Nothing needs attention.", "没有需要处理的事项。"));
    }
    html! {
        ul class="wants" {
            @for want in &wants {
                li class=[want.bad.then_some("bad")] {
                    a href=(want.href) { (want.sentence) }
                    @if let Some(since) = want.since { " " (viewer.distance(since)) }
                }
            }
        }
    }
}

/// Unconfirmed deliveries.
fn deliveries(lang: Lang, day: &Day) -> Vec<Want> {
    let all = day.editions.iter().flat_map(|account| {
        let unknown = |one: &&Delivery| one.state == delivery::State::Unknown;
        account
            .deliveries
            .iter()
            .filter(unknown)
            .map(|one| (account.edition.date, one))
    });
    let wants = all.map(|(date, one)| {
        let to = &one.destination;
        let text = say!(lang; "Delivery of the edition of {date} to {to} is unconfirmed",
            "{date} 的日报是否送达 {to} 尚未确认");
        Want::bad(html! { (text) }, links::edition(date), Some(one.updated_at))
    });
    wants.collect()
}

/// A link to the items that are not shown.
fn more(wants: &mut Vec<Want>, sentence: Option<String>, href: &str) {
    let more = sentence.map(|text| Want::bad(html! { (text) }, href.to_owned(), None));
    wants.extend(more);
}

/// How many are not shown, if any.
fn hidden(all: usize) -> Option<usize> {
    all.checked_sub(SHOWN).filter(|more| *more > 0)
}

/// Open alerts. Those that the page finds by itself are left out: it shows more of them.
fn watched(lang: Lang, day: &Day) -> Vec<Want> {
    let shown: Vec<_> = day.alerts.iter().filter(|alert| is_shown(alert)).collect();
    let mut wants: Vec<Want> = shown.iter().take(SHOWN).map(|it| watch(lang, it)).collect();
    let text =
        hidden(shown.len()).map(|more| say!(lang, "more alerts: {more}", "另有 {more} 条告警"));
    more(&mut wants, text, "/ui/activity");
    wants
}

fn is_shown(alert: &alert::Alert) -> bool {
    use alert::Rule::{Budget, Clock, Failing, Gone, Late, Missing, Stuck};
    let is_source = matches!(alert.key.about, About::Source(_));
    let of_others = [Missing, Late, Stuck, Failing, Gone, Budget, Clock];
    let is_shown = alert.key.about.edition().is_some() || of_others.contains(&alert.key.rule);
    alert.is_open() && !is_source && is_shown
}

fn watch(lang: Lang, alert: &alert::Alert) -> Want {
    Want {
        bad: alert.severity == Severity::Critical,
        sentence: html! { (lang.alert(alert)) ": " (lang.english(&alert.detail)) },
        href: match &alert.key.about {
            About::Schedule(name) => links::schedule(name),
            About::Source(id) => links::source(*id),
            About::Edition(date) | About::Delivery { date, .. } => links::edition(*date),
            About::Kind(kind) => format!("/ui/tasks?kind={}", kind.as_str()),
            About::Node(_) | About::Clock => "/ui/nodes".to_owned(),
            About::Fleet => "/ui/sources".to_owned(),
        },
        since: Some(alert.opened_at),
    }
}

/// Tasks out of retries within the window; the firings of a schedule in one line.
fn failures(lang: Lang, day: &Day) -> Vec<Want> {
    // Sources have their own items.
    let given_up = |task: &&TaskLine| {
        task.status == Status::Fail && !task.is_live() && !links::is_check(&task.identity)
    };
    let (fired, failed): (Vec<&TaskLine>, Vec<&TaskLine>) = day
        .finished
        .iter()
        .filter(given_up)
        .partition(|task| links::fired_schedule(&task.identity).is_some());
    let mut wants = firings(lang, day, &fired);
    wants.extend(failed.iter().take(SHOWN).map(|task| failure(lang, task)));
    let text = hidden(failed.len())
        .map(|more| say!(lang, "more failed tasks: {more}", "另有 {more} 个失败任务"));
    more(&mut wants, text, &links::tasks_in(Status::Fail));
    wants
}

fn failure(lang: Lang, task: &TaskLine) -> Want {
    let times = match task.attempt {
        1 => say!(lang, "failed after 1 attempt", "尝试 1 次后失败"),
        attempts => say!(lang; "failed after {attempts} attempts",
            "尝试 {attempts} 次后失败"),
    };
    let sentence = html! { (task.identity.subject) " " (times) };
    Want::bad(sentence, task_path(&task.identity), task.finished_at)
}

/// Failed firings, one line per schedule, latest first: one that fails every minute must not hide
/// everything else.
fn firings(lang: Lang, day: &Day, failed: &[&TaskLine]) -> Vec<Want> {
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
    let shown = rows.iter().take(SHOWN).map(|(name, (count, latest))| {
        let sentence = html! { (firings_failed(lang, name, *count)) };
        Want::bad(sentence, links::schedule(name), *latest)
    });
    let mut wants: Vec<Want> = shown.collect();
    let text = hidden(rows.len()).map(|more| {
        say!(
            lang,
            "more schedules with failed firings: {more}",
            "另有 {more} 个日程失败"
        )
    });
    more(&mut wants, text, &links::tasks_in(Status::Fail));
    wants
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
fn parked(lang: Lang, day: &Day) -> Vec<Want> {
    let parked = day.parked.iter().filter_map(|schedule| {
        let ScheduleState::Parked { since, reason } = &schedule.state else {
            return None;
        };
        let name = &schedule.name;
        let text = say!(lang, "Schedule {name} is parked", "日程 {name} 已搁置");
        let sentence = html! { (text) ": " (lang.english(reason)) };
        Some(Want::bad(sentence, links::schedule(name), Some(*since)))
    });
    parked.collect()
}

/// Sources that need attention.
fn sources(lang: Lang, day: &Day) -> Vec<Want> {
    let wanting = day.wanting.iter().filter_map(|source| {
        let attention = source.attention?;
        // The start of silence is known; the start of the others is not stored.
        let newest = source.stats.last_article_at;
        Some(Want {
            bad: attention == Attention::Credentials,
            sentence: html! { (source.definition.name) ": " (wanting(lang, attention)) },
            href: links::source(source.id),
            since: newest.filter(|_| attention == Attention::Silent),
        })
    });
    let mut wants: Vec<Want> = wanting.collect();
    if day.wanting.len() >= SHOWN {
        wants.push(Want {
            bad: false,
            sentence: html! { (lang.pick("All sources that need attention", "所有需要关注的信源")) },
            href: "/ui/sources?attention=any".to_owned(),
            since: None,
        });
    }
    wants
}

fn wanting(lang: Lang, attention: Attention) -> &'static str {
    words! { lang, attention;
        Attention::Silent => "unusually quiet", "沉默时间超出惯常";
        Attention::Failing => "keeps failing", "持续失败";
        Attention::Duplicate => "moved to the address of another source", "已迁移到另一信源的地址";
        Attention::Credentials => "needs credentials", "需要凭据";
    }
}
