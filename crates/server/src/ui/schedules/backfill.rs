//! Slots of the past, fired on request: first what would fire and how many, then the button.

use almanack_core::plan::{Schedule, ScheduleName};
use almanack_engine::schedules::{Backfill, Backfilled};

use super::acts::{instant, zone_of};
use super::one::way_back;
use super::{api, path, task_path};
use crate::schedules::acts::{PACE_DEFAULT, check_pace};
use crate::schedules::{Named, find};
use crate::tasks::body::parse_instant;
use crate::ui::door;
use crate::ui::form::form;
use crate::ui::prelude::*;

/// Slots listed one by one; all are counted.
const LISTED: usize = 50;

/// Which range, as wall clocks of a zone.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Query {
    from: Option<String>,
    to: Option<String>,
    zone: Option<String>,
    pace: Option<String>,
}

/// Asks for a range, and tells what it would fire.
pub(crate) async fn ask(
    State(state): App,
    Named(name): Named,
    viewer: Viewer,
    Sought(query): Sought<Query>,
) -> Answer {
    let schedule = find(&state, &name).await?;
    let lang = viewer.lang;
    let planned = match (&query.from, &query.to) {
        (Some(from), Some(to)) => Some(plan(&state, &viewer, &schedule, &query, (from, to)).await),
        _ => None,
    };
    let refused = matches!(planned, Some(Err(_)));
    let body = html! {
        (range(&viewer, &schedule, &query))
        @match &planned {
            None => {},
            Some(Ok((wish, planned))) => (told(&viewer, &name, *wish, planned)),
            Some(Err(problem)) => p class="wrong" role="alert" { (lang.english(&problem.detail)) },
        }
        (way_back(lang, &schedule))
    };
    let title = say!(lang, "Backfill {name}", "补触发 {name}");
    let page = page(&viewer, Place::Schedules, &title, &body);
    if refused {
        return Ok(door::told(&viewer, StatusCode::UNPROCESSABLE_ENTITY, page));
    }
    Ok(page.into_response())
}

async fn plan(
    state: &AppState,
    viewer: &Viewer,
    schedule: &Schedule,
    query: &Query,
    (from, to): (&str, &str),
) -> Result<(Backfill, Backfilled)> {
    let own = zone_of(schedule);
    let zone = query.zone.as_deref().unwrap_or(&own);
    let wish = Backfill {
        from: instant(viewer.lang, from, zone)?,
        to: instant(viewer.lang, to, zone)?,
        pace: pace(query.pace.as_deref())?,
    };
    let planned = state.schedules.plan_backfill(&schedule.name, wish).await?;
    Ok((wish, planned))
}

fn pace(text: Option<&str>) -> Result<SignedDuration> {
    let Some(text) = text else {
        return Ok(PACE_DEFAULT);
    };
    let pace = text.trim().parse().map_err(|_| {
        Problem::new(Code::InvalidValue, "pace must be a duration like 1s or 5m").at("pace")
    })?;
    check_pace(pace)
}

fn range(viewer: &Viewer, schedule: &Schedule, query: &Query) -> Markup {
    let lang = viewer.lang;
    let own = zone_of(schedule);
    let zone = query.zone.as_deref().unwrap_or(&own);
    html! {
        p { (pick!(lang;
            "Slots of the past that have not fired can be fired now. One that fired is left alone.",
            "过去未触发的时点可以现在触发；已触发过的保持不变。")) }
        form method="get" action={ (path(&schedule.name)) "/backfill" } class="fields" {
            label { (lang.pick("From", "从"))
                input type="datetime-local" step="1" name="from" required value=[query.from.as_deref()];
            }
            label { (lang.pick("To (not included)", "到（不含）"))
                input type="datetime-local" step="1" name="to" required value=[query.to.as_deref()];
            }
            label { (lang.pick("In the zone", "时区"))
                input name="zone" list="zones" value=(zone) autocomplete="off" spellcheck="false";
            }
            label { (lang.pick("Between two firings", "两次触发的间隔"))
                input name="pace" value=(query.pace.as_deref().unwrap_or("1s")) autocomplete="off";
            }
            button type="submit" { (lang.pick("Show what would fire", "查看将触发什么")) }
        }
    }
}

/// What would fire, and the button that does it.
fn told(viewer: &Viewer, name: &ScheduleName, wish: Backfill, planned: &Backfilled) -> Markup {
    let lang = viewer.lang;
    let (all, fires) = (planned.slots.len(), planned.fires());
    let (from, to, pace) = (
        wish.from.to_string(),
        wish.to.to_string(),
        format!("{:#}", wish.pace),
    );
    let fields = html! {
        input type="hidden" name="from" value=(from);
        input type="hidden" name="to" value=(to);
        input type="hidden" name="pace" value=(pace);
        button type="submit" class="danger" { (fire_them(lang, fires)) }
    };
    let title = lang.pick("What would fire", "将触发的时点");
    let body = html! {
        p { strong { (say!(lang; "{fires} of the {all} slots in this range would fire.",
            "该范围内 {all} 个时点中，有 {fires} 个会触发。")) } }
        @if fires > 0 { (form(viewer, &format!("{}/backfill", path(name)), &fields)) }
        @if all > 0 { (slots(viewer, planned)) }
        @if all > LISTED {
            @let rest = all - LISTED;
            p class="hint" { (say!(lang, "{rest} more are not listed.", "另有 {rest} 个未列出。")) }
        }
        (Equivalent::call("POST", api(name, "/backfill"))
            .body(&json!({ "from": from, "to": to, "pace": pace }))
            .cli(&["schedule", "backfill", name.as_str(), "--from", &from, "--to", &to, "--pace", &pace])
            .show(viewer))
    };
    section("planned", title, &body)
}

fn fire_them(lang: Lang, count: usize) -> String {
    match count {
        1 => say!(lang, "Fire 1 slot", "触发 1 个时点"),
        _ => say!(lang, "Fire {count} slots", "触发 {count} 个时点"),
    }
}

fn slots(viewer: &Viewer, planned: &Backfilled) -> Markup {
    let lang = viewer.lang;
    let head = [
        lang.pick("Slot", "时点"),
        lang.pick("Fires", "触发于"),
        lang.pick("Already there", "已有"),
    ];
    let rows = html! {
        @for slot in planned.slots.iter().take(LISTED) {
            tr {
                td { (viewer.at(slot.slot)) }
                td { (viewer.at_or_dash(slot.execute_at)) }
                td {
                    @if let Some(found) = slot.found {
                        a href=(task_path(&slot.identity)) { (status(lang, found, false)) }
                    } @else { span class="none" { "–" } }
                }
            }
        }
    };
    table(lang.pick("What would fire", "将触发的时点"), &head, &rows)
}

/// The range that was shown.
#[derive(Debug, Deserialize)]
pub(crate) struct Range {
    from: String,
    to: String,
    pace: Option<String>,
}

/// Fires.
pub(crate) async fn carry_out(
    State(state): App,
    Named(name): Named,
    filled: Filled<Range>,
) -> Answer {
    let Filled { viewer, form } = filled;
    let at = |text: &str, path: &str| -> Result<Timestamp> { parse_instant(text, path) };
    let wish = Backfill {
        from: at(&form.from, "from")?,
        to: at(&form.to, "to")?,
        pace: pace(form.pace.as_deref())?,
    };
    state
        .schedules
        .backfill(&name, wish, &viewer.origin())
        .await?;
    Ok(see(&format!("{}?did=backfilled", path(&name))))
}
