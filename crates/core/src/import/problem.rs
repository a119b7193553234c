//! What could not be imported: where and why.

use crate::{dispatch, lang::Lang, place, plan::Unfit, schedule};

/// A part of the text that became no schedule.
pub type Problem = place::Problem<Reason>;

/// Why something became no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Reason {
    /// A bad DISPATCH line.
    #[error(transparent)]
    Dispatch(#[from] dispatch::Reason),
    /// The expression does not read.
    #[error(transparent)]
    Expression(Box<schedule::Error>),
    /// It reads, but names no instant.
    #[error("no date fits: this never fires")]
    NeverFires,
    /// The parts are good and cannot be kept.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// The line ends before its command.
    #[error("the command is missing")]
    NoCommand,
    /// A `%` that would begin the command's input.
    #[error("an unescaped `%` begins the command's input; commands get no input here")]
    Input,
    /// No such time zone.
    #[error("there is no time zone `{tz}`")]
    Zone { tz: String },
    /// Says what an earlier line says.
    #[error("this is the same as line {line}")]
    Same { line: usize },
    /// Neither a comment, a section nor a setting.
    #[error("this is neither a comment, a [section] nor a Setting=value")]
    Syntax,
    /// A value that continues in the next line.
    #[error("values continued on the next line are not supported")]
    Continued,
    /// A part of a calendar expression that no schedule expression can say.
    #[error("`{piece}` has no counterpart in a schedule expression")]
    Calendar { piece: String },
    /// Not a span of time in whole seconds.
    #[error("`{given}` is not a span of whole seconds")]
    Period { given: String },
    /// A start that follows the machine's own.
    #[error("{setting} names no time: nothing fires because of a restart")]
    Boot { setting: String },
    /// A unit that names no instance.
    #[error("{unit} is a template without an instance name")]
    Template { unit: String },
    #[error("no time is given: {wanted} is missing")]
    NoTime {
        /// What would say it.
        wanted: &'static str,
    },
    /// The YAML does not read.
    #[error("this is not YAML: {why}")]
    Yaml { why: String },
    /// YAML of another shape.
    #[error("{what}")]
    Shape {
        /// What should stand there.
        what: &'static str,
    },
}

impl From<schedule::Error> for Reason {
    fn from(error: schedule::Error) -> Self {
        Self::Expression(Box::new(error))
    }
}

impl Reason {
    /// A name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Dispatch(reason) => reason.code(),
            other => other.into(),
        }
    }

    /// What to do about it, in a phrase.
    pub fn hint(&self) -> Option<String> {
        let advice = match self {
            Self::Dispatch(reason) => return reason.hint(),
            Self::Expression(error) => return error.hint(Lang::English),
            Self::NoCommand => {
                "with --system, write a user before the command; without it, leave the user out"
            }
            Self::Input => "put the input into a script, or write `\\%` for a `%`",
            Self::Zone { .. } => "zones look like Europe/Berlin",
            Self::Continued => "write the value on one line",
            Self::Template { .. } => "name the instance: --as backup@home.timer",
            Self::Boot { .. } => "put it into the unit that starts Almanack",
            Self::Same { .. } => "remove one of the two",
            _ => return None,
        };
        Some(advice.to_owned())
    }
}
