//! What needs a person: what Almanack will not or cannot settle by itself.

use almanack_core::{
    edition::{alert::Rule, delivery},
    plan::State as ScheduleState,
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

/// Tasks that ran out of retries within the window.
fn failures(lang: Lang, day: &Day) -> Vec<Want> {
    // What a source wants, it says itself.
    let given_up = |task: &&TaskLine| {
        task.status == Status::Fail && !task.is_live() && !links::is_check(&task.identity)
    };
    let failed: Vec<_> = day.finished.iter().filter(given_up).collect();
    let mut wants: Vec<Want> = failed
        .iter()
        .take(SHOWN)
        .map(|task| {
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
        })
        .collect();
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
