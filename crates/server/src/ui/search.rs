//! The page of the search over everything.
//!
//! The palette is this page under keys: the script asks for it while somebody types and shows its
//! groups as a list, so it knows nothing that the page does not say.

pub(crate) mod find;
mod ways;

use self::find::{Hit, HitType, Question, SearchView};
use crate::call::check_text;
use crate::ui::prelude::*;

pub(crate) const PATH: &str = "/ui/search";
/// Hits of each type.
const HITS: usize = 8;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Query {
    q: Option<String>,
}

pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new().route(PATH, get(show))
}

async fn show(Sought(state, viewer, query): Sought<Query>) -> Answer {
    let lang = viewer.lang;
    let typed = query.q.unwrap_or_default();
    let words = typed.trim();
    let found = match check_text(words.to_owned(), "q") {
        Ok(_) => find::find(&state, &Question::of(&viewer, words)).await,
        Err(refused) => Err(refused),
    };
    let shown = |found: &Markup| {
        let body = html! {
            form method="get" action=(PATH) class="fields" role="search" {
                (Field::search("q", lang.pick("Search everything", "搜索全部内容"), Some(words)))
                button type="submit" class="primary" { (lang.pick("Search", "搜索")) }
            }
            div id="found" class="stack" { (found) }
            (equivalent(words).show(&viewer))
        };
        page(
            &viewer,
            Place::Elsewhere,
            lang.pick("Search", "搜索"),
            &body,
        )
    };
    match found {
        Ok(found) => Ok(shown(&list(lang, words, &found)).into_response()),
        Err(problem) if problem.code.status().is_server_error() => Err(problem),
        Err(problem) => Ok(again(shown(&refused(lang, &problem)))),
    }
}

fn list(lang: Lang, words: &str, found: &SearchView) -> Markup {
    html! {
        @if found.hits.is_empty() { (empty(lang.pick("Nothing found.", "没有找到任何内容。"))) }
        @for hits in found.hits.chunk_by(|a, b| a.r#type == b.r#type) {
            @let of = hits[0].r#type;
            section aria-labelledby={ "found-" (of) } {
                h2 id={ "found-" (of) } { (of.plural(lang)) }
                ul class="hits" { @for hit in hits { li { (line(hit)) } } }
                @if found.more.contains(&of) {
                    p class="hint" { a href=(all(of, words)) { (lang.pick("All that match", "全部符合的结果")) } }
                }
            }
        }
        @if !words.is_empty() { (elsewhere(lang, words)) }
    }
}

fn line(hit: &Hit) -> Markup {
    html! {
        a href=(hit.page) {
            span lang=[hit.is_foreign().then_some("")] { (hit.title) }
            @if let Some(detail) = &hit.detail { " " small class="hint" { (detail) } }
        }
    }
}

/// The list that shows all of a type.
fn all(of: HitType, words: &str) -> String {
    let list = match of {
        HitType::Task => Place::Tasks.path(),
        HitType::Schedule | HitType::Monitor => Place::Schedules.path(),
        HitType::Source => Place::Sources.path(),
        HitType::Entry => super::sources::search::PATH,
        HitType::Setting => Place::Settings.path(),
        _ => return Place::Editions.path().to_owned(),
    };
    address(list, [("q", words)])
}

/// Lists look further than a search over everything: inside subjects, and in all that happened.
fn elsewhere(lang: Lang, words: &str) -> Markup {
    let lists = [
        (
            HitType::Task,
            pick!(lang; "Tasks whose subject contains this", "主题包含该文字的任务"),
        ),
        (HitType::Schedule, pick!(lang; "All schedules", "全部日程")),
    ];
    let activity = address(Place::Activity.path(), [("q", words)]);
    html! {
        p class="acts further" {
            span class="hint" { (lang.pick("Look further:", "继续查找：")) }
            @for (of, label) in lists { a href=(all(of, words)) { (label) } }
            a href=(activity) { (Place::Activity.name(lang)) }
        }
    }
}

fn equivalent(words: &str) -> Equivalent {
    let asked = (!words.is_empty()).then_some(("q", words));
    let asked: Vec<_> = asked.into_iter().collect();
    let call = Equivalent::call("GET", address("/api/v1/search", asked));
    call.cli(
        ["search", words]
            .into_iter()
            .filter(|word| !word.is_empty()),
    )
}
