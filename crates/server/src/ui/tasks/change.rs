//! Changes one task: reschedule, retry, cancel.
//!
//! A time is typed as a wall-clock time in a zone and resolved before it is submitted: the page
//! computes the instant, asks if there are two or none, and only an instant is in the form that
//! changes something.

use almanack_core::reschedule::{Cancel, Put, Request};
use almanack_core::reserved::{may_stop, may_try_again};

use super::{api_path, carry_out, command};
use crate::ui::prelude::*;
use crate::{call::At, tasks::find_current};

/// A typed time.
pub(crate) struct Typed<'a> {
    pub(crate) clock: &'a str,
    pub(crate) zone: &'a str,
    /// The previous time, to compare.
    pub(crate) old: Option<Timestamp>,
}

pub(crate) fn clock_fields(viewer: &Viewer, clock: Option<&str>, zone: Option<&str>) -> Markup {
    html! {
        (Field::clock("at", viewer.lang.pick("Date and time", "日期和时间"), clock))
        (Field::zone("zone", viewer.lang.pick("Time zone", "时区"), zone.unwrap_or(viewer.zone_name())))
    }
}

/// The typed instant with its button; both if there are two.
pub(crate) fn offer(
    viewer: &Viewer,
    typed: &Typed<'_>,
    settle: impl Fn(Timestamp) -> Markup,
) -> Markup {
    let (lang, name) = (viewer.lang, typed.zone.trim());
    let (why, instants, zone) = match moment::read(typed.clock, typed.zone) {
        Ok((Moment::One(at), zone)) => {
            return html! {
                p { (lang.pick("That is", "即")) " " (instant(viewer, at, &zone, typed.old)) }
                (settle(at))
            };
        }
        Ok((Moment::Skipped(instants), zone)) => {
            let why = say!(lang;
                "This time does not exist in {name}: the clocks skip it when they go forward. Which one do you mean?",
                "{name} 没有这个时间：时钟拨快时会跳过它。请选择：");
            (why, instants, zone)
        }
        Ok((Moment::Twice(instants), zone)) => {
            let why = say!(lang;
                "This time occurs twice in {name}: the clocks repeat it when they go back. Which one do you mean?",
                "这个时间在 {name} 会出现两次：时钟拨慢时会重复它。请选择：");
            (why, instants, zone)
        }
        Err(unreadable) => return wrong(unreadable.words(lang)),
    };
    html! {
        div class="warning stack" role="alert" {
            p { (why) }
            @for at in instants { div class="stack" { p { (instant(viewer, at, &zone, typed.old)) } (settle(at)) } }
        }
    }
}

/// An instant in its own zone, in UTC, and in the reader's.
fn instant(viewer: &Viewer, at: Timestamp, zone: &TimeZone, old: Option<Timestamp>) -> Markup {
    let lang = viewer.lang;
    html! {
        strong { (viewer.instant_in(at, zone)) }
        @if *zone != viewer.zone { " · " (lang.pick("your time", "您的时间")) " " (viewer.instant(at)) }
        @if *zone != TimeZone::UTC && viewer.zone != TimeZone::UTC { " · " (viewer.instant_in(at, &TimeZone::UTC)) }
        " · " (viewer.distance(at))
        @if at <= viewer.now { " · " (lang.pick("in the past: runs now", "已过去，将立即执行")) }
        @if old == Some(at) { " · " (lang.pick("same as the current time", "与当前设定的时间相同")) }
    }
}

/// The part of a task's page that reschedules it.
pub(crate) fn section(
    viewer: &Viewer,
    identity: &Identity,
    typed: &Typed<'_>,
    asked: bool,
) -> Markup {
    let (lang, here) = (viewer.lang, task_path(identity));
    let title = lang.pick("Reschedule", "改期");
    let button = |at: Timestamp| {
        let fields = html! {
            input type="hidden" name="to" value=(at);
            button type="submit" class="primary" { (title) }
        };
        form::form(viewer, &format!("{here}/move"), &fields)
    };
    let answer = html! {
        @if asked { (offer(viewer, typed, button)) (equivalent(viewer, identity, typed)) }
    };
    let body = html! {
        div class="stack" {
            form method="get" action=(here) class="fields" data-try {
                (clock_fields(viewer, Some(typed.clock), Some(typed.zone)))
                button type="submit" { (lang.pick("Preview", "预览")) }
            }
            (live("change", &answer))
        }
    };
    parts::section("change-title", title, &body)
}

