//! Imports: schedules that were written for another program.
//!
//! An import reads a foreign text and gives schedules that mean the same here, where Almanack can
//! say it, and a list of what is different where it cannot. It changes nothing: the caller decides
//! what to do with the result.
//!
//! What must stay true:
//!
//! - Nothing is dropped silently. Every line that requests something becomes a schedule or a
//!   [`Problem`].
//! - The meaning there wins over the spelling here: a day rule that differs is written so that the
//!   same days fire (`+`), and the [`Difference`] says that this was done.
//! - Names come from content (crontab) or from the file (timers, workflows), never from the order
//!   of lines.

mod calendar;
mod command;
pub mod crontab;
mod difference;
pub mod dispatch;
mod expression;
pub mod healthchecks;
mod period;
mod problem;
pub mod systemd;
#[cfg(test)]
mod tests;
pub mod workflow;

use jiff::tz::TimeZoneDatabase;

use crate::{
    place::{self, Place},
    plan::{Definition, ScheduleName, Unfit},
    secret::Secret,
};

pub use difference::Difference;
pub use problem::{Problem, Reason};

/// What was found in a foreign text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Import {
    /// The schedules, in the order of the text.
    pub schedules: Vec<Imported>,
    /// What is different for all of them.
    pub differences: Vec<Difference>,
    /// What could not be read or has no counterpart.
    pub problems: Vec<Problem>,
}

/// A schedule that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Its name.
    pub name: ScheduleName,
    /// What it means here.
    pub definition: Definition,
    /// Where it was written.
    pub place: Place,
    /// What is different about it.
    pub differences: Vec<Difference>,
    /// What it has there besides a definition.
    pub besides: Besides,
}

/// What a definition does not hold: whoever writes the schedule carries it over, too.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Besides {
    /// What jobs ping it by.
    pub ping_key: Option<Secret>,
    pub is_paused: bool,
}

/// What a text does not say about itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// The file's name without its folder; timers and workflows are called after it.
    pub file: &'a str,
    /// Whose clock to read where the text does not say.
    pub tz: Option<&'a str>,
    /// Whose workflows these are: `owner/name`.
    pub repository: &'a str,
    /// Whether lines name a user before the command, as in `/etc/crontab`.
    pub with_users: bool,
}

impl Options<'_> {
    /// The zone's own spelling of `tz`.
    fn zone(&self) -> Option<String> {
        self.tz
            .map(|tz| zone_named(tz).unwrap_or_else(|| tz.to_owned()))
    }
}

impl Import {
    /// Takes a schedule, unless it says what an earlier one says: that would fire twice.
    fn take(&mut self, imported: Imported) {
        let same = |earlier: &&Imported| earlier.definition == imported.definition;
        let Some(earlier) = self.schedules.iter().find(same) else {
            return self.schedules.push(imported);
        };
        let reason = Reason::Same {
            line: earlier.place.line,
        };
        let place = imported.place;
        self.problems.push(Problem { place, reason });
    }

    /// Says something about all schedules, once.
    fn differ(&mut self, difference: Difference) {
        if !self.differences.contains(&difference) {
            self.differences.push(difference);
        }
    }
}

type Fault = place::Fault<Reason>;

/// The zone's own spelling of a name, if there is such a zone. The zones are those that come with
/// the program: which ones the host knows must not matter to what is read.
fn zone_named(name: &str) -> Option<String> {
    let zone = TimeZoneDatabase::bundled().get(name).ok()?;
    Some(zone.iana_name().unwrap_or(name).to_owned())
}

/// A name from a file's: the first schedule has it plain, those after it with a number. Characters
/// that no name can have become `-`.
fn numbered(stem: &str, index: usize) -> Result<ScheduleName, Unfit> {
    let shaped = |c: char| {
        if c.is_ascii_alphanumeric() || "._-".contains(c) {
            c
        } else {
            '-'
        }
    };
    let stem: String = stem.chars().map(shaped).collect();
    match index {
        0 => ScheduleName::parse(&stem),
        later => ScheduleName::parse(&format!("{stem}-{}", later + 1)),
    }
}
