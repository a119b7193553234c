//! Many tasks by name in one call: what became of the firings of a page of schedules, say.

use almanack_core::task::{Identity, Kind, Subject};

use crate::prelude::*;
use crate::{batch::check_count, tasks::view::TaskView};

/// Whose tasks.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LookupBody {
    tasks: Vec<Wanted>,
}

/// One identity.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// What is tried.
    #[schema(example = "DISPATCH")]
    kind: String,
    /// What the task is about.
    #[schema(example = "schedule:morning-news@2026-01-05T08:00:00Z")]
    subject: String,
}

/// What was found, in the order asked.
#[derive(Serialize, ToSchema)]
pub(crate) struct LookupView {
    /// The live task of each identity, or its latest; null where there is none.
    tasks: Vec<Option<TaskView>>,
}

/// Look many tasks up by name. Changes nothing.
#[utoipa::path(
    post, path = "/api/v1/tasks:lookup", tag = "tasks",
    request_body = LookupBody,
    responses((status = 200, description = "What was found, in order", body = LookupView)),
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
