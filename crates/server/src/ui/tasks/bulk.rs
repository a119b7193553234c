//! Bulk actions: cancel, retry, reschedule.
//!
//! The tasks are the selected ones, or all that match a filter. A page asks first, with the count
//! and the first few; exactly that is done: a filter is limited to the rows that existed then and
//! to the confirmed number, so a user who confirms thirteen does not lose fourteen. Each task is
//! handled separately, and the results are counted by rule.

mod chosen;
mod question;
mod result;
mod shift;

use almanack_core::reschedule::{Cancel, Put, Request};

use self::chosen::{Chosen, Pick};
use self::question::{first_few, sentence, title};
use self::shift::Shift;
use super::{change, filter::Filter};
use crate::idempotency::count;
use crate::ui::form::{self, hidden};
use crate::ui::prelude::*;

pub(crate) use result::{Done, notice};

/// Most tasks at a time: few enough to finish while a browser waits.
pub(crate) const MOST: usize = 1_000;
const HERE: &str = "/ui/tasks/bulk";

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
    kind: Option<String>,
    status: Option<String>,
    q: Option<String>,
    said: Option<String>,
    /// The newest row at the time of the question.
    newest: Option<i64>,
    /// The confirmed number.
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
            p class="acts" {
                span { (lang.pick("Selected tasks:", "所选任务：")) }
                @for act in Act::ALL {
                    button type="submit" name="act" value=(act.as_str()) { (act.name(lang)) "…" }
                }
            }
        }
        p class="acts" {
            span { (all) }
            @for act in Act::ALL {
                a class="button" href=(filter.address(HERE, &[("act", act.as_str()), ("all", "1")]))
                    aria-label={ (act.name(lang)) ": " (all) } { (act.name(lang)) "…" }
            }
        }
    }
}

pub(crate) async fn ask(State(state): App, viewer: Viewer, Sought(asked): Sought<Asked>) -> Answer {
    let chosen = Chosen::load(&state, &asked).await?;
    let back = asked.filter().address(Place::Tasks.path(), &[]);
    let Some(first) = chosen.picks.first() else {
        return Ok(nothing_chosen(&viewer, &back).into_response());
    };
    let title = title(viewer.lang, asked.act, chosen.picks.len());
    if asked.act == Act::Move {
        return Ok(shift::ask(&viewer, &asked, &chosen, &title).into_response());
    }
    let question = Question {
        title: &title,
        sentence: sentence(viewer.lang, &asked, &chosen),
        action: HERE,
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

pub(crate) async fn act(State(state): App, filled: Filled<Asked>) -> Answer {
    let (viewer, asked) = (filled.viewer, filled.form);
    let chosen = Chosen::load(&state, &asked).await?;
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
    Ok(see(&asked.filter().address(Place::Tasks.path(), &further)))
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
