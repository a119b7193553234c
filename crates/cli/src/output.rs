//! The way out: data to one writer, everything else to the other.
//!
//! Commands write through here and nowhere else, so tests can read what they wrote and a script
//! that reads the data never meets a sentence meant for people.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal, Write},
};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use crate::{
    args::Global,
    client::{Answer, object},
    columns::Column,
    config::report::{Report, Severity},
    failure::{Done, Exit, Result},
};

/// What a command may write to.
pub(crate) struct Output {
    data: Channel,
    notes: Channel,
    /// Whether data is for programs.
    pub(crate) json: bool,
    /// Whether a list is one item per line instead of one document; `json` holds then, too.
    pub(crate) lines: bool,
    /// Whether the notes go to a terminal, so that a progress bar is useful.
    pub(crate) watched: bool,
}

/// One of the two ways out.
struct Channel {
    to: Box<dyn Write>,
    /// Breaks lines that are too long for it in the middle of words.
    terminal: bool,
    colour: bool,
}

/// What a piece of text means; how that looks is decided in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Plain,
    /// The head of a table, an aside.
    Faint,
    Good,
    Bad,
    /// Waits, or needs attention.
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
    /// The process's own output. Colour needs a terminal, and must not be turned off.
    pub(crate) fn standard(global: &Global, environment: &BTreeMap<String, String>) -> Self {
        let plain = environment
            .get("NO_COLOR")
            .is_some_and(|value| !value.is_empty())
            || environment.get("TERM").is_some_and(|value| value == "dumb");
        let (data, notes) = (io::stdout(), io::stderr());
        Self {
            json: global.json || global.json_lines,
            lines: global.json_lines,
            watched: notes.is_terminal(),
            data: Channel {
                terminal: data.is_terminal(),
                colour: data.is_terminal() && !plain,
                to: Box::new(io::BufWriter::new(data)),
            },
            notes: Channel {
                terminal: notes.is_terminal(),
                colour: notes.is_terminal() && !plain,
                to: Box::new(notes),
            },
        }
    }

    /// Writes data as it is.
    pub(crate) fn raw(&mut self, text: &str) -> Result<()> {
        Ok(self.data.to.write_all(text.as_bytes())?)
    }

    /// Writes one line of data.
    pub(crate) fn line(&mut self, text: &str) -> Result<()> {
        Ok(writeln!(self.data.to, "{text}")?)
    }

    /// Writes one value as one line of JSON.
    pub(crate) fn value(&mut self, value: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.data.to, value).map_err(io::Error::from)?;
        self.line("")
    }

    /// Whether the answer is the whole output: for programs it is.
    pub(crate) fn is_reported(&mut self, answer: &Answer) -> Result<bool> {
        if self.json {
            self.line(answer.text())?;
        }
        Ok(self.json)
    }

    /// Writes a value: to programs as it is, to people as `show` does.
    pub(crate) fn print(
        &mut self,
        value: &impl Serialize,
        show: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Done {
        if self.json {
            self.value(value)?;
        } else {
            show(self)?;
        }
        Ok(Exit::Ok)
    }

    /// What was done: for programs, or for people.
    pub(crate) fn say(&mut self, value: &Value, sentence: &str) -> Done {
        self.print(value, |output| output.line(sentence))
    }

    /// Writes what the API answered: to programs as it came, to people as `show` does.
    pub(crate) fn show(
        &mut self,
        answer: &Answer,
        show: impl FnOnce(&mut Self, Value) -> Result<()>,
    ) -> Done {
        if !self.is_reported(answer)? {
            show(self, answer.value())?;
        }
        Ok(Exit::Ok)
    }

    /// Writes what the API answered: to programs as it came, to people in a sentence.
    pub(crate) fn report(
        &mut self,
        answer: &Answer,
        sentence: impl FnOnce(&Value) -> String,
    ) -> Done {
        self.show(answer, |output, value| output.line(&sentence(&value)))
    }

    /// Writes a list that the API gives whole.
    pub(crate) fn all(
        &mut self,
        answer: &Answer,
        (field, columns): (&str, &[Column]),
        none: &str,
    ) -> Done {
        let items = answer.items(field);
        match (self.json, self.lines) {
            (_, true) => items.iter().try_for_each(|item| self.line(item))?,
            (true, false) => self.line(answer.text())?,
            (false, false) if items.is_empty() => self.note(&format!("{none}\n")),
            (false, false) => {
                let rows: Vec<Value> = items.iter().map(|item| object(item)).collect();
                self.columns(columns, &rows, answer.now, true)?;
            }
        }
        Ok(Exit::Ok)
    }

    /// Prints what is wrong with what was read: errors, then warnings.
    pub(crate) fn complain(&mut self, reports: &[Report]) {
        for severity in [Severity::Error, Severity::Warning] {
            let texts = reports.iter().map(|report| report.render(severity));
            for text in texts.filter(|text| !text.is_empty()) {
                self.note(&format!("{text}\n"));
            }
        }
    }

    /// Prints something for people beside the data; programs read only the data.
    pub(crate) fn aside(&mut self, text: &str) {
        if !self.json {
            self.note(text);
        }
    }

    /// Something that was done as asked, but may not be what was meant.
    pub(crate) fn warn(&mut self, what: &str) {
        self.aside(&format!("warning: {what}\n"));
    }

    /// Text of the data in its ink.
    pub(crate) fn paint(&self, ink: Ink, text: &str) -> String {
        ink.paint(text, self.data.colour)
    }

    /// Prints something for people that is not data. It is no failure if it cannot be written.
    pub(crate) fn note(&mut self, text: &str) {
        // Both may be one terminal; keep the order of writing.
        let _ = self.data.to.flush();
        let text = self.highlight(text);
        let _ = self.notes.to.write_all(text.as_bytes());
    }

    /// Whether notes may be coloured.
    pub(crate) fn notes_coloured(&self) -> bool {
        self.notes.colour
    }

    /// Hands all data over.
    pub(crate) fn flush(&mut self) -> Result<()> {
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
    pub(crate) fn table(&mut self, head: &[&str], rows: &[Vec<Cell>]) -> Result<()> {
        let head = head.iter().map(|name| Cell::new(*name).ink(Ink::Faint));
        let mut all: Vec<Vec<Cell>> = vec![head.collect()];
        all.extend_from_slice(rows);
        self.rows(&all)
    }

    /// Writes items of the API as a table, under a head where it is the first of its pages.
    pub(crate) fn columns(
        &mut self,
        columns: &[Column],
        items: &[Value],
        now: Timestamp,
        head: bool,
    ) -> Result<()> {
        let titles = columns.iter().map(|it| Cell::new(it.title).ink(Ink::Faint));
        let row = |item: &Value| columns.iter().map(|it| it.cell(item, now)).collect();
        let rows = head.then(|| titles.collect()).into_iter();
        let rows: Vec<Vec<Cell>> = rows.chain(items.iter().map(row)).collect();
        self.fitted(rows)
    }

    /// The same below something else, if there are any items.
    pub(crate) fn section(
        &mut self,
        columns: &[Column],
        items: &[Value],
        now: Timestamp,
    ) -> Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        self.line("")?;
        self.columns(columns, items, now, true)
    }

    /// Writes one thing of the API: a line for every column that it has a value for.
    pub(crate) fn page(&mut self, columns: &[Column], item: &Value, now: Timestamp) -> Result<()> {
        let cells = columns.iter().map(|it| (it.title, it.cell(item, now)));
        let filled = cells.filter(|(_, cell)| !cell.text.is_empty());
        let rows: Vec<Vec<Cell>> = filled
            .map(|(title, cell)| vec![Cell::new(title).ink(Ink::Faint), cell])
            .collect();
        self.fitted(rows)
    }

    /// A terminal gets lines that fit; a file or a pipe gets a line per row.
    fn fitted(&mut self, rows: Vec<Vec<Cell>>) -> Result<()> {
        let rows = if self.data.terminal { fit(&rows) } else { rows };
        self.rows(&rows)
    }

    /// Writes rows in columns: each is as wide as its widest cell; the last one is not padded.
    pub(crate) fn rows(&mut self, rows: &[Vec<Cell>]) -> Result<()> {
        let mut widths: Vec<usize> = Vec::new();
        for row in rows {
            widths.resize(widths.len().max(row.len()), 0);
            for (widest, cell) in widths.iter_mut().zip(row) {
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

/// Breaks the sentences of the last column, so that a line fits a terminal of [`WIDTH`].
fn fit(rows: &[Vec<Cell>]) -> Vec<Vec<Cell>> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let last = columns.saturating_sub(1);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.text.width() + 2).max().unwrap_or(0)
    };
    let before: usize = (0..last).map(widest).sum();
    let room = WIDTH.saturating_sub(before).max(ROOM_MIN);
    let mut fitted = Vec::new();
    for row in rows {
        let Some(cell) = row
            .get(last)
            .filter(|cell| cell.text.width() > room && !cell.whole)
        else {
            fitted.push(row.clone());
            continue;
        };
        for (number, text) in broken(&cell.text, room).into_iter().enumerate() {
            let mut line = match number {
                0 => row[..last].to_vec(),
                _ => vec![Cell::new(""); last],
            };
            line.push(Cell::new(text).ink(cell.ink));
            fitted.push(line);
        }
    }
    fitted
}

/// A text in lines of at most `room` columns, broken at blanks; a word that is longer stays whole.
pub(crate) fn broken(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            line.push_str(word);
        } else if line.width() + 1 + word.width() <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// The width that every terminal has.
const WIDTH: usize = 80;
/// Narrower than this, a sentence reads worse than a line that is too long.
const ROOM_MIN: usize = 24;

/// One cell of a table.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    ink: Ink,
    /// Never broken into lines.
    whole: bool,
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
            whole: false,
        }
    }

    /// The same, never broken into lines: text to copy.
    pub(crate) fn whole(mut self) -> Self {
        self.whole = true;
        self
    }

    /// The same in an ink.
    pub(crate) fn ink(self, ink: Ink) -> Self {
        Self { ink, ..self }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    pub(crate) struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    pub(crate) fn output(colour: bool) -> (Output, Paper) {
        let paper = Paper::default();
        let output = Output {
            data: Channel {
                to: Box::new(paper.clone()),
                terminal: true,
                colour,
            },
            notes: Channel {
                to: Box::new(paper.clone()),
                terminal: true,
                colour,
            },
            json: false,
            lines: false,
            watched: false,
        };
        (output, paper)
    }

    pub(crate) fn written(paper: &Paper) -> String {
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
    fn a_sentence_at_the_end_of_a_line_is_broken_and_nothing_of_it_is_lost() {
        let (mut output, paper) = output(false);
        let column = |title, at| crate::columns::column(title, at, crate::columns::plain);
        let columns = [column("NAME", "/name"), column("WHY", "/why")];
        let why = "because ".repeat(20).trim_end().to_owned();
        let item = serde_json::json!({ "name": "n", "why": why });
        let now = Timestamp::UNIX_EPOCH;
        output.columns(&columns, &[item], now, true).unwrap();
        let text = written(&paper);
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(text.matches("because").count(), 20, "{text}");
        assert_eq!(text.lines().count(), 4, "{text}");
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
