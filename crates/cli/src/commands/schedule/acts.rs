//! What is done to a schedule: paused, resumed, removed, fired by hand.

use almanack_core::plan::{Edited, Origin};
use almanack_engine::schedules::{Changed, Expected, Overlapping, Writer};
use serde_json::json;

use super::{Desk, instant, name, next_of, time};
use crate::{
    failure::{Exit, Failure},
    output::Output,
    view,
};

pub(super) async fn pause(
    desk: &Desk,
    given: &str,
    (until, note): (Option<&str>, Option<String>),
    output: &mut Output,
) -> Result<Exit, Failure> {
    let name = name(given)?;
    let until = match until {
        Some(text) => Some(time(desk, &name, "--until", text).await?),
        None => None,
    };
    if until.is_some_and(|until| until <= desk.clock.now()) {
        let what = "--until: a pause ends in the future";
        return Err(Failure::new(Exit::Usage, what).hint("for example --until +2h"));
    }
    let done = desk
        .schedules()
        .pause(&name, until, note, &desk.origin)
        .await?;
    let ends = until.map(|until| format!(" until {}", instant(until)));
    let told = format!("paused {name}{}", ends.unwrap_or_default());
    tell(&done, &told, output)
}

pub(super) async fn resume(desk: &Desk, given: &str, output: &mut Output) -> Result<Exit, Failure> {
    let name = name(given)?;
    let done = desk.schedules().resume(&name, &desk.origin).await?;
    tell(
        &done,
        &format!("resumed {name}{}", next_of(&done.schedule, desk)),
        output,
    )
}

pub(super) async fn remove(desk: &Desk, given: &str, output: &mut Output) -> Result<Exit, Failure> {
    let name = name(given)?;
    // As over the API: what reads the file next would bring back what stands in it.
    let writer = Writer {
        origin: Origin::Api,
        by: &desk.origin,
    };
    let schedules = desk.schedules();
    let done = schedules
        .remove_own(&name, writer, Expected::Anything)
        .await?;
    tell(&done, &format!("removed {name}; its history stays"), output)
}

pub(super) async fn fire(
    desk: &Desk,
    given: &str,
    force: bool,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let name = name(given)?;
    let overlapping = if force {
        Overlapping::Forced
    } else {
        Overlapping::AsPlanned
    };
    let fired = desk
        .schedules()
        .fire(&name, overlapping, &desk.origin)
        .await?;
    let subject = fired.identity.subject.as_str();
    if output.json {
        output.value(&json!({
            "schedule": name,
            "nominal_at": fired.nominal_at,
            "firing": subject,
        }))?;
    } else {
        output.line(&format!("fired {name}: {} {subject}", fired.identity.kind))?;
    }
    Ok(Exit::Ok)
}

/// Tells what became of a schedule.
pub(super) fn tell(done: &Changed, what: &str, output: &mut Output) -> Result<Exit, Failure> {
    if output.json {
        let edited = done.edited.map(Edited::as_str);
        let next_at = Desk::zones().next_firing(&done.schedule);
        let schedule = view::schedule(&done.schedule, next_at);
        output.value(&json!({ "edited": edited, "schedule": schedule }))?;
    } else if done.edited.is_none() {
        output.line(&format!(
            "nothing changed: {} was already so",
            done.schedule.name
        ))?;
    } else {
        output.line(what)?;
    }
    Ok(Exit::Ok)
}
