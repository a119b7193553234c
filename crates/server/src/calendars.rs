//! Calendars: named sets of days that schedules fire on, or do not.
//!
//! A calendar of the configuration file is changed there. One that a schedule uses cannot be
//! removed: the schedule would be parked.

use almanack_core::calendar::{Calendar, CalendarRecord, Definition, NamedDate, Reading, Weekday};
use almanack_core::plan::{Origin, ScheduleName};
use almanack_engine::calendars::{Calendars, Change};
use jiff::{civil::Date, tz::TimeZone};

use crate::call::in_path;
use crate::prelude::*;

/// Days listed with a calendar.
const DAYS_LISTED: usize = 20;

in_path! {
    /// The calendar a path names.
    Named(String), |name: String| Ok(name)
}

/// One calendar.
#[derive(Serialize, ToSchema)]
pub(crate) struct CalendarView {
    pub(crate) name: String,
    /// Who it belongs to.
    pub(crate) origin: Origin,
    /// Days of every week.
    pub(crate) weekdays: Vec<Weekday>,
    /// Number of single days.
    pub(crate) days: usize,
    /// The next single days, from today on.
    pub(crate) next: Vec<NamedDate>,
    /// The last single day.
    #[schema(value_type = Option<String>)]
    pub(crate) last_on: Option<Date>,
    /// Where it is read from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// How reading its address went.
    pub(crate) reading: Reading,
    /// Why its days are not known; schedules that use it are parked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    /// When it was first written.
    pub(crate) created_at: Timestamp,
    /// When its days last changed.
    pub(crate) changed_at: Timestamp,
}

/// All calendars, by name.
#[derive(Serialize, ToSchema)]
pub(crate) struct CalendarsView {
    calendars: Vec<CalendarView>,
}

/// One calendar as written, and what uses it.
#[derive(Serialize, ToSchema)]
#[schema(as = CalendarDetailView)]
pub(crate) struct DetailView {
    #[serde(flatten)]
    pub(crate) calendar: CalendarView,
    /// As written.
    pub(crate) definition: Definition,
    /// The iCalendar text that its address last answered with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) copy: Option<String>,
    /// The schedules that use it.
    pub(crate) used_by: Vec<ScheduleName>,
}

impl CalendarView {
    pub(crate) fn of(record: &CalendarRecord, now: Timestamp) -> Self {
        let compiled = record.compile();
        let problem = compiled.as_ref().err().map(ToString::to_string);
        let compiled = compiled.ok();
        let today = TimeZone::UTC.to_datetime(now).date();
        let days = compiled.iter().flat_map(|it| it.days_from(today));
        let next = days.take(DAYS_LISTED).map(|(on, name)| NamedDate {
            on,
            name: name.map(str::to_owned),
        });
        Self {
            name: record.name.clone(),
            origin: record.origin,
            weekdays: record.definition.weekdays.clone(),
            next: next.collect(),
            days: compiled.as_ref().map_or(0, Calendar::len),
            last_on: compiled.as_ref().and_then(Calendar::last_on),
            url: record.definition.url.clone(),
            reading: record.reading.clone(),
            problem,
            created_at: record.created_at,
            changed_at: record.changed_at,
        }
    }
}

/// Carries out requests about calendars.
pub(crate) fn calendars(state: &AppState) -> Calendars {
    let store = Arc::clone(&state.changes);
    Calendars::new(
        store,
        Arc::clone(&state.clock),
        Arc::clone(&state.schedules),
    )
}

/// List calendars by name.
#[utoipa::path(
    get, path = "/api/v1/calendars", tag = "calendars",
    responses((status = 200, description = "The calendars", body = CalendarsView)),
)]
pub(crate) async fn list_calendars(State(state): App) -> Result<Json<CalendarsView>> {
    let now = state.clock.now();
    let found = calendars(&state).list().await?;
    let shown = found.iter().map(|it| CalendarView::of(it, now));
    Ok(Json(CalendarsView {
        calendars: shown.collect(),
    }))
}

/// Show a calendar, its next days and the schedules that use it.
#[utoipa::path(
    get, path = "/api/v1/calendars/{name}", tag = "calendars",
    responses((status = 200, description = "The calendar", body = DetailView)),
)]
pub(crate) async fn get_calendar(State(state): App, Named(name): Named) -> Answer {
    let calendars = calendars(&state);
    let found = calendars.load(&name).await?;
    let used_by = calendars.used_by(&name).await?;
    Ok(Json(detail(found, used_by, state.clock.now())).into_response())
}

/// Create or change a calendar.
///
/// Schedules that use it are planned by its new days; what is decided stays as it is. A calendar
/// managed by a file is refused (409): change it there.
#[utoipa::path(
    put, path = "/api/v1/calendars/{name}", tag = "calendars",
    request_body = Definition,
    responses(
        (status = 201, description = "Created", body = DetailView),
        (status = 200, description = "Changed, or already in that state", body = DetailView),
    ),
)]
pub(crate) async fn put_calendar(State(state): App, Named(name): Named, call: Call) -> Answer {
    call.refuse_key()?;
    let definition: Definition = call.json()?;
    let calendars = calendars(&state);
    let (record, change) = calendars.put(&name, definition, Origin::Api).await?;
    let used_by = calendars.used_by(&name).await?;
    let status = match change {
        Change::Created => StatusCode::CREATED,
        Change::Changed | Change::Unchanged => StatusCode::OK,
    };
    let view = detail(record, used_by, state.clock.now());
    Ok((status, Json(view)).into_response())
}

/// Remove a calendar that no schedule uses.
#[utoipa::path(
    delete, path = "/api/v1/calendars/{name}", tag = "calendars",
    responses((status = 200, description = "The calendar as it was", body = DetailView)),
)]
pub(crate) async fn delete_calendar(State(state): App, Named(name): Named, call: Call) -> Answer {
    call.refuse_key()?;
    let removed = calendars(&state).remove(&name, Origin::Api).await?;
    Ok(Json(detail(removed, Vec::new(), state.clock.now())).into_response())
}

fn detail(record: CalendarRecord, used_by: Vec<ScheduleName>, now: Timestamp) -> DetailView {
    DetailView {
        calendar: CalendarView::of(&record, now),
        definition: record.definition,
        copy: record.copy.map(|copy| copy.text),
        used_by,
    }
}
