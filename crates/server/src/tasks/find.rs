//! Finding tasks: the filter of lists, counts and bulk changes, in a query and in a body.

use almanack_core::both;
use almanack_core::lang::Say;
use almanack_core::store::{CountBy, TaskCounts, TaskFilter};
use almanack_core::task::{Kind, Status, Tags, TaskId};

use super::body::parse_instant;
use crate::call::check_text;
use crate::prelude::*;

/// The fields of a filter and those of one call: serde cannot both flatten and refuse unknown
/// fields.
macro_rules! filter {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name {
            /// Only these rows: numbers (`task_id`), separated by commas; at most 500.
            task_id: Option<String>,
            /// Only kinds of Almanack's own (true), or only the others (false).
            internal: Option<bool>,
            /// Only this kind.
            kind: Option<String>,
            /// Only subjects with this prefix.
            subject_prefix: Option<String>,
            /// Only subjects that contain this, in any case.
            subject_contains: Option<String>,
            /// Only this status: INIT, RUNNING, SUCCESS, FAIL or CANCELLED.
            status: Option<String>,
            /// Only tasks that are waiting, will be retried or are running; or only the others.
            live: Option<bool>,
            /// Only tasks with this tag; several, separated by commas: with all of them.
            tag: Option<String>,
            /// Only tasks with this `execute_at` or a later one: an RFC 3339 instant.
            from: Option<String>,
            /// Only tasks with an `execute_at` before this: an RFC 3339 instant.
            to: Option<String>,
            /// Only tasks whose last detail contains this, in any case.
            error: Option<String>,
            $($(#[$doc])* $field: $type,)*
        }

        impl $name {
            /// The filter, if every value is valid.
            fn filter(&self) -> Result<TaskFilter> {
                let instant = |text: &Option<String>, path| {
                    text.as_deref().map(|text| parse_instant(text, path)).transpose()
                };
                Ok(TaskFilter {
                    ids: ids(self.task_id.as_deref())?,
                    internal: self.internal,
                    kind: self.kind.as_deref().map(Kind::parse).transpose()?,
                    subject_prefix: searched(self.subject_prefix.as_deref(), "subject_prefix")?,
                    subject_contains: searched(
                        self.subject_contains.as_deref(),
                        "subject_contains",
                    )?,
                    status: self.status.as_deref().map(Status::parse).transpose()?,
                    live: self.live,
                    tags: tags(self.tag.as_deref())?,
                    from: instant(&self.from, "from")?,
                    to: instant(&self.to, "to")?,
                    error: searched(self.error.as_deref(), "error")?,
                    ..TaskFilter::default()
                })
            }
        }
    };
}

filter! {
    #[derive(Deserialize, IntoParams)]
    #[into_params(parameter_in = Query)]
    ListQuery {
        /// Page size, 1 to 500. Default: 50.
        limit: Option<usize>,
        /// The `next_cursor` of the previous page.
        cursor: Option<String>,
    }
}

filter! {
    #[derive(Deserialize, IntoParams)]
    #[into_params(parameter_in = Query)]
    CountQuery {
        /// Also count by this.
        #[param(inline)]
        by: Option<CountBy>,
    }
}

filter! {
    /// Which tasks. At least one field.
    #[derive(Deserialize, ToSchema)]
    #[schema(as = TaskFilterBody)]
    FilterBody {}
}

impl ListQuery {
    pub(super) fn into_filter(self) -> Result<TaskFilter> {
        let limit = paging::size(self.limit, PAGE_DEFAULT, PAGE_MAX)?;
        let before = self.cursor.as_deref().map(parse_cursor).transpose()?;
        Ok(TaskFilter {
            before,
            limit,
            ..self.filter()?
        })
    }
}

impl FilterBody {
    pub(crate) fn into_filter(self) -> Result<TaskFilter> {
        self.filter()
    }
}

/// Count tasks.
///
/// Examines the newest 100,000 rows, or those with the first tag; `exact` says whether that was all.
#[utoipa::path(
    get, path = "/api/v1/tasks/counts", tag = "tasks",
    params(CountQuery),
    responses((status = 200, description = "The counts", body = TaskCounts)),
)]
pub(crate) async fn count_tasks(
    State(state): App,
    Asked(query): Asked<CountQuery>,
) -> Result<Json<TaskCounts>> {
    let counts = state.store.count_tasks(&query.filter()?, query.by).await?;
    Ok(Json(counts))
}

/// The numbers of rows; an empty text names none, and must not mean all of them.
fn ids(given: Option<&str>) -> Result<Vec<TaskId>> {
    let Some(given) = given else {
        return Ok(Vec::new());
    };
    let ids = given.split(',').map(|id| id.trim().parse().map(TaskId));
    let ids: Option<Vec<TaskId>> = ids.collect::<Result<_, _>>().ok();
    ids.filter(|ids| ids.len() <= PAGE_MAX).ok_or_else(|| {
        Problem::in_query(both!(
            "task_id must be at most {PAGE_MAX} numbers, separated by commas",
            "task_id 须为最多 {PAGE_MAX} 个数字，以逗号分隔"
        ))
    })
}

fn tags(given: Option<&str>) -> Result<Tags> {
    let tags: Vec<&str> = given.into_iter().flat_map(|tags| tags.split(',')).collect();
    Tags::parse(&tags).map_err(|invalid| Problem::in_query(invalid.both()))
}

fn searched(given: Option<&str>, name: &str) -> Result<Option<String>> {
    let given = given.map(str::to_owned);
    given.map(|text| check_text(text, name)).transpose()
}

fn parse_cursor(text: &str) -> Result<TaskId> {
    paging::read(text, |key| key.parse().ok().map(TaskId))
}
