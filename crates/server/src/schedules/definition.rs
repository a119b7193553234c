//! A schedule's definition as JSON, both ways.
//!
//! Own types beside `core`'s: what the store keeps may change its form, what callers rely on may not.
//! What is left out of a body gets `core`'s default, so that the defaults are written down once.

use std::collections::BTreeMap;

use almanack_core::{
    plan::{CatchUp, Definition, OnResume, Overlap},
    target::{COMMAND_TIMEOUT_DEFAULT, Target},
};
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// When to fire, at what, and what to do when things do not go as planned. Durations are written `90s`,
/// `10m`, `1h 30m`. What is left out gets its default.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DefinitionBody {
    /// When: five fields, six with seconds first, or a nickname.
    #[schema(example = "0 8 * * 1-5")]
    pub(super) expression: String,
    /// Whose clock the expression reads: an IANA name; UTC when nobody says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "Europe/Berlin")]
    tz: Option<String>,
    /// At what.
    target: TargetBody,
    /// What becomes of slots that passed while nothing was planning; `latest` when nobody says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    catch_up: Option<CatchUpName>,
    /// How late a slot may still fire; half the gap to the next slot when nobody says otherwise.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "jiff::fmt::serde::duration::friendly::compact::optional"
    )]
    #[schema(value_type = Option<String>, example = "30m")]
    grace: Option<SignedDuration>,
    /// Most missed slots that fire at once; 100 when nobody says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1000)]
    max_catch_up: Option<u32>,
    /// How far apart missed slots fire; a second when nobody says otherwise.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "jiff::fmt::serde::duration::friendly::compact::optional"
    )]
    #[schema(value_type = Option<String>, example = "1s")]
    catch_up_pace: Option<SignedDuration>,
    /// What becomes of a slot whose predecessor has not ended; `skip` when nobody says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    overlap: Option<OverlapName>,
    /// Spread: each schedule waits its own fixed part of this after every slot.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "jiff::fmt::serde::duration::friendly::compact::optional"
    )]
    #[schema(value_type = Option<String>, example = "5m")]
    splay: Option<SignedDuration>,
    /// What becomes of the slots of a pause; `skip` when nobody says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    on_resume: Option<OnResumeName>,
    /// How long a failed firing is tried again; the gap to the next slot when nobody says otherwise.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "jiff::fmt::serde::duration::friendly::compact::optional"
    )]
    #[schema(value_type = Option<String>, example = "1h")]
    retry_for: Option<SignedDuration>,
    /// Which of several due firings goes first: 9 before 0; 5 when nobody says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 9)]
    priority: Option<u8>,
}

/// What a schedule fires at.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum TargetBody {
    /// A signed HTTP POST.
    Webhook {
        /// Where to: http or https, without user name or password.
        url: String,
        /// What to send along; the firing itself is always sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<Value>,
    },
    /// A GitHub workflow, by `workflow_dispatch`.
    Workflow {
        /// `owner/name`.
        repository: String,
        /// File name of the workflow: `daily.yml`.
        workflow: String,
        /// Branch or tag to run it on; `main` when nobody says otherwise.
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
        /// Killed after this long; ten minutes when nobody says otherwise.
        #[serde(
            default = "command_timeout",
            serialize_with = "jiff::fmt::serde::duration::friendly::compact::required"
        )]
        #[schema(value_type = String, example = "10m")]
        timeout: SignedDuration,
    },
    /// Almanack's own work: a task of some kind, due at once.
    Task {
        /// What is tried.
        kind: String,
        /// What it is about; `{slot}` and `{date}` stand for the slot and its day.
        subject: String,
        /// What its handler needs to know.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payload: Option<Value>,
    },
}

fn main_branch() -> String {
    "main".to_owned()
}

fn command_timeout() -> SignedDuration {
    COMMAND_TIMEOUT_DEFAULT
}

/// Declares an enum of the API beside `core`'s, and the way back and forth.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident = $core:ident { $($(#[$told:meta])* $variant:ident,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub(crate) enum $name { $($(#[$told])* $variant,)+ }

        impl From<$core> for $name {
            fn from(core: $core) -> Self {
                match core { $($core::$variant => Self::$variant,)+ }
            }
        }

        impl From<$name> for $core {
            fn from(name: $name) -> Self {
                match name { $($name::$variant => Self::$variant,)+ }
            }
        }
    };
}

named! {
    /// What becomes of missed slots.
    CatchUpName = CatchUp {
        /// They are skipped.
        None,
        /// The last of them fires, if it is within its grace.
        Latest,
        /// Those within the grace fire, the newest `max_catch_up` of them, in order.
        All,
    }
}

