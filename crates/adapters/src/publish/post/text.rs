//! The text of a post: title and day, as many stories as fit, the link.
//!
//! INVARIANT: no text is longer than its service takes, and the link is never what is cut.

use almanack_core::edition::document::{Inputs, Printed};

use crate::{feed::text::one_line, language::Language};

/// Longest title of a story that is listed.
const TITLE_CHARS_MAX: usize = 120;

/// How links and markup are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Markup {
    /// `<url|title>`
    Slack,
    /// `[title](<url>)`
    Markdown,
    /// Titles alone.
    Plain,
}

/// What texts of a service may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    markup: Markup,
    chars_max: usize,
    bytes_max: usize,
    /// What a link counts as, whatever its length.
    link_chars: Option<usize>,
}

impl Form {
    pub(super) const SLACK: Self = Self {
        markup: Markup::Slack,
        chars_max: 3_000,
        bytes_max: usize::MAX,
        link_chars: None,
    };
    pub(super) const DISCORD: Self = Self {
        markup: Markup::Markdown,
        chars_max: 2_000,
        bytes_max: usize::MAX,
        link_chars: None,
    };
    pub(super) const MASTODON: Self = Self {
        markup: Markup::Plain,
        chars_max: 500,
        bytes_max: usize::MAX,
        link_chars: Some(23),
    };
    pub(super) const BLUESKY: Self = Self {
        markup: Markup::Plain,
        chars_max: 300,
        bytes_max: 3_000,
        link_chars: None,
    };

    /// Writes the post of an edition.
    pub(super) fn write(self, inputs: &Inputs, pages_url: Option<&str>) -> String {
        let language = Language::of(&inputs.language);
        let title = cut(&one_line(&inputs.title), TITLE_CHARS_MAX);
        let head = format!("{} · {}", self.strong(&self.plain(&title)), inputs.date);
        let address = pages_url.map(|url| format!("{url}/editions/{}", inputs.id()));
        let count = inputs.stories.len();
        let mut lines = Vec::new();
        for (listed, story) in inputs.stories.iter().enumerate() {
            let line = self.story(story);
            let left = count - listed - 1;
            let fits = |line: &String| {
                let with: Vec<&String> = lines.iter().chain([line]).collect();
                let more = more(language, left);
                let text = whole(&head, &with, more.as_deref(), address.as_deref());
                self.fits(&text, address.as_deref())
            };
            if !fits(&line) {
                break;
            }
            lines.push(line);
        }
        let listed: Vec<&String> = lines.iter().collect();
        whole(
            &head,
            &listed,
            more(language, count - listed.len()).as_deref(),
            address.as_deref(),
        )
    }

    fn fits(self, text: &str, link: Option<&str>) -> bool {
        let chars = text.chars().count();
        let shorter = match (self.link_chars, link) {
            (Some(counted), Some(link)) => link.chars().count().saturating_sub(counted),
            _ => 0,
        };
        chars - shorter <= self.chars_max && text.len() <= self.bytes_max
    }

    fn story(self, story: &Printed) -> String {
        let titles = [&story.title, &story.original_title, &story.url];
        let mut titles = titles.into_iter().map(|text| one_line(text));
        let title = titles.find(|text| !text.is_empty()).unwrap_or_default();
        let title = self.plain(&cut(&title, TITLE_CHARS_MAX));
        let url = url::Url::parse(story.url.trim()).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        let (rank, url) = (story.rank, url.map(|url| url.to_string()));
        match (self.markup, url) {
            (Markup::Slack, Some(url)) => format!("{rank}. <{}|{title}>", url.replace('|', "%7C")),
            (Markup::Markdown, Some(url)) => format!("{rank}. [{title}](<{url}>)"),
            _ => format!("{rank}. {title}"),
        }
    }

    fn strong(self, text: &str) -> String {
        match self.markup {
            Markup::Slack => format!("*{text}*"),
            Markup::Markdown => format!("**{text}**"),
            Markup::Plain => text.to_owned(),
        }
    }

