//! The language that is written in: what it is called, and whether something is written in it.

use almanack_core::edition::summary::is_cjk;

/// Languages by what their tags begin with; the first that fits counts.
const NAMES: [(&str, &str); 24] = [
    ("zh-tw", "Traditional Chinese"),
    ("zh-hk", "Traditional Chinese"),
    ("zh-hant", "Traditional Chinese"),
    ("zh", "Simplified Chinese"),
    ("en", "English"),
    ("ja", "Japanese"),
    ("ko", "Korean"),
    ("de", "German"),
    ("fr", "French"),
    ("es", "Spanish"),
    ("pt", "Portuguese"),
    ("it", "Italian"),
    ("nl", "Dutch"),
    ("pl", "Polish"),
    ("sv", "Swedish"),
    ("tr", "Turkish"),
    ("vi", "Vietnamese"),
    ("id", "Indonesian"),
    ("ru", "Russian"),
    ("uk", "Ukrainian"),
    ("ar", "Arabic"),
    ("he", "Hebrew"),
    ("hi", "Hindi"),
    ("th", "Thai"),
];
/// Words of a title that may be nothing but names.
const NAME_WORDS_MAX: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Language {
    /// What it is called in a prompt.
    pub(super) name: String,
    writes: Script,
}

/// How a language is written, as far as its letters distinguish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Cjk,
    Cyrillic,
    Arabic,
    Hebrew,
    Devanagari,
    Thai,
    /// The letters of very many languages; they do not say which.
    Latin,
}

impl Language {
    /// The language of a tag. One we have no name for is asked for by its tag.
    pub(super) fn of(tag: &str) -> Self {
        let lower = tag.trim().to_ascii_lowercase().replace('_', "-");
        let begins = |with: &str| {
            let rest = lower.strip_prefix(with);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let name = NAMES.iter().find(|(with, _)| begins(with));
        let name = name.map_or_else(
            || format!("the language `{tag}`"),
            |(_, name)| (*name).to_owned(),
        );
        let writes = match lower.split('-').next().unwrap_or_default() {
            "zh" | "ja" | "ko" => Script::Cjk,
            "ru" | "uk" | "bg" | "be" | "sr" | "mk" => Script::Cyrillic,
            "ar" | "fa" | "ur" => Script::Arabic,
            "he" => Script::Hebrew,
            "hi" | "mr" | "ne" => Script::Devanagari,
            "th" => Script::Thai,
            _ => Script::Latin,
        };
        Self { name, writes }
    }

    /// Whether a reply is a translation of a title. One that gives the title back is one only where
    /// there was nothing to translate: no letters (`1984`), letters of the language already, or
    /// nothing but a name (`SQLite 3.50`). Everything else went through untranslated, which must
    /// not pass for a translation (ED-09).
    pub(super) fn translates(&self, title: &str, reply: &str) -> bool {
        let letters = |text: &str| -> String {
            let letters = text.chars().filter(|c| c.is_alphanumeric());
            letters.flat_map(char::to_lowercase).collect()
        };
        letters(title) != letters(reply)
            || !title.chars().any(char::is_alphabetic)
            || title.chars().any(|c| self.writes.has(c))
            || is_name(title) && !title.chars().any(is_cjk)
    }
}

impl Script {
    fn has(self, c: char) -> bool {
        match self {
            Self::Cjk => is_cjk(c),
            Self::Cyrillic => matches!(c, '\u{400}'..='\u{52f}'),
            Self::Arabic => matches!(c, '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}'),
            Self::Hebrew => matches!(c, '\u{590}'..='\u{5ff}'),
            Self::Devanagari => matches!(c, '\u{900}'..='\u{97f}'),
            Self::Thai => matches!(c, '\u{e00}'..='\u{e7f}'),
            Self::Latin => c.is_alphabetic() && c < '\u{250}',
        }
    }
}

/// Whether a title may be a name and nothing else (by its spaces, so not in scripts without them):
/// one word, or a few of which at most one is written like a word (`Rust 1.90`, `GPT-5`, `iPhone 17
/// Pro`) and none in small letters only.
fn is_name(title: &str) -> bool {
    let words: Vec<&str> = title.split_whitespace().collect();
    let is_odd = |word: &str| {
        let inner = word.chars().skip(1);
        word.chars().any(|c| c.is_ascii_digit()) || inner.clone().any(char::is_uppercase)
    };
    let plain = words.iter().filter(|word| !is_odd(word)).count();
    let small = |word: &&str| word.chars().next().is_some_and(char::is_lowercase) && !is_odd(word);
    words.len() == 1 || words.len() <= NAME_WORDS_MAX && plain <= 1 && !words.iter().any(small)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_called_by_its_name() {
        for (tag, name) in [
            ("zh-CN", "Simplified Chinese"),
            ("zh", "Simplified Chinese"),
            ("zh-Hans", "Simplified Chinese"),
            ("zh_TW", "Traditional Chinese"),
            ("en-GB", "English"),
            ("enm", "the language `enm`"),
            ("ja", "Japanese"),
            ("tlh", "the language `tlh`"),
        ] {
            assert_eq!(Language::of(tag).name, name, "{tag}");
        }
    }

    #[test]
    fn ed_09_an_original_passes_for_its_translation_only_where_nothing_is_to_translate() {
        for (tag, title, accepted) in [
            ("zh-CN", "Why databases are slow", false),
            ("zh-CN", "Apple Buys Netflix", false),
            ("zh-CN", "Show HN: Foo", false),
            ("zh-CN", "Launch HN: Foo (YC W26)", false),
            ("ru", "Why databases are slow", false),
            ("en", "数据库为什么慢", false),
            // Nothing but a name.
            ("zh-CN", "SQLite 3.50", true),
            ("zh-CN", "Rust 1.90", true),
            ("zh-CN", "iPhone 17 Pro", true),
            ("zh-CN", "Postgres", true),
            // No letters.
            ("zh-CN", "1984", true),
            // In that language already, or perhaps.
            ("zh-CN", "数据库为什么慢", true),
            ("ja", "データベースの話", true),
            ("ru", "Почему базы медленные", true),
            ("en", "Why databases are slow", true),
            ("de", "Warum Datenbanken langsam sind", true),
        ] {
            let language = Language::of(tag);
            assert_eq!(language.translates(title, title), accepted, "{tag} {title}");
            let nearly = format!("“{}.”", title.to_uppercase());
            assert_eq!(language.translates(title, &nearly), accepted, "{nearly}");
            assert!(language.translates(title, "别的"), "{tag} {title}");
        }
    }
}
