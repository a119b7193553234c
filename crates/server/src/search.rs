//! Search over everything: tasks, schedules, sources, entries, editions, settings, pages, actions.
//!
//! What is found and where it is shown is the dashboard's knowledge ([`find`]), so that page,
//! palette, API and command line say the same.

use crate::access::Requester;
use crate::call::check_text;
use crate::language::{self, Reader};
use crate::prelude::*;
use crate::ui::search::find::{Question, SearchView, find};

/// Hits of each type by default, and at most.
const HITS_DEFAULT: usize = 5;
const HITS_MAX: usize = 50;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchQuery {
    /// What to look for; without it, all pages and actions.
    q: Option<String>,
    /// Hits of each type, 1 to 50. Default: 5.
    limit: Option<usize>,
}

/// Search everything by name.
///
/// Tasks are found by how their subject begins, in exactly this case. Of schedules, those whose name
/// begins so are found, and of the first 2,000 those that contain the text; sources by name or
/// address, entries by their words, editions by day, settings by key or description.
#[utoipa::path(
    get, path = "/api/v1/search", tag = "search",
    params(
        SearchQuery,
        ("Accept-Language" = Option<String>, Header, description = "`zh` for Chinese texts"),
    ),
    responses((status = 200, description = "What was found, by type", body = SearchView)),
)]
pub(crate) async fn search(
    State(state): App,
    Asked(query): Asked<SearchQuery>,
    requester: Requester,
    Reader(lang): Reader,
) -> Answer {
    let words = query.q.map(|q| check_text(q, "q")).transpose()?;
    let question = Question {
        words: words.as_deref().unwrap_or_default().trim(),
        limit: paging::size(query.limit, HITS_DEFAULT, HITS_MAX)?,
        scope: requester.scope(),
        lang,
    };
    Ok(language::answer(lang, find(&state, &question).await?))
}
