//! What a schedule fires at.
//!
//! A target is data: it is stored with the schedule, copied into every firing, and shown to people
//! who may see it. It holds no secret; tokens and signing keys belong to the node that fires.
//! INVARIANT: `Debug` shows only the type. Repository names and addresses are private, and whatever
//! is printed with `{:?}` sooner or later is in a log (DP-15).

pub mod runs;
pub mod template;
mod unusable;

use std::{collections::BTreeMap, fmt};

use async_trait::async_trait;
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

pub use self::unusable::Unusable;
use crate::{
    finish::Outcome,
    follow::{Followed, HandedOver, Seen},
    headers,
    lang::Words,
    plan::Firing,
    reserved,
    task::{ClaimedTask, Identity, Invalid, Kind, PAYLOAD_BYTES_MAX, Payload, Subject},
};

/// Longest address, repository, workflow, argument.
const TEXT_BYTES_MAX: usize = 2_000;
/// Most inputs a workflow takes.
const INPUTS_MAX: usize = 25;
/// Most arguments of a command, its program included.
const ARGUMENTS_MAX: usize = 100;
/// Largest body or payload, in bytes: every firing carries a copy.
const JSON_BYTES_MAX: usize = PAYLOAD_BYTES_MAX / 2;
/// How long a command may run, by default.
pub const COMMAND_TIMEOUT_DEFAULT: SignedDuration = SignedDuration::from_mins(10);

/// How soon a firing that one node may not make is offered again: another may be allowed to.
pub const ELSEWHERE_AFTER: SignedDuration = SignedDuration::from_secs(5);

/// What a schedule fires at (DP-11).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Target {
    /// A signed HTTP request.
    Webhook {
        /// Where to.
        url: String,
        /// How to ask. A GET has no body.
        #[serde(default, skip_serializing_if = "Method::is_post")]
        method: Method,
        /// Further headers; a value is a text or a reference to a secret that the operator releases
        /// (`env:NAME`, `Bearer env:NAME`, `file:PATH`).
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
        /// What to send along; the firing itself is sent, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<serde_json::Value>,
        /// What to send instead of the firing. `{slot}`, `{date}`, `{schedule}`, `{firing}` and
        /// `{attempt}` are filled in. A text is sent as it is, anything else as JSON.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<serde_json::Value>,
        /// The receiver may answer 202 and report the end within this time, and again within this
        /// time after each report. Unset: its answer is the end.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            with = "crate::duration::optional"
        )]
        #[cfg_attr(feature = "schema", schema(value_type = Option<String>, example = "1h"))]
        report_within: Option<SignedDuration>,
    },
    /// A GitHub workflow, by `workflow_dispatch`.
    Workflow {
        /// `owner/name`.
        repository: String,
        /// File name of the workflow: `daily.yml`.
        workflow: String,
        /// Branch or tag to run it on.
        #[serde(rename = "ref", default = "main_branch")]
        git_ref: String,
        /// The workflow's inputs.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        inputs: BTreeMap<String, String>,
    },
    /// A local command, without a shell.
    Command {
        /// Program and arguments.
        argv: Vec<String>,
        /// Killed after this long.
        #[serde(default = "command_timeout", with = "crate::duration::required")]
        #[cfg_attr(feature = "schema", schema(value_type = String, example = "10m"))]
        timeout: SignedDuration,
    },
    /// Almanack's own work: a task of some kind, due at once.
    Task {
        /// What is tried: `EDITION_RUN`.
        kind: String,
        /// Its subject; `{slot}` and `{date}` are replaced by the slot and its day.
        subject: String,
        /// What its handler needs to know.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payload: Option<serde_json::Value>,
    },
    /// Nothing: a job that others run says by a ping that it ran (DP-23).
    Ping {
        /// What the job is, for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
}

names! {
    /// How a webhook is asked.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    #[cfg_attr(feature = "schema", schema(as = WebhookMethod))]
    pub enum Method {
        Get = "GET",
        #[default]
        Post = "POST",
        Put = "PUT",
        Patch = "PATCH",
        Delete = "DELETE",
    }
}

