//! Many tasks at once: cancel, try again, move.
//!
//! The tasks are those that were ticked, or all that a filter matches. A page asks first, with the count and the first few; what it
//! asked about is what is done: a filter is kept to the rows that existed then and to the number that was named, so nobody
//! agrees to thirteen and loses fourteen. Each task is carried out for itself by the rules, and the counts are told by rule.

mod chosen;
mod shift;
mod told;

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    reschedule::{Cancel, Put, Request},
    task::{Identity, Status},
};
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use jiff::Timestamp;
use maud::{Markup, html};
use serde::Deserialize;

use self::{
    chosen::{Chosen, Pick},
    shift::Shift,
};
use super::{change, filter::Filter, link, words};
use crate::{
    AppState,
    idempotency::count,
    problem::{Code, Problem},
    ui::{
        equivalent::Equivalent,
        form::{self, Filled, Question, see},
        lang::{Lang, say},
        page::{Place, page},
        parts,
        query::Sought,
        viewer::Viewer,
    },
};

pub(crate) use told::{Done, notice};

/// Most tasks at a time: few enough to be done while a browser waits.
pub(crate) const MOST: usize = 1_000;
/// How many are named before they are only counted.
const NAMED: usize = 10;

/// What is done to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Act {
    /// Withdraw.
    Cancel,
    /// Try now.
    Retry,
    /// To another time.
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
        match self {
            Self::Cancel => lang.pick("Cancel", "取消"),
            Self::Retry => lang.pick("Try now", "立即重试"),
            Self::Move => lang.pick("Move", "改期"),
        }
    }
}

/// What a page or a form says.
#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    act: Act,
    #[serde(default)]
    id: Vec<i64>,
    all: Option<String>,
    kind: Option<String>,
    status: Option<String>,
    q: Option<String>,
    said: Option<String>,
    /// The newest row there was when it was asked.
    newest: Option<i64>,
    /// How many were named.
    count: Option<usize>,
    #[serde(flatten)]
    shift: shift::Fields,
}

impl Asked {
    fn filter(&self) -> Filter {
        Filter {
            kind: self.kind.clone(),
            status: self.status.clone(),
            q: self.q.clone(),
            said: self.said.clone(),
        }
    }
}

/// The list, with what may be done to its tasks.
pub(crate) fn offer(viewer: &Viewer, filter: &Filter, matching: u64, table: &Markup) -> Markup {
    let lang = viewer.lang;
    let most = u64::try_from(MOST).unwrap_or(u64::MAX);
    let all = if matching > most {
        say!(
            lang,
            "The newest {most} of the {matching} that match:",
            "符合条件的 {matching} 个中最新的 {most} 个："
        )
    } else {
        say!(
            lang,
            "All {matching} that match:",
            "全部 {matching} 个符合条件的："
        )
    };
    html! {
        form method="get" action="/ui/tasks/bulk" class="stack" {
            @for (name, value) in filter.pairs() { input type="hidden" name=(name) value=(value); }
            (table)
            p class="acts" {
                span { (lang.pick("The ticked ones:", "勾选的任务：")) }
                @for act in Act::ALL {
                    button type="submit" name="act" value=(act.as_str()) { (act.name(lang)) "…" }
                }
            }
        }
        p class="acts" {
            span { (all) }
            @for act in Act::ALL {
                a class="button" href=(filter.address("/ui/tasks/bulk", &[("act", act.as_str()), ("all", "1")]))
                    aria-label={ (act.name(lang)) ": " (all) } { (act.name(lang)) "…" }
            }
        }
    }
}

/// Asks.
pub(crate) async fn ask(
    State(state): State<Arc<AppState>>,
    viewer: Viewer,
    Sought(asked): Sought<Asked>,
) -> Result<Response, Problem> {
    let chosen = Chosen::load(&state, &asked).await?;
    let back = asked.filter().address(Place::Tasks.path(), &[]);
    if chosen.picks.is_empty() {
        return Ok(nothing_chosen(&viewer, &back).into_response());
    }
    let title = title(viewer.lang, asked.act, chosen.picks.len());
    if asked.act == Act::Move {
        return Ok(shift::ask(&viewer, &asked, &chosen, &title).into_response());
    }
    let question = Question {
        title: &title,
        sentence: sentence(viewer.lang, &asked, &chosen),
        action: "/ui/tasks/bulk",
        fields: &chosen.fields(asked.act),
        body: first_few(&viewer, &chosen),
        button: &title,
        back: &back,
        equivalent: chosen
            .picks
            .first()
            .map(|pick| each(asked.act, &pick.identity)),
    };
    Ok(form::ask(&viewer, Place::Tasks, &question).into_response())
}

/// The same for one of them, by command; commands take tasks one by one.
fn each(act: Act, identity: &Identity) -> Equivalent {
    match act {
        Act::Cancel => change::cancelling(identity),
        Act::Retry | Act::Move => change::retrying(identity),
    }
}

fn nothing_chosen(viewer: &Viewer, back: &str) -> Markup {
    let lang = viewer.lang;
    let body = html! {
        p { (lang.pick("No task was chosen: tick some, or change the filter.", "没有选择任务：请勾选任务，或更改筛选条件。")) }
        p { a class="button" href=(back) { (lang.pick("Back to the list", "返回列表")) } }
    };
    let title = lang.pick("Nothing chosen", "未选择任务");
    page(viewer, Place::Tasks, title, &body)
}

