//! The file as it may be shown: lines and positions, with everything covered that may be a secret.
//!
//! Covered are the values of secret keys, addresses with a password, and values under keys we do
//! not know, since the commonest unknown key is a known one misspelt.

use std::ops::Range;

use almanack_core::secret::COVER;

/// The file the configuration came from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Source {
    /// Its name, as the user wrote it.
    pub(crate) name: String,
    text: String,
    covered: Vec<Range<usize>>,
}

/// A position, counted from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// The line.
    pub(crate) line: usize,
    /// The character in it.
    pub(crate) column: usize,
}

impl Source {
    /// A file that was read.
    pub(crate) fn new(name: String, text: String) -> Self {
        Self {
            name,
            text,
            covered: Vec::new(),
        }
    }

    /// What it says.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Never shows these bytes.
    pub(crate) fn cover(&mut self, span: Range<usize>) {
        self.covered.push(span);
    }

    /// The position of a byte.
    pub(crate) fn position(&self, byte: usize) -> Position {
        let before = &self.text[..self.floor(byte)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// The line around `span` as it may be shown, and where in it to point.
    pub(crate) fn line(&self, span: &Range<usize>) -> (String, Range<usize>) {
        let at = self.floor(span.start);
        let start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = self.text[at..]
            .find('\n')
            .map_or(self.text.len(), |newline| at + newline);
        let mut shown = String::new();
        let mut point: Option<(usize, usize)> = None;
        let mut covered = false;
        for (offset, c) in self.text[start..end].char_indices() {
            let byte = start + offset;
            let hidden = self.covered.iter().any(|range| range.contains(&byte));
            let from = shown.chars().count();
            match (hidden, covered) {
                (true, true) => {}
                (true, false) => shown.push_str(COVER),
                (false, _) if c == '\t' => shown.push(' '),
                (false, _) if c.is_control() => {}
                (false, _) => shown.push(c),
            }
            covered = hidden;
            if span.contains(&byte) {
                let to = shown.chars().count();
                point = Some((point.map_or(from, |(first, _)| first.min(from)), to));
            }
        }
        let end_of_line = shown.chars().count();
        let (from, to) = point.unwrap_or((end_of_line, end_of_line + 1));
        (shown, from..to.max(from + 1))
    }

    fn floor(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        (0..=byte)
            .rev()
            .find(|at| self.text.is_char_boundary(*at))
            .unwrap_or(0)
    }
}
