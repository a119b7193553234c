//! How a command fails: an exit code for scripts, a sentence and a hint for people.

use std::{fmt::Write as _, io};

use almanack_core::store;
use almanack_engine::{calendars, editions, reschedule, schedules, sources};
use almanack_server::problem::Problem;
use serde_json::json;

use crate::{
    client::Refusal,
    config::report::{Report, Severity},
    when::Unclear,
};

/// The exit status of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok,
    Failed,
    /// The arguments or the configuration are wrong.
    Usage,
    /// The requested thing does not exist.
    NotFound,
    /// The database did not answer, or cannot be written.
    Unavailable,
    /// The given server did not answer, or is not an Almanack node.
    Unreachable,
}

/// The codes as `--help` shows them.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  failure, or partial failure
  2  wrong arguments or configuration
  3  not found
  4  database or server not available";

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Unavailable | Self::Unreachable => 4,
        }
    }

    /// Success, unless `failed`.
    pub(crate) fn failed_if(failed: bool) -> Self {
        if failed { Self::Failed } else { Self::Ok }
    }

    /// Success, unless what was given is `wrong`.
    pub(crate) fn usage_if(wrong: bool) -> Self {
        if wrong { Self::Usage } else { Self::Ok }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::NotFound => "not_found",
            Self::Unavailable => "database_unavailable",
            Self::Unreachable => "server_unavailable",
        }
    }
}

/// What fails as a command does, unless something else is named.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// The result of a command.
pub(crate) type Done = Result<Exit>;

/// Why a command stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of the output has closed it (`almanack task list | head`). Nothing is wrong.
    OutputClosed,
    /// The configuration is wrong; all problems are reported at once.
    Configuration(Box<Report>),
    Reported {
        exit: Exit,
        /// What, where and why.
        what: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

impl Failure {
    /// What failed, with all its causes.
    pub(crate) fn caused(what: &str, error: &dyn std::error::Error) -> Self {
        Self::failed(format!("{what}: {}", chain(error)))
    }

    /// A failure with a code and a sentence.
    pub(crate) fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self::Reported {
            exit,
            what: what.into(),
            hint: None,
        }
    }

    /// The same with advice.
    pub(crate) fn hint(self, advice: impl Into<String>) -> Self {
        self.hinted(Some(advice))
    }

    /// The same with advice, if there is any.
    pub(crate) fn hinted(mut self, advice: Option<impl Into<String>>) -> Self {
        if let (Self::Reported { hint, .. }, Some(advice)) = (&mut self, advice) {
            *hint = Some(advice.into());
        }
        self
    }

    /// The same, asking first whether another name was meant.
    pub(crate) fn suggesting(mut self, near: &str) -> Self {
        if let Self::Reported { hint, .. } = &mut self {
            let asked = format!("did you mean `{near}`?");
            *hint = Some(match hint.take() {
                Some(advice) => format!("{asked} {advice}"),
                None => asked,
            });
        }
        self
    }

    /// The same with another code.
    pub(crate) fn exiting(mut self, code: Exit) -> Self {
        if let Self::Reported { exit, .. } = &mut self {
            *exit = code;
        }
        self
    }

    /// The same, saying first what was being done: a present-tense phrase.
    pub(crate) fn during(mut self, phrase: &str) -> Self {
        if let Self::Reported { what, .. } = &mut self {
            *what = format!("{phrase}: {what}");
        }
        self
    }

    /// What the process answers.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::OutputClosed => Exit::Ok,
            Self::Configuration(_) => Exit::Usage,
            Self::Reported { exit, .. } => *exit,
        }
    }

    /// The message for people.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::OutputClosed => String::new(),
            Self::Configuration(report) => report.render(Severity::Error),
            Self::Reported { what, hint, .. } => {
                let mut text = format!("error: {what}\n");
                if let Some(hint) = hint {
                    let _ = writeln!(text, "hint: {hint}");
                }
                text
            }
        }
    }

    /// The problem and the hint, separately.
    pub(crate) fn parts(&self) -> (String, String) {
        let text = self.text();
        let (what, hint) = text.split_once("\nhint: ").unwrap_or((&text, ""));
        let what = what.trim_start_matches("error: ").trim();
        (what.to_owned(), hint.trim().to_owned())
    }

    /// The message for programs.
    pub(crate) fn json(&self) -> serde_json::Value {
        match self {
            Self::OutputClosed => serde_json::Value::Null,
            Self::Configuration(report) => {
                json!({ "error": { "code": "configuration", "problems": report.views() } })
            }
            Self::Reported { exit, what, hint } => {
                json!({ "error": { "code": exit.name(), "message": what, "hint": hint } })
            }
        }
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "`map_err` hands over what it has"
)]
impl Failure {
    /// Wrong arguments or configuration.
    pub(crate) fn usage(what: impl ToString) -> Self {
        Self::new(Exit::Usage, what.to_string())
    }

