//! Kinds of tasks: how much of each waits, and whether it is paused.

use almanack_core::lang::Say;
use almanack_core::pace::KindLine;
use almanack_core::task::Kind;
use almanack_engine::kinds::{self, Error, Pausing};

use crate::call::in_path;
use crate::prelude::*;
use crate::tasks::body::parse_instant;

in_path! {
    /// The kind in the path.
    Of(Kind), |name: String| Ok(Kind::parse(&name)?)
}

/// All kinds, by name.
#[derive(Serialize, ToSchema)]
pub(crate) struct KindsView {
    kinds: Vec<KindLine>,
}

/// How long to pause, and why.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = KindPauseBody)]
pub(crate) struct PauseBody {
    /// End of the pause. Default: until it is resumed.
    #[schema(format = DateTime)]
    until: Option<String>,
    /// The reason, shown to others.
    #[schema(max_length = 500)]
    note: Option<String>,
}

/// List kinds: what waits, what runs, what is paused, and rates.
///
/// A kind is listed if it is configured or paused, or if tasks of it wait or run.
#[utoipa::path(
    get, path = "/api/v1/kinds", tag = "kinds",
    responses((status = 200, description = "The kinds, by name", body = KindsView)),
)]
pub(crate) async fn list_kinds(State(state): App) -> Result<Json<KindsView>> {
    let (known, now) = (state.rescheduler.kinds(), state.clock.now());
    let kinds = kinds::list(&*state.store, &known, now).await?;
    Ok(Json(KindsView { kinds }))
}

/// Pause a kind until it is resumed or until a time.
///
/// No node starts a task of it any more; waiting tasks stay, running ones end. A kind that is not
/// configured, and of which there is no task, is refused.
#[utoipa::path(
    post, path = "/api/v1/kinds/{kind}/pause", tag = "kinds",
    request_body = PauseBody,
    responses((status = 200, description = "The kind after the change", body = KindLine)),
)]
pub(crate) async fn pause_kind(State(state): App, Of(kind): Of, call: Call) -> Answer {
    call.refuse_key()?;
    let body: PauseBody = call.json_or_default()?;
    let until = body.until.as_deref();
    let pausing = Pausing {
        until: until.map(|at| parse_instant(at, "until")).transpose()?,
        note: body.note,
        by: call.requester.name().to_owned(),
    };
    let known = state.rescheduler.kinds();
    kinds::pause(&*state.changes, &known, &kind, pausing, state.clock.now()).await?;
    line(&state, &kind).await
}

/// Resume a paused kind.
#[utoipa::path(
    post, path = "/api/v1/kinds/{kind}/resume", tag = "kinds",
    responses((status = 200, description = "The kind after the change", body = KindLine)),
)]
pub(crate) async fn resume_kind(State(state): App, Of(kind): Of, call: Call) -> Answer {
    call.refuse_key()?;
    let (known, by) = (state.rescheduler.kinds(), call.requester.name());
    kinds::resume(&*state.changes, &known, &kind, by, state.clock.now()).await?;
    line(&state, &kind).await
}

/// What a list says of this kind.
async fn line(state: &AppState, kind: &Kind) -> Answer {
    let known = state.rescheduler.kinds();
    let all = kinds::list(&*state.changes, &known, state.clock.now()).await?;
    let found = all.into_iter().find(|line| line.kind == *kind);
    let none = || known.line(kind);
    Ok(Json(found.unwrap_or_else(none)).into_response())
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let detail = error.both();
        let path = match error {
            Error::Store(error) => return error.into(),
            Error::Unknown { .. } => return Self::new(Code::NoSuchKind, detail),
            Error::Reserved { .. } => "kind",
            Error::Note { .. } => "note",
            Error::Past => "until",
        };
        Self::new(Code::InvalidValue, detail).at(path)
    }
}
