//! How a command fails: an exit code for scripts, a sentence and a hint for people.

use std::{fmt::Write as _, io};

use almanack_core::{
    edition::{EDITION_RUN, EDITION_TICK},
    happening,
    plan::Origin,
    reschedule::NothingThere,
    source::SOURCE_CHECK,
    store,
    task::{Identity, Kind},
};
use almanack_engine::{editions, reschedule, schedules, sources};
use serde_json::json;

use crate::{
    config::report::{Report, Severity},
    suggest,
};

/// What the process answers its caller with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It worked.
    Ok,
    /// It did not.
    Failed,
    /// It was asked for in a way that cannot work: arguments, configuration.
    Usage,
    /// What it was asked about does not exist.
    NotFound,
    /// The database did not answer, or cannot be written.
    Unavailable,
}

/// The codes as `--help` shows them.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  it worked
  1  it failed, or part of it did
  2  the arguments or the configuration are wrong
  3  what was asked about does not exist
  4  the database is not available";

impl Exit {
    /// The number itself.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Unavailable => 4,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::NotFound => "not_found",
            Self::Unavailable => "database_unavailable",
        }
    }
}

/// Why a command stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Whoever read the output has gone (`almanack task list | head`). Nothing is wrong.
    NobodyReads,
    /// The configuration is wrong; all of it is said at once.
    Configuration(Box<Report>),
    /// Everything else.
    Told {
        /// For scripts.
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
        let mut told = format!("{what}: {error}");
        let mut source = error.source();
        while let Some(cause) = source {
            told = format!("{told}: {cause}");
            source = cause.source();
        }
        Self::new(Exit::Failed, told)
    }

    /// A failure with a code and a sentence.
    pub(crate) fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self::Told {
            exit,
            what: what.into(),
            hint: None,
        }
    }

    /// The same with advice.
    pub(crate) fn hint(self, advice: impl Into<String>) -> Self {
        match self {
            Self::Told { exit, what, .. } => Self::Told {
                exit,
                what,
                hint: Some(advice.into()),
            },
            other => other,
        }
    }

    /// The same, saying first what was being done: a present-tense phrase.
    pub(crate) fn during(self, phrase: &str) -> Self {
        match self {
            Self::Told { exit, what, hint } => Self::Told {
                exit,
                what: format!("{phrase}: {what}"),
                hint,
            },
            other => other,
        }
    }

    /// What the process answers.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::NobodyReads => Exit::Ok,
            Self::Configuration(_) => Exit::Usage,
            Self::Told { exit, .. } => *exit,
        }
    }

    /// What to tell people.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::NobodyReads => String::new(),
            Self::Configuration(report) => report.render(Severity::Error),
            Self::Told { what, hint, .. } => {
                let mut text = format!("error: {what}\n");
                if let Some(hint) = hint {
                    let _ = writeln!(text, "hint: {hint}");
                }
                text
            }
        }
    }

    /// What is wrong, and what to do about it, each by itself.
    pub(crate) fn told(&self) -> (String, String) {
        let text = self.text();
        let (what, hint) = text.split_once("\nhint: ").unwrap_or((&text, ""));
        let what = what.trim_start_matches("error: ").trim();
        (what.to_owned(), hint.trim().to_owned())
    }

    /// What to tell programs.
    pub(crate) fn json(&self) -> serde_json::Value {
        match self {
            Self::NobodyReads => serde_json::Value::Null,
            Self::Configuration(report) => {
                json!({ "error": { "code": "configuration", "problems": report.views() } })
            }
            Self::Told { exit, what, hint } => {
                json!({ "error": { "code": exit.name(), "message": what, "hint": hint } })
            }
        }
    }
}

impl From<io::Error> for Failure {
    /// Only writing output fails this way; reading has its own words.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::NobodyReads,
            _ => Self::new(Exit::Failed, format!("write output: {error}")),
        }
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        let what = error.chain();
        match error {
            store::Error::Unavailable { .. } => {
                let hint = advice(&what);
                Self::new(Exit::Unavailable, what).hint(hint)
            }
            store::Error::Unwritable { .. } => Self::new(Exit::Unavailable, what)
                .hint("may this user write the file and its folder, and is there space left?"),
            store::Error::Incompatible { what } if what.contains("is not a database") => Self::new(
                Exit::Failed,
                "this is not a SQLite database, but some other file",
            )
            .hint("check the name in database.url; a file that is not there is created"),
            store::Error::Incompatible { what: ref told } if told.contains("malformed") => {
                Self::new(Exit::Failed, what).hint(DAMAGED)
            }
            store::Error::Incompatible { .. } => {
                Self::new(Exit::Failed, what).hint("use the version of Almanack that wrote it")
            }
            store::Error::Unreadable { .. } => Self::new(Exit::Failed, what)
                .hint("use the version of Almanack that wrote it, or put the row right"),
            store::Error::Taken { .. } | store::Error::Refused { .. } | store::Error::Busy => {
                Self::new(Exit::Failed, what)
            }
        }
    }
}

/// What to do about a file that is cut short or overwritten.
pub(crate) const DAMAGED: &str = "the file is damaged: stop the node, keep a copy of it, and put the newest backup in its place \
     (`almanack restore BACKUP --force`)";

/// What to do about a database that does not answer. The server's words are English unless somebody
/// chose otherwise; words that are not recognised get the general advice.
fn advice(what: &str) -> &'static str {
    if what.contains("FATAL: database") && what.contains("does not exist") {
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
        "is the database running and its address right? `almanack check` shows it"
    }
}

