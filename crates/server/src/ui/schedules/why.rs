//! Why a slot did or did not fire: the answer of `almanack why`, on a page.

use almanack_core::plan::{Definition, Schedule};

use super::{path, task_path};
use crate::tasks::body::parse_instant;
use crate::ui::moment::{self, Moment, Unreadable};
use crate::ui::prelude::*;

/// Which instant is in question: itself, or a wall clock in a zone.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Query {
    at: Option<String>,
    clock: Option<String>,
    zone: Option<String>,
}

/// The form, and the answer where something was asked.
pub(crate) async fn show(
    state: &AppState,
    viewer: &Viewer,
    schedule: &Schedule,
    query: &Query,
) -> Result<Markup> {
    let lang = viewer.lang;
    let own = Definition::from_json(&schedule.definition).map_or("UTC".to_owned(), |it| it.tz);
    let zone = query.zone.as_deref().unwrap_or(&own);
    let answer = match (&query.at, &query.clock) {
        (Some(at), _) => Some(answer(state, viewer, schedule, parse_instant(at, "at")?).await?),
        (None, Some(clock)) => Some(match moment::read(clock, zone) {
            Ok((Moment::One(at), _)) => answer(state, viewer, schedule, at).await?,
            Ok((Moment::Twice(both) | Moment::Skipped(both), _)) => which(viewer, schedule, both),
            Err(unreadable) => {
                html! { p class="wrong" role="alert" { (refused(lang, unreadable)) } }
            }
        }),
        (None, None) => None,
    };
    let body = html! {
        form method="get" action={ (path(&schedule.name)) "#why" } class="fields" {
            label { (lang.pick("A time", "时间"))
                input type="datetime-local" step="1" name="clock" required value=[query.clock.as_deref()];
            }
            label { (lang.pick("In the zone", "时区"))
                input name="zone" list="zones" value=(zone) autocomplete="off" spellcheck="false";
            }
            button type="submit" { (lang.pick("Why?", "为什么？")) }
        }
        @if let Some(answer) = answer { (answer) }
    };
    let title = lang.pick("Why did it fire, or not?", "为什么触发，或没有触发？");
    Ok(section("why", title, &body))
}

async fn answer(
    state: &AppState,
    viewer: &Viewer,
    schedule: &Schedule,
    at: Timestamp,
) -> Result<Markup> {
    let answer = state.schedules.why(&schedule.name, at).await?;
    let (lang, at) = (viewer.lang, at.to_string());
    let call = super::api(&schedule.name, &address("/why", [("at", at.as_str())]));
    Ok(html! {
        div class="answer" {
            p { (lang.english(&answer.sentence)) }
            @if let Some(task) = &answer.firing {
                p { (lang.pick("Its firing: ", "对应的触发："))
                    a href=(task_path(&task.identity)) { (task.identity.subject) } " "
                    (status(lang, task.status, task.is_live()))
                }
            }
            (Equivalent::call("GET", call).cli(&["why", schedule.name.as_str(), &at]).show(viewer))
        }
    })
}

/// Around a change of the clocks a wall clock is no instant, or two.
fn which(viewer: &Viewer, schedule: &Schedule, both: [Timestamp; 2]) -> Markup {
    let here = path(&schedule.name);
    html! {
        p { (viewer.lang.pick("The clocks change then. Which do you mean?", "这时时钟有调整。您指的是哪一个？")) }
        ul {
            @for at in both {
                @let text = at.to_string();
                li { a href={ (address(&here, [("at", text.as_str())])) "#why" } { (viewer.instant(at)) } }
            }
        }
    }
}

/// Why a wall clock cannot be read.
pub(crate) fn refused(lang: Lang, unreadable: Unreadable) -> String {
    match unreadable {
        Unreadable::Time => say!(lang, "This is not a date and a time.", "这不是日期和时间。"),
        Unreadable::Zone => say!(lang; "No such time zone; write one like Europe/Berlin or UTC.",
            "没有这个时区；请写成 Europe/Berlin 或 UTC 的形式。"),
        Unreadable::Year => say!(lang, "This year is out of range.", "年份超出范围。"),
    }
}