    /// Text of others, without what the service would take for markup, a mention or a tag.
    fn plain(self, text: &str) -> String {
        match self.markup {
            Markup::Slack => {
                let text = text.replace('&', "&amp;").replace('<', "&lt;");
                text.replace('>', "&gt;")
            }
            Markup::Markdown => {
                let mut plain = String::with_capacity(text.len());
                for c in text.chars() {
                    if r"\*_~`|[]()<>#@".contains(c) {
                        plain.push('\\');
                    }
                    plain.push(c);
                }
                plain
            }
            // A full-width sign mentions nobody and tags nothing.
            Markup::Plain => text.replace('@', "＠").replace('#', "＃"),
        }
    }
}

fn more(language: Language, left: usize) -> Option<String> {
    let english = match left {
        0 => return None,
        1 => "… and 1 more".to_owned(),
        _ => format!("… and {left} more"),
    };
    Some(language.choose(english, format!("……另有 {left} 篇")))
}

fn whole(head: &str, lines: &[&String], more: Option<&str>, link: Option<&str>) -> String {
    let mut text = head.to_owned();
    let mut lines: Vec<&str> = lines.iter().map(|line| line.as_str()).collect();
    lines.extend(more);
    if !lines.is_empty() {
        text = format!("{text}\n\n{}", lines.join("\n"));
    }
    match link {
        Some(link) => format!("{text}\n\n{link}"),
        None => text,
    }
}

fn cut(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let kept: String = text.chars().take(chars_max - 1).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use almanack_core::edition::{EditionName, story::StoryKey};
    use jiff::civil::date;

    use super::*;

    fn inputs(count: u32, title: &str) -> Inputs {
        let story = |rank| Printed {
            rank,
            key: StoryKey(rank.to_string()),
            title: title.to_owned(),
            original_title: String::new(),
            url: format!("https://site.example/a|b?{rank}"),
            discussion_url: None,
            score: None,
            published_at: None,
            content_summary: None,
            comment_summary: None,
            note: None,
            degraded_by: None,
            comment_count: None,
            source_name: None,
            topic: None,
            comment_note: None,
            image_url: None,
            reading_minutes: None,
        };
        Inputs {
            name: EditionName::default(),
            date: date(2026, 1, 10),
            revision: 1,
            title: "The Daily".to_owned(),
            language: "en".to_owned(),
            overview: None,
            stories: (1..=count).map(story).collect(),
            left_out: 0,
        }
    }

    #[test]
    fn every_text_fits_and_keeps_its_link() {
        let pages = Some("https://daily.example");
        for form in [Form::SLACK, Form::DISCORD, Form::MASTODON, Form::BLUESKY] {
            for title in [
                "Short",
                "日本語の長い題名 ",
                &"a very long title ".repeat(20),
            ] {
                for count in [0, 1, 30, 100] {
                    let text = form.write(&inputs(count, title), pages);
                    let link = "https://daily.example/editions/2026-01-10";
                    assert!(text.ends_with(link), "{text}");
                    assert!(form.fits(&text, Some(link)), "{form:?} {}", text.len());
                }
            }
        }
        let text = Form::BLUESKY.write(&inputs(30, "One of many titles"), pages);
        assert!(text.contains("… and "), "{text}");
        assert_eq!(
            Form::SLACK.write(&inputs(0, ""), None),
            "*The Daily* · 2026-01-10"
        );
    }

    #[test]
    fn titles_of_others_mention_nobody_and_are_no_markup() {
        let odd = inputs(1, "<!channel> @everyone #tag [x](y) **b**");
        let slack = Form::SLACK.write(&odd, None);
        assert!(slack.contains("&lt;!channel&gt;"), "{slack}");
        assert!(slack.contains("<https://site.example/a%7Cb?1|"), "{slack}");
        let discord = Form::DISCORD.write(&odd, None);
        assert!(
            discord.contains(r"\@everyone") && discord.contains(r"\[x\]\(y\)"),
            "{discord}"
        );
        let plain = Form::MASTODON.write(&odd, None);
        assert!(!plain.contains('@') && !plain.contains('#'), "{plain}");
    }
}