impl From<NothingThere> for Failure {
    fn from(nothing: NothingThere) -> Self {
        // In the order of the command line, so that it can be compared with what was typed.
        let Identity { kind, subject } = nothing.identity;
        Self::new(Exit::NotFound, format!("no task {kind} {subject}"))
            .hint("`almanack task list --subject TEXT` finds tasks by the beginning of a subject")
    }
}

/// What to do instead of changing a task of the engine's own.
fn instead_of(kind: &Kind) -> &'static str {
    match kind.as_str() {
        happening::KIND => {
            "`almanack task retry HAPPENING SUBJECT` delivers an event that was given up once more"
        }
        SOURCE_CHECK => {
            "`almanack source check`, `pause` and `resume` say when a source is checked"
        }
        EDITION_TICK | EDITION_RUN => "`almanack edition run` works on an edition",
        _ => {
            "`almanack schedule fire NAME` fires a schedule by hand, `pause` keeps its slots from firing"
        }
    }
}

impl From<reschedule::Error> for Failure {
    fn from(error: reschedule::Error) -> Self {
        let what = error.to_string();
        match error {
            reschedule::Error::NothingThere(nothing) => nothing.into(),
            reschedule::Error::Store(error) => error.into(),
            reschedule::Error::Contended { .. } => Self::new(Exit::Failed, what).hint("try again"),
            reschedule::Error::Reserved { kind } => {
                Self::new(Exit::Usage, what).hint(instead_of(&kind))
            }
            reschedule::Error::Callback(_) | reschedule::Error::TooManyKinds { .. } => {
                Self::new(Exit::Usage, what)
            }
            reschedule::Error::KeyReused => {
                Self::new(Exit::Failed, what).hint("use a new key for a new request")
            }
            reschedule::Error::UnknownKind { kind, known } => {
                let known: Vec<&str> = known
                    .iter()
                    .map(almanack_core::task::Kind::as_str)
                    .collect();
                let near = suggest::nearest(kind.as_str(), known.iter().copied());
                let hint = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!(
                        "add [kinds.{kind}] with its url to the configuration, or give --callback-url"
                    ),
                };
                Self::new(Exit::Usage, what).hint(hint)
            }
        }
    }
}

impl From<schedules::Error> for Failure {
    fn from(error: schedules::Error) -> Self {
        let what = error.to_string();
        match error {
            schedules::Error::Unknown { .. } => {
                Self::new(Exit::NotFound, what).hint("`almanack schedule list` shows all")
            }
            schedules::Error::Store(error) => error.into(),
            schedules::Error::Contended { .. } | schedules::Error::Moved { .. } => {
                Self::new(Exit::Failed, what).hint("try again")
            }
            schedules::Error::Overlaps { .. } => {
                Self::new(Exit::Failed, what).hint("--force fires all the same")
            }
            schedules::Error::Managed { origin, .. } => {
                let hint = match origin {
                    Origin::File => "change its [[schedule]] in the file, or take it out there",
                    Origin::Dispatch => "change its line in DISPATCH, or take it out there",
                    Origin::Api => "use `almanack schedule` or the API",
                };
                Self::new(Exit::Failed, what).hint(hint)
            }
            schedules::Error::NotNow { .. } => Self::new(Exit::Failed, what),
            schedules::Error::Unfit(_)
            | schedules::Error::Unreachable(_)
            | schedules::Error::Range { .. }
            | schedules::Error::Note { .. }
            | schedules::Error::Invalid(_) => Self::new(Exit::Usage, what),
        }
    }
}

impl From<sources::Error> for Failure {
    fn from(error: sources::Error) -> Self {
        let what = error.to_string();
        match error {
            sources::Error::Unknown { .. } => {
                Self::new(Exit::NotFound, what).hint("`almanack source list` shows all")
            }
            sources::Error::Store(error) => error.into(),
            sources::Error::Reschedule(error) => error.into(),
            sources::Error::Contended { .. } => Self::new(Exit::Failed, what).hint("try again"),
            sources::Error::Unreachable(_) | sources::Error::AddressTaken { .. } => {
                Self::new(Exit::Failed, what)
            }
            sources::Error::TooLong { .. }
            | sources::Error::Unprintable { .. }
            | sources::Error::Policy(_)
            | sources::Error::Unreadable { .. }
            | sources::Error::Invalid(_) => Self::new(Exit::Usage, what),
        }
    }
}

impl From<editions::Error> for Failure {
    fn from(error: editions::Error) -> Self {
        let what = error.to_string();
        match error {
            editions::Error::Unknown(date) => Self::new(Exit::NotFound, what).hint(format!(
                "`almanack edition list` shows all, `almanack edition run {date}` makes one"
            )),
            editions::Error::NoDocument(_) => Self::new(Exit::NotFound, what)
                .hint("`almanack edition preview` prints what is completed so far"),
            editions::Error::Store(error) => error.into(),
            editions::Error::NotQueued(error) => error.into(),
            editions::Error::Contended(_) => Self::new(Exit::Failed, what).hint("try again"),
            editions::Error::Future { .. } | editions::Error::Template(_) => {
                Self::new(Exit::Usage, what)
            }
            editions::Error::NotNow(_) | editions::Error::Unnamed(_) => {
                Self::new(Exit::Failed, what)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use almanack_core::task::{Kind, Subject};

    use super::*;

    #[test]
    fn a_reader_that_went_away_is_not_an_error() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((failure.exit(), failure.text().as_str()), (Exit::Ok, ""));
        let failure = Failure::from(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(failure.exit(), Exit::Failed);
    }

    #[test]
    fn causes_are_told_to_the_last() {
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
        let identity = Identity {
            subject: Subject::parse("a").unwrap(),
            kind: kind("K"),
        };
        assert_eq!(
            Failure::from(NothingThere { identity }).exit(),
            Exit::NotFound
        );
    }
}
