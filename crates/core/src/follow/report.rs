//! Reports about a firing's work, by whoever was called.
//!
//! A call that may be answered 202 carries addresses to report to, and each of them a signature
//! that covers the firing's number and nothing else: it is all the authority a report needs.
//! It is derived from the node's secret whenever it is needed, so it is stored nowhere.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Ended, Ending, FollowedChange};
use crate::{
    finish::shorten,
    lang::{Lang, Say},
    say,
    signature::Verifier,
    task::TaskId,
};

names! {
    /// What a report says.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", schema(as = ReportStage))]
    pub enum Stage {
        /// The work has begun.
        Start = "start",
        /// It goes on.
        Progress = "progress",
        /// It is over.
        Finish = "finish",
    }
}

names! {
    /// How reported work ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Reported {
        /// It succeeded.
        Done = "done",
        /// It failed.
        Failed = "failed",
    }
}

/// The body of a report. Only the end needs one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// How it ended; for `finish` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Reported>,
    /// For people: what it does, what it did, what went wrong. Of a long text its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Why the content of a report is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum InvalidReport {
    NoOutcome,
    EarlyOutcome,
}

impl Say for InvalidReport {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::NoOutcome => say!(lang;
                "outcome must be `done` or `failed` when the work is finished",
                "工作结束时 outcome 必须为 `done` 或 `failed`"),
            Self::EarlyOutcome => say!(lang;
                "only `finish` has an outcome",
                "只有 `finish` 带有 outcome"),
        }
    }
}

impl Report {
    /// What a report changes.
    pub fn change(&self, stage: Stage, now: Timestamp) -> Result<FollowedChange, InvalidReport> {
        let text = self.text.as_deref();
        let ending = match (stage, self.outcome) {
            (Stage::Finish, Some(outcome)) => {
                let (ended, plain) = match outcome {
                    Reported::Done => (Ended::Done, "reported as done"),
                    Reported::Failed => (Ended::Failed, "reported as failed"),
                };
                let detail = text.map_or_else(|| plain.to_owned(), |it| format!("{plain}: {it}"));
                Some(Ending::new(ended, &detail, now))
            }
            (Stage::Finish, None) => return Err(InvalidReport::NoOutcome),
            (_, Some(_)) => return Err(InvalidReport::EarlyOutcome),
            (_, None) => None,
        };
        Ok(FollowedChange {
            started_at: (stage != Stage::Finish).then_some(now),
            heard_at: Some(now),
            note: text.map(shorten),
            ending,
            only_live: true,
            ..FollowedChange::default()
        })
    }
}

/// What is signed for the reports of a firing: an id that no call has.
pub fn signed_id(firing: TaskId) -> String {
    format!("almanack-report-{firing}")
}

/// Whether `signature` allows reports about this firing. It does not expire: the firing does.
pub fn may_report(verifier: &dyn Verifier, firing: TaskId, signature: &str) -> bool {
    let signature = to_standard(signature);
    verifier.verifies(&signed_id(firing), Timestamp::UNIX_EPOCH, b"", &signature)
}

/// A signature as part of an address: base64 in the alphabet for URLs, without its end.
pub fn to_url(signature: &str) -> String {
    let bare = signature.trim_start_matches("v1,").trim_end_matches('=');
    bare.replace('+', "-").replace('/', "_")
}

/// The same the other way round.
pub fn to_standard(signature: &str) -> String {
    let mut standard = signature.replace('-', "+").replace('_', "/");
    while !standard.len().is_multiple_of(4) {
        standard.push('=');
    }
    standard
}
