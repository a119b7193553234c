//! Problems of the API as failures: the API's sentence, a hint in the words of the command line, an
//! exit code.

use almanack_server::problem::{Code, Problem};
use serde_json::Value;

use super::{Refusal, Reply};
use crate::{
    failure::{self, Exit, Failure},
    suggest,
};

impl From<&Problem> for Refusal {
    fn from(problem: &Problem) -> Self {
        Self {
            status: problem.code().status().as_u16(),
            cause: problem.cause().map(str::to_owned),
            problem: serde_json::to_value(problem).unwrap_or_default(),
        }
    }
}

impl Refusal {
    /// Reads a problem document; nothing, if the answer is none.
    pub(super) fn read(reply: &Reply) -> Option<Self> {
        let problem: Value = serde_json::from_slice(&reply.body).ok()?;
        problem.get("code")?.as_str()?;
        Some(Self {
            status: reply.status,
            problem,
            cause: reply.cause.clone(),
        })
    }

    /// The kind of problem, for programs.
    pub(crate) fn code(&self) -> &str {
        self.text("code")
    }

    /// What is wrong, in a sentence.
    pub(crate) fn detail(&self) -> &str {
        self.text("detail")
    }

    /// Where in the body.
    pub(crate) fn place(&self) -> &str {
        self.text("path")
    }

    /// What is wrong with a schedule's expression.
    pub(crate) fn expression(&self) -> Option<&Value> {
        self.problem.get("expression")
    }

    /// Whether the same request would be refused later, too.
    pub(crate) fn is_lasting(&self) -> bool {
        (400..500).contains(&self.status) && !matches!(self.status, 408 | 429)
    }

    /// Whether fewer items at a time would be taken.
    pub(crate) fn is_too_much(&self) -> bool {
        self.status == 413
    }

    fn text(&self, name: &str) -> &str {
        self.problem[name].as_str().unwrap_or_default()
    }

    /// The message for the user of the command.
    pub(crate) fn failure(&self) -> Failure {
        let exit = self.exit();
        // In process there is no log: the cause is in the message.
        let what = self.cause.clone().unwrap_or_else(|| self.in_order());
        let hint = match &self.cause {
            Some(cause) if exit == Exit::Unavailable => Some(failure::advice(cause).to_owned()),
            _ => self.hint().or_else(|| self.guide()),
        };
        Failure::new(exit, what).hinted(hint)
    }

    /// The page of the guide, unless it is the one about every call.
    fn guide(&self) -> Option<String> {
        let page = Code::parse(self.code())?.guide();
        let is_special = page != Code::BadRequest.guide();
        is_special.then(|| format!("{page} says more"))
    }

    /// The sentence. A task is named in the order of the command line, so that it can be compared
    /// with what was typed.
    fn in_order(&self) -> String {
        let detail = self.detail();
        let named = detail.strip_prefix("no task (");
        let named = named.and_then(|it| it.strip_suffix(')')?.rsplit_once(", "));
        named.map_or_else(
            || detail.to_owned(),
            |(subject, kind)| format!("no task {kind} {subject}"),
        )
    }

    fn exit(&self) -> Exit {
        match (self.status, self.code()) {
            (_, "database_unavailable" | "database_unwritable") => Exit::Unavailable,
            (_, "idempotency_key_reused" | "not_a_feed") => Exit::Failed,
            (_, "not_configured") | (400 | 413 | 415 | 422, _) => Exit::Usage,
            (404, _) => Exit::NotFound,
            _ => Exit::Failed,
        }
    }

