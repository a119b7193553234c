//! The messages that readers get: HTML that survives mail programs, and the same as plain text.
//!
//! Mail programs drop style sheets, scripts and what is loaded from elsewhere, so every style is
//! inline, nothing is loaded, and one simple table holds the column. Titles and summaries were
//! written by others: all of it is escaped, and only web addresses become links.

use almanack_core::{
    edition::{
        document::{Document, Printed},
        port::BadTemplate,
        quote, reading,
    },
    newsletter::port::{Around, Confirmation, MailWriter, Written},
};
use minijinja::{
    AutoEscape, Environment, UndefinedBehavior, context, syntax::SyntaxConfig, value::Serde,
};
use serde::Serialize;

use crate::{feed::text::one_line, language::Language};

const EDITION: &str = include_str!("edition.html.jinja");
const CONFIRMATION: &str = include_str!("confirmation.html.jinja");
/// Gmail cuts a longer message off, and the way to unsubscribe with it.
const HTML_BYTES_MAX: usize = 95_000;
/// Titles named in the line that lists of messages show.
const TEASER_TITLES: usize = 3;
/// Steps that a template may take.
const FUEL: u64 = 1_000_000;

/// Writes mails by the built-in templates.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltIn;

/// A story as the templates see it.
#[derive(Serialize)]
struct Story {
    rank: u32,
    title: String,
    original: Option<String>,
    url: Option<String>,
    /// What it is about, where it is from, its points, how long it takes.
    facts: Vec<String>,
    discussion: Option<Discussion>,
    summary: Vec<String>,
    /// Stands in for a summary.
    note: Option<&'static str>,
    /// What readers should know about the summary.
    remark: Option<&'static str>,
    /// What readers say, in paragraphs; none where `quotes` are.
    comments: Vec<String>,
    quotes: Vec<Quote>,
    /// Why it is not said what readers say.
    comments_note: Option<&'static str>,
}

#[derive(Serialize)]
struct Discussion {
    url: String,
    /// The number of comments, if it is known.
    words: String,
}

#[derive(Serialize)]
struct Quote {
    author: Option<String>,
    text: String,
}

impl Story {
    fn of(story: &Printed, language: Language) -> Self {
        let titles = [&story.title, &story.original_title, &story.url];
        let mut titles = titles.into_iter().map(|text| one_line(text));
        let title = titles.find(|text| !text.is_empty()).unwrap_or_default();
        let original = Some(one_line(&story.original_title));
        let summary = paragraphs(story.content_summary.as_deref());
        let quotes = quote::parse(story.comment_summary.as_deref().unwrap_or_default());
        Self {
            rank: story.rank,
            original: original.filter(|text| !text.is_empty() && *text != title),
            url: web(&story.url),
            facts: facts(story, language),
            discussion: discussion(story, language),
            note: summary.is_empty().then(|| language.no_summary(story)),
            remark: language.remark(story).filter(|_| !summary.is_empty()),
            comments: if quotes.is_empty() {
                paragraphs(story.comment_summary.as_deref())
            } else {
                Vec::new()
            },
            quotes: quotes.into_iter().map(Quote::of).collect(),
            comments_note: story
                .comment_note
                .filter(|_| story.comment_summary.is_none())
                .map(|note| language.instead_of_comments(Some(note))),
            summary,
            title,
        }
    }

    /// Leaves out what readers say.
    fn shorten(&mut self) {
        self.comments.clear();
        self.quotes.clear();
        self.comments_note = None;
    }
}

impl Quote {
    fn of(quote: quote::Quote) -> Self {
        Self {
            author: quote.author,
            text: quote.text,
        }
    }
}

fn facts(story: &Printed, language: Language) -> Vec<String> {
    let url = web(&story.url).and_then(|url| url::Url::parse(&url).ok());
    let host = url.as_ref().and_then(|url| url.host_str());
    let host = host.map(|host| host.trim_start_matches("www.").to_owned());
    let counted = discussion(story, language).is_none();
    let comments = story.comment_count.filter(|_| counted);
    let standing = language.standing(story.score, comments);
    let time = story.reading_minutes.map(|it| language.reading_time(it));
    let named = [&story.topic, &story.source_name];
    let named = named.map(|name| name.as_deref().map(one_line));
    let facts = named.into_iter().chain([host, standing, time]);
    facts.flatten().collect()
}