impl Method {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    fn is_post(&self) -> bool {
        *self == Self::Post
    }

    /// Whether a request of this method carries a body.
    pub fn has_body(self) -> bool {
        self != Self::Get
    }
}

/// Headers that a webhook's call sets itself: they say which firing it is, and that it is ours.
pub(crate) const OWN_HEADERS: [(&str, Words); 5] = [
    ("idempotency-key", ("it names the firing", "它标识触发")),
    ("webhook-id", ("it names the call", "它标识调用")),
    ("webhook-timestamp", ("it is signed", "它已签名")),
    (
        "webhook-signature",
        ("the node signs with its own key", "节点用自己的密钥签名"),
    ),
    (
        "traceparent",
        ("the node traces its calls", "节点会追踪自己的调用"),
    ),
];

fn main_branch() -> String {
    "main".to_owned()
}

fn command_timeout() -> SignedDuration {
    COMMAND_TIMEOUT_DEFAULT
}

impl Target {
    /// A webhook that is sent the firing and nothing else.
    pub fn webhook(url: impl Into<String>) -> Self {
        Self::Webhook {
            url: url.into(),
            method: Method::default(),
            headers: BTreeMap::new(),
            body: None,
            template: None,
            report_within: None,
        }
    }

    /// The name of its type, for metrics, logs and lists.
    pub fn type_name(&self) -> &'static str {
        self.into()
    }

    /// How long a receiver that accepts its call has for each report; `None` if its answer is the end.
    pub fn report_within(&self) -> Option<SignedDuration> {
        match self {
            Self::Webhook { report_within, .. } => *report_within,
            _ => None,
        }
    }

    /// Checks what can be known without trying it.
    pub fn check(&self) -> Result<(), Unusable> {
        match self {
            Self::Webhook { url, .. } => {
                check_url(url)?;
                self.check_request()
            }
            Self::Workflow {
                repository,
                workflow,
                git_ref,
                inputs,
            } => check_workflow(repository, workflow, git_ref, inputs),
            Self::Command { argv, timeout } => check_command(argv, *timeout),
            Self::Task {
                kind,
                subject,
                payload,
            } => {
                let kind = Kind::parse(kind)?;
                check_json(payload.as_ref()).map_err(Unusable::Payload)?;
                if has_unknown_placeholder(subject) {
                    return Err(Unusable::Placeholder);
                }
                // Filled in it may be longer, but not by more than an instant.
                let subject = Subject::parse(&fill(subject, jiff::Timestamp::UNIX_EPOCH))?;
                let fits = reserved::may_fire(&Identity { subject, kind });
                fits.then_some(()).ok_or(Unusable::Reserved)
            }
            Self::Ping { note } => check_note(note.as_deref()),
        }
    }
}

impl Target {
    /// Checks what a webhook sends.
    fn check_request(&self) -> Result<(), Unusable> {
        let Self::Webhook {
            method,
            headers,
            body,
            template,
            report_within,
            ..
        } = self
        else {
            return Ok(());
        };
        let rules = headers::Rules {
            own: &OWN_HEADERS,
            is_secret: headers::names_credential,
        };
        headers::check(headers, rules).map_err(|headers::Unfit { name, why }| {
            let name = name.unwrap_or_default();
            Unusable::Header { name, why }
        })?;
        check_json(body.as_ref()).map_err(Unusable::Body)?;
        check_json(template.as_ref()).map_err(Unusable::Template)?;
        check_report_within(*report_within)?;
        if report_within.is_some() && (template.is_some() || !method.has_body()) {
            return Err(Unusable::NowhereToReport);
        }
        match (body, template) {
            (Some(_), _) if !method.has_body() => Err(Unusable::NoBody("body")),
            (_, Some(_)) if !method.has_body() => Err(Unusable::NoBody("template")),
            (Some(_), Some(_)) => Err(Unusable::TwoBodies),
            (_, Some(template)) if template::has_unknown(template) => Err(Unusable::Unfillable),
            _ => Ok(()),
        }
    }
}