    fn hint(&self) -> Option<String> {
        let advice = match (self.code(), self.place()) {
            ("no_such_task", _) => "`almanack task list --subject PREFIX` finds tasks by subject",
            ("no_such_kind", _) => "`almanack kind list` lists all",
            ("no_such_schedule", _) => "`almanack schedule list` lists all",
            ("no_such_bulk", _) => "`almanack task bulk list` lists all",
            ("no_such_subscriber", _) => "`almanack edition subscriber list` lists all",
            ("no_such_monitor", _) => "`almanack monitor list` lists all",
            ("no_such_calendar", _) => "`almanack calendar list` lists all",
            ("nothing_to_spread", _) => "`almanack radar` lists herds and proposals",
            ("managed_calendar", _) => "change or remove it under [[calendar]] in its file",
            ("no_such_source", _) => {
                "`almanack source list --containing TEXT` finds sources by name or address"
            }
            ("no_such_entry", _) => "`almanack source entries` lists entries with their ids",
            ("not_a_feed", _) => {
                "give the feed's address, or read the page by rules: --as html --item … --title …"
            }
            ("no_such_firing", _) => "`almanack schedule slots NAME` lists all firings",
            ("no_such_edition", _) => {
                "`almanack edition list` lists all, `almanack edition run DATE` creates one"
            }
            ("no_such_document", _) => {
                "`almanack edition history` lists revisions, `preview` prints the stories so far"
            }
            ("no_such_token", _) => "`almanack token list` lists all",
            ("no_such_user", _) => "`almanack user list` lists all",
            ("not_configured", _) => EDITIONS_OFF,
            ("name_taken", _) => "choose another name; the history still shows this one",
            ("contended" | "busy" | "shutting_down" | "timed_out", _) => "try again",
            ("still_running", _) => "use --force to fire anyway",
            ("managed_schedule", _) => "change or remove it in its file",
            ("source_not_active", _) => "resume it: `almanack source resume SOURCE`",
            ("managed_source", _) => "change or remove it under [[source]] in its file",
            ("idempotency_key_reused", _) => "use a new key for a new request",
            ("unauthenticated", _) => {
                "set ALMANACK_TOKEN to a token; create one with `almanack token create` on the \
                 node's machine"
            }
            ("scope_too_small", _) => {
                let scope = self.text("scope");
                return Some(format!("set ALMANACK_TOKEN to a token of scope `{scope}`"));
            }
            ("unknown_kind", _) => return Some(self.unknown_kind()),
            ("invalid_value", "name") if self.detail().contains("'s name") => {
                "for example: article-service"
            }
            ("invalid_value", "kind") => instead_of(self.quoted()?)?,
            ("invalid_value", "until") => "for example --until +2h",
            ("invalid_value", "payload") => TOO_LARGE,
            _ => return None,
        };
        Some(advice.to_owned())
    }

    fn unknown_kind(&self) -> String {
        let kind = self.quoted().unwrap_or_default();
        let known = self.problem["known_kinds"].as_array();
        let known = known.into_iter().flatten().filter_map(Value::as_str);
        match suggest::nearest(kind, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "add [kinds.{kind}] with its url to the configuration, or pass --callback-url"
            ),
        }
    }

    /// What the sentence is about: the first thing that it quotes.
    pub(super) fn quoted(&self) -> Option<&str> {
        self.detail().split('`').nth(1)
    }
}

/// What to do where editions are off.
pub(crate) const EDITIONS_OFF: &str = "put `enabled = true` under [edition] in the configuration; \
     docs/guide/editions.md says more";

/// What to do about a payload over the limit.
const TOO_LARGE: &str = "pass a reference instead of the content, or raise limits.payload_bytes \
     for this command and the nodes";

/// What to do instead of changing a task that the engine manages.
fn instead_of(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "EVENT_DELIVERY" => {
            "`almanack task retry EVENT_DELIVERY SUBJECT` delivers a failed event again"
        }
        "SOURCE_CHECK" => "use `almanack source check`, `pause` or `resume`",
        "EDITION_RUN" => "use `almanack edition run`",
        "DISPATCH" => {
            "use `almanack schedule fire NAME`, or `almanack schedule pause NAME` to skip its slots"
        }
        _ => return None,
    })
}
