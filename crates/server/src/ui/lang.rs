//! The two languages of the dashboard.
//!
//! Both texts are written where they are used, the English one first:
//!
//! ```ignore
//! say!(lang, "{count} tasks wait", "{count} 个任务在等待")
//! ```
//!
//! A table of messages elsewhere would need a test for completeness; here the compiler checks it.
//! Sentences from other parts of Almanack (why a source waits, what an expression means) are
//! English, and are marked so for screen readers ([`Lang::english`]).

use almanack_core::alert::{self, Alert};

use crate::ui::prelude::*;

/// A language of the dashboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lang {
    English,
    Chinese,
}

/// A sentence in the reader's language. Both are format strings with the same arguments. With a
/// semicolon after the language, the pair keeps its two lines.
macro_rules! say {
    ($lang:expr, $($pair:tt)*) => { $crate::ui::lang::say!($lang; $($pair)*) };
    ($lang:expr; $english:literal, $chinese:literal $(, $argument:expr)* $(,)?) => {
        match $lang {
            $crate::ui::lang::Lang::English => format!($english $(, $argument)*),
            $crate::ui::lang::Lang::Chinese => format!($chinese $(, $argument)*),
        }
    };
}

/// [`Lang::pick`] for a pair that needs two lines.
macro_rules! pick {
    ($lang:expr; $english:literal, $chinese:literal) => {
        $lang.pick($english, $chinese)
    };
}

/// A text for each case; with a question mark, none for the others.
macro_rules! words {
    ($lang:expr, $of:ident?; $($case:pat => $english:literal, $chinese:literal;)*) => {
        match $of {
            $($case => Some($lang.pick($english, $chinese)),)*
            _ => None,
        }
    };
    ($lang:expr, $of:expr; $($case:pat => $english:literal, $chinese:literal;)*) => {
        match $of { $($case => $lang.pick($english, $chinese)),* }
    };
}

pub(crate) use {pick, say, words};

impl Lang {
    pub(crate) const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// Its BCP 47 tag.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-CN",
        }
    }

    /// Its own name.
    pub(crate) fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "简体中文",
        }
    }

    pub(crate) fn parse(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lang| lang.tag() == tag)
    }

    /// One of two fixed texts.
    pub(crate) fn pick<'a>(self, english: &'a str, chinese: &'a str) -> &'a str {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }

    /// The language that a browser prefers. Default: English.
    pub(crate) fn accepted(headers: &HeaderMap) -> Self {
        let asked = headers
            .get(header::ACCEPT_LANGUAGE)
            .and_then(|value| value.to_str().ok());
        preferred(asked.unwrap_or_default())
    }

    /// An alert in a few words.
    pub(crate) fn alert(self, of: &Alert) -> String {
        match self {
            Self::English => alert::words::english(of),
            Self::Chinese => alert::words::chinese(of),
        }
    }

    /// A sentence that exists in English only.
    pub(crate) fn english(self, sentence: &str) -> Markup {
        match self {
            Self::English => html! { (sentence) },
            Self::Chinese => html! { span lang="en" { (sentence) } },
        }
    }
}

/// The supported language with the greatest weight; of equal ones the first.
fn preferred(accept: &str) -> Lang {
    let mut best = (Lang::English, 0.0);
    for part in accept.split(',') {
        let mut fields = part.split(';');
        let tag = fields.next().unwrap_or_default();
        let tag = tag.trim().to_ascii_lowercase();
        let weight = fields.find_map(|field| field.trim().strip_prefix("q=")?.parse().ok());
        let weight = weight.unwrap_or(1.0_f32);
        let lang = match tag.split('-').next() {
            Some("zh") => Lang::Chinese,
            Some("en") => Lang::English,
            _ => continue,
        };
        if weight > best.1 {
            best = (lang, weight);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_chooses_the_language() {
        for (accept, lang) in [
            ("", Lang::English),
            ("zh-CN,zh;q=0.9,en;q=0.8", Lang::Chinese),
            ("zh", Lang::Chinese),
            ("en-GB,en;q=0.9,zh;q=0.8", Lang::English),
            ("fr,zh-TW;q=0.5,en;q=0.4", Lang::Chinese),
            ("de", Lang::English),
            ("zh;q=0", Lang::English),
            ("zh;q=nonsense,en;q=0.5", Lang::Chinese),
            ("ZH-Hans-CN", Lang::Chinese),
            ("en,zh;q=0.9", Lang::English),
            ("en;q=0.1, zh;q=0.2", Lang::Chinese),
            ("de, fr", Lang::English),
            ("zhuang", Lang::English),
        ] {
            assert_eq!(preferred(accept), lang, "{accept:?}");
        }
    }

    #[test]
    fn a_text_is_made_in_one_language() {
        let count = 3;
        assert_eq!(
            say!(Lang::English, "{count} wait", "{count} 个在等"),
            "3 wait"
        );
        assert_eq!(
            say!(Lang::Chinese, "{count} wait", "{count} 个在等"),
            "3 个在等"
        );
    }
}
