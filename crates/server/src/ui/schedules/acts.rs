//! Actions on a schedule besides changing it: pause, resume, fire, remove.

use almanack_core::plan::{Definition, Origin, Pause, State as Standing};
use almanack_engine::kinds::Pausing;
use almanack_engine::schedules::{Error, Expected, Overlapping, Writer};

use super::one::{is_there, may_act};
use super::{api, path, words};
use crate::schedules::acts::check_until;
use crate::schedules::{Named, find};
use crate::ui::kinds::Filling;
use crate::ui::prelude::*;
use crate::ui::undo::{Undo, Undoing};

/// All actions, for users who may.
pub(crate) fn offered(viewer: &Viewer, schedule: &Schedule) -> Markup {
    let lang = viewer.lang;
    if !may_act(viewer, schedule) {
        return html! {};
    }
    let here = path(&schedule.name);
    let paused = matches!(schedule.state, Standing::Paused(_));
    let parked = matches!(schedule.state, Standing::Parked { .. });
    // A monitor has nothing to fire.
    let fires = !parked && !schedule.definition.read().is_ok_and(Definition::is_monitor);
    let managed = words::managed(lang, schedule.origin);
    let act = |act: &str, label| html! { a class="button" href={ (here) "/" (act) } { (label) } };
    section! { lang; "acts", "Actions", "操作";
        div class="acts" {
            @if paused { (button(viewer, &format!("{here}/resume"), lang.pick("Resume", "恢复"))) }
            @if fires { (button(viewer, &format!("{here}/fire"), lang.pick("Fire now", "立即触发"))) }
            @if managed.is_none() { (act("change", lang.pick("Change…", "修改…"))) }
            @if fires { (act("backfill", lang.pick("Backfill…", "补触发…"))) }
            @if managed.is_none() { (act("remove", lang.pick("Remove…", "移除…"))) }
        }
        @if let Some(managed) = managed { p class="hint" { (managed) } }
        @if !parked { (pausing(viewer, schedule, paused)) }
        @if fires { (Equivalent::act("POST", "schedule", &schedule.name, "fire").show(viewer)) }
    }
}

fn pausing(viewer: &Viewer, schedule: &Schedule, paused: bool) -> Markup {
    let (lang, name) = (viewer.lang, schedule.name.as_str());
    let why = lang.pick("why", "原因");
    let label =
        words! { lang, paused; true => "Change the pause", "修改暂停"; false => "Pause", "暂停"; };
    html! {
        details class="act" {
            summary { (label) }
            (pause_form(viewer, &schedule.name, &Filling::default(), &Faults::default()))
            (Equivalent::act("POST", "schedule", name, "pause").body(&json!({ "note": why }))
                .cli(["schedule", "pause", name, "--note", why]).show(viewer))
        }
    }
}

fn pause_form(viewer: &Viewer, name: &ScheduleName, filled: &Filling, faults: &Faults) -> Markup {
    let lang = viewer.lang;
    let fields = html! {
        (faults.show(lang, &filled.fields(viewer)))
        p class="acts" { button type="submit" { (lang.pick("Pause", "暂停")) } }
    };
    form(viewer, &format!("{}/pause", path(name)), &fields)
}

pub(crate) async fn pause(Named(name): Named, filled: Filled<Filling>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let before = find(&state, &name).await?;
    let done = match form.read(&viewer) {
        Ok(Pausing { until, note, by }) => {
            let changed = state.schedules.pause(&name, until, note, &by).await;
            changed.map_err(|error| Faults::from(Problem::from(error)))
        }
        Err(faults) => Err(faults),
    };
    let faults = match done {
        Ok(changed) => return Ok(confirm(&viewer, &before, &changed.schedule, "paused")),
        Err(faults) => faults.mendable()?,
    };
    let lang = viewer.lang;
    let body = html! {
        (pause_form(&viewer, &name, &form, &faults))
        (super::one::way_back(lang, &before))
    };
    let title = say!(lang, "Pause {name}", "暂停 {name}");
    Ok(again(page(&viewer, Place::Schedules, &title, &body)))
}

pub(crate) async fn resume(Named(name): Named, Filled(state, viewer, _): Filled) -> Answer {
    let before = find(&state, &name).await?;
    let changed = state.schedules.resume(&name, viewer.name());
    Ok(confirm(
        &viewer,
        &before,
        &changed.await?.schedule,
        "resumed",
    ))
}

