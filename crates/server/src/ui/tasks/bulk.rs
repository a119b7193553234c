//! Bulk actions: cancel, retry, reschedule.
//!
//! The tasks are the selected ones, or all that match a filter. A page asks first, with the count
//! and the first few; exactly that is done: a filter is limited to the rows that existed then and
//! to the confirmed number, so a user who confirms thirteen does not lose fourteen. Each task is
//! handled separately, and the results are counted by rule.

mod chosen;
mod result;
mod shift;

use std::collections::BTreeMap;

use almanack_core::reschedule::{Cancel, Put, Request};

use self::chosen::{Chosen, Pick};
use self::shift::Shift;
use super::{change, changes, filter::Filter, link, words};
use crate::idempotency::count;
use crate::ui::prelude::*;

pub(crate) use result::{Done, notice};

/// Most tasks at a time: few enough to finish while a browser waits.
pub(crate) const MOST: usize = 1_000;
const HERE: &str = "/ui/tasks/bulk";
/// How many are listed by name.
const NAMED: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Act {
    Cancel,
    Retry,
    Move,
}

impl Act {
    const ALL: [Self; 3] = [Self::Cancel, Self::Retry, Self::Move];

    fn as_str(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Retry => "retry",
            Self::Move => "move",
        }
    }

    fn name(self, lang: Lang) -> &'static str {
        words! { lang, self;
            Self::Cancel => "Cancel", "取消";
            Self::Retry => "Retry now", "立即重试";
            Self::Move => "Reschedule", "改期";
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    act: Act,
    #[serde(default)]
    id: Vec<i64>,
    all: Option<String>,
    #[serde(flatten)]
    filter: Filter,
    /// The newest row at the time of the question.
    newest: Option<i64>,
    /// The confirmed number.
    count: Option<usize>,
    #[serde(flatten)]
    shift: shift::Fields,
}

/// The action as a heading.
fn title(lang: Lang, act: Act, n: usize) -> String {
    match (act, n) {
        (Act::Cancel, 1) => say!(lang, "Cancel 1 task", "取消 1 个任务"),
        (Act::Cancel, n) => say!(lang, "Cancel {n} tasks", "取消 {n} 个任务"),
        (Act::Retry, 1) => say!(lang, "Retry 1 task now", "立即重试 1 个任务"),
        (Act::Retry, n) => say!(lang, "Retry {n} tasks now", "立即重试 {n} 个任务"),
        (Act::Move, 1) => say!(lang, "Reschedule 1 task", "为 1 个任务改期"),
        (Act::Move, n) => say!(lang, "Reschedule {n} tasks", "为 {n} 个任务改期"),
    }
}

/// What would happen, by the current status of the tasks.
fn sentence(lang: Lang, asked: &Asked, chosen: &Chosen) -> Markup {
    let what = words! { lang, asked.act;
        Act::Cancel =>
            "Cancels these tasks. Done tasks are unchanged; calls already sent are not recalled.",
            "将取消这些任务。已成功的不受影响；已经发出的调用不会撤回。";
        Act::Retry =>
            "Runs these tasks now with their current payload. Done tasks are unchanged; running tasks are cancelled and started again.",
            "将立即用现有载荷重试这些任务。已成功的不受影响；正在运行的会被取消并重新开始。";
        Act::Move =>
            "Changes the time of these tasks. Done tasks are unchanged; running tasks are cancelled and replaced; cancelled tasks are created again.",
            "将更改这些任务的时间。已成功的不受影响；正在运行的会被取消并由新任务接替；已取消的会重新创建。";
    };
    let rest = chosen.matching.saturating_sub(chosen.picks.len());
    html! {
        (what) " " (standing(lang, &chosen.picks))
        @if rest > 0 {
            " " (say!(lang; "Matching tasks left for the next time: {rest}.",
                "另有 {rest} 个符合条件，留待下次处理。"))
        }
    }
}

/// Counts by status: `12 waiting, 1 running`.
fn standing(lang: Lang, picks: &[Pick]) -> String {
    let mut counts: BTreeMap<Status, usize> = BTreeMap::new();
    for pick in picks {
        *counts.entry(pick.status).or_default() += 1;
    }
    let parts_shown: Vec<String> = counts
        .into_iter()
        .map(|(status, n)| format!("{n} {}", words::status(lang, status).to_lowercase()))
        .collect();
    let (parts_shown, end) = (
        parts_shown.join(lang.pick(", ", "，")),
        lang.pick(".", "。"),
    );
    say!(lang, "Now: {parts_shown}{end}", "目前：{parts_shown}{end}")
}

