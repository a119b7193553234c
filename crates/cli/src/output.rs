//! The way out: data to one writer, everything else to the other.
//!
//! Commands write through here and nowhere else, so tests can read what they wrote and a script
//! that reads the data never meets a sentence meant for people.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal, Write},
};

use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use crate::failure::Failure;

/// What a command may write to.
pub(crate) struct Output {
    data: Channel,
    notes: Channel,
    /// Whether data is for programs.
    pub(crate) json: bool,
    /// Whether somebody watches the notes, so that a progress bar makes sense.
    pub(crate) watched: bool,
}

/// One of the two ways out.
struct Channel {
    to: Box<dyn Write>,
    colour: bool,
}

/// What a piece of text means; how that looks is decided in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// As it is.
    Plain,
    /// The head of a table, an aside.
    Faint,
    /// Went well.
    Good,
    /// Went wrong.
    Bad,
    /// Waits, or wants a look.
    Notable,
}

impl Ink {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Faint => Some("2"),
            Self::Good => Some("32"),
            Self::Bad => Some("1;31"),
            Self::Notable => Some("36"),
        }
    }

    fn paint(self, text: &str, colour: bool) -> String {
        match self.code().filter(|_| colour) {
            Some(code) => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            None => text.to_owned(),
        }
    }
}

impl Output {
    /// The process's own output. Colour needs a terminal and nobody who asked for none.
    pub(crate) fn standard(json: bool, environment: &BTreeMap<String, String>) -> Self {
        let plain = environment
            .get("NO_COLOR")
            .is_some_and(|value| !value.is_empty())
            || environment.get("TERM").is_some_and(|value| value == "dumb");
        let (data, notes) = (io::stdout(), io::stderr());
        Self {
            json,
            watched: notes.is_terminal(),
            data: Channel {
                colour: data.is_terminal() && !plain,
                to: Box::new(io::BufWriter::new(data)),
            },
            notes: Channel {
                colour: notes.is_terminal() && !plain,
                to: Box::new(notes),
            },
        }
    }

    /// Writes data as it is.
    pub(crate) fn raw(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.data.to.write_all(text.as_bytes())?)
    }

    /// Writes one line of data.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Failure> {
        Ok(writeln!(self.data.to, "{text}")?)
    }

    /// Writes one value as one line of JSON.
    pub(crate) fn value(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer(&mut self.data.to, value).map_err(io::Error::from)?;
        self.line("")
    }

    /// Text of the data in its ink.
    pub(crate) fn paint(&self, ink: Ink, text: &str) -> String {
        ink.paint(text, self.data.colour)
    }

    /// Tells people something that is not data. That nobody can hear it is no failure.
    pub(crate) fn note(&mut self, text: &str) {
        // Both may be one terminal; what was written first must stand first.
        let _ = self.data.to.flush();
        let text = self.highlight(text);
        let _ = self.notes.to.write_all(text.as_bytes());
    }

    /// Whether notes may be coloured.
    pub(crate) fn notes_coloured(&self) -> bool {
        self.notes.colour
    }

    /// Hands all data over.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.data.to.flush()?)
    }

    /// Colours the words that start a line of complaint.
    fn highlight(&self, text: &str) -> String {
        if !self.notes.colour {
            return text.to_owned();
        }
        let words = [
            ("error:", Ink::Bad),
            ("warning:", Ink::Notable),
            ("hint:", Ink::Notable),
        ];
        let mut lines = Vec::new();
        for line in text.split('\n') {
            let word = words
                .iter()
                .find(|(word, _)| line.trim_start_matches([' ', '=']).starts_with(word));
            lines.push(match word {
                Some((word, ink)) => line.replacen(word, &ink.paint(word, true), 1),
                None => line.to_owned(),
            });
        }
        lines.join("\n")
    }

    /// Writes rows in columns under a head.
    pub(crate) fn table(&mut self, head: &[&str], rows: &[Vec<Cell>]) -> Result<(), Failure> {
        let head: Vec<Cell> = head
            .iter()
            .map(|name| Cell::new(*name).ink(Ink::Faint))
            .collect();
        let all: Vec<&[Cell]> = std::iter::once(head.as_slice())
            .chain(rows.iter().map(Vec::as_slice))
            .collect();
        self.columns(&all)
    }

    /// Writes rows in columns.
    pub(crate) fn rows(&mut self, rows: &[Vec<Cell>]) -> Result<(), Failure> {
        let all: Vec<&[Cell]> = rows.iter().map(Vec::as_slice).collect();
        self.columns(&all)
    }

    /// Each column is as wide as its widest cell; the last one is not padded.
    fn columns(&mut self, rows: &[&[Cell]]) -> Result<(), Failure> {
        let mut widths: Vec<usize> = Vec::new();
        for row in rows {
            widths.resize(widths.len().max(row.len()), 0);
            for (widest, cell) in widths.iter_mut().zip(*row) {
                *widest = (*widest).max(cell.text.width());
            }
        }
        for row in rows {
            let mut line = String::new();
            for (cell, widest) in row.iter().zip(&widths) {
                line += &self.paint(cell.ink, &cell.text);
                line += &" ".repeat(widest - cell.text.width() + 2);
            }
            self.line(line.trim_end())?;
        }
        Ok(())
    }
}

/// One cell of a table.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    ink: Ink,
}

impl Cell {
    /// Plain text. Control characters would tear the table, or worse, command the terminal.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        let text: String = text.into();
        let text = text
            .chars()
            .map(|c| if c.is_control() { '·' } else { c })
            .collect();
        Self {
            text,
            ink: Ink::Plain,
        }
    }

    /// The same in an ink.
    pub(crate) fn ink(self, ink: Ink) -> Self {
        Self { ink, ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn output(colour: bool) -> (Output, Paper) {
        let paper = Paper::default();
        let output = Output {
            data: Channel {
                to: Box::new(paper.clone()),
                colour,
            },
            notes: Channel {
                to: Box::new(paper.clone()),
                colour,
            },
            json: false,
            watched: false,
        };
        (output, paper)
    }

    fn written(paper: &Paper) -> String {
        String::from_utf8(paper.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn columns_line_up_even_with_wide_letters_and_without_control_characters() {
        let (mut output, paper) = output(false);
        let row = |a: &str, b: &str| vec![Cell::new(a), Cell::new(b)];
        output
            .table(
                &["SUBJECT", "X"],
                &[row("文章:42", "1"), row("a\u{1b}[2J", "2")],
            )
            .unwrap();
        assert_eq!(written(&paper), "SUBJECT  X\n文章:42  1\na·[2J    2\n");
    }

    #[test]
    fn colour_is_given_only_where_it_is_wanted() {
        for (colour, expected) in [
            (false, "error: x\n"),
            (true, "\u{1b}[1;31merror:\u{1b}[0m x\n"),
        ] {
            let (mut output, paper) = output(colour);
            output.note("error: x\n");
            assert_eq!(written(&paper), expected);
        }
    }
}
