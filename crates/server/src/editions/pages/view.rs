//! What a page template finds: an edition as readers see it (docs/guide/editions-pages.md).
//!
//! Everything is ready to be shown: counts have their nouns, texts are paragraphs, addresses are of
//! the web or empty. A separate view: a change of the inputs must not change what operators'
//! templates see by accident.

mod words;

use almanack_core::edition::{
    EditionId,
    document::{Document, Inputs, Printed},
    quote, reading,
};
use serde::Serialize;

use self::words::{discussion, instant, instead, instead_of_comments, points_of, remark_on};
use super::html::{host, is_web, language};
use crate::ui::links::reader;
use almanack_core::lang::Lang;

pub(super) use self::words::{day, reading_time, story_count};

/// Longest description of a page, in characters: what cards and searches show.
const DESCRIPTION_CHARS_MAX: usize = 200;

/// What surrounds a document on its page.
#[derive(Debug, Clone, Default)]
pub(super) struct Around {
    /// The address of this node; empty if it is not known.
    pub(super) base: String,
    /// The published editions before and after it.
    pub(super) previous: Option<EditionId>,
    pub(super) next: Option<EditionId>,
    /// Whether stories' own pictures may be shown.
    pub(super) images: bool,
    /// Where readers subscribe by mail, if they can.
    pub(super) form: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct PageView {
    pub(super) title: String,
    date: String,
    /// The day in words.
    day: String,
    language: String,
    revision: u32,
    left_out: u32,
    digest: String,
    /// In paragraphs.
    overview: Vec<String>,
    /// One line about it, for cards and searches.
    description: String,
    story_count: String,
    reading_time: Option<String>,
    /// The first picture of a story; for cards.
    image_url: Option<String>,
    images: bool,
    stories: Vec<StoryView>,
    previous: Option<Neighbour>,
    next: Option<Neighbour>,
    base: String,
    urls: Urls,
    labels: Labels,
    /// The built-in style.
    style: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct StoryView {
    rank: u32,
    /// Its place on the page, which stays when others come and go.
    pub(super) anchor: String,
    pub(super) title: String,
    /// None where it is the same.
    original_title: Option<String>,
    url: String,
    host: Option<String>,
    /// The source that lists it.
    source: Option<String>,
    topic: Option<String>,
    discussion_url: Option<String>,
    score: Option<i64>,
    points: Option<String>,
    comment_count: Option<u32>,
    /// The number of comments in words, or the name of a discussion that is not counted.
    discussion: Option<String>,
    reading_time: Option<String>,
    published_at: Option<String>,
    /// Its day in words, in UTC.
    published: Option<String>,
    image_url: Option<String>,
    /// In paragraphs; a sentence in its place where there is none.
    pub(super) summary: Vec<String>,
    has_summary: bool,
    /// What readers should know about the summary.
    remark: Option<&'static str>,
    /// What readers say, in paragraphs; none where `quotes` are.
    comments: Vec<String>,
    quotes: Vec<QuoteView>,
    /// Why there are no comments to show, where there is a discussion.
    comments_note: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct QuoteView {
    author: Option<String>,
    text: String,
}

#[derive(Debug, Serialize)]
struct Neighbour {
    date: String,
    day: String,
    url: String,
}

#[derive(Debug, Serialize)]
struct Urls {
    page: String,
    index: String,
    search: String,
    atom: String,
    rss: String,
    json: String,
    /// The form to subscribe by mail; none if there is no newsletter.
    subscribe: Option<String>,
}

/// The words of the built-in template.
#[derive(Debug, Serialize)]
struct Labels {
    all_editions: &'static str,
    overview: &'static str,
    contents: &'static str,
    stories: &'static str,
    story: &'static str,
    readers: &'static str,
    previous: &'static str,
    next: &'static str,
    search: &'static str,
    search_label: &'static str,
    subscribe: &'static str,
    by_mail: &'static str,
    about: &'static str,
    revision: &'static str,
    left_out: &'static str,
    digest: &'static str,
    neighbours: &'static str,
}

impl PageView {
    pub(super) fn of(document: &Document, around: &Around) -> Self {
        let inputs = &document.inputs;
        let lang = language(&inputs.language);
        let neighbour = |id: EditionId| Neighbour {
            date: id.date.to_string(),
            day: day(lang, id.date),
            url: format!("/editions/{id}"),
        };
        let image = |story: &Printed| web(story.image_url.as_deref());
        Self {
            title: inputs.title.clone(),
            date: inputs.date.to_string(),
            day: day(lang, inputs.date),
            language: inputs.language.clone(),
            revision: inputs.revision,
            left_out: inputs.left_out,
            digest: document.body_digest.clone(),
            overview: overview(inputs),
            description: description(inputs),
            story_count: story_count(lang, inputs.stories.len()),
            reading_time: minutes(inputs).map(|it| reading_time(lang, it)),
            image_url: inputs.stories.iter().find_map(image),
            images: around.images,
            stories: stories(inputs),
            previous: around.previous.map(neighbour),
            next: around.next.map(neighbour),
            base: around.base.clone(),
            urls: Urls::of(inputs.id(), around),
            labels: Labels::of(lang),
            style: super::html::STYLE,
        }
    }
}

impl Urls {
    fn of(id: EditionId, around: &Around) -> Self {
        let index = reader(id.name);
        Self {
            subscribe: around.form.clone(),
            page: format!("/editions/{id}"),
            search: format!("{index}/search"),
            atom: format!("{index}/feed.xml"),
            rss: format!("{index}/rss.xml"),
            json: format!("{index}/feed.json"),
            index,
        }
    }
}

impl Labels {
    fn of(lang: Lang) -> Self {
        Self {
            all_editions: lang.pick("All editions", "全部日报"),
            overview: lang.pick("Overview", "概览"),
            contents: lang.pick("In this edition", "本期内容"),
            stories: lang.pick("Stories", "文章"),
            story: lang.pick("Link to story", "文章链接"),
            readers: lang.pick("What readers say", "评论要点"),
            previous: lang.pick("Previous", "上一期"),
            next: lang.pick("Next", "下一期"),
            search: lang.pick("Search", "搜索"),
            search_label: lang.pick("Search all editions", "搜索全部日报"),
            subscribe: lang.pick("Subscribe", "订阅"),
            by_mail: lang.pick("By mail", "邮件"),
            about: lang.pick("About this edition", "关于本期"),
            revision: lang.pick("Revision", "修订"),
            left_out: lang.pick("Stories left out", "未收录的文章数"),
            digest: lang.pick("Digest", "校验值"),
            neighbours: lang.pick("Other editions", "其他日报"),
        }
    }
}

/// The stories of an edition.
pub(super) fn stories(inputs: &Inputs) -> Vec<StoryView> {
    let lang = language(&inputs.language);
    inputs
        .stories
        .iter()
        .map(|story| StoryView::of(story, lang))
        .collect()
}

impl StoryView {
    fn of(story: &Printed, lang: Lang) -> Self {
        let own = if story.original_title.trim().is_empty() {
            &story.url
        } else {
            &story.original_title
        };
        let title = if story.title.trim().is_empty() {
            own
        } else {
            &story.title
        };
        let url = web(Some(&story.url)).unwrap_or_default();
        let summary = paragraphs(story.content_summary.as_deref());
        let said = story.comment_summary.as_deref();
        let quotes = quote::parse(said.unwrap_or_default());
        // Where comments are counted, "0 comments" says it.
        let nobody = story.comment_count == Some(0) || story.discussion_url.is_none();
        let is_noted = said.is_none() && (story.comment_note.is_some() || !nobody);
        Self {
            rank: story.rank,
            anchor: anchor(&story.key.0),
            title: title.clone(),
            original_title: (own != title).then(|| own.clone()),
            host: host(&url).map(str::to_owned),
            source: story.source_name.clone(),
            topic: story.topic.clone(),
            url,
            discussion_url: web(story.discussion_url.as_deref()),
            score: story.score,
            points: story.score.map(|points| points_of(lang, points)),
            comment_count: story.comment_count,
            discussion: discussion(story, lang),
            reading_time: story.reading_minutes.map(|it| reading_time(lang, it)),
            published_at: story.published_at.map(|at| at.to_string()),
            published: story.published_at.map(|at| instant(lang, at)),
            image_url: web(story.image_url.as_deref()),
            has_summary: !summary.is_empty(),
            remark: remark_on(lang, story).filter(|_| !summary.is_empty()),
            summary: if summary.is_empty() {
                vec![instead(lang, story).to_owned()]
            } else {
                summary
            },
            comments: if quotes.is_empty() {
                paragraphs(said)
            } else {
                Vec::new()
            },
            comments_note: is_noted.then(|| instead_of_comments(lang, story.comment_note)),
            quotes: quotes.into_iter().map(QuoteView::of).collect(),
        }
    }
}

impl QuoteView {
    fn of(quote: quote::Quote) -> Self {
        Self {
            author: quote.author,
            text: quote.text,
        }
    }
}

/// What opens an edition, in paragraphs.
pub(super) fn overview(inputs: &Inputs) -> Vec<String> {
    paragraphs(inputs.overview.as_deref())
}

/// One line about an edition: the beginning of its overview, or else its first titles.
pub(super) fn description(inputs: &Inputs) -> String {
    let lines = overview(inputs);
    let text = if lines.is_empty() {
        let titles = inputs
            .stories
            .iter()
            .take(3)
            .map(|story| story.title.as_str());
        titles.collect::<Vec<_>>().join(" · ")
    } else {
        lines.join(" ")
    };
    almanack_core::edition::summary::shorten(&text, DESCRIPTION_CHARS_MAX)
}

/// How long an edition itself takes to read.
pub(super) fn minutes(inputs: &Inputs) -> Option<u32> {
    let of = |story: &'_ Printed| [story.content_summary.clone(), story.comment_summary.clone()];
    let texts: Vec<String> = inputs.stories.iter().flat_map(of).flatten().collect();
    let opening = inputs.overview.as_deref();
    reading::minutes(texts.iter().map(String::as_str).chain(opening))
}

/// A text in paragraphs.
fn paragraphs(text: Option<&str>) -> Vec<String> {
    let lines = text.unwrap_or_default().lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

fn web(url: Option<&str>) -> Option<String> {
    url.filter(|url| is_web(url)).map(str::to_owned)
}

/// A story's place on a page: its key, in characters that need no escape in an address.
pub(super) fn anchor(key: &str) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let place: String = key.chars().map(safe).collect();
    format!("s-{}", place.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_counts_are_said_as_people_say_them() {
        let date = jiff::civil::date(2026, 1, 5);
        assert_eq!(day(Lang::English, date), "Monday, 5 January 2026");
        assert_eq!(day(Lang::Chinese, date), "2026年1月5日 星期一");
        assert_eq!(story_count(Lang::English, 1), "1 story");
        assert_eq!(story_count(Lang::Chinese, 30), "共 30 篇");
        assert_eq!(anchor("hn:42"), "s-hn-42");
        assert_eq!(anchor("\"><x"), "s-x");
    }
}
