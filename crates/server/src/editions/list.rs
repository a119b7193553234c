//! Pages of editions, newest day first.

use almanack_core::{edition::State as EditionState, store::EditionFilter};
use jiff::civil::Date;

use super::{editions, parse_date, view::EditionsView};
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
    let mut lines = editions(&state)?.list(&filter).await?;
    let more = paging::cut(&mut lines, page);
    let last = lines.last().filter(|_| more);
    let next_cursor = last.map(|line| paging::cursor(line.edition.date));
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
        let filter = EditionFilter {
            states: state.into_iter().collect(),
            published: self.published,
            before: self.cursor.as_deref().map(parse_cursor).transpose()?,
            limit: page + 1,
            ..EditionFilter::default()
        };
        Ok((filter, page))
    }
}

fn parse_state(text: &str) -> Result<EditionState> {
    EditionState::parse(text).ok_or_else(|| {
        let names = EditionState::ALL.map(EditionState::as_str).join(", ");
        Problem::in_query(format!("state must be one of {names}"))
    })
}

fn parse_cursor(text: &str) -> Result<Date> {
    paging::read(text, |date| parse_date(date).ok())
}
