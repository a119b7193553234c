//! A schedule's slots, its change history, and why a slot did or did not fire (DP-16).

use almanack_core::plan::{LedgerRow, Schedule, Slot, left_out_so_far, merged};
use almanack_core::store::LedgerPage;

use super::view::{EditsView, LedgerView, SlotView};
use super::{Named, find, page_of};
use crate::language;
use crate::prelude::*;
use crate::{tasks::body::parse_instant, tasks::view::TaskView};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LedgerQuery {
    /// Page size, 1 to 500. Default: 50.
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// List a schedule's slots and their results, newest first.
///
/// Firings that people asked for are listed at the times they fired for, with the verdict `manual`
/// or `backfilled`.
#[utoipa::path(
    get, path = "/api/v1/schedules/{name}/slots", tag = "schedules",
    params(LedgerQuery),
    responses((status = 200, description = "The page", body = LedgerView)),
)]
pub(crate) async fn list_slots(
    State(state): App,
    Named(name): Named,
    Asked(query): Asked<LedgerQuery>,
) -> Result<Json<LedgerView>> {
    let page = page_of(query.limit)?;
    let before = query.cursor.as_deref().map(parse_cursor).transpose()?;
    let schedule = find(&state, &name).await?;
    let before = before.unwrap_or(Timestamp::MAX);
    let (rows, more) = load_rows(&state, &schedule, before, page).await?;
    let last = rows.last().filter(|_| more).map(|row| cursor(row.at()));
    Ok(Json(LedgerView {
        slots: SlotView::all(&state, &name, rows).await?,
        next_cursor: last,
    }))
}

/// A page of slots and of firings by hand, newest first, and whether others follow.
pub(crate) async fn load_rows(
    state: &AppState,
    schedule: &Schedule,
    before: Timestamp,
    page: usize,
) -> Result<(Vec<LedgerRow>, bool)> {
    let limit = page + 1;
    let ledger_page = LedgerPage { before, limit };
    let mut slots = not_written_yet(state, schedule, before);
    slots.extend(state.store.load_slots(schedule.id, ledger_page).await?);
    slots.truncate(limit);
    // What is older than the page's slots belongs to another page.
    let last = slots.last().filter(|_| slots.len() > page);
    let from = last.map_or(Timestamp::MIN, |last| last.slot_at);
    let by_hand = state
        .store
        .load_fired_by_hand(&schedule.name, from, ledger_page);
    Ok(merged(slots, by_hand.await?, page))
}

/// Slots that are left out and have not got their rows yet, newest first.
fn not_written_yet(state: &AppState, schedule: &Schedule, before: Timestamp) -> Vec<Slot> {
    let Ok(ready) = state.schedules.ready(schedule) else {
        return Vec::new();
    };
    let rows = left_out_so_far(schedule, &ready, state.clock.now());
    let rows = rows.into_iter().rev();
    rows.filter(|row| row.slot_at < before).collect()
}

/// The cursor that continues before a slot.
pub(crate) fn cursor(at: Timestamp) -> String {
    paging::cursor(at.as_microsecond())
}

pub(crate) fn parse_cursor(text: &str) -> Result<Timestamp> {
    paging::read(text, |at| {
        Timestamp::from_microsecond(at.parse().ok()?).ok()
    })
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EditsQuery {
    /// Number of newest changes, 1 to 500. Default: 50.
    limit: Option<usize>,
}

/// List the changes of a schedule, oldest first.
#[utoipa::path(
    get, path = "/api/v1/schedules/{name}/edits", tag = "schedules",
    params(EditsQuery),
    responses((status = 200, description = "The changes", body = EditsView)),
)]
pub(crate) async fn list_edits(
    State(state): App,
    Named(name): Named,
    Asked(query): Asked<EditsQuery>,
) -> Result<Json<EditsView>> {
    let limit = page_of(query.limit)?;
    let schedule = find(&state, &name).await?;
    let edits = state.store.load_edits(schedule.id, limit).await?;
    Ok(Json(EditsView { edits }))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhyQuery {
    /// An RFC 3339 instant; write `+` as `%2B`.
    #[param(format = DateTime)]
    at: String,
}

/// Why a slot did or did not fire.
#[derive(Serialize, ToSchema)]
pub(crate) struct WhyView {
    /// The reason in a sentence.
    sentence: String,
    /// Whether the instant is a slot of the schedule.
    is_slot: bool,
    /// Its ledger row, once decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    slot: Option<SlotView>,
    /// Its firing.
    #[serde(skip_serializing_if = "Option::is_none")]
    firing: Option<TaskView>,
}

/// Explain why a slot did or did not fire, from stored facts.
#[utoipa::path(
    get, path = "/api/v1/schedules/{name}/why", tag = "schedules",
    params(WhyQuery, ("Accept-Language" = Option<String>, Header, description = "`zh` for Chinese texts")),
    responses((status = 200, description = "The reason", body = WhyView)),
)]
pub(crate) async fn why(
    State(state): App,
    Named(name): Named,
    Asked(query): Asked<WhyQuery>,
    Reader(lang): Reader,
) -> Answer {
    let at = parse_instant(&query.at, "at")?;
    let answer = state.schedules.why(&name, at, lang).await?;
    let row = answer.row.map(LedgerRow::Slot).into_iter().collect();
    let slot = SlotView::all(&state, &name, row).await?.pop();
    let view = WhyView {
        sentence: answer.sentence,
        is_slot: answer.is_slot,
        slot,
        firing: answer.firing.map(TaskView::from),
    };
    Ok(language::answer(lang, view))
}