fn discussion(story: &Printed, language: Language) -> Option<Discussion> {
    let url = story.discussion_url.as_deref().and_then(web)?;
    let count = story.comment_count.map(|it| language.comment_count(it));
    let words = count.unwrap_or_else(|| language.discussion().to_owned());
    Some(Discussion { url, words })
}

/// An address of the web, and nothing that a mail program would run.
fn web(url: &str) -> Option<String> {
    let parsed = url::Url::parse(url.trim()).ok()?;
    matches!(parsed.scheme(), "http" | "https").then(|| parsed.to_string())
}

fn paragraphs(text: Option<&str>) -> Vec<String> {
    let text = text.unwrap_or_default().replace("\r\n", "\n");
    let parts = text.split("\n\n").map(one_line);
    parts.filter(|part| !part.is_empty()).collect()
}

/// An overview is a line for each of several stories, or paragraphs.
fn lines(text: Option<&str>) -> Vec<String> {
    let lines = text.unwrap_or_default().lines().map(one_line);
    lines.filter(|line| !line.is_empty()).collect()
}

/// The words around an edition.
#[derive(Serialize)]
struct Words {
    /// How many stories, and how long they take to read here.
    count: String,
    /// Over what readers say, in the language of the stories.
    comments: &'static str,
    left_out: Option<String>,
    why: String,
    unsubscribe: &'static str,
    page: &'static str,
    shortened: &'static str,
}

impl Words {
    fn of(document: &Document, language: Language) -> Self {
        let inputs = &document.inputs;
        let (count, title) = (inputs.stories.len(), one_line(&inputs.title));
        let left_out = inputs.left_out;
        let texts = inputs
            .stories
            .iter()
            .flat_map(|story| [&story.content_summary, &story.comment_summary]);
        let texts = texts.chain([&inputs.overview]).flatten();
        let minutes = reading::minutes(texts.map(String::as_str));
        let minutes = minutes.map(|minutes| language.reading_time(minutes));
        let count: Vec<String> = [language.count(count)].into_iter().chain(minutes).collect();
        let missing = || {
            let english = match left_out {
                1 => "1 story was left out.".to_owned(),
                _ => format!("{left_out} stories were left out."),
            };
            language.choose(english, format!("另有 {left_out} 篇未收录。"))
        };
        Self {
            count: count.join(" · "),
            comments: Language::of(&inputs.language).comments(),
            left_out: (left_out > 0).then(missing),
            why: language.choose(
                format!("You get this mail because you subscribed to {title}."),
                format!("您订阅了《{title}》，因此收到此邮件。"),
            ),
            unsubscribe: language.choose("Unsubscribe", "退订"),
            page: language.choose("Read in the browser", "在浏览器中阅读"),
            shortened: language.choose(
                "What readers say is on the edition's page.",
                "评论要点见网页版。",
            ),
        }
    }
}

impl MailWriter for BuiltIn {
    fn edition(&self, document: &Document, around: &Around) -> Result<Written, BadTemplate> {
        // The words around the stories are the reader's, unless the stories are in another script.
        let language = Language::of(&document.inputs.language);
        let around_language = Language::of(&around.language);
        let words = Words::of(document, around_language);
        let listed = document.inputs.stories.iter();
        let mut stories: Vec<Story> = listed.map(|story| Story::of(story, language)).collect();
        let print = |stories: &[Story], shortened: bool| {
            let inputs = &document.inputs;
            render(
                EDITION,
                context! {
                    title => one_line(&inputs.title),
                    date => inputs.date.to_string(),
                    tag => inputs.language.clone(),
                    chinese => language == Language::Chinese,
                    teaser => teaser(stories),
                    overview => lines(inputs.overview.as_deref()),
                    stories => Serde(stories),
                    words => Serde(&words),
                    page_url => around.page_url.clone(),
                    unsubscribe_url => around.unsubscribe_url.clone(),
                    footer => around.footer.clone(),
                    shortened,
                },
            )
        };
        let mut html = print(&stories, false)?;
        let text = text(document, &stories, &words, around);
        if html.len() > HTML_BYTES_MAX {
            for story in &mut stories {
                story.shorten();
            }
            html = print(&stories, true)?;
        }
        let (title, date) = (one_line(&document.inputs.title), document.inputs.date);
        Ok(Written {
            subject: format!("{title} · {date}"),
            html,
            text,
        })
    }

