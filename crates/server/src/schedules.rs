//! Schedules: create, change, show and remove them.
//!
//! A schedule from a file is changed in the file: the API can show, pause and fire it, but not
//! rewrite it, because the file would win again. A removed schedule keeps its history, so it can
//! still be shown by name; lists omit it unless requested.

use almanack_core::plan::{Definition, Edited, Origin, Schedule, ScheduleName, is_owner, is_tag};
use almanack_core::store::ScheduleFilter;
use almanack_core::{both, lang::Sentence};
use almanack_core::{target::Target, token::Scope};
use almanack_engine::schedules::{Error, Expected, Writer};

use self::explain::{TimetableView, check_count};
use self::view::{ScheduleView, SchedulesView, SlotView, WrittenView};
use crate::prelude::*;
use crate::{access::Requester, call::in_path, language};

pub(crate) mod acts;
pub(crate) mod explain;
pub(crate) mod ledger;
pub(crate) mod rewind;
pub(crate) mod view;

/// Ledger rows shown with a schedule.
const LAST_SLOTS: usize = 10;
const STATES: [&str; 5] = ["active", "paused", "parked", "removed", "done"];

in_path! {
    /// The schedule a path names.
    Named(ScheduleName), |name: String| Ok(ScheduleName::parse(&name)?)
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Only of this origin: file, dispatch or api.
    pub(crate) origin: Option<String>,
    /// Only in this state: active, paused, parked, removed or done.
    pub(crate) state: Option<String>,
    /// Also removed schedules.
    #[serde(default)]
    pub(crate) removed: bool,
    /// Only with this tag.
    pub(crate) tag: Option<String>,
    /// Only of this owner.
    pub(crate) owner: Option<String>,
    /// Page size, 1 to 500. Default: 50.
    pub(crate) limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    pub(crate) cursor: Option<String>,
}

/// List schedules by name.
///
/// A page examines at most 10,000 schedules; it may be short or empty and still have a
/// `next_cursor`.
#[utoipa::path(
    get, path = "/api/v1/schedules", tag = "schedules",
    params(ListQuery),
    responses((status = 200, description = "The page", body = SchedulesView)),
)]
pub(crate) async fn list_schedules(
    State(state): App,
    Asked(query): Asked<ListQuery>,
) -> Result<Json<SchedulesView>> {
    let page = state.store.list_schedules(&query.into_filter()?).await?;
    state.schedules.refresh().await?;
    let schedules = page.rows.into_iter();
    Ok(Json(SchedulesView {
        schedules: schedules.map(|it| shown(&state, it)).collect(),
        next_cursor: page.next.as_ref().map(paging::cursor),
    }))
}

impl ListQuery {
    pub(crate) fn into_filter(self) -> Result<ScheduleFilter> {
        let page = page_of(self.limit)?;
        let origin = self.origin.as_deref().map(|text| {
            let origin = Origin::parse(text);
            origin.ok_or_else(|| {
                Problem::in_query(both!(
                    "origin must be file, dispatch or api",
                    "origin 必须是 file、dispatch 或 api"
                ))
            })
        });
        if self.state.iter().any(|s| !STATES.contains(&s.as_str())) {
            let detail = both!(
                "state must be active, paused, parked, removed or done",
                "state 必须是 active、paused、parked、removed 或 done"
            );
            return Err(Problem::in_query(detail));
        }
        if self.tag.iter().any(|tag| !is_tag(tag)) {
            let detail = both!(
                "tag must be a word of lower-case letters, digits, `.`, `_`, `:`, `/` or `-`",
                "tag 必须是由小写字母、数字、`.`、`_`、`:`、`/` 或 `-` 组成的词"
            );
            return Err(Problem::in_query(detail));
        }
        if self.owner.iter().any(|owner| !is_owner(owner)) {
            return Err(Problem::in_query(both!(
                "owner must be one line without quotes and backslashes",
                "owner 必须是一行，不含引号和反斜杠"
            )));
        }
        let named = |text: &str| paging::read(text, |name| ScheduleName::parse(name).ok());
        let after = self.cursor.as_deref().map(named);
        Ok(ScheduleFilter {
            origin: origin.transpose()?,
            removed: self.removed || self.state.as_deref() == Some("removed"),
            state: self.state,
            tag: self.tag,
            owner: self.owner,
            after: after.transpose()?,
            limit: page,
            ..ScheduleFilter::default()
        })
    }
}

