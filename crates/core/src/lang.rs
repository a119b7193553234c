//! The two languages in which Almanack speaks to people.
//!
//! A sentence is written where its fact is, in both languages, the English one first:
//!
//! ```
//! use almanack_core::{lang::Lang, say};
//!
//! let count = 3;
//! let sentence = |lang| say!(lang, "{count} tasks wait", "{count} 个任务在等待");
//! assert_eq!(sentence(Lang::English), "3 tasks wait");
//! ```
//!
//! A table of messages elsewhere would need a test for completeness; here the compiler checks it.
//! The language is an argument. Where a sentence is made before its reader is known (an error on
//! its way to an API's client, a page or a log), it travels as a [`Sentence`], in both.

pub mod reader;

use std::fmt;

use serde::{Serialize, Serializer};

/// Between the two languages in a stored text: the record separator, which no sentence contains.
const BETWEEN: char = '\u{1e}';

/// In which language something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Lang {
    #[default]
    English,
    /// Simplified Chinese.
    Chinese,
}

/// A sentence in the reader's language. Both are format strings with the same arguments. With a
/// semicolon after the language, the pair keeps its two lines.
#[macro_export]
macro_rules! say {
    ($lang:expr, $($pair:tt)*) => { $crate::say!($lang; $($pair)*) };
    ($lang:expr; $english:literal, $chinese:literal $(, $argument:expr)* $(,)?) => {
        match $lang {
            $crate::lang::Lang::English => format!($english $(, $argument)*),
            $crate::lang::Lang::Chinese => format!($chinese $(, $argument)*),
        }
    };
}

/// A [`Sentence`](crate::lang::Sentence): both texts, as [`say!`](crate::say) writes them.
#[macro_export]
macro_rules! both {
    ($english:literal, $chinese:literal $(, $argument:expr)* $(,)?) => {
        $crate::lang::Sentence::new(format!($english $(, $argument)*), format!($chinese $(, $argument)*))
    };
}

/// [`Lang::pick`](crate::lang::Lang::pick) for a pair that needs two lines.
#[macro_export]
macro_rules! pick {
    ($lang:expr; $english:literal, $chinese:literal) => {
        $lang.pick($english, $chinese)
    };
}

/// A text for each case; with a question mark, none for the others.
#[macro_export]
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

impl Lang {
    /// Every language, the default one first.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// Its BCP 47 tag.
    pub fn tag(self) -> &'static str {
        self.pick("en", "zh-CN")
    }

    /// Its own name.
    pub fn own_name(self) -> &'static str {
        self.pick("English", "简体中文")
    }

    /// By its exact tag.
    pub fn parse(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lang| lang.tag() == tag)
    }

    /// One of two fixed texts.
    pub fn pick<'a>(self, english: &'a str, chinese: &'a str) -> &'a str {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }

    /// The language that an `Accept-Language` prefers: the supported one with the greatest weight,
    /// of equal ones the first. Default: English.
    pub fn accepted(header: &str) -> Self {
        let mut best = (Self::English, 0.0);
        for part in header.split(',') {
            let mut fields = part.split(';');
            let tag = fields.next().unwrap_or_default();
            let tag = tag.trim().to_ascii_lowercase();
            let weight = fields.find_map(|field| field.trim().strip_prefix("q=")?.parse().ok());
            let weight = weight.unwrap_or(1.0_f32);
            let lang = match tag.split('-').next() {
                Some("zh") => Self::Chinese,
                Some("en") => Self::English,
                _ => continue,
            };
            if weight > best.1 {
                best = (lang, weight);
            }
        }
        best.0
    }
}

/// What can be said in both languages.
///
/// An error's `Display` is its English sentence, so that logs and chains of causes stay as they
/// are: `#[error("{}", self.say(Lang::English))]` on the whole enum.
pub trait Say {
    /// In one language.
    fn say(&self, lang: Lang) -> String;

    /// In both.
    fn both(&self) -> Sentence {
        let [english, chinese] = Lang::ALL.map(|lang| self.say(lang));
        // What others wrote reads the same in both.
        if english == chinese {
            english.into()
        } else {
            Sentence::new(english, chinese)
        }
    }
}

/// A fixed text, the English one first.
pub type Words = (&'static str, &'static str);

impl Say for Words {
    fn say(&self, lang: Lang) -> String {
        lang.pick(self.0, self.1).to_owned()
    }
}

impl Say for Sentence {
    fn say(&self, lang: Lang) -> String {
        self.for_reader(lang).0.to_owned()
    }