    fn confirmation(&self, confirmation: &Confirmation) -> Result<Written, BadTemplate> {
        let language = Language::of(&confirmation.language);
        let title = one_line(&confirmation.title);
        let subject = language.choose(
            format!("Confirm your subscription to {title}"),
            format!("请确认订阅《{title}》"),
        );
        let question = language.choose(
            format!("Someone, probably you, asked to get {title} at this address."),
            format!("有人（可能是您）用此地址订阅了《{title}》。"),
        );
        let button = language.choose("Confirm subscription", "确认订阅");
        let ignore = language.choose(
            "The link is valid for a week. If it was not you, ignore this mail: \
             you will get no other.",
            "链接一周内有效。如果不是您本人操作，请忽略此邮件，不会再收到其他邮件。",
        );
        let html = render(
            CONFIRMATION,
            context! {
                tag => confirmation.language.clone(),
                subject => subject.clone(),
                question => question.clone(),
                button,
                ignore,
                chinese => language == Language::Chinese,
                confirm_url => confirmation.confirm_url.clone(),
                footer => confirmation.footer.clone(),
            },
        )?;
        let footer = confirmation.footer.as_deref().unwrap_or_default();
        let url = &confirmation.confirm_url;
        let text = format!("{question}\n\n{button}:\n{url}\n\n{ignore}\n\n{footer}");
        Ok(Written {
            subject,
            html,
            text: format!("{}\n", text.trim_end()),
        })
    }
}

/// What lists of messages show after the subject.
fn teaser(stories: &[Story]) -> String {
    let titles = stories.iter().take(TEASER_TITLES);
    let titles: Vec<&str> = titles.map(|story| story.title.as_str()).collect();
    titles.join(" · ")
}

fn text(document: &Document, stories: &[Story], words: &Words, around: &Around) -> String {
    let title = one_line(&document.inputs.title);
    let mut lines = vec![
        title,
        format!("{} · {}", document.inputs.date, words.count),
        String::new(),
    ];
    for line in self::lines(document.inputs.overview.as_deref()) {
        lines.extend([line, String::new()]);
    }
    for story in stories {
        write_story(story, words, &mut lines);
    }
    lines.extend(words.left_out.iter().cloned());
    lines.extend(["-- ".to_owned(), words.why.clone()]);
    lines.push(format!("{}: {}", words.unsubscribe, around.unsubscribe_url));
    lines.extend(
        around
            .page_url
            .iter()
            .map(|url| format!("{}: {url}", words.page)),
    );
    lines.extend(around.footer.iter().cloned());
    lines.join("\n") + "\n"
}

fn write_story(story: &Story, words: &Words, lines: &mut Vec<String>) {
    lines.push(format!("{}. {}", story.rank, story.title));
    let facts = (!story.facts.is_empty()).then(|| story.facts.join(" · "));
    let below = [&story.original, &facts, &story.url];
    lines.extend(below.into_iter().flatten().map(|it| format!("   {it}")));
    lines.push(String::new());
    let notes = [story.note, story.remark].into_iter().flatten();
    for paragraph in story
        .summary
        .iter()
        .cloned()
        .chain(notes.map(str::to_owned))
    {
        lines.extend([paragraph, String::new()]);
    }
    let quotes = story.quotes.iter().map(|quote| match &quote.author {
        Some(author) => format!("> {} — {author}", quote.text),
        None => format!("> {}", quote.text),
    });
    let said: Vec<String> = story.comments.iter().cloned().chain(quotes).collect();
    if !said.is_empty() {
        lines.push(format!("{}:", words.comments));
        lines.extend(said);
        lines.push(String::new());
    }
    let note = story.comments_note.map(str::to_owned);
    for paragraph in note.into_iter().chain(
        story
            .discussion
            .iter()
            .map(|it| format!("{}: {}", it.words, it.url)),
    ) {
        lines.extend([paragraph, String::new()]);
    }
}

fn render(template: &str, values: minijinja::Value) -> Result<String, BadTemplate> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build();
    environment.set_syntax(syntax.map_err(|error| BadTemplate(error.to_string()))?);
    environment.set_fuel(Some(FUEL));
    let rendered = environment.render_str(template, values);
    rendered.map_err(|error| BadTemplate(error.to_string()))
}

#[cfg(test)]
mod tests;
