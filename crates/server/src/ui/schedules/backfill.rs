//! Backfill of past slots: first a preview with the count, then the button.

use almanack_engine::schedules::{Backfill, Backfilled, SlotOfBackfill};

use super::acts::zone_of;
use super::{one::way_back, path};
use crate::schedules::acts::{BackfillBody, PACE_DEFAULT, check_pace};
use crate::schedules::{Named, find};
use crate::ui::prelude::*;

/// Slots listed; all are counted.
const LISTED: usize = 50;

/// The range, as wall-clock times in a zone.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Query {
    from: Option<String>,
    to: Option<String>,
    zone: Option<String>,
    pace: Option<String>,
}

/// Valid values of the fields that must not be empty.
const STAND_INS: &[(&str, &str)] = &[
    ("from", "2026-01-05T08:00"),
    ("to", "2026-01-05T08:00"),
    ("zone", "UTC"),
];

/// Asks for a range, and previews it.
pub(crate) async fn ask(Named(name): Named, Sought(state, viewer, query): Sought<Query>) -> Answer {
    let schedule = find(&state, &name).await?;
    let lang = viewer.lang;
    let planned = match (&query.from, &query.to) {
        (None, None) => None,
        _ => Some(plan(&state, &schedule, &query).await),
    };
    let (planned, faults) = match planned {
        Some(Err(faults)) => (None, Some(faults.mendable()?)),
        Some(Ok(planned)) => (Some(planned), None),
        None => (None, None),
    };
    let body = html! {
        (range(lang, &schedule, &query, &faults.clone().unwrap_or_default()))
        @if let Some((request, planned)) = &planned { (preview(&viewer, &name, *request, planned)) }
        (way_back(lang, &schedule))
    };
    let title = say!(lang, "Backfill {name}", "补触发 {name}");
    let page = page(&viewer, Place::Schedules, &title, &body);
    Ok(match faults {
        Some(_) => again(page),
        None => page.into_response(),
    })
}

async fn plan(
    state: &AppState,
    schedule: &Schedule,
    query: &Query,
) -> Result<(Backfill, Backfilled), Faults> {
    let request = Faults::read(query, STAND_INS, |query| {
        let zone = query.zone.as_deref().unwrap_or(zone_of(schedule));
        let instant = |field, clock: &Option<String>| {
            moment::one(field, clock.as_deref().unwrap_or_default(), zone)
        };
        Ok(Backfill {
            from: instant("from", &query.from)?,
            to: instant("to", &query.to)?,
            pace: pace(query.pace.as_deref())?,
        })
    })?;
    let planned = state.schedules.plan_backfill(&schedule.name, request);
    let planned = planned.await.map_err(Problem::from)?;
    Ok((request, planned))
}

fn pace(text: Option<&str>) -> Result<SignedDuration> {
    let detail = both!(
        "pace must be a duration such as 1s or 5m",
        "pace 必须是时长，如 1s 或 5m"
    );
    let unreadable = |_| Problem::new(Code::InvalidValue, detail).at("pace");
    let pace = text.map(|text| text.trim().parse().map_err(unreadable));
    check_pace(pace.transpose()?.unwrap_or(PACE_DEFAULT))
}

fn range(lang: Lang, schedule: &Schedule, query: &Query, faults: &Faults) -> Markup {
    let zone = query.zone.as_deref().unwrap_or(zone_of(schedule));
    let pace = query.pace.as_deref().or(Some("1s"));
    let fields = html! {
        div class="fields" {
            (Field::clock("from", lang.pick("From", "从"), query.from.as_deref()).required())
            (Field::clock("to", lang.pick("To (exclusive)", "到（不含）"), query.to.as_deref()).required())
            (Field::zone("zone", lang.pick("Time zone", "时区"), zone))
            (Field::text("pace", lang.pick("Pause between firings", "两次触发的间隔"), pace))
            button type="submit" { (lang.pick("Preview", "预览")) }
        }
    };
    html! {
        p { (pick!(lang;
            "Fires past slots that have not fired. Slots that fired are left unchanged.",
            "触发过去未触发的时点；已触发过的不受影响。")) }
        form method="get" action={ (path(&schedule.name)) "/backfill" } novalidate { (faults.show(lang, &fields)) }
    }
}

/// The preview and its button.
fn preview(
    viewer: &Viewer,
    name: &ScheduleName,
    request: Backfill,
    planned: &Backfilled,
) -> Markup {
    let lang = viewer.lang;
    let (all, fires) = (planned.slots.len(), planned.fires());
    let (from, to) = (request.from.to_string(), request.to.to_string());
    let pace = format!("{:#}", request.pace);
    let fields = html! {
        (hidden([("from", &from), ("to", &to), ("pace", &pace)]))
        button type="submit" class="danger" { (fire_them(lang, fires)) }
    };
    let given = ["--from", &from, "--to", &to, "--pace", &pace];
    let words = [&["schedule", "backfill", name.as_str()], &given[..]].concat();
    section! { lang; "planned", "Slots to fire", "将触发的时点";
        p { strong { (say!(lang; "Slots in this range: {all}; to fire: {fires}.",
            "该范围内共 {all} 个时点，将触发 {fires} 个。")) } }
        @if fires > 0 { (form(viewer, &format!("{}/backfill", path(name)), &fields)) }
        @if all > 0 { (slots(viewer, planned)) }
        @if let Some(rest) = all.checked_sub(LISTED).filter(|rest| *rest > 0) {
            p class="hint" { (say!(lang, "Not listed: {rest} more.", "另有 {rest} 个未列出。")) }
        }
        (Equivalent::act("POST", "schedule", name, "backfill")
            .body(&json!({ "from": from, "to": to, "pace": pace })).cli(words).show(viewer))
    }
}

fn fire_them(lang: Lang, count: usize) -> String {
    match count {
        1 => say!(lang, "Fire 1 slot", "触发 1 个时点"),
        _ => say!(lang, "Fire {count} slots", "触发 {count} 个时点"),
    }
}

fn slots(viewer: &Viewer, planned: &Backfilled) -> Markup {
    let existing = |slot: &SlotOfBackfill| {
        let status = status(viewer.lang, slot.found?, false);
        Some(html! { a href=(task_path(&slot.identity)) { (status) } })
    };
    table! { viewer.lang; "Slots to fire", "将触发的时点";
        for (slot in planned.slots.iter().take(LISTED)) tr()
        "Slot", "时点" { td { (viewer.at(slot.slot)) } }
        "Fires at", "触发于" { td { (viewer.at_or_dash(slot.execute_at)) } }
        "Existing firing", "已有触发" { td { (or_dash(existing(slot))) } }
    }
}

/// Fires the range that was shown.
pub(crate) async fn carry_out(Named(name): Named, filled: Filled<BackfillBody>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let by = viewer.origin();
    state
        .schedules
        .backfill(&name, form.request()?, &by)
        .await?;
    Ok(see(&format!("{}?did=backfilled", path(&name))))
}
