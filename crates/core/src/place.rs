//! A position in a text that a person wrote.
//!
//! Refusals of configuration point: file, line, column, caret. Columns count characters, because
//! that is what editors count; spans count bytes, because that is what programs cut. INVARIANT: a
//! place lies inside its text and on character boundaries, whatever the text is.

use std::fmt;

use crate::schedule::Span;

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The character in it, from 1.
    pub column: usize,
    /// The bytes of the whole text.
    pub span: Span,
}

impl Place {
    /// The place of some bytes of a text. It ends with its line.
    pub fn of(text: &str, span: Span) -> Self {
        let row = rows(text).take_while(|row| row.start <= span.start).last();
        // Bytes before the first line are a byte order mark.
        let row = row.or_else(|| rows(text).next());
        row.map_or(Self::START, |row| {
            let inside = |byte: usize| byte.saturating_sub(row.start);
            row.place(Span::new(inside(span.start), inside(span.end)))
        })
    }

    /// The beginning of a text.
    const START: Self = Self {
        line: 1,
        column: 1,
        span: Span { start: 0, end: 0 },
    };
}

/// Something refused: what, and where in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem<R> {
    pub place: Place,
    pub reason: R,
}

impl<R: fmt::Display> fmt::Display for Problem<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { line, column, .. } = self.place;
        write!(f, "line {line}, column {column}: {}", self.reason)
    }
}

/// What is wrong with a line, and where in it.
#[derive(Debug)]
pub(crate) struct Fault<R> {
    pub(crate) span: Span,
    pub(crate) reason: R,
}

impl<R> Fault<R> {
    pub(crate) fn new(span: Span, reason: impl Into<R>) -> Self {
        let reason = reason.into();
        Self { span, reason }
    }

    /// The same, for a part that begins at `start`.
    pub(crate) fn behind(self, start: usize) -> Self {
        let span = Span::new(self.span.start + start, self.span.end + start);
        Self { span, ..self }
    }

    pub(crate) fn at(self, row: Row<'_>) -> Problem<R> {
        Problem {
            place: row.place(self.span),
            reason: self.reason,
        }
    }
}

/// A word and its position in the line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) start: usize,
}

impl Token<'_> {
    pub(crate) fn span(self) -> Span {
        Span::new(self.start, self.start + self.text.len())
    }

    /// A part of it, by its own bytes.
    pub(crate) fn part(self, start: usize, end: usize) -> Self {
        Self {
            text: self.text.get(start..end).unwrap_or_default(),
            start: self.start + start,
        }
    }
}

/// What stands between spaces and tabs.
pub(crate) fn words(text: &str) -> Vec<Token<'_>> {
    let mut words = Vec::new();
    let mut start = 0;
    for piece in text.split([' ', '\t']) {
        if !piece.is_empty() {
            words.push(Token { text: piece, start });
        }
        start += piece.len() + 1;
    }
    words
}

/// One line of a text, without its line break.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    /// From 1.
    pub(crate) number: usize,
    /// Its first byte in the text.
    pub(crate) start: usize,
    pub(crate) text: &'a str,
}

/// The mark that some editors put in front of a file; it is no part of the text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The lines of a text, however they end.
pub(crate) fn rows(text: &str) -> impl Iterator<Item = Row<'_>> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mut start = text.len() - body.len();
    body.split('\n').enumerate().map(move |(index, line)| {
        let row = Row {
            number: index + 1,
            start,
            text: line.strip_suffix('\r').unwrap_or(line),
        };
        start += line.len() + 1;
        row
    })
}

impl Row<'_> {
    /// The place of a part of the line, by the line's own bytes. What lies beyond the line is cut
    /// off.
    pub(crate) fn place(&self, part: Span) -> Place {
        let start = floor(self.text, part.start);
        let end = floor(self.text, part.end).max(start);
        let before = self.text.get(..start).unwrap_or_default();
        Place {
            line: self.number,
            column: before.chars().count() + 1,
            span: Span::new(self.start + start, self.start + end),
        }
    }

    /// The whole line without the blanks around it.
    pub(crate) fn whole(&self) -> Place {
        let left = self.text.len() - self.text.trim_start().len();
        self.place(Span::new(left, self.text.trim_end().len().max(left)))
    }
}

fn floor(text: &str, byte: usize) -> usize {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_any_way_and_columns_count_characters() {
        let text = "\u{feff}a b\r\n每天 x\n";
        let found: Vec<(usize, &str)> = rows(text).map(|row| (row.number, row.text)).collect();
        assert_eq!(found, [(1, "a b"), (2, "每天 x"), (3, "")]);
        let second = rows(text).nth(1).unwrap();
        let place = second.place(Span::new(7, 8));
        assert_eq!((place.line, place.column), (2, 4));
        assert_eq!(&text[place.span.start..place.span.end], "x");
        for (span, expected) in [
            (Span::new(0, 3), (1, 1)),
            (Span::new(8, 14), (2, 1)),
            (Span::new(16, 99), (2, 5)),
            (Span::new(99, 99), (3, 1)),
        ] {
            let place = Place::of(text, span);
            assert_eq!((place.line, place.column), expected, "{span}");
            assert!(
                text.get(place.span.start..place.span.end).is_some(),
                "{span}"
            );
        }
        let beyond = second.place(Span::new(4, 99));
        assert_eq!(beyond.span.end, text.len() - 1, "cut off at the line's end");
    }
}
