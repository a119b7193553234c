//! What needs a person: what Almanack will not or cannot settle by itself.

use std::collections::{BTreeMap, BTreeSet};

use almanack_core::{
    alert::{self, About, Severity, words},
    edition::{alert::Rule, delivery},
    plan::{ScheduleName, State as ScheduleState},
    source::Attention,
    store::TaskLine,
    task::Status,
};
use jiff::Timestamp;
use maud::{Markup, html};

use super::day::Day;
use crate::ui::{
    lang::{Lang, say},
    links, parts,
    viewer::Viewer,
};

/// Of each sort, so many are named; a link leads to the rest.
pub(super) const SHOWN: usize = 8;

/// Something that waits for somebody.
struct Want {
    /// Whether something is broken, not only to be looked at.
    bad: bool,
    sentence: Markup,
    href: String,
    since: Option<Timestamp>,
}

/// All of it, most urgent first.
pub(super) fn show(viewer: &Viewer, day: &Day) -> Markup {
    let lang = viewer.lang;
    let mut wants = deliveries(lang, day);
    wants.extend(alerts(lang, day));
    wants.extend(watched(lang, day));
    wants.extend(failures(lang, day));
    wants.extend(parked(lang, day));
    wants.extend(sources(lang, day));
    if wants.is_empty() {
        return parts::empty(lang.pick("Nothing. All is well.", "没有。一切正常。"));
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

/// Deliveries of which nobody knows whether they arrived.
fn deliveries(lang: Lang, day: &Day) -> Vec<Want> {
    let mut wants = Vec::new();
    for account in &day.editions {
        let date = account.edition.date;
        for delivery in &account.deliveries {
            if delivery.state != delivery::State::Unknown {
                continue;
            }
            let to = &delivery.destination;
            wants.push(Want {
                bad: true,
                sentence: html! { (say!(lang,
                "Nobody knows whether the edition of {date} arrived at {to}",
                "{date} 的日报是否已送达 {to}，无法确认")) },
                href: links::edition(date),
                since: Some(delivery.updated_at),
            });
        }
    }
    wants
}

/// What is wrong with editions and lasts.
fn alerts(lang: Lang, day: &Day) -> Vec<Want> {
    let mut wants = Vec::new();
    for account in &day.editions {
        let date = account.edition.date;
        for alert in account
            .alerts
            .iter()
            .filter(|alert| alert.closed_at.is_none())
        {
            let what = match &alert.rule {
                Rule::Overdue => say!(lang, "The edition of {date} is late", "{date} 的日报已延误"),
                Rule::Unfinished => say!(
                    lang,
                    "The edition of {date} was never finished",
                    "{date} 的日报未完成"
                ),
                Rule::Empty => say!(
                    lang,
                    "The edition of {date} has no story",
                    "{date} 的日报没有文章"
                ),
                Rule::Spendthrift => say!(
                    lang,
                    "A batch of {date} spent too many requests",
                    "{date} 有批次请求超支"
                ),
                Rule::Destination(to) => say!(
                    lang,
                    "{to} does not take the edition of {date}",
                    "{to} 拒收 {date} 的日报"
                ),
            };
            wants.push(Want {
                bad: true,
                sentence: html! { (what) ": " (lang.english(&alert.detail)) },
                href: links::edition(date),
                since: Some(alert.opened_at),
            });
        }
    }
    wants
}

/// What the watch found and lasts. What the page finds by itself is left out: it names more of it.
fn watched(lang: Lang, day: &Day) -> Vec<Want> {
    let shown = day.alerts.iter().filter(|alert| is_shown(alert));
    let mut wants: Vec<Want> = shown
        .clone()
        .take(SHOWN)
        .map(|it| watch(lang, it))
        .collect();
    let more = shown.count().saturating_sub(SHOWN);
    if more > 0 {
        wants.push(Want {
            bad: true,
            sentence: html! { (say!(lang, "and {more} more alerts", "另有 {more} 条告警")) },
            href: "/ui/activity".to_owned(),
            since: None,
        });
    }
    wants
}

fn is_shown(alert: &alert::Alert) -> bool {
    use alert::Rule::{Budget, Clock, Failing, Gone, Late, Missing, Stuck};
    let is_source = matches!(alert.key.about, About::Source(_));
    let of_others = [Missing, Late, Stuck, Failing, Gone, Budget, Clock];
    alert.is_open() && !is_source && of_others.contains(&alert.key.rule)
}

fn watch(lang: Lang, alert: &alert::Alert) -> Want {
    let what = match lang {
        Lang::English => words::english(alert),
        Lang::Chinese => words::chinese(alert),
    };
    Want {
        bad: alert.severity == Severity::Critical,
        sentence: html! { (what) ": " (lang.english(&alert.detail)) },
        href: match &alert.key.about {
            About::Schedule(name) => links::schedule(name),
            About::Source(id) => links::source(*id),
            About::Delivery { date, .. } => links::edition(*date),
            About::Kind(kind) => format!("/ui/tasks?kind={}", kind.as_str()),
            About::Node(_) | About::Clock => "/ui/nodes".to_owned(),
            About::Fleet => "/ui/sources".to_owned(),
        },
        since: Some(alert.opened_at),
    }
}

/// Tasks that ran out of retries within the window; the firings of a schedule in one line.
fn failures(lang: Lang, day: &Day) -> Vec<Want> {
    // What a source wants, it says itself.
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
    let more = failed.len().saturating_sub(SHOWN);
    if more > 0 {
        wants.push(Want {
            bad: true,
            sentence: html! { (say!(lang, "and {more} more failed tasks", "另有 {more} 个失败任务")) },
            href: links::tasks_in(Status::Fail),
            since: None,
        });
    }
    wants
}

fn failure(lang: Lang, task: &TaskLine) -> Want {
    let (subject, attempts) = (&task.identity.subject, task.attempt);
    let times = match attempts {
        1 => say!(
            lang,
            "failed for good at its first attempt",
            "首次尝试即最终失败"
        ),
        _ => say!(
            lang,
            "failed for good after {attempts} attempts",
            "尝试 {attempts} 次后最终失败"
        ),
    };
    Want {
        bad: true,
        sentence: html! { (subject) " " (times) },
        href: links::task_path(&task.identity),
        since: task.finished_at,
    }
}

/// Failed firings, a line for each schedule, latest first: one that fails every minute must not hide everything else.
fn firings(lang: Lang, day: &Day, failed: &[&TaskLine]) -> Vec<Want> {
    let told: BTreeSet<&ScheduleName> = day.alerts.iter().filter_map(failing_schedule).collect();
    let mut counts: BTreeMap<ScheduleName, (u32, Option<Timestamp>)> = BTreeMap::new();
    for task in failed {
        let name =
            links::fired_schedule(&task.identity).and_then(|it| ScheduleName::parse(it).ok());
        let Some(name) = name.filter(|name| !told.contains(name)) else {
            continue;
        };
        let (count, latest) = counts.entry(name).or_default();
        *count += 1;
        *latest = task.finished_at.max(*latest);
    }
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by_key(|(_, (_, latest))| std::cmp::Reverse(*latest));
    let more = rows.len().saturating_sub(SHOWN);
    let mut wants: Vec<Want> = rows
        .into_iter()
        .take(SHOWN)
        .map(|(name, (count, latest))| Want {
            bad: true,
            sentence: html! { (firings_failed(lang, &name, count)) },
            href: links::schedule(&name),
            since: latest,
        })
        .collect();
    if more > 0 {
        wants.push(Want {
            bad: true,
            sentence: html! { (say!(lang, "and {more} more schedules failed", "另有 {more} 个日程失败")) },
            href: links::tasks_in(Status::Fail),
            since: None,
        });
    }
    wants
}

fn firings_failed(lang: Lang, name: &ScheduleName, count: u32) -> std::borrow::Cow<'static, str> {
    match count {
        1 => say!(
            lang,
            "A firing of schedule {name} failed for good",
            "日程 {name} 有 1 次触发最终失败"
        ),
        _ => say!(
            lang,
            "{count} firings of schedule {name} failed for good",
            "日程 {name} 有 {count} 次触发最终失败"
        ),
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
        let told = say!(lang, "Schedule {name} is parked", "日程 {name} 已搁置");
        Some(Want {
            bad: true,
            sentence: html! { (told) ": " (lang.english(reason)) },
            href: links::schedule(name),
            since: Some(*since),
        })
    });
    parked.collect()
}

