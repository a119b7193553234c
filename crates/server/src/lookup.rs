//! Look up many tasks by name in one call, for example the firings of a page of schedules.

use almanack_core::task::{Identity, Kind, Subject};

use crate::prelude::*;
use crate::{batch::check_count, tasks::view::TaskView};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LookupBody {
    tasks: Vec<Wanted>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// Kind of the task.
    #[schema(example = "DISPATCH")]
    kind: String,
    /// Subject of the task.
    #[schema(example = "schedule:morning-news@2026-01-05T08:00:00Z")]
    subject: String,
}

/// The results, in request order.
#[derive(Serialize, ToSchema)]
pub(crate) struct LookupView {
    /// The live task of each identity, or its latest; null if there is none.
    tasks: Vec<Option<TaskView>>,
}

/// Look up many tasks by name. Changes nothing.
#[utoipa::path(
    post, path = "/api/v1/tasks:lookup", tag = "tasks",
    request_body = LookupBody,
    responses((status = 200, description = "The results, in order", body = LookupView)),
)]
pub(crate) async fn look_up(State(state): App, call: Call) -> Result<Json<LookupView>> {
    let body: LookupBody = call.json()?;
    check_count(body.tasks.len(), state.limits.batch_items_max)?;
    let read = |wanted: &Wanted| -> Result<Identity> {
        Ok(Identity {
            kind: Kind::parse(&wanted.kind)?,
            subject: Subject::parse(&wanted.subject)?,
        })
    };
    let identities: Vec<Identity> = body.tasks.iter().map(read).collect::<Result<_, _>>()?;
    let found = state.store.load_current(&identities).await?;
    let tasks = found.into_iter().map(|task| task.map(TaskView::from));
    Ok(Json(LookupView {
        tasks: tasks.collect(),
    }))
}
