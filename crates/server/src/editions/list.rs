//! Pages of editions, newest day first.

use almanack_core::{edition::State as EditionState, store::EditionFilter};
use jiff::civil::Date;

use super::{editions, parse_date, view::EditionsView};
use crate::prelude::*;

/// Which editions to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EditionsQuery {
    /// Only in this state: init, `list_fetched`, processing, aggregating, published, empty or archived.
    state: Option<String>,
    /// Only those that were published at some time.
    #[serde(default)]
    published: bool,
    /// How many at most: 1 to 500, 50 when nobody says otherwise.
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of editions, newest day first.
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
    /// The filter, which asks for one more than the page holds: that one says whether another page follows.
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

fn misasked(detail: &str) -> Problem {
    Problem::new(Code::InvalidQuery, detail)
}

fn parse_state(text: &str) -> Result<EditionState> {
    EditionState::parse(text).ok_or_else(|| {
        let names = EditionState::ALL.map(EditionState::as_str).join(", ");
        misasked(&format!("state must be one of {names}"))
    })
}

fn parse_cursor(text: &str) -> Result<Date> {
    paging::read(text, |date| parse_date(date).ok())
}