/// The identity of the task that a [`Target::Task`] requests at a slot.
pub fn task_identity(
    kind: &str,
    subject: &str,
    slot: jiff::Timestamp,
) -> Result<Identity, Invalid> {
    Identity::parse(&fill(subject, slot), kind)
}

fn fill(subject: &str, slot: jiff::Timestamp) -> String {
    let date = slot.strftime("%Y-%m-%d").to_string();
    subject
        .replace("{slot}", &slot.to_string())
        .replace("{date}", &date)
}

/// Whether something like `{slott}` is left when all that is known is filled in: a typing error
/// that would put the same task at every slot.
fn has_unknown_placeholder(subject: &str) -> bool {
    let left = subject.replace("{slot}", "").replace("{date}", "");
    let opened = left.split_once('{');
    opened.is_some_and(|(_, behind)| behind.contains('}'))
}

fn check_json(value: Option<&serde_json::Value>) -> Result<(), Invalid> {
    let text = value.map(ToString::to_string);
    text.map_or(Ok(()), |text| {
        Payload::parse(&text, JSON_BYTES_MAX).map(drop)
    })
}

fn check_note(note: Option<&str>) -> Result<(), Unusable> {
    let control = |c: char| c.is_control() && c != '\n';
    let fits = |note: &str| note.len() <= TEXT_BYTES_MAX && !note.contains(control);
    note.is_none_or(fits).then_some(()).ok_or(Unusable::Note)
}

/// Whether a text is an http or https address without user name or password.
pub(crate) fn check_address_text(url: &str) -> bool {
    check_url(url).is_ok()
}

fn check_url(url: &str) -> Result<(), Unusable> {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let fits = url.len() <= TEXT_BYTES_MAX && !url.contains(|c: char| c.is_control() || c == ' ');
    match authority {
        Some(authority) if fits && !authority.is_empty() && !authority.contains('@') => Ok(()),
        _ => Err(Unusable::Url),
    }
}

fn check_report_within(within: Option<SignedDuration>) -> Result<(), Unusable> {
    let bounds = SignedDuration::from_secs(1)..=SignedDuration::from_hours(7 * 24);
    let fits = within.is_none_or(|within| bounds.contains(&within));
    fits.then_some(()).ok_or(Unusable::ReportWithin)
}

fn check_workflow(
    repository: &str,
    workflow: &str,
    git_ref: &str,
    inputs: &BTreeMap<String, String>,
) -> Result<(), Unusable> {
    let named = |text: &str| {
        let shaped = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        (1..=100).contains(&text.len()) && text.chars().all(shaped) && text != "." && text != ".."
    };
    let mut parts = repository.split('/');
    let both = (
        parts.next().is_some_and(named),
        parts.next().is_some_and(named),
    );
    if both != (true, true) || parts.next().is_some() {
        return Err(Unusable::Repository);
    }
    if !named(workflow) {
        return Err(Unusable::Workflow);
    }
    let odd = |c: char| c.is_control() || c == ' ';
    if git_ref.is_empty() || git_ref.len() > 255 || git_ref.contains(odd) {
        return Err(Unusable::Ref);
    }
    if inputs.len() > INPUTS_MAX {
        return Err(Unusable::Inputs(inputs.len()));
    }
    Ok(())
}

fn check_command(argv: &[String], timeout: SignedDuration) -> Result<(), Unusable> {
    let program = argv.first().is_some_and(|program| !program.is_empty());
    let fits = |text: &String| text.len() <= TEXT_BYTES_MAX && !text.contains('\0');
    if !program || argv.len() > ARGUMENTS_MAX || !argv.iter().all(fits) {
        return Err(Unusable::Argv);
    }
    let bounds = SignedDuration::from_secs(1)..=SignedDuration::from_hours(24);
    if bounds.contains(&timeout) {
        Ok(())
    } else {
        Err(Unusable::Timeout)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target::{}", self.type_name())
    }
}