/// Takes a pause or a resume back.
pub(crate) async fn undo(Named(name): Named, filled: Filled<Undoing>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let found = find(&state, &name).await?;
    match form.back_from(rest(&found))? {
        Some(pause) => {
            check_until(pause.until, state.clock.now())?;
            let paused = state
                .schedules
                .pause(&name, pause.until, pause.note, viewer.name());
            paused.await?
        }
        None => state.schedules.resume(&name, viewer.name()).await?,
    };
    Ok(see(&format!("{}?did=undone", path(&name))))
}

fn confirm(viewer: &Viewer, before: &Schedule, after: &Schedule, did: &str) -> Response {
    let undo = Undo {
        before: rest(before).cloned(),
        after: rest(after).cloned(),
    };
    let here = path(&after.name);
    undo.see(viewer, &here, &format!("{here}?did={did}"))
}

fn rest(schedule: &Schedule) -> Option<&Pause> {
    match &schedule.state {
        Standing::Paused(pause) => Some(pause),
        _ => None,
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Firing {
    force: Option<String>,
}

/// Fires now. If the previous firing has not ended, asks for confirmation.
pub(crate) async fn fire(Named(name): Named, filled: Filled<Firing>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let overlapping = match form.force {
        Some(_) => Overlapping::Forced,
        None => Overlapping::AsPlanned,
    };
    let by = viewer.origin();
    match state.schedules.fire(&name, overlapping, &by).await {
        Ok(_) => Ok(see(&format!("{}?did=fired", path(&name)))),
        Err(Error::Overlaps { running, .. }) => {
            let page = fire_all_the_same(&viewer, &name, &running);
            Ok(crate::ui::authentication::with_status(
                StatusCode::CONFLICT,
                page,
            ))
        }
        Err(error) => Err(error.into()),
    }
}

fn fire_all_the_same(viewer: &Viewer, name: &ScheduleName, running: &Identity) -> Markup {
    let lang = viewer.lang;
    let question = Question {
        title: &say!(lang, "Fire {name} anyway?", "仍要触发 {name} 吗？"),
        sentence: html! {
            (lang.pick("The previous firing has not ended: ", "上一次触发尚未结束："))
            a href=(task_path(running)) { (running.subject) }
        },
        fields: hidden([("force", "yes")]),
        button: lang.pick("Fire anyway", "仍然触发"),
        back: &path(name),
        equivalent: Equivalent::act("POST", "schedule", name, "fire")
            .body(&json!({ "force": true }))
            .cli(["schedule", "fire", name.as_str(), "--force"]),
    };
    ask(viewer, Place::Schedules, &question)
}

/// Asks before a schedule is removed.
pub(crate) async fn ask_to_remove(State(state): App, Named(name): Named, viewer: Viewer) -> Answer {
    let schedule = find(&state, &name).await?;
    let (lang, here) = (viewer.lang, path(&name));
    if !is_there(&schedule) {
        return Ok(see(&here));
    }
    let next_at = state.schedules.next_firing(&schedule);
    let call = Equivalent::call("DELETE", api(&name, ""));
    let question = Question {
        title: &say!(lang, "Remove {name}?", "移除 {name}？"),
        sentence: html! {
            (pick!(lang; "Removes the schedule; it will not fire again. Its history is kept.",
                "将移除该日程，之后不再触发。历史记录会保留。"))
            @if let Some(at) = next_at { " " (lang.pick("Next firing was planned for ", "原定下次触发：")) (viewer.at(at)) }
            @if let Some(managed) = words::managed(lang, schedule.origin) { br; strong { (managed) } }
        },
        fields: hidden([("revision", schedule.revision)]),
        button: lang.pick("Remove schedule", "移除日程"),
        back: &here,
        equivalent: call.cli(["schedule", "remove", name.as_str()]),
    };
    Ok(ask(&viewer, Place::Schedules, &question).into_response())
}

/// The revision that was shown.
#[derive(Debug, Deserialize)]
pub(crate) struct Seen {
    revision: i64,
}

/// Removes it, if it is still at the revision that was shown.
pub(crate) async fn remove(Named(name): Named, filled: Filled<Seen>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let writer = Writer {
        origin: Origin::Api,
        by: viewer.name(),
    };
    let seen = Expected::Revision(form.revision);
    state.schedules.remove_own(&name, writer, seen).await?;
    Ok(see("/ui/schedules?did=removed"))
}

pub(crate) fn zone_of(schedule: &Schedule) -> &str {
    schedule.definition.read().map_or("UTC", |it| &it.tz)
}
