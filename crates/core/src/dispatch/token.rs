//! The words of a line: blanks between them, a comment at the end, quotes around values.

use super::{Fault, Reason};
use crate::{place::Token, schedule::Span};

pub(super) struct Words<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    /// Whether a comment follows them.
    pub(super) commented: bool,
}

/// Cuts a line into words. A `#` inside a word or inside quotes begins no comment.
pub(super) fn split(line: &str) -> Result<Words<'_>, Fault> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        let rest = line.get(at..).unwrap_or_default();
        let trimmed = rest.trim_start_matches(is_blank);
        at += rest.len() - trimmed.len();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            let commented = !trimmed.is_empty();
            return Ok(Words { tokens, commented });
        }
        let text = trimmed.get(..length(trimmed, at)?).unwrap_or(trimmed);
        let token = Token { text, start: at };
        check_characters(token)?;
        tokens.push(token);
        at += text.len();
    }
}

fn is_blank(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\u{b}'
}

/// How many bytes the first word of `text` has. `at` is its position.
fn length(text: &str, at: usize) -> Result<usize, Fault> {
    let end = text.find(is_blank).unwrap_or(text.len());
    let Some(open) = quote_in(text.get(..end).unwrap_or(text)) else {
        return Ok(end);
    };
    let close = closing(text, open).ok_or_else(|| {
        let span = Span::new(at + open, at + text.len());
        Fault::new(span, Reason::Unclosed)
    })?;
    let after = text.get(close + 1..).unwrap_or_default();
    Ok(close + 1 + after.find(is_blank).unwrap_or(after.len()))
}

/// Where a quoted value begins: a quote means something only right after the first `=`.
pub(super) fn quote_in(word: &str) -> Option<usize> {
    let after = word.find('=')? + 1;
    word.get(after..)?.starts_with(['"', '\'']).then_some(after)
}

/// Where the quote that opens at `open` closes. Between double quotes a backslash protects what
/// follows it; between single ones nothing does.
pub(super) fn closing(text: &str, open: usize) -> Option<usize> {
    let quote = text.get(open..)?.chars().next()?;
    let inside = text.get(open + 1..)?;
    let mut protected = false;
    for (offset, c) in inside.char_indices() {
        match c {
            _ if protected => protected = false,
            '\\' if quote == '"' => protected = true,
            _ if c == quote => return Some(open + 1 + offset),
            _ => {}
        }
    }
    None
}

/// Blanks that a program does not take for blanks, and invisible marks, get a better error here
/// than any later step could give.
fn check_characters(token: Token<'_>) -> Result<(), Fault> {
    let open = quote_in(token.text).unwrap_or(token.text.len());
    let plain = token.text.get(..open).unwrap_or(token.text);
    if plain.starts_with('＃') {
        let span = token.part(0, '＃'.len_utf8()).span();
        return Err(Fault::new(span, Reason::WideHash));
    }
    for (start, found) in plain.char_indices() {
        let span = token.part(start, start + found.len_utf8()).span();
        if found.is_whitespace() {
            return Err(Fault::new(span, Reason::Blank { found }));
        }
        if found.is_control() || is_invisible(found) {
            return Err(Fault::new(span, Reason::Invisible { found }));
        }
    }
    Ok(())
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}
