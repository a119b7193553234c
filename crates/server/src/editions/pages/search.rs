//! Search over the archive: stories of published editions that contain all words of a question.
//!
//! The store finds the editions by one word, the longest; here the stories are found by all of
//! them. Words are letters and digits: the store searches the inputs as they are kept.

use almanack_core::both;
use almanack_core::{
    edition::{EditionId, document::Printed},
    percent,
};
use almanack_engine::editions::Editions;
use axum::extract::Path;
use jiff::civil::Date;

use super::{
    Wrong, editions, editions_named, html, html::Loads, parse_date, parse_name, published_document,
    view,
};
use crate::prelude::*;

/// Longest question, in characters.
pub(super) const QUERY_CHARS_MAX: usize = 100;
/// Most words of a question; others are ignored.
const WORDS_MAX: usize = 8;
/// Editions that one page of results is taken from, and stories on it.
const EDITIONS_MAX: usize = 20;
const MATCHES_MAX: usize = 50;
/// Longest excerpt, in characters.
const EXCERPT_CHARS_MAX: usize = 220;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchQuery {
    /// Words that a story must contain, all of them; at most 100 characters.
    q: Option<String>,
    /// Only days before this.
    #[param(format = Date)]
    before: Option<String>,
}

/// What was found.
pub(super) struct Results<'a> {
    pub(super) query: &'a str,
    pub(super) matches: Vec<Match>,
    /// Where the next page begins.
    pub(super) older: Option<Date>,
}

impl Results<'_> {
    pub(super) fn encoded(&self) -> String {
        percent::encode(self.query)
    }
}

/// A story that was found.
pub(super) struct Match {
    pub(super) id: EditionId,
    pub(super) story: view::StoryView,
}

impl Match {
    pub(super) fn excerpt(&self) -> String {
        let text = self.story.summary.join(" ");
        almanack_core::edition::summary::shorten(&text, EXCERPT_CHARS_MAX)
    }
}

/// Search published editions; the result is a web page.
#[utoipa::path(
    get, path = "/editions/search", tag = "pages",
    params(SearchQuery),
    responses(
        (status = 200, description = "A page", body = String, content_type = "text/html"),
        (status = "4XX", description = "An error page", body = String, content_type = "text/html"),
    ),
)]
pub(crate) async fn search_page(
    State(state): App,
    query: Result<Asked<SearchQuery>>,
) -> Result<Response, Wrong> {
    found_in(editions(&state)?, query).await
}

/// Search the published editions of one name; the result is a web page.
#[utoipa::path(
    get, path = "/editions/{name}/search", tag = "pages",
    params(SearchQuery),
    responses(
        (status = 200, description = "A page", body = String, content_type = "text/html"),
        (status = "4XX", description = "An error page", body = String, content_type = "text/html"),
    ),
)]
pub(crate) async fn named_search_page(
    State(state): App,
    Path(name): Path<String>,
    query: Result<Asked<SearchQuery>>,
) -> Result<Response, Wrong> {
    found_in(editions_named(&state, parse_name(&name)?)?, query).await
}

async fn found_in(
    editions: &Editions,
    query: Result<Asked<SearchQuery>>,
) -> Result<Response, Wrong> {
    let Asked(query) = query?;
    let before = query.before.as_deref().map(parse_date).transpose()?;
    let asked = query.q.unwrap_or_default();
    let asked = asked.trim();
    if asked.chars().count() > QUERY_CHARS_MAX {
        let detail = both!(
            "q must have at most {QUERY_CHARS_MAX} characters",
            "q 最多 {QUERY_CHARS_MAX} 个字符"
        );
        return Err(Problem::invalid("q", detail).into());
    }
    let results = find(editions, asked, before).await?;
    let page = html::found(&editions.settings, &results).into_string();
    // No tag: what is found changes with every edition, and would have to be found to be compared.
    let uncached = [(header::CACHE_CONTROL, "no-cache")];
    Ok((
        uncached,
        html::respond(StatusCode::OK, page, Loads::Nothing),
    )
        .into_response())
}

async fn find<'a>(
    editions: &Editions,
    asked: &'a str,
    before: Option<Date>,
) -> Result<Results<'a>, almanack_engine::editions::Error> {
    let words = words(asked);
    let mut results = Results {
        query: asked,
        matches: Vec::new(),
        older: None,
    };
    let Some(longest) = words.iter().max_by_key(|word| word.len()) else {
        return Ok(results);
    };
    let mut found = editions.search(longest, before, EDITIONS_MAX + 1).await?;
    let more = paging::cut(&mut found, EDITIONS_MAX);
    results.older = found.last().filter(|_| more).map(|id| id.date);
    for id in found {
        let shown = async {
            let edition = editions.look(id).await?.edition;
            published_document(editions, &edition).await
        };
        let document = match shown.await {
            // Readers still get what is in the other editions (SF-06).
            Err(error) if error.is_unreadable() => continue,
            document => document?,
        };
        let Some(document) = document else { continue };
        let stories = view::stories(&document.inputs).into_iter();
        let stories = stories.zip(&document.inputs.stories);
        let matching = stories.filter(|(_, story)| contains(story, &words));
        let room = MATCHES_MAX.saturating_sub(results.matches.len());
        let matching = matching.map(|(story, _)| Match { id, story });
        results.matches.extend(matching.take(room));
    }
    Ok(results)
}

/// The words of a question: letters and digits, in small letters.
fn words(asked: &str) -> Vec<String> {
    let runs = asked.split(|c: char| !c.is_alphanumeric());
    let words = runs.filter(|run| !run.is_empty()).map(str::to_lowercase);
    words.take(WORDS_MAX).collect()
}

fn contains(story: &Printed, words: &[String]) -> bool {
    let texts = [
        Some(&story.title),
        Some(&story.original_title),
        Some(&story.url),
        story.content_summary.as_ref(),
        story.comment_summary.as_ref(),
    ];
    let text: Vec<String> = texts
        .into_iter()
        .flatten()
        .map(|text| text.to_lowercase())
        .collect();
    words
        .iter()
        .all(|word| text.iter().any(|text| text.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_its_words() {
        assert_eq!(
            words(" Rust's \"borrow\"-checker 数据库！"),
            ["rust", "s", "borrow", "checker", "数据库"]
        );
        assert_eq!(words("%_' \\"), Vec::<String>::new());
        assert_eq!(words(&"a ".repeat(50)).len(), WORDS_MAX);
    }
}