/// Sources that want attention.
fn sources(lang: Lang, day: &Day) -> Vec<Want> {
    let mut wants: Vec<Want> = day
        .wanting
        .iter()
        .filter_map(|source| {
            let attention = source.attention?;
            let name = source.definition.name.as_str();
            Some(Want {
                bad: attention == Attention::Credentials,
                sentence: html! { (name) ": " (wanting(lang, attention)) },
                href: links::source(source.id),
                // Since when it is silent can be told; when the others began is not kept.
                since: source
                    .stats
                    .last_article_at
                    .filter(|_| attention == Attention::Silent),
            })
        })
        .collect();
    if day.wanting.len() >= SHOWN {
        wants.push(Want {
            bad: false,
            sentence: html! { (lang.pick("All sources that want attention", "所有需要关注的信源")) },
            href: "/ui/sources?attention=any".to_owned(),
            since: None,
        });
    }
    wants
}

/// What a source wants.
fn wanting(lang: Lang, attention: Attention) -> &'static str {
    match attention {
        Attention::Silent => lang.pick("silent for longer than is its habit", "沉默时间超出惯常"),
        Attention::Failing => lang.pick("fails again and again", "持续失败"),
        Attention::Duplicate => lang.pick(
            "moved to the address of another source",
            "已迁移到另一信源的地址",
        ),
        Attention::Credentials => lang.pick("wants credentials", "需要凭据"),
    }
}
