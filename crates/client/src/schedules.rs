//! Schedules: recurring rules that say when.

use almanack_core::{
    plan::{Definition, Origin, ScheduleName, State},
    task::{Identity, Subject},
};
use jiff::Timestamp;
use reqwest::Method;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::{
    error::Error,
    http::{Client, Repeat, Request, segment},
};

/// A schedule as the API shows it; the store's own type also has what only the planner reads.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Schedule {
    pub name: ScheduleName,
    pub origin: Origin,
    /// What was written; absent if this version, or the node's, cannot read it.
    #[serde(default, deserialize_with = "if_readable")]
    pub definition: Option<Definition>,
    /// Counts what people changed, from 1.
    pub revision: i64,
    #[serde(flatten)]
    pub state: State,
    /// When it fires next; none if it will not, or not before it is resumed.
    pub next_at: Option<Timestamp>,
    pub last_firing: Option<Subject>,
    pub created_at: Timestamp,
    pub changed_at: Timestamp,
    /// What is perhaps not meant; only after a write.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// A newer node may know policies that this version does not.
fn if_readable<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Definition>, D::Error> {
    let written = Value::deserialize(from)?;
    Ok(serde_json::from_value(written).ok())
}

/// Something about a definition that is perhaps not meant.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Warning {
    pub code: String,
    pub message: String,
    pub path: String,
}

/// A page of schedules, by name.
#[derive(Debug, Clone, Deserialize)]
pub struct SchedulesPage {
    pub schedules: Vec<Schedule>,
    /// Leads to the next page; none on the last.
    pub next_cursor: Option<String>,
}

/// Which schedules; everything that is given must fit.
#[derive(Debug, Clone, Default)]
pub struct ScheduleFilter {
    pub origin: Option<Origin>,
    /// `active`, `paused`, `parked` or `done`.
    pub state: Option<String>,
    pub tag: Option<String>,
    pub owner: Option<String>,
    /// Removed ones too.
    pub removed: bool,
}

/// A firing by hand.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Fired {
    /// The task that fires.
    #[serde(flatten)]
    pub identity: Identity,
    pub nominal_at: Timestamp,
}

impl Client {
    /// Writes a schedule, new or changed.
    pub async fn put_schedule(
        &self,
        name: &str,
        definition: &Definition,
    ) -> Result<Schedule, Error> {
        let request = Request::new(Method::PUT, path(name, ""), Repeat::Harmless);
        self.send(request.json(definition)?).await
    }

    /// Writes it only if it is still at the revision that was read; `None`: only if it is new.
    /// Otherwise the node answers `revision_mismatch`. Not repeated: a second try would meet the
    /// first one's revision.
    pub async fn put_schedule_if(
        &self,
        name: &str,
        definition: &Definition,
        revision: Option<i64>,
    ) -> Result<Schedule, Error> {
        let request = Request::new(Method::PUT, path(name, ""), Repeat::Never)
            .header(
                "if-match",
                revision.map(|revision| format!("\"{revision}\"")),
            )
            .header("if-none-match", revision.is_none().then(|| "*".to_owned()));
        self.send(request.json(definition)?).await
    }

    /// One schedule.
    pub async fn schedule(&self, name: &str) -> Result<Schedule, Error> {
        self.send(Request::get(path(name, ""))).await
    }

    /// A page of schedules, by name.
    pub async fn schedules(
        &self,
        filter: &ScheduleFilter,
        cursor: Option<&str>,
    ) -> Result<SchedulesPage, Error> {
        let request = Request::get("/api/v1/schedules")
            .query("origin", filter.origin)
            .query("state", filter.state.as_ref())
            .query("tag", filter.tag.as_ref())
            .query("owner", filter.owner.as_ref())
            .query("removed", filter.removed.then_some(true))
            .query("cursor", cursor);
        self.send(request).await
    }

    /// Stops it from firing, until then or until it is resumed.
    pub async fn pause_schedule(
        &self,
        name: &str,
        until: Option<Timestamp>,
        note: Option<&str>,
    ) -> Result<Schedule, Error> {
        let request = Request::new(Method::POST, path(name, "/pause"), Repeat::Harmless);
        let body = json!({ "until": until, "note": note });
        self.send(request.json(&body)?).await
    }

    /// Lets it fire again.
    pub async fn resume_schedule(&self, name: &str) -> Result<Schedule, Error> {
        let request = Request::new(Method::POST, path(name, "/resume"), Repeat::Harmless);
        self.send(request).await
    }

    /// Fires it now, beside its slots. Not repeated: it would fire twice.
    pub async fn fire_schedule(&self, name: &str) -> Result<Fired, Error> {
        let request = Request::new(Method::POST, path(name, "/fire"), Repeat::Never);
        self.send(request.json(&json!({}))?).await
    }

    /// Takes it away; its history stays.
    pub async fn remove_schedule(&self, name: &str) -> Result<Schedule, Error> {
        let request = Request::new(Method::DELETE, path(name, ""), Repeat::Harmless);
        self.send(request).await
    }
}

fn path(name: &str, rest: &str) -> String {
    format!("/api/v1/schedules/{}{rest}", segment(name))
}
