//! Why a line is refused: what, where, and what to write instead.

use std::fmt;

use crate::{lang::Lang, place, plan::Unfit, schedule, target::Unusable};

/// A refused line.
pub type Problem = place::Problem<Reason>;

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Reason {
    /// The expression does not read.
    #[error(transparent)]
    Expression(Box<schedule::Error>),
    /// It reads, but names no instant.
    #[error("no date fits: this never fires")]
    NeverFires,
    /// Too few or too many fields before the repository.
    #[error("five fields must precede the repository; found {found}")]
    FieldCount {
        /// How many there are.
        found: usize,
    },
    /// The line ends after the expression.
    #[error("the repository and the workflow are missing")]
    NoRepository,
    /// The line ends after the repository.
    #[error("the workflow is missing")]
    NoWorkflow,
    /// A part of the target cannot work.
    #[error(transparent)]
    Target(#[from] Unusable),
    /// A character that only looks like a blank.
    #[error("only spaces and tabs separate words; this is U+{:04X}", u32::from(*.found))]
    Blank { found: char },
    /// An invisible character.
    #[error("invisible character U+{:04X}", u32::from(*.found))]
    Invisible { found: char },
    /// `＃` in front of a comment.
    #[error("a comment begins with `#`; this is its full-width twin")]
    WideHash,
    /// Something else than `key=value` after the workflow.
    #[error("only settings like ref=main follow the workflow")]
    Unexpected,
    /// An unknown setting.
    #[error("there is no such setting")]
    UnknownKey,
    /// The same setting twice.
    #[error("`{key}` is set twice")]
    Repeated {
        /// The setting's key.
        key: &'static str,
    },
    /// `key=` and nothing.
    #[error("`{key}` has no value")]
    NoValue { key: &'static str },
    /// A quote that opens and does not close.
    #[error("the quote does not close on this line")]
    Unclosed,
    /// Something right behind a closing quote.
    #[error("a blank must follow the closing quote")]
    AfterQuote,
    /// A name that no workflow input can have.
    #[error("an input's name has letters, digits, `_` and `-`")]
    InputName,
    /// No such time zone.
    #[error("there is no such time zone")]
    Zone,
    /// Not one of the values of a setting.
    #[error("`{key}` is {}", Choices(.choices))]
    Choice {
        key: &'static str,
        choices: Vec<&'static str>,
    },
    /// The parts are good and contradict each other.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// The same as an earlier line.
    #[error("this is the same as line {line}")]
    Same { line: usize },
    /// Has the name of an earlier line.
    #[error("line {line} has this name already")]
    NameTaken { line: usize },
}

struct Choices<'a>(&'a [&'static str]);

impl fmt::Display for Choices<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, choice) in self.0.iter().enumerate() {
            let between = match place {
                0 => "",
                _ if place + 1 == self.0.len() => " or ",
                _ => ", ",
            };
            write!(f, "{between}{choice}")?;
        }
        Ok(())
    }
}

impl Reason {
    /// A name for programs.
    pub fn code(&self) -> &'static str {
        self.into()
    }

    /// What to do about it, in a phrase.
    pub fn hint(&self) -> Option<String> {
        let advice = match self {
            Self::Expression(error) => return error.hint(Lang::English),
            Self::FieldCount { .. } => {
                "write minute, hour, day, month, weekday, or @10s for every ten seconds"
            }
            Self::NoRepository | Self::NoWorkflow => {
                "a line ends in repository and workflow: owner/repo daily.yml"
            }
            Self::Target(Unusable::Repository) => "write owner/repo",
            Self::Target(Unusable::Workflow) => "write the file's name, without its folder",
            Self::Blank { .. } => "write a space",
            Self::Invisible { .. } => "remove it",
            Self::WideHash => "write `#`",
            Self::Unexpected => "begin a comment with `#`",
            Self::UnknownKey => {
                "there are name, tz, ref, catch_up, overlap and input.NAME for the workflow's inputs"
            }
            Self::Unclosed => "close it, and write `\\\"` for a quote inside",
            Self::Zone => "zones look like Europe/Berlin",
            Self::Same { .. } => "remove one of the two",
            _ => return None,
        };
        Some(advice.to_owned())
    }
}
