//! Why a slot did or did not fire: the answer of `almanack why`, on a page.

use super::{acts::zone_of, path};
use crate::ui::prelude::*;

/// The instant, or a wall-clock time in a zone.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Query {
    at: Option<String>,
    clock: Option<String>,
    zone: Option<String>,
}

/// The form, and the answer if there is a question.
pub(crate) async fn show(
    state: &AppState,
    viewer: &Viewer,
    schedule: &Schedule,
    query: &Query,
) -> Page {
    let lang = viewer.lang;
    let zone = query.zone.as_deref().unwrap_or(zone_of(schedule));
    let answer = match (&query.at, &query.clock) {
        (Some(at), _) => answer(state, viewer, schedule, parse_instant(at, "at")?).await?,
        (None, Some(clock)) => match moment::read(clock, zone) {
            Ok((Moment::One(at), _)) => answer(state, viewer, schedule, at).await?,
            Ok((Moment::Twice(both) | Moment::Skipped(both), _)) => which(viewer, schedule, both),
            Err(unreadable) => wrong(unreadable.words(lang)),
        },
        (None, None) => html! {},
    };
    Ok(
        section! { lang; "why", "Why did it fire or not fire?", "为什么触发，或没有触发？";
            form method="get" action={ (path(&schedule.name)) "#why" } class="fields" {
                (Field::clock("clock", lang.pick("Time", "时间"), query.clock.as_deref()).required())
                (Field::zone("zone", lang.pick("Time zone", "时区"), zone))
                button type="submit" { (lang.pick("Why?", "为什么？")) }
            }
            (answer)
        },
    )
}

async fn answer(state: &AppState, viewer: &Viewer, schedule: &Schedule, at: Timestamp) -> Page {
    let lang = viewer.lang;
    let answer = state.schedules.why(&schedule.name, at, lang).await?;
    let at = at.to_string();
    let call = super::api(&schedule.name, &address("/why", [("at", at.as_str())]));
    Ok(html! {
        div class="answer" {
            p { (answer.sentence) }
            @if let Some(task) = &answer.firing {
                p { (lang.pick("Firing: ", "对应的触发："))
                    a href=(task_path(&task.identity)) { (task.identity.subject) } " "
                    (status(lang, task.status, task.is_live()))
                }
            }
            (Equivalent::call("GET", call).cli(["why", schedule.name.as_str(), &at]).show(viewer))
        }
    })
}

/// Around a clock change, a wall-clock time is no instant, or two.
fn which(viewer: &Viewer, schedule: &Schedule, both: [Timestamp; 2]) -> Markup {
    let here = path(&schedule.name);
    html! {
        p { (viewer.lang.pick("The clocks change at this time. Which one do you mean?", "此时正值时钟调整。您指的是哪一个？")) }
        ul {
            @for at in both {
                @let text = at.to_string();
                li { a href={ (address(&here, [("at", text.as_str())])) "#why" } { (viewer.instant(at)) } }
            }
        }
    }
}
