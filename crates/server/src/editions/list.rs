//! Pages of editions, newest day first.

use almanack_core::both;
use almanack_core::{
    edition::{EditionId, State as EditionState},
    store::EditionFilter,
};

use super::{any_editions, parse_id, parse_name, view::EditionsView};
use crate::prelude::*;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EditionsQuery {
    /// Only in this state: init, `list_fetched`, processing, aggregating, published, empty or
    /// archived.
    state: Option<String>,
    /// Only editions that were published at some time.
    #[serde(default)]
    published: bool,
    /// Only editions of this name; `default` is the one that is configured without.
    name: Option<String>,
    /// Page size, 1 to 500. Default: 50.
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// List editions, newest day first.
#[utoipa::path(
    get, path = "/api/v1/editions", tag = "editions",
    params(EditionsQuery),
    responses((status = 200, description = "The page", body = EditionsView)),
)]
pub(crate) async fn list_editions(
    State(state): App,
    Asked(query): Asked<EditionsQuery>,
) -> Result<Json<EditionsView>> {
    let (filter, page) = query.into_filter()?;
    let mut lines = any_editions(&state)?.list(&filter).await?;
    let more = paging::cut(&mut lines, page);
    let last = lines.last().filter(|_| more);
    let next_cursor = last.map(|line| paging::cursor(line.edition.id));
    Ok(Json(EditionsView {
        editions: lines,
        next_cursor,
    }))
}

impl EditionsQuery {
    /// The filter reads one row more than the page holds, to know whether another page follows.
    fn into_filter(self) -> Result<(EditionFilter, usize)> {
        let page = paging::size(self.limit, PAGE_DEFAULT, PAGE_MAX)?;
        let state = self.state.as_deref().map(parse_state).transpose()?;
        let name = self.name.as_deref().map(parse_name);
        let filter = EditionFilter {
            states: state.into_iter().collect(),
            published: self.published,
            name: name.transpose()?,
            after: self.cursor.as_deref().map(parse_cursor).transpose()?,
            limit: page + 1,
            ..EditionFilter::default()
        };
        Ok((filter, page))
    }
}

fn parse_state(text: &str) -> Result<EditionState> {
    EditionState::parse(text).ok_or_else(|| {
        let names = EditionState::ALL.map(EditionState::as_str).join(", ");
        Problem::in_query(both!(
            "state must be one of {names}",
            "state 必须是以下之一：{names}"
        ))
    })
}

fn parse_cursor(text: &str) -> Result<EditionId> {
    paging::read(text, |id| parse_id(id).ok())
}
