//! JSON from outside: what is kept of it must be readable by every later reader.
//!
//! A payload is opaque to Almanack and handed on byte for byte, but pages, commands and the
//! services that are called read it as a tree. Two sorts of text are valid to a reader that only
//! skips over them and break one that reads them: nesting without end, which costs a reader its
//! stack or its memory, and an escaped half of a surrogate pair, which is no character. Both are
//! refused on entry, here and nowhere else, while the sender can still be given the reason.

use crate::{
    lang::{Lang, Say, Sentence, reader::of_syntax},
    say,
};
use serde::de::IgnoredAny;

/// Deepest nesting of arrays and objects that is taken. Readers stop at 128 (Rust), 512 (PHP) or
/// 1,000 (Python); what is kept also travels inside of other documents.
pub const DEPTH_MAX: usize = 64;

/// Why a text is not kept. Names places, never content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Unfit {
    /// Not JSON at all.
    Syntax(Sentence),
    /// Arrays in arrays in arrays.
    Depth {
        /// Where the level too many opens.
        at: usize,
    },
    /// `\ud800` to `\udfff` without the other half.
    Surrogate {
        /// The position of its escape.
        at: usize,
    },
}

impl Say for Unfit {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Syntax(it) => {
                let it = it.say(lang);
                say!(lang; "is not JSON: {it}", "不是 JSON：{it}")
            }
            Self::Depth { at } => say!(lang;
                "nests more than {DEPTH_MAX} levels of arrays and objects (byte {at}); flatten it, or send a reference to it instead",
                "的数组和对象嵌套超过 {DEPTH_MAX} 层（第 {at} 字节）；请展平，或改为传递引用"),
            Self::Surrogate { at } => say!(lang;
                "holds half of a surrogate pair (byte {at}), which is not a character; write the character itself, or both halves",
                "含有半个代理对（第 {at} 字节），它不是字符；请写字符本身，或写全两半"),
        }
    }
}

/// Whether a text may be kept. One pass and no memory, whatever the text.
pub fn check(text: &str) -> Result<(), Unfit> {
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| Unfit::Syntax(of_syntax(&error)))?;
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut in_text) = (0, 0_usize, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => in_text = !in_text,
            b'\\' if in_text => {
                at += escape(bytes, at)?;
                continue;
            }
            b'[' | b'{' if !in_text => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return Err(Unfit::Depth { at });
                }
            }
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    Ok(())
}

/// How long the escape at `at` is, both halves of a pair included.
fn escape(bytes: &[u8], at: usize) -> Result<usize, Unfit> {
    match unit(bytes, at) {
        None => Ok(2),
        Some(0xd800..=0xdbff) => match unit(bytes, at + 6) {
            Some(0xdc00..=0xdfff) => Ok(12),
            _ => Err(Unfit::Surrogate { at }),
        },
        Some(0xdc00..=0xdfff) => Err(Unfit::Surrogate { at }),
        Some(_) => Ok(6),
    }
}

/// The UTF-16 unit that is escaped at `at` as `\uXXXX`, if one is.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> String {
        format!("{}{}", "[".repeat(depth), "]".repeat(depth))
    }

    #[test]
    fn sf_02_nesting_is_taken_up_to_its_limit() {
        for (text, expected) in [
            (nested(DEPTH_MAX), Ok(())),
            (nested(DEPTH_MAX + 1), Err(Unfit::Depth { at: DEPTH_MAX })),
            (nested(500_000), Err(Unfit::Depth { at: DEPTH_MAX })),
            (
                r#"{"a":"#.repeat(65) + "1" + &"}".repeat(65),
                Err(Unfit::Depth { at: 320 }),
            ),
            (format!("[{}1]", "[],".repeat(1000)), Ok(())),
            (format!(r#"["{}"]"#, "[".repeat(1000)), Ok(())),
            (format!(r#"["\"{}\\"]"#, "{".repeat(1000)), Ok(())),
        ] {
            let start: String = text.chars().take(30).collect();
            assert_eq!(check(&text), expected, "{start}");
        }
    }

    #[test]
    fn sf_02_half_a_surrogate_pair_is_refused() {
        for (text, at) in [
            (r#""\ud800""#, Some(1)),
            (r#""\udfff""#, Some(1)),
            (r#"{"\uDBFF":1}"#, Some(2)),
            (r#""\ud83d\ude00\ude00""#, Some(13)),
            (r#""\ud800\ud800\udc00""#, Some(1)),
            (r#""\ud83d \ude00""#, Some(1)),
            (r#""\ud83d\ude00""#, None),
            (r#""\\ud800""#, None),
            (r#""\\\u00e9\"😀""#, None),
            (r#""\u0000""#, None),
        ] {
            let expected = at.map_or(Ok(()), |at| Err(Unfit::Surrogate { at }));
            assert_eq!(check(text), expected, "{text}");
            // Every reader can read what is accepted, and only that is accepted.
            let read = serde_json::from_str::<serde_json::Value>(text);
            assert_eq!(read.is_ok(), at.is_none(), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_named_as_such() {
        for text in ["", "{", "[1,]", "nul", r#""\u12"#, "1 2"] {
            assert!(matches!(check(text), Err(Unfit::Syntax(_))), "{text}");
        }
    }
}
