//! Schedules that were planned too far ahead by a fast clock, moved back to the present (DP-24).

use almanack_core::store::ScheduleFilter;

use super::{Named, PAGE_MAX, view::ScheduleView, written};
use crate::prelude::*;

/// The schedules that were moved back.
#[derive(Serialize, ToSchema)]
pub(crate) struct RewoundView {
    /// Their names.
    rewound: Vec<String>,
}

/// Move a schedule back to the present after a fast clock planned it ahead.
///
/// No change if it is not ahead.
#[utoipa::path(
    post, path = "/api/v1/schedules/{name}/rewind", tag = "schedules",
    params(("name" = String, Path, description = "Name of the schedule")),
    responses((status = 200, description = "The schedule after the change", body = ScheduleView)),
)]
pub(crate) async fn rewind(State(state): App, Named(name): Named, call: Call) -> Answer {
    call.refuse_key()?;
    let changed = state.schedules.rewind(&name, call.requester.name()).await?;
    Ok(written(&state, StatusCode::OK, changed.schedule))
}

/// Move all schedules that are planned ahead back to the present.
#[utoipa::path(
    post, path = "/api/v1/schedules:rewind", tag = "schedules",
    responses((status = 200, description = "The schedules that were moved back", body = RewoundView)),
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
