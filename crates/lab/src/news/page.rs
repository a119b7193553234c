//! The pages that stories link to: articles, and everything else found in their place.
//!
//! A reader of pages must find the article among navigation, banners and comments, and must detect
//! pages without an article. Some of these show it by their status; the worst do not.
//!
//! - `layout`: what surrounds an article;
//! - `bad`: pages without an article.

mod bad;
mod layout;

use encoding_rs::{Encoding, GB18030, SHIFT_JIS, UTF_8};
use serde::{Deserialize, Serialize};

use super::{prose, story::Facts};
use crate::{chance::Chance, feeds::language::Language, reply::Reply};

const HTML: &str = "text/html; charset=utf-8";
/// Delay of a drawn slow page: longer than any client waits.
const SLOW_MS: u64 = 60_000;
/// Statuses of a chain of redirects, one after the other.
const MOVES: [u16; 4] = [302, 301, 307, 308];

/// The page at a story's address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Page {
    #[default]
    Article,
    /// An article that says "access denied" and "robots.txt", because it is about that.
    AboutBlocking,
    /// An article in Chinese; only the document itself says that it is GB18030.
    Gb18030,
    /// An article in Japanese; only the header says that it is `Shift_JIS`.
    ShiftJis,
    /// An article behind this many redirects.
    Redirected {
        hops: u32,
    },
    RedirectLoop,
    /// An article, after a wait in real time.
    Slow {
        wait_ms: u64,
    },
    /// A bot check that claims success: 200.
    Blocked,
    /// A bot check: 403.
    Forbidden,
    /// Nothing at all, with 200.
    Empty,
    /// Only asks to enable JavaScript.
    Shell,
    /// More than 12 MB, in pieces.
    Oversized,
    Pdf,
    /// 404.
    Missing,
    /// 500.
    Broken,
}

/// Pages per thousand by kind; the rest are articles.
const USUAL: [(u64, Page); 13] = [
    (10, Page::AboutBlocking),
    (10, Page::Gb18030),
    (10, Page::ShiftJis),
    (60, Page::Redirected { hops: 2 }),
    (5, Page::Slow { wait_ms: SLOW_MS }),
    (40, Page::Blocked),
    (40, Page::Forbidden),
    (10, Page::Empty),
    (30, Page::Shell),
    (5, Page::Oversized),
    (30, Page::Pdf),
    (10, Page::Missing),
    (10, Page::Broken),
];

impl Page {
    /// Draws a page's kind, with about the quality of the real web.
    pub(super) fn draw(chance: &mut Chance) -> Self {
        let mut drawn = chance.below(1000);
        let found = USUAL.into_iter().find(|(share, _)| {
            let hit = drawn < *share;
            drawn = drawn.saturating_sub(*share);
            hit
        });
        found.map_or(Self::Article, |(_, page)| page)
    }

    /// The language of its article, if that is one the catalogue is written in.
    pub(super) fn language(self) -> Option<Language> {
        match self {
            Self::Article | Self::AboutBlocking | Self::Redirected { .. } | Self::Slow { .. } => {
                Some(Language::English)
            }
            Self::Gb18030 => Some(Language::Chinese),
            _ => None,
        }
    }

    /// The paragraphs of its article; none without an article.
    pub(super) fn article(self, chance: &mut Chance) -> Option<Vec<String>> {
        match self {
            Self::Article | Self::Redirected { .. } | Self::Slow { .. } => {
                Some(prose::paragraphs(Language::English, chance))
            }
            Self::AboutBlocking => Some(prose::about_blocking(chance)),
            Self::Gb18030 => Some(prose::paragraphs(Language::Chinese, chance)),
            Self::ShiftJis => Some(prose::paragraphs(Language::Japanese, chance)),
            _ => None,
        }
    }
}

impl Facts {
    /// The response to a request; `hop` counts the redirects followed so far.
    pub(super) fn answer(&self, hop: u32) -> Reply {
        match self.page {
            Page::Redirected { hops } if hop < hops => self.redirect(hop),
            Page::RedirectLoop => self.redirect(hop),
            Page::Slow { wait_ms } => self.html(HTML, "utf-8", UTF_8).after_ms(wait_ms),
            Page::Article | Page::AboutBlocking | Page::Redirected { .. } => {
                self.html(HTML, "utf-8", UTF_8)
            }
            Page::Gb18030 => self.html("text/html", "gb18030", GB18030),
            Page::ShiftJis => self.html("text/html; charset=Shift_JIS", "", SHIFT_JIS),
            Page::Blocked => bad::blocked(),
            Page::Forbidden => bad::forbidden(),
            Page::Empty => Reply::new(HTML, ""),
            Page::Shell => bad::shell(&self.story.title),
            Page::Oversized => bad::oversized(&self.story.title),
            Page::Pdf => bad::pdf(),
            Page::Missing => bad::status(404, "This page has moved on"),
            Page::Broken => bad::status(500, "Something went wrong on our side"),
        }
    }

    fn redirect(&self, hop: u32) -> Reply {
        let index = usize::try_from(hop).unwrap_or(0) % MOVES.len();
        let next = hop.wrapping_add(1);
        // Relative, as many are: the client must resolve it.
        let to = format!("/pages/{}/hop/{next}", self.story.id);
        Reply::redirect(MOVES[index], &to)
    }

    /// The page, which may declare its charset in the document.
    fn html(&self, content_type: &str, declared: &str, encoding: &'static Encoding) -> Reply {
        let text = layout::write(self, declared);
        Reply::new(content_type, encoding.encode(&text).0.into_owned())
    }

    /// Its text as Markdown, as copied from a browser; an error status if there is none.
    pub(super) fn markdown(&self) -> Result<String, u16> {
        match (self.page, &self.article) {
            (_, Some(article)) => Ok(format!(
                "# {}\n\n{}\n",
                self.story.title,
                article.join("\n\n")
            )),
            (Page::Blocked, _) => Ok(bad::BLOCKED.to_owned()),
            (Page::Shell, _) => Ok(bad::SHELL.to_owned()),
            (Page::Oversized, _) => Ok(bad::LINE.repeat(bad::OVERSIZED_BYTES / bad::LINE.len())),
            (Page::Forbidden, _) => Err(403),
            (Page::Missing, _) => Err(404),
            (Page::Pdf, _) => Err(415),
            (Page::RedirectLoop, _) => Err(508),
            (Page::Broken, _) => Err(500),
            _ => Ok(String::new()),
        }
    }
}

#[cfg(test)]
mod tests;