/// The first of them by name, and how many more.
fn first_few(viewer: &Viewer, chosen: &Chosen) -> Markup {
    let more = chosen.picks.len().saturating_sub(NAMED);
    html! {
        ul {
            @for pick in chosen.picks.iter().take(NAMED) {
                li { (link(&pick.identity)) " (" (pick.identity.kind) "), "
                    (parts::status(viewer.lang, pick.status, pick.live)) ", " (viewer.at(pick.execute_at)) }
            }
            @if more > 0 { li { (say!(viewer.lang, "and {more} more", "以及另外 {more} 个")) } }
        }
    }
}

/// The list, with its bulk actions.
pub(crate) fn offer(viewer: &Viewer, filter: &Filter, matching: u64, table: &Markup) -> Markup {
    let lang = viewer.lang;
    let most = u64::try_from(MOST).unwrap_or(u64::MAX);
    let all = if matching > most {
        say!(lang; "Newest {most} of {matching} matching tasks:",
            "符合条件的 {matching} 个中最新的 {most} 个：")
    } else {
        say!(lang; "All matching tasks ({matching}):", "全部符合条件的任务（{matching} 个）：")
    };
    html! {
        form method="get" action=(HERE) class="stack" {
            (hidden(pairs(filter)))
            (table)
            p class="acts bar" {
                span { (lang.pick("Selected tasks:", "所选任务：")) }
                @for act in Act::ALL {
                    button type="submit" name="act" value=(act.as_str()) { (act.name(lang)) "…" }
                }
            }
        }
        p { a href=(changes::PATH) { (lang.pick("Bulk changes by command and API", "命令行和 API 的批量更改")) } }
        p class="acts" {
            span { (all) }
            @for act in Act::ALL {
                a class="button" href=(filter.address(HERE, &[("act", act.as_str()), ("all", "1")]))
                    aria-label={ (act.name(lang)) ": " (all) } { (act.name(lang)) "…" }
            }
        }
    }
}

pub(crate) async fn ask(Sought(state, viewer, asked): Sought<Asked>) -> Answer {
    let chosen = Chosen::load(&state, &viewer, &asked).await?;
    let back = asked.filter.address(Place::Tasks.path(), &[]);
    let Some(first) = chosen.picks.first() else {
        return Ok(nothing_chosen(&viewer, &back).into_response());
    };
    let title = title(viewer.lang, asked.act, chosen.changing(asked.act));
    if asked.act == Act::Move {
        return Ok(shift::ask(&viewer, &asked, &chosen, &title).into_response());
    }
    let question = Question {
        title: &title,
        sentence: sentence(viewer.lang, &asked, &chosen),
        fields: html! { (hidden(chosen.fields(asked.act))) (first_few(&viewer, &chosen)) },
        button: &title,
        back: &back,
        equivalent: match asked.act {
            Act::Cancel => change::cancelling(&first.identity),
            Act::Retry | Act::Move => change::retrying(&first.identity),
        },
    };
    Ok(form::ask(&viewer, Place::Tasks, &question).into_response())
}

fn nothing_chosen(viewer: &Viewer, back: &str) -> Markup {
    let lang = viewer.lang;
    let body = html! {
        p { (lang.pick("No task selected: tick some, or change the filter.", "没有选择任务：请勾选任务，或更改筛选条件。")) }
        p { a class="button" href=(back) { (lang.pick("Back to the list", "返回列表")) } }
    };
    let title = lang.pick("No task selected", "未选择任务");
    page(viewer, Place::Tasks, title, &body)
}

pub(crate) async fn act(Filled(state, viewer, asked): Filled<Asked>) -> Answer {
    let chosen = Chosen::load(&state, &viewer, &asked).await?;
    let now = state.clock.now();
    let shift = match asked.act {
        Act::Move => Some(asked.shift.settled()?),
        Act::Cancel | Act::Retry => None,
    };
    let request = |pick: Pick| request(asked.act, pick, shift, now);
    let requests: Vec<Request> = chosen.picks.into_iter().map(request).collect();
    let answers = state
        .rescheduler
        .ask_all(requests, &viewer.origin())
        .await?;
    let receipts: Vec<_> = answers.into_iter().map(std::result::Result::ok).collect();
    receipts.iter().flatten().for_each(count);
    let text = result::report(asked.act, &receipts);
    let seal = form::seal(&viewer, &text);
    let further = [("counts", text.as_str()), ("seal", &seal)];
    Ok(see(&asked.filter.address(Place::Tasks.path(), &further)))
}

fn request(act: Act, pick: Pick, shift: Option<Shift>, now: Timestamp) -> Request {
    let (identity, revision) = (pick.identity, None);
    match (act, shift) {
        (Act::Cancel, _) => Request::Cancel(Cancel { identity, revision }),
        (Act::Move, Some(shift)) => Request::Put(Put::at(identity, shift.apply(pick.execute_at))),
        (Act::Retry | Act::Move, _) => Request::Put(Put::at(identity, now)),
    }
}

fn unclear(detail: &'static str) -> Problem {
    Problem::new(Code::InvalidValue, detail)
}