fn page_of(limit: Option<usize>) -> Result<usize> {
    paging::size(limit, PAGE_DEFAULT, PAGE_MAX)
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DetailQuery {
    /// Number of next times, up to 100. Default: 5.
    next: Option<usize>,
}

/// One schedule with its meaning and its last slots.
#[derive(Serialize, ToSchema)]
#[schema(as = ScheduleDetailView)]
pub(crate) struct DetailView {
    #[serde(flatten)]
    schedule: ScheduleView,
    /// The meaning of its expression; absent if it cannot be computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    timetable: Option<TimetableView>,
    /// The newest rows of its ledger, newest first.
    slots: Vec<SlotView>,
}

/// Show a schedule: its definition, state, next times and last slots.
#[utoipa::path(
    get, path = "/api/v1/schedules/{name}", tag = "schedules",
    params(
        DetailQuery,
        ("Accept-Language" = Option<String>, Header, description = "`zh` for Chinese texts"),
    ),
    responses((status = 200, description = "The schedule", body = DetailView)),
)]
pub(crate) async fn get_schedule(
    State(state): App,
    Named(name): Named,
    Asked(query): Asked<DetailQuery>,
    headers: HeaderMap,
) -> Answer {
    let count = check_count(query.next).map_err(Problem::in_query)?;
    let schedule = find(&state, &name).await?;
    let lang = language::accepted(&headers);
    let newest = ledger::load_rows(&state, &schedule, Timestamp::MAX, LAST_SLOTS);
    let (slots, _) = newest.await?;
    let slots = SlotView::all(&state, &name, slots).await?;
    // A schedule that cannot be computed is still shown: that is when people look (DP-18).
    let ready = state.schedules.ready(&schedule);
    let times = (state.schedules.next_firing(&schedule), state.clock.now());
    let shown_of = (count, schedule.runs);
    let timetable = ready
        .ok()
        .map(|ready| TimetableView::of(&ready, times, shown_of, lang));
    let tag = [etag(&schedule)];
    let view = DetailView {
        schedule: shown(&state, schedule),
        timetable,
        slots,
    };
    Ok((tag, language::answer(lang, view)).into_response())
}

/// Create or change a schedule.
///
/// Slots that are already due are decided by the old definition first. A schedule managed by a file
/// is refused (409): change it there.
#[utoipa::path(
    put, path = "/api/v1/schedules/{name}", tag = "schedules",
    params(
        ("If-Match" = Option<String>, Header, description = "Change only this `ETag`, or `*` for any existing schedule"),
        ("If-None-Match" = Option<String>, Header, description = "`*`: create only, never change"),
    ),
    request_body = Definition,
    responses(
        (status = 201, description = "Created, or restored after its removal", body = WrittenView),
        (status = 200, description = "Changed, or already in that state", body = WrittenView),
    ),
)]
pub(crate) async fn put_schedule(State(state): App, Named(name): Named, call: Call) -> Answer {
    call.refuse_key()?;
    let expected = expected(&call.headers)?;
    let definition: Definition = call.json()?;
    admit(&state, &name, &definition, &call.requester)?;
    let writer = writer(&call);
    let put = state
        .schedules
        .put_expecting(&name, definition, writer, expected);
    let changed = put.await?;
    let status = match changed.edited {
        Some(Edited::Created) => StatusCode::CREATED,
        _ => StatusCode::OK,
    };
    let lang = language::accepted(&call.headers);
    let ready = state.schedules.ready(&changed.schedule);
    let warnings = ready.map(|ready| explain::warnings(&state, &ready, lang));
    let headers = [etag(&changed.schedule), location(&changed.schedule)];
    let view = WrittenView {
        schedule: shown(&state, changed.schedule),
        warnings: warnings.unwrap_or_default(),
    };
    Ok((status, headers, Json(view)).into_response())
}