named! {
    /// What becomes of a slot whose predecessor has not ended.
    OverlapName = Overlap {
        /// It is skipped.
        Skip,
        /// It waits; what comes while it waits is skipped.
        QueueOne,
        /// It fires.
        Allow,
        /// The predecessor is cancelled, and it fires.
        CancelRunning,
    }
}

named! {
    /// What becomes of the slots of a pause.
    OnResumeName = OnResume {
        /// They stay skipped.
        Skip,
        /// The last of them fires, if it is within its grace.
        Latest,
    }
}

impl From<DefinitionBody> for Definition {
    fn from(body: DefinitionBody) -> Self {
        let default = Self::new(body.expression, body.target.into());
        Self {
            tz: body.tz.unwrap_or(default.tz),
            catch_up: body.catch_up.map_or(default.catch_up, Into::into),
            grace: body.grace,
            max_catch_up: body.max_catch_up.unwrap_or(default.max_catch_up),
            catch_up_pace: body.catch_up_pace.unwrap_or(default.catch_up_pace),
            overlap: body.overlap.map_or(default.overlap, Into::into),
            splay: body.splay.unwrap_or(default.splay),
            on_resume: body.on_resume.map_or(default.on_resume, Into::into),
            retry_for: body.retry_for,
            priority: body.priority.unwrap_or(default.priority),
            expression: default.expression,
            target: default.target,
        }
    }
}

impl From<Definition> for DefinitionBody {
    fn from(definition: Definition) -> Self {
        Self {
            expression: definition.expression,
            tz: Some(definition.tz),
            target: definition.target.into(),
            catch_up: Some(definition.catch_up.into()),
            grace: definition.grace,
            max_catch_up: Some(definition.max_catch_up),
            catch_up_pace: Some(definition.catch_up_pace),
            overlap: Some(definition.overlap.into()),
            splay: Some(definition.splay),
            on_resume: Some(definition.on_resume.into()),
            retry_for: definition.retry_for,
            priority: Some(definition.priority),
        }
    }
}

/// The two enums have the same variants with the same fields; only one direction differs in names.
macro_rules! same_target {
    ($from:ident => $to:ident) => {
        impl From<$from> for $to {
            fn from(target: $from) -> Self {
                match target {
                    $from::Webhook { url, body } => Self::Webhook { url, body },
                    $from::Workflow {
                        repository,
                        workflow,
                        git_ref,
                        inputs,
                    } => Self::Workflow {
                        repository,
                        workflow,
                        git_ref,
                        inputs,
                    },
                    $from::Command { argv, timeout } => Self::Command { argv, timeout },
                    $from::Task {
                        kind,
                        subject,
                        payload,
                    } => Self::Task {
                        kind,
                        subject,
                        payload,
                    },
                }
            }
        }
    };
}

same_target!(TargetBody => Target);
same_target!(Target => TargetBody);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_gets_the_default_of_core() {
        let text = r#"{"expression":"@daily","target":{"type":"command","argv":["sync"]}}"#;
        let read = Definition::from(serde_json::from_str::<DefinitionBody>(text).unwrap());
        assert_eq!(read, Definition::from_json(text).unwrap());
    }

    #[test]
    fn a_definition_survives_being_shown_and_sent_back() {
        for target in [
            r#"{"type":"webhook","url":"https://a.example/x","body":{"n":1}}"#,
            r#"{"type":"workflow","repository":"o/r","workflow":"w.yml","ref":"v1","inputs":{"a":"b"}}"#,
            r#"{"type":"command","argv":["sync","--all"],"timeout":"90s"}"#,
            r#"{"type":"task","kind":"EDITION_RUN","subject":"edition:{date}","payload":[1]}"#,
        ] {
            let text = format!(
                r#"{{"expression":"0 8 * * 1","tz":"Asia/Shanghai","target":{target},"catch_up":"all",
                "grace":"1h 30m","max_catch_up":7,"catch_up_pace":"2s","overlap":"queue_one",
                "splay":"5m","on_resume":"latest","retry_for":"10m","priority":9}}"#
            );
            let definition = Definition::from_json(&text).unwrap();
            let shown = serde_json::to_string(&DefinitionBody::from(definition.clone())).unwrap();
            let back: DefinitionBody = serde_json::from_str(&shown).unwrap();
            assert_eq!(Definition::from(back), definition, "{shown}");
        }
    }
}
