//! The JSON in a text, with what models do to it undone.
//!
//! Every bracket may begin a value. What does not parse is mended once: commas before a closing
//! bracket go, typographic quotes and wide commas become plain ones, line breaks in strings are
//! escaped, and a quote within a string that does not look like its end is taken for a part of it.
//! That last one is a guess, which the value records.

use serde_json::{Deserializer, Value};

/// How much of a reply is read, in bytes; what is asked for is far shorter.
const REPLY_BYTES_MAX: usize = 256 * 1024;
/// How many brackets may begin something. Each costs at most one look at what follows, and a reply
/// may consist of brackets only.
const STARTS_MAX: usize = 500;

/// A value in a text.
pub(super) struct JsonValue {
    pub(super) value: Value,
    /// Whether the end of a string had to be guessed.
    pub(super) guessed: bool,
}

/// The arrays and objects of a text, none of them within another; once mended, and once unchanged.
pub(super) fn values(text: &str) -> Vec<JsonValue> {
    let text = text
        .get(..text.floor_char_boundary(REPLY_BYTES_MAX))
        .unwrap_or(text);
    let (mended, guessed) = mend(text);
    let mut found = scan(&mended, guessed);
    // The unchanged one comes last, so that it wins wherever mending adds nothing.
    found.extend(scan(text, false));
    found
}

fn scan(text: &str, guessed: bool) -> Vec<JsonValue> {
    let mut found = Vec::new();
    let mut from = 0;
    for _ in 0..STARTS_MAX {
        let rest = text.get(from..).unwrap_or_default();
        let Some(start) = rest.find(['[', '{']) else {
            break;
        };
        let rest = rest.get(start..).unwrap_or_default();
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        let parsed = values.next().and_then(Result::ok);
        let length = if parsed.is_some() {
            values.byte_offset()
        } else {
            1
        };
        found.extend(parsed.map(|value| JsonValue { value, guessed }));
        from += start + length;
    }
    found
}

/// Where the mending is.
enum Position {
    Outside,
    /// Within a string that ends with this quote.
    Within(char),
}

/// The text with what models get wrong put right, and whether the end of a string was guessed.
fn mend(text: &str) -> (String, bool) {
    let mut mended = String::with_capacity(text.len());
    let mut guessed = false;
    let mut position = Position::Outside;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        let after = text.get(at + c.len_utf8()..).unwrap_or_default();
        match position {
            Position::Outside => position = mend_outside(c, after, &mut mended),
            Position::Within(_) if c == '\\' => {
                mended.push(c);
                mended.extend(chars.next().map(|(_, escaped)| escaped));
            }
            Position::Within(quote) if c == quote && ends_string(after) => {
                mended.push('"');
                position = Position::Outside;
            }
            Position::Within(quote) => {
                guessed |= c == quote;
                push_within(c, &mut mended);
            }
        }
    }
    (mended, guessed)
}

/// Between strings. Prose has quotes too; they are mended along and harm nothing.
fn mend_outside(c: char, after: &str, mended: &mut String) -> Position {
    match c {
        '"' | '“' | '”' | '„' => {
            mended.push('"');
            return Position::Within(if c == '"' { '"' } else { '”' });
        }
        ',' | '，' if after.trim_start().starts_with([']', '}']) => {}
        '，' => mended.push(','),
        '：' => mended.push(':'),
        _ => mended.push(c),
    }
    Position::Outside
}

fn push_within(c: char, mended: &mut String) {
    match c {
        '"' => mended.push_str("\\\""),
        '\n' => mended.push_str("\\n"),
        '\r' => mended.push_str("\\r"),
        '\t' => mended.push_str("\\t"),
        _ => mended.push(c),
    }
}

/// Whether what follows a quote is what follows a string in JSON.
fn ends_string(after: &str) -> bool {
    let next = after.trim_start().chars().next();
    next.is_none_or(|next| matches!(next, ',' | '，' | ':' | '：' | ']' | '}'))
}