/// Only if there is exactly one instant.
fn equivalent(viewer: &Viewer, identity: &Identity, typed: &Typed<'_>) -> Markup {
    let Ok((Moment::One(instant), _)) = moment::read(typed.clock, typed.zone) else {
        return Markup::default();
    };
    let at = format!("{} {}", typed.clock.replace('T', " "), typed.zone.trim());
    let (kind, subject) = (identity.kind.as_str(), identity.subject.as_str());
    let call = Equivalent::call("PUT", api_path(identity));
    let call = call.body(&json!({ "execute_at": instant }));
    call.cli(["task", "put", kind, subject, "--at", &at])
        .show(viewer)
}

#[derive(Debug, Deserialize)]
pub(crate) struct Settled {
    to: String,
}

/// Reschedules a task.
pub(crate) async fn put(At(identity): At, Filled(state, viewer, form): Filled<Settled>) -> Answer {
    let at = parse_instant(&form.to, "to")?;
    find_current(&*state.changes, &identity).await?;
    carry_out(&state, &viewer, Request::Put(Put::at(identity, at))).await
}

/// Retries a task now, with its payload.
pub(crate) async fn retry(At(identity): At, Filled(state, viewer, _): Filled) -> Answer {
    find_current(&*state.changes, &identity).await?;
    let again = Put::at(identity, state.clock.now());
    carry_out(&state, &viewer, Request::Put(again)).await
}

/// Asks before a task is cancelled.
pub(crate) async fn ask(State(state): App, At(identity): At, viewer: Viewer) -> Page {
    let task = find_current(&*state.changes, &identity).await?;
    let (lang, subject, here) = (viewer.lang, &identity.subject, task_path(&identity));
    let question = Question {
        title: &say!(lang, "Cancel {subject}", "取消 {subject}"),
        sentence: html! {
            (lang.pick("Cancels this task:", "将取消该任务："))
            " " (subject) " (" (identity.kind) "), " (status(lang, task.status, task.is_live())) ", "
            (viewer.at(task.execute_at))
            (pick!(lang; ". A call already sent is not recalled.", "。已经发出的调用不会撤回。"))
        },
        fields: Markup::default(),
        button: lang.pick("Cancel task", "取消任务"),
        back: &here,
        equivalent: cancelling(&identity),
    };
    Ok(form::ask(&viewer, Place::Tasks, &question))
}

/// The equivalent of cancelling.
pub(super) fn cancelling(identity: &Identity) -> Equivalent {
    command("cancel", "DELETE", identity, "")
}

pub(crate) async fn cancel(At(identity): At, Filled(state, viewer, _): Filled) -> Answer {
    let revision = None;
    let request = Request::Cancel(Cancel { identity, revision });
    carry_out(&state, &viewer, request).await
}

/// Actions without further input.
pub(crate) fn acts(viewer: &Viewer, task: &Task) -> Markup {
    let (lang, identity) = (viewer.lang, &task.identity);
    let here = task_path(identity);
    let tries = may_try_again(task);
    html! {
        @if viewer.may(Scope::Operate) {
            div class="acts" {
                @if tries { (form::button(viewer, &format!("{here}/retry"), lang.pick("Retry now", "立即重试"))) }
                @if may_stop(task) { a class="button" href=(format!("{here}/cancel")) { (lang.pick("Cancel…", "取消…")) } }
            }
        }
        @if tries { (retrying(identity).show(viewer)) }
    }
}

/// The equivalent of retrying.
pub(super) fn retrying(identity: &Identity) -> Equivalent {
    command("retry", "POST", identity, "/retry")
}