    pub(crate) fn failed(what: impl ToString) -> Self {
        Self::new(Exit::Failed, what.to_string())
    }

    /// The requested thing does not exist.
    pub(crate) fn not_found(what: impl ToString) -> Self {
        Self::new(Exit::NotFound, what.to_string())
    }
}

/// An error with all its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

impl From<io::Error> for Failure {
    /// Only writing output fails this way; reading has its own words.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::failed(format!("write output: {error}")),
        }
    }
}

impl From<Unclear> for Failure {
    fn from(unclear: Unclear) -> Self {
        Self::usage(unclear.what).hint(unclear.hint)
    }
}

impl Unclear {
    /// The same about the value of a flag.
    pub(crate) fn of(self, flag: &str) -> Failure {
        Failure::usage(format!("{flag}: {}", self.what)).hint(self.hint)
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        let what = error.chain();
        match error {
            store::Error::Unavailable { .. } | store::Error::Unwritable { .. } => {
                let hint = advice(&what);
                Self::new(Exit::Unavailable, what).hint(hint)
            }
            store::Error::Incompatible { what } if what.contains("is not a database") => {
                Self::failed("the file is not a SQLite database")
                    .hint("check the name in database.url; a missing file is created")
            }
            store::Error::Incompatible { what: ref detail } if detail.contains("malformed") => {
                Self::failed(what).hint(DAMAGED)
            }
            store::Error::Incompatible { .. } => {
                Self::failed(what).hint("use the version of Almanack that wrote it")
            }
            store::Error::Unreadable { .. } => Self::failed(what)
                .hint("use the version of Almanack that wrote it, or correct the row"),
            store::Error::Taken { .. } | store::Error::Refused { .. } | store::Error::Busy => {
                Self::failed(what)
            }
        }
    }
}

/// What to do about a truncated or overwritten file.
pub(crate) const DAMAGED: &str = "the file is damaged: stop the node, keep a copy of the file, \
     and restore the newest backup (`almanack restore BACKUP --force`)";

/// What to do about a database that does not answer. The server's messages are usually English;
/// unknown messages get the general advice.
pub(crate) fn advice(what: &str) -> &'static str {
    if what.contains("cannot be written") {
        "check that this user may write the file and its folder, and that the disk has space"
    } else if what.contains("FATAL: database") && what.contains("does not exist") {
        "the server answers, but has no such database: `createdb NAME` makes one, or correct the \
         name at the end of database.url"
    } else if what.contains("authentication") || what.contains("FATAL: role") {
        "the server answers, but not to this user: check the user in database.url and \
         database.password (or ALMANACK_DATABASE_PASSWORD)"
    } else if what.contains("does not allow writes") {
        "this server is a standby, or its database is read-only: name the primary, or all servers \
         (\"postgres://user@a,b/database\"), of which the one that can be written to is used"
    } else if what.contains("certificate") || what.contains("sslrootcert") {
        "sslmode=require and verify-full check the server's certificate: name its authority with \
         sslrootcert=FILE, and the server as the certificate does"
    } else if what.contains("sslmode") {
        "write it into database.url: postgres://user@host/database?sslmode=verify-full"
    } else if what.contains("too many") {
        "the server has no connection left; raise its max_connections or run fewer nodes"
    } else {
        "check that the database runs and its address is right; `almanack check` shows it"
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Refusal::from(&problem).failure()
    }
}

/// A refusal of the engine to a command that works without the API has the API's words.
macro_rules! reported_as_problem {
    ($($error:ty),+) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Problem::from(error).into()
            }
        }
    )+};
}

reported_as_problem!(
    calendars::Error,
    reschedule::Error,
    schedules::Error,
    sources::Error,
    editions::Error
);

#[cfg(test)]
mod tests {
    use almanack_core::task::Kind;

    use super::*;

    #[test]
    fn a_reader_that_went_away_is_not_an_error() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((failure.exit(), failure.text().as_str()), (Exit::Ok, ""));
        let failure = Failure::from(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(failure.exit(), Exit::Failed);
    }

    #[test]
    fn causes_are_reported_to_the_last() {
        let source = Box::new(io::Error::other("disk on fire"));
        let failure = Failure::from(store::Error::Unwritable {
            statement: "apply",
            source,
        });
        assert_eq!(failure.exit(), Exit::Unavailable);
        assert!(
            failure
                .text()
                .contains("cannot be written: apply: disk on fire\nhint: ")
        );
    }

    #[test]
    fn a_misspelt_kind_gets_its_neighbour() {
        let kind = |text| Kind::parse(text).unwrap();
        let known = vec![kind("ARTICLE_AUDIT"), kind("ARTICLE_PUBLISH")];
        let failure = Failure::from(reschedule::Error::UnknownKind {
            kind: kind("ARTICLE_PUBLSIH"),
            known,
        });
        assert!(
            failure.text().contains("did you mean `ARTICLE_PUBLISH`?"),
            "{failure:?}"
        );
    }
}