/// Fires at targets of one type.
///
/// May be called again for the same firing, like any handler: `(task id, term)` names one attempt,
/// the task id the firing. Its outcome says what happened at the target; whether a retry still fits
/// into the slot's window is decided by its caller.
#[async_trait]
pub trait Launcher: Send + Sync {
    /// Makes one attempt; what the target took over is done.
    async fn fire(&self, firing: &Firing, task: &ClaimedTask) -> Outcome;

    /// The same for a caller that follows what the target took over to its end (DP-19).
    async fn hand_over(&self, firing: &Firing, task: &ClaimedTask) -> HandedOver {
        HandedOver::Ended(self.fire(firing, task).await)
    }

    /// What an earlier attempt handed over, as far as that can be known without handing over again:
    /// asked when no attempt is left, so that what was started is not left to itself.
    async fn recall(&self, _: &Firing, _: &ClaimedTask) -> HandedOver {
        HandedOver::Ended(Outcome::give_up("nothing was handed over"))
    }

    /// Looks at what was handed over.
    async fn look(&self, _: &Firing, _: &ClaimedTask, _: &Followed) -> Seen {
        Seen::UNCHANGED
    }

    /// Has what was handed over stopped, as far as that is possible: its firing was cancelled. An
    /// error is worth another try.
    async fn withdraw(&self, _: &Firing, _: &Followed) -> Result<(), String> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        both,
        lang::{Say as _, Sentence},
    };

    fn read(json: &str) -> Target {
        serde_json::from_str(json).unwrap()
    }

    /// A firing wraps it and must still be readable.
    #[test]
    fn sf_02_what_a_target_sends_along_nests_no_deeper_than_a_payload() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let webhook = |depth: usize| {
            let url = "https://hooks.example/x";
            read(&format!(
                r#"{{"type":"webhook","url":"{url}","body":{}}}"#,
                nested(depth)
            ))
        };
        let task = |depth: usize| {
            let who = r#""type":"task","kind":"AUDIT","subject":"a:{slot}""#;
            read(&format!("{{{who},\"payload\":{}}}", nested(depth)))
        };
        assert_eq!(webhook(64).check(), Ok(()));
        assert!(matches!(webhook(65).check(), Err(Unusable::Body(_))));
        assert_eq!(task(64).check(), Ok(()));
        assert!(matches!(task(65).check(), Err(Unusable::Payload(_))));
    }

    #[test]
    fn dp_11_every_type_of_target_reads_with_its_defaults() {
        let workflow = read(r#"{"type":"workflow","repository":"o/r","workflow":"w.yml"}"#);
        assert!(matches!(&workflow, Target::Workflow { git_ref, .. } if git_ref == "main"));
        let command = read(r#"{"type":"command","argv":["sync","--all"],"timeout":"1m 30s"}"#);
        let ninety = SignedDuration::from_secs(90);
        assert!(matches!(&command, Target::Command { timeout, .. } if *timeout == ninety));
        for target in [
            workflow,
            command,
            read(r#"{"type":"webhook","url":"https://example.org/hook"}"#),
            read(r#"{"type":"task","kind":"EDITION_RUN","subject":"edition:{date}"}"#),
        ] {
            assert_eq!(target.check(), Ok(()), "{target:?}");
            let json = serde_json::to_string(&target).unwrap();
            assert_eq!(read(&json), target, "{json}");
        }
    }

    #[test]
    fn a_target_that_cannot_work_is_refused() {
        for (json, why) in [
            (r#"{"type":"webhook","url":"ftp://x"}"#, Unusable::Url),
            (
                r#"{"type":"webhook","url":"https://me:pw@x/"}"#,
                Unusable::Url,
            ),
            (r#"{"type":"webhook","url":"https://"}"#, Unusable::Url),
            (
                r#"{"type":"workflow","repository":"o","workflow":"w.yml"}"#,
                Unusable::Repository,
            ),
            (
                r#"{"type":"workflow","repository":"o/r/x","workflow":"w.yml"}"#,
                Unusable::Repository,
            ),
            (
                r#"{"type":"workflow","repository":"o/r","workflow":"a/b.yml"}"#,
                Unusable::Workflow,
            ),
            (
                r#"{"type":"workflow","repository":"o/r","workflow":"w.yml","ref":""}"#,
                Unusable::Ref,
            ),
            (r#"{"type":"command","argv":[]}"#, Unusable::Argv),
            (
                r#"{"type":"command","argv":["x"],"timeout":"25h"}"#,
                Unusable::Timeout,
            ),
            (
                r#"{"type":"task","kind":"K","subject":"at {slott}"}"#,
                Unusable::Placeholder,
            ),
            (
                r#"{"type":"task","kind":"K","subject":"{date} {}"}"#,
                Unusable::Placeholder,
            ),
            (
                r#"{"type":"task","kind":"K","subject":"{Date}"}"#,
                Unusable::Placeholder,
            ),
        ] {
            assert_eq!(read(json).check(), Err(why), "{json}");
        }
    }

    #[test]
    fn dp_11_a_webhook_says_what_it_sends() {
        let webhook = |rest: &str| {
            read(&format!(
                r#"{{"type":"webhook","url":"https://hooks.example/x",{rest}}}"#
            ))
            .check()
        };
        let header = |name: &str, why: Sentence| {
            let name = name.to_owned();
            Err(Unusable::Header { name, why })
        };
        let reference = || crate::headers::REFERENCE.both();
        for (rest, expected) in [
            (r#""method":"GET""#, Ok(())),
            (r#""method":"GET","body":1"#, Err(Unusable::NoBody("body"))),
            (
                r#""method":"GET","template":1"#,
                Err(Unusable::NoBody("template")),
            ),
            (r#""method":"PUT","template":{"at":"{slot}"}"#, Ok(())),
            (r#""body":1,"template":1"#, Err(Unusable::TwoBodies)),
            (
                r#""template":{"at":["{slott}"]}"#,
                Err(Unusable::Unfillable),
            ),
            (
                r#""headers":{"Authorization":"Bearer env:TOKEN","Accept":"x"}"#,
                Ok(()),
            ),
            (
                r#""headers":{"Authorization":"hunter2"}"#,
                header("Authorization", reference()),
            ),
            (
                r#""headers":{"X-Api-Key":"hunter2"}"#,
                header("X-Api-Key", reference()),
            ),
            (
                r#""headers":{"Webhook-Id":"x"}"#,
                header(
                    "Webhook-Id",
                    both!("cannot be set; it names the call", "不能设置；它标识调用"),
                ),
            ),
            (
                r#""headers":{"a b":"x"}"#,
                header(
                    "",
                    both!("has a header with an invalid name", "含有名称无效的请求头"),
                ),
            ),
        ] {
            assert_eq!(webhook(rest), expected, "{rest}");
        }
        let said = webhook(r#""headers":{"Cookie":"hunter2"}"#).unwrap_err();
        assert_eq!(
            said.to_string(),
            "target.headers.Cookie must say where the secret is kept, as env:NAME or file:PATH"
        );
        assert!(
            serde_json::from_str::<Target>(
                r#"{"type":"webhook","url":"https://x.test","method":"TRACE"}"#
            )
            .is_err()
        );
    }

    #[test]
    fn dp_15_debug_never_shows_where_a_target_is() {
        let target = read(r#"{"type":"workflow","repository":"secret/repo","workflow":"w.yml"}"#);
        assert_eq!(format!("{target:?}"), "Target::workflow");
    }

    #[test]
    fn a_task_target_names_its_slot_and_day() {
        let slot: jiff::Timestamp = "2026-01-05T08:00:00Z".parse().unwrap();
        let identity = task_identity("EDITION_RUN", "edition:{date}", slot).unwrap();
        assert_eq!(identity.subject.as_str(), "edition:2026-01-05");
        let identity = task_identity("X", "at {slot}", slot).unwrap();
        assert_eq!(identity.subject.as_str(), "at 2026-01-05T08:00:00Z");
    }
}