fn title(lang: Lang, act: Act, n: usize) -> String {
    let told = match (act, n) {
        (Act::Cancel, 1) => say!(lang, "Cancel 1 task", "取消 1 个任务"),
        (Act::Cancel, n) => say!(lang, "Cancel {n} tasks", "取消 {n} 个任务"),
        (Act::Retry, 1) => say!(lang, "Try 1 task now", "立即重试 1 个任务"),
        (Act::Retry, n) => say!(lang, "Try {n} tasks now", "立即重试 {n} 个任务"),
        (Act::Move, 1) => say!(lang, "Move 1 task", "为 1 个任务改期"),
        (Act::Move, n) => say!(lang, "Move {n} tasks", "为 {n} 个任务改期"),
    };
    told.into_owned()
}

/// What would happen, by how the tasks stand now.
fn sentence(lang: Lang, asked: &Asked, chosen: &Chosen) -> Markup {
    let what = match asked.act {
        Act::Cancel => lang.pick(
            "They would be cancelled. What is done stays done; a call already on its way is not recalled.",
            "这些任务将被取消。已成功的不受影响；已经发出的调用不会撤回。",
        ),
        Act::Retry => lang.pick(
            "They would be tried now, with the payload they have. What is done stays done; what runs is cancelled and tried anew.",
            "这些任务将立即以原有内容重试。已成功的不受影响；正在运行的会被取消并重新尝试。",
        ),
        Act::Move => lang.pick(
            "Their time would change. What is done stays done; what runs is cancelled and put anew; what was cancelled is put again.",
            "这些任务将改期。已成功的不受影响；正在运行的会被取消并重新插入；已取消的会重新插入。",
        ),
    };
    let rest = chosen.matching.saturating_sub(chosen.picks.len());
    html! {
        (what) " " (standing(lang, &chosen.picks))
        @if rest > 0 {
            " " (say!(lang, "{rest} more match; they are left for the next time.", "另有 {rest} 个符合条件，留待下次处理。"))
        }
    }
}

/// How they stand: `12 waiting, 1 running`.
fn standing(lang: Lang, picks: &[Pick]) -> String {
    let mut counts: BTreeMap<Status, usize> = BTreeMap::new();
    for pick in picks {
        *counts.entry(pick.status).or_default() += 1;
    }
    let told: Vec<String> = counts
        .into_iter()
        .map(|(status, n)| format!("{n} {}", words::status(lang, status)))
        .collect();
    let (told, end) = (told.join(lang.pick(", ", "，")), lang.pick(".", "。"));
    say!(lang, "Now: {told}{end}", "目前：{told}{end}").into_owned()
}

fn first_few(viewer: &Viewer, chosen: &Chosen) -> Markup {
    let lang = viewer.lang;
    let more = chosen.picks.len().saturating_sub(NAMED);
    html! {
        ul {
            @for pick in chosen.picks.iter().take(NAMED) {
                li { (link(&pick.identity)) " (" (pick.identity.kind) "), "
                    (parts::status(lang, pick.status, pick.live)) ", " (viewer.at(pick.execute_at)) }
            }
            @if more > 0 { li { (say!(lang, "and {more} more", "以及另外 {more} 个")) } }
        }
    }
}

/// Does it.
pub(crate) async fn act(
    State(state): State<Arc<AppState>>,
    filled: Filled<Asked>,
) -> Result<Response, Problem> {
    let (viewer, asked) = (filled.viewer, filled.form);
    let chosen = Chosen::load(&state, &asked).await?;
    let now = state.clock.now();
    let shift = match asked.act {
        Act::Move => Some(asked.shift.settled()?),
        Act::Cancel | Act::Retry => None,
    };
    let wish = |pick: Pick| wish(asked.act, pick, shift, now);
    let wishes: Vec<Request> = chosen.picks.into_iter().map(wish).collect();
    let answers = state.rescheduler.ask_all(wishes, &viewer.origin()).await?;
    let receipts: Vec<_> = answers.into_iter().map(Result::ok).collect();
    receipts.iter().flatten().for_each(count);
    let told = told::tell(asked.act, &receipts);
    let seal = form::seal(&viewer, &told);
    let list = asked.filter();
    Ok(see(&list.address(
        Place::Tasks.path(),
        &[("told", &told), ("seal", &seal)],
    )))
}

fn wish(act: Act, pick: Pick, shift: Option<Shift>, now: Timestamp) -> Request {
    let Pick {
        identity,
        execute_at,
        ..
    } = pick;
    match (act, shift) {
        (Act::Cancel, _) => Request::Cancel(Cancel {
            identity,
            revision: None,
        }),
        (Act::Move, Some(shift)) => Request::Put(Put::at(identity, shift.apply(execute_at))),
        (Act::Retry | Act::Move, _) => Request::Put(Put::at(identity, now)),
    }
}

fn unclear(detail: &'static str) -> Problem {
    Problem::new(Code::InvalidValue, detail)
}