/// Remove a schedule. Its history is kept.
#[utoipa::path(
    delete, path = "/api/v1/schedules/{name}", tag = "schedules",
    params(("If-Match" = Option<String>, Header, description = "Remove only this `ETag`")),
    responses((status = 200, description = "The schedule after the change", body = ScheduleView)),
)]
pub(crate) async fn delete_schedule(State(state): App, Named(name): Named, call: Call) -> Answer {
    call.refuse_key()?;
    let expected = expected(&call.headers)?;
    let removed = state
        .schedules
        .remove_own(&name, writer(&call), expected)
        .await?;
    Ok(written(&state, StatusCode::OK, removed.schedule))
}

fn writer(call: &Call) -> Writer<'_> {
    Writer {
        origin: Origin::Api,
        by: call.requester.name(),
    }
}

/// The state that the requester expects.
fn expected(headers: &HeaderMap) -> Result<Expected> {
    let invalid = |detail: Sentence| Problem::new(Code::BadRequest, detail);
    if let Some(none) = headers.get(header::IF_NONE_MATCH) {
        if none == "*" {
            return Ok(Expected::Nothing);
        }
        return Err(invalid(both!(
            "If-None-Match must be `*`",
            "If-None-Match 必须为 `*`"
        )));
    }
    let Some(given) = headers.get(header::IF_MATCH) else {
        return Ok(Expected::Anything);
    };
    if given == "*" {
        return Ok(Expected::Something);
    }
    let tag = given.to_str().ok();
    let tag = tag.and_then(|tag| tag.strip_prefix('"')?.strip_suffix('"'));
    let revision = tag.and_then(|tag| tag.parse().ok());
    revision.map(Expected::Revision).ok_or_else(|| {
        invalid(both!(
            "If-Match must be the ETag of an earlier answer, such as \"3\"",
            "If-Match 必须是先前应答的 ETag，如 \"3\""
        ))
    })
}

/// Refuses definitions that are too large or that the requester may not write.
pub(crate) fn admit(
    state: &AppState,
    name: &ScheduleName,
    definition: &Definition,
    requester: &Requester,
) -> Result<()> {
    check_size(definition, state.limits.payload_bytes)?;
    // Scope `operate` does not include running programs on the node.
    if matches!(definition.target, Target::Command { .. }) {
        let checked = state.schedules.check(name, definition.clone());
        checked.map_err(Error::from)?;
        requester.must(Scope::Admin, "a schedule that runs commands")?;
    }
    Ok(())
}

/// Every firing stores a copy of its target, so a definition is bounded like a payload.
fn check_size(definition: &Definition, bytes_max: usize) -> Result<()> {
    let bytes = definition.to_json().len();
    if bytes <= bytes_max {
        return Ok(());
    }
    let detail = both!(
        "the definition has {bytes} bytes; the limit is {bytes_max}",
        "定义有 {bytes} 字节；上限为 {bytes_max}"
    );
    Err(Problem::new(Code::InvalidValue, detail))
}

/// A schedule by name, including removed ones.
pub(crate) async fn find(state: &AppState, name: &ScheduleName) -> Result<Schedule> {
    let found = state.changes.load_schedules(std::slice::from_ref(name));
    let found = found.await?;
    let found = found.into_iter().flatten().next();
    state.schedules.refresh().await?;
    found.ok_or_else(|| Error::Unknown { name: name.clone() }.into())
}

fn shown(state: &AppState, schedule: Schedule) -> ScheduleView {
    let next_at = state.schedules.next_firing(&schedule);
    ScheduleView { schedule, next_at }
}

/// Answers a change with the schedule after it.
fn written(state: &AppState, status: StatusCode, schedule: Schedule) -> Response {
    let headers = [etag(&schedule), location(&schedule)];
    (status, headers, Json(shown(state, schedule))).into_response()
}

/// Names contain only characters that need no escaping in a path.
fn location(schedule: &Schedule) -> (header::HeaderName, String) {
    let location = format!("/api/v1/schedules/{}", schedule.name);
    (header::LOCATION, location)
}

fn etag(schedule: &Schedule) -> (header::HeaderName, String) {
    (header::ETAG, format!("\"{}\"", schedule.revision))
}