    fn both(&self) -> Sentence {
        self.clone()
    }
}

/// A sentence for a reader who is not known yet: in both languages, or in English only.
///
/// As JSON it is the English one; [`Self::turned`] comes before, where the reader prefers another.
/// In the database both are one text, the English one first ([`Self::to_stored`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence(Box<Texts>);

/// Behind a pointer: a sentence is part of errors, which every result has room for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Texts {
    english: Box<str>,
    chinese: Option<Box<str>>,
}

impl Sentence {
    /// A sentence in both languages.
    pub fn new(english: impl Into<Box<str>>, chinese: impl Into<Box<str>>) -> Self {
        Self::of(english.into(), Some(chinese.into()))
    }

    fn of(english: Box<str>, chinese: Option<Box<str>>) -> Self {
        Self(Box::new(Texts { english, chinese }))
    }

    /// The text for a reader, and the language that it really is in.
    pub fn for_reader(&self, lang: Lang) -> (&str, Lang) {
        match (&self.0.chinese, lang) {
            (Some(chinese), Lang::Chinese) => (chinese, lang),
            _ => (&self.0.english, Lang::English),
        }
    }

    /// As one text for a column. What was kept before sentences had two languages reads as English.
    pub fn to_stored(&self) -> String {
        let Texts { english, chinese } = &*self.0;
        match chinese {
            Some(chinese) => format!("{english}{BETWEEN}{chinese}"),
            None => english.to_string(),
        }
    }

    /// What [`to_stored`](Self::to_stored) made, or an older text in English.
    pub fn from_stored(text: &str) -> Self {
        match text.split_once(BETWEEN) {
            Some((english, chinese)) => Self::new(english, chinese),
            None => text.to_owned().into(),
        }
    }

    /// Without blanks around it, and with at most so many characters in each language.
    #[must_use]
    pub fn shortened(&self, chars: usize) -> Self {
        let shorten = |text: &str| -> Box<str> { text.trim().chars().take(chars).collect() };
        let chinese = self.0.chinese.as_deref().map(shorten);
        Self::of(shorten(&self.0.english), chinese)
    }

    /// Followed by another part, as it is written.
    #[must_use]
    pub fn joined(&self, next: &Self) -> Self {
        let [english, chinese] = Lang::ALL.map(|lang| {
            let [begin, end] = [self, next].map(|part| part.for_reader(lang).0);
            format!("{begin}{end}")
        });
        Self::new(english, chinese)
    }

    /// The same sentence with the reader's language in place of the default one.
    #[must_use]
    pub fn turned(self, lang: Lang) -> Self {
        match (*self.0, lang) {
            (
                Texts {
                    chinese: Some(chinese),
                    ..
                },
                Lang::Chinese,
            ) => Self::of(chinese, None),
            (Texts { english, chinese }, _) => Self::of(english, chinese),
        }
    }
}

/// English only: what others wrote, and what has no Chinese text yet.
impl From<String> for Sentence {
    fn from(english: String) -> Self {
        Self::of(english.into(), None)
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.english)
    }
}

impl Serialize for Sentence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.english)
    }
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
            assert_eq!(Lang::accepted(accept), lang, "{accept:?}");
        }
    }

    #[test]
    fn a_text_is_made_in_one_language() {
        let count = 3;
        let sentence = both!("{count} wait", "{count} 个在等");
        for (lang, text) in [(Lang::English, "3 wait"), (Lang::Chinese, "3 个在等")] {
            assert_eq!(say!(lang, "{count} wait", "{count} 个在等"), text);
            assert_eq!(sentence.for_reader(lang), (text, lang));
            assert_eq!(sentence.clone().turned(lang).to_string(), text);
        }
    }

    #[test]
    fn a_stored_sentence_reads_back_and_an_older_one_is_english() {
        let both = both!("it waits", "在等待").joined(&both!("; be patient", "；请稍候"));
        assert_eq!(both.to_string(), "it waits; be patient");
        for sentence in [both, "an older one".to_owned().into()] {
            assert_eq!(Sentence::from_stored(&sentence.to_stored()), sentence);
        }
    }

    #[test]
    fn a_sentence_without_a_chinese_text_says_that_it_is_english() {
        let sentence = Sentence::from("from elsewhere".to_owned());
        let english = ("from elsewhere", Lang::English);
        assert_eq!(sentence.for_reader(Lang::Chinese), english);
        assert_eq!(sentence.clone().turned(Lang::Chinese), sentence);
    }
}
