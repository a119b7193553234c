//! Schedules that a clock had planned ahead of the present, taken back (DP-24).

use almanack_core::store::ScheduleFilter;

use super::{Named, PAGE_MAX, view::ScheduleView, written};
use crate::prelude::*;

/// The schedules that were taken back.
#[derive(Serialize, ToSchema)]
pub(crate) struct RewoundView {
    /// Their names.
    rewound: Vec<String>,
}

/// Take a schedule back to the present, after a clock that was ahead had planned it. One that is
/// not ahead stays as it is.
#[utoipa::path(
    post, path = "/api/v1/schedules/{name}/rewind", tag = "schedules",
    params(("name" = String, Path, description = "What the schedule is called")),
    responses((status = 200, description = "The schedule afterwards", body = ScheduleView)),
)]
pub(crate) async fn rewind(State(state): App, Named(name): Named, call: Call) -> Answer {
    call.refuse_key()?;
    let changed = state.schedules.rewind(&name, call.requester.name()).await?;
    Ok(written(&state, StatusCode::OK, changed.schedule))
}

/// Take all schedules back to the present that are planned ahead of it.
#[utoipa::path(
    post, path = "/api/v1/schedules:rewind", tag = "schedules",
    responses((status = 200, description = "Those that were", body = RewoundView)),
)]
pub(crate) async fn rewind_all(State(state): App, call: Call) -> Result<Json<RewoundView>> {
    call.refuse_key()?;
    let mut rewound = Vec::new();
    let mut filter = ScheduleFilter {
        limit: PAGE_MAX,
        ..ScheduleFilter::default()
    };
    loop {
        let page = state.changes.list_schedules(&filter).await?;
        for ahead in page.rows.iter().filter(|it| state.schedules.is_ahead(it)) {
            let by = call.requester.name();
            let changed = state.schedules.rewind(&ahead.name, by).await?;
            rewound.extend(changed.edited.map(|_| ahead.name.to_string()));
        }
        filter.after = page.next;
        if filter.after.is_none() {
            return Ok(Json(RewoundView { rewound }));
        }
    }
}
