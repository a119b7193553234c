//! DISPATCH: schedules for GitHub workflows as a text of one line each.
//!
//! ```text
//! # minute hour day month weekday  repository  workflow   # comment
//! */5 * * * *  owner/repo  check.yml
//! @10s         owner/repo  poll.yml     tz=UTC ref=main input.mode="a b"
//! ```
//!
//! A good line becomes a [`Definition`]; a bad one becomes a [`Problem`] that points, and costs the
//! others nothing (DP-01). A comment begins with a `#` that begins a word, so `MON#2` is a weekday.
//!
//! What must stay true:
//!
//! - A line's name depends on what it says (when, whose clock, at what), never on its position:
//!   moving lines about moves no history and no lock (DP-06).
//! - Blanks, comments and line ends change nothing.
//! - A refusal's sentence may quote a field of the expression. It never quotes what follows the
//!   expression: that names other people's repositories (DP-15).

mod extra;
mod print;
mod problem;
mod read;
#[cfg(test)]
mod tests;
mod token;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use jiff::tz::TimeZoneDatabase;

use crate::{
    place::{self, Place, Row, rows},
    plan::{Advice, Definition, Lint, ScheduleName, derived_name},
    schedule::{self, Span},
    target::Target,
};

pub use problem::{Problem, Reason};

/// How often the scheduler that the format comes from looked at the clock.
pub const ROUND_S: u32 = 10;
/// Said once, about the first line that has it.
pub const OVERLAP_IGNORED: &str = "`almanack chain` ignores overlap=: it keeps no record of what \
     still runs; a node (`almanack serve`) follows it";

/// A warning about a line, for people whose lines were written for the scheduler that the format
/// comes from: there a day had to fit both day fields.
pub fn words(advice: &Advice) -> String {
    use schedule::Lint::{EitherDay, StepIsRestriction};
    match &advice.lint {
        Lint::Expression(EitherDay | StepIsRestriction { .. }) => format!(
            "{}; the scheduler that the format comes from asked for both, and `almanack import \
             dispatch` rewrites such lines",
            advice.lint
        ),
        lint => lint.to_string(),
    }
}

/// A DISPATCH text, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispatch {
    /// The good lines, in their order. No two of them have the same name.
    pub lines: Vec<Line>,
    /// What is wrong with the others, in their order.
    pub problems: Vec<Problem>,
    /// The names of the other lines, as far as they can be read. A line without `name=` has none:
    /// its name is derived from its content, and that cannot be read.
    pub refused: BTreeSet<ScheduleName>,
}

/// A good line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its text, without its comment.
    pub place: Place,
    /// What to call its schedule: as written, or from what it says.
    pub name: ScheduleName,
    /// When and at what.
    pub definition: Definition,
    /// Whether a comment follows on the same line.
    pub commented: bool,
    /// Where `overlap=` is written, if it is: a chain keeps no record of what still runs, so it
    /// cannot follow it.
    pub overlap: Option<Place>,
}

/// Reads a DISPATCH text.
pub fn parse(text: &str) -> Dispatch {
    let mut reader = Reader::default();
    let mut refused = BTreeSet::new();
    for row in rows(text) {
        if let Err(fault) = reader.read(row) {
            refused.extend(written_names(row.text));
            reader.problems.push(fault.at(row));
        }
    }
    Dispatch {
        lines: reader.lines,
        problems: reader.problems,
        refused,
    }
}

/// The names in a line that may be wrong in any way. One too many does no harm: it only keeps a
/// schedule from being taken for removed.
fn written_names(line: &str) -> impl Iterator<Item = ScheduleName> {
    let words = line.split_whitespace();
    let words = words.take_while(|word| !word.starts_with(['#', '＃']));
    let values = words.filter_map(|word| word.strip_prefix("name="));
    values.filter_map(|value| ScheduleName::parse(value.trim_matches(['"', '\''])).ok())
}

/// The default name of a schedule: the same for the same content, for ever.
pub fn name_of(definition: &Definition) -> ScheduleName {
    derived_name("dispatch", &content(definition))
}

/// What a line says: when, whose clock, at what. Written out by hand, because a field added to a
/// definition must not change the names of those that do not use it.
fn content(definition: &Definition) -> String {
    let Definition { expression, tz, .. } = definition;
    let Target::Workflow {
        repository,
        workflow,
        git_ref,
        inputs,
    } = &definition.target
    else {
        return format!("{expression}\n{tz}");
    };
    let mut content = format!("{expression}\n{tz}\n{repository}\n{workflow}\n{git_ref}");
    for (name, value) in inputs {
        let _ = write!(content, "\n{name}={value:?}");
    }
    content
}

type Fault = place::Fault<Reason>;

/// What has been read so far.
#[derive(Default)]
struct Reader {
    lines: Vec<Line>,
    problems: Vec<Problem>,
    /// Where each content and each name was first seen.
    contents: BTreeMap<String, usize>,
    names: BTreeMap<ScheduleName, usize>,
    zones: Zones,
}

/// The zones that come with the program; which ones the host knows must not matter to what is read.
struct Zones(TimeZoneDatabase);

impl Default for Zones {
    fn default() -> Self {
        Self(TimeZoneDatabase::bundled())
    }
}

impl Reader {
    fn read(&mut self, row: Row<'_>) -> Result<(), Fault> {
        let words = token::split(row.text)?;
        let (Some(first), Some(last)) = (words.tokens.first(), words.tokens.last()) else {
            return Ok(());
        };
        let whole = Span::new(first.start, last.span().end);
        let request = read::line(&words.tokens, &self.zones)?;
        let content = content(&request.definition);
        if let Some(line) = self.contents.get(&content) {
            return Err(Fault::new(whole, Reason::Same { line: *line }));
        }
        let name = request
            .name
            .map(|(name, span)| match self.names.get(&name) {
                Some(line) => Err(Fault::new(span, Reason::NameTaken { line: *line })),
                None => Ok(name),
            });
        let name = name.unwrap_or_else(|| Ok(name_of(&request.definition)))?;
        self.contents.insert(content, row.number);
        self.names.insert(name.clone(), row.number);
        self.lines.push(Line {
            place: row.place(whole),
            name,
            definition: request.definition,
            commented: words.commented,
            overlap: request.overlap.map(|span| row.place(span)),
        });
        Ok(())
    }
}
