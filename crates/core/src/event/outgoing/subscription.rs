//! Subscriptions: which events they select, and the tasks that deliver these.

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

use super::{
    CloudEvent, KIND, LooseEvent, SUBJECT_PREFIX, Type,
    data::{EventDraft, editions_published, monitor_changed, source_looked},
    end::TaskEnd,
    is_reporting,
};
use crate::{
    edition::{Account, account::Change},
    finish::Finish,
    plan::{ScheduleWrite, pings::end_call},
    source::{Source, category::is_within},
    store::SourceWrite,
    task::{
        ClaimedTask, Expiry, Identity, Kind, MAX_RETRY_MAX, NewTask, Payload, Priority, Revision,
        Status, Tags,
    },
    time::to_micros,
};

/// Longest name of a subscription, in bytes: it is part of the subjects of tasks, beside an id.
pub const NAME_BYTES_MAX: usize = 64;
/// The requester of event deliveries.
const ORIGIN: &str = "subscription";

/// The name of a subscription.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Name(Box<str>);

/// Why a name was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a subscription's name has 1 to {NAME_BYTES_MAX} letters, digits, `-` or `_`")]
pub struct BadName;

impl Name {
    /// Accepts a name that can be the end of a subject.
    pub fn parse(text: &str) -> Result<Self, BadName> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let fits = (1..=NAME_BYTES_MAX).contains(&text.len()) && text.chars().all(plain);
        fits.then(|| Self(text.into())).ok_or(BadName)
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The filter of a subscription. An empty list selects everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wants {
    /// Only events of these types.
    pub types: Vec<Type>,
    /// Of tasks that ended, only these kinds.
    pub kinds: Vec<Kind>,
    /// Of what sources publish, only of sources in these folders.
    pub categories: Vec<String>,
    /// Only what is about a subject that starts so.
    pub subject_prefix: Option<String>,
}

/// What an event is about, as far as filters ask.
#[derive(Debug, Clone, Copy)]
enum About<'a> {
    /// A task of this kind.
    Task(&'a Kind),
    /// A source of this category.
    Source(&'a str),
    Edition,
    Monitor,
}

impl Wants {
    fn is_met(&self, what: Type, about: About<'_>, subject: &str) -> bool {
        let of_type = self.types.is_empty() || self.types.contains(&what);
        let among = match about {
            About::Task(kind) => self.kinds.is_empty() || self.kinds.contains(kind),
            About::Source(category) => {
                let holds = |folder: &String| is_within(category, folder);
                self.categories.is_empty() || self.categories.iter().any(holds)
            }
            About::Edition | About::Monitor => true,
        };
        let prefix = self.subject_prefix.as_deref().unwrap_or_default();
        of_type && among && subject.starts_with(prefix)
    }
}

/// One subscriber.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Its name.
    pub name: Name,
    /// Its filter.
    pub wants: Wants,
    /// Most events of one delivery, if it takes more than one.
    pub batch: Option<usize>,
}

/// All subscriptions, and the publisher.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subscriptions {
    /// This Almanack's own name, as a URI reference.
    pub source: String,
    /// Each under a unique name.
    pub all: Vec<Subscription>,
}

impl Subscriptions {
    /// Adds what an ending has delivered: its event, and the call that a firing's end requests.
    pub fn add_to(&self, task: &ClaimedTask, finish: &mut Finish) {
        let (mut tasks, loose) = self.events_of_finish(task, finish);
        tasks.extend(end_call(task, finish));
        (finish.event_tasks, finish.loose_events) = (tasks, loose);
    }

    /// The event deliveries of an ending, and its events that are delivered with others; none
    /// unless it is the end of a task, and never of an event delivery.
    fn events_of_finish(
        &self,
        task: &ClaimedTask,
        finish: &Finish,
    ) -> (Vec<NewTask>, Vec<LooseEvent>) {
        let kind = &task.identity.kind;
        let subject = task.identity.subject.as_str();
        // Checked first: most endings of a busy node have no subscriber, and building a text costs
        // more than a look.
        if !finish.is_final() || is_reporting(kind) {
            return Default::default();
        }
        let about = About::Task(kind);
        let wanting = self.wanting(Type::TaskFinished, about, subject);
        let (together, alone): (Vec<_>, Vec<_>) = wanting.partition(|it| it.batch.is_some());
        if together.is_empty() && alone.is_empty() {
            return Default::default();
        }
        let end = TaskEnd::of(task, finish);
        let loose = together.into_iter().map(|it| LooseEvent {
            subscription: it.name.clone(),
            batch: it.batch.unwrap_or(1),
            source: self.source.clone(),
            end: end.clone(),
        });
        let tasks = if alone.is_empty() {
            Vec::new()
        } else {
            let event = end.event();
            let json = written(&self.source, &event);
            let alone = alone.into_iter();
            alone.map(|it| of_one(&event, it, &json)).collect()
        };
        (tasks, loose.collect())
    }

    /// The event deliveries of a source's new and edited entries, as a look found them.
    pub fn of_source(&self, before: &Source, write: &SourceWrite) -> Vec<NewTask> {
        if self.all.is_empty() {
            return Vec::new();
        }
        let about = About::Source(&write.source.definition.category);
        let tasks = |event| self.tasks(&event, about);
        source_looked(before, write).flat_map(tasks).collect()
    }

    /// The event deliveries of an edition that a destination has now.
    pub fn of_edition(&self, before: &Account, change: &Change) -> Vec<NewTask> {
        if self.all.is_empty() {
            return Vec::new();
        }
        let events = editions_published(before, change);
        let tasks = |event| self.tasks(&event, About::Edition);
        events.into_iter().flat_map(tasks).collect()
    }

    /// Adds the event deliveries of a monitor that goes down or is well again.
    pub fn add_to_schedule(&self, write: &mut ScheduleWrite) {
        if !self.all.is_empty() {
            let tasks = |event| self.tasks(&event, About::Monitor);
            let tasks = monitor_changed(write).map(tasks);
            write.event_tasks = tasks.unwrap_or_default();
        }
    }

    fn wanting<'a>(
        &'a self,
        what: Type,
        about: About<'a>,
        subject: &'a str,
    ) -> impl Iterator<Item = &'a Subscription> {
        let meets = move |it: &&Subscription| it.wants.is_met(what, about, subject);
        self.all.iter().filter(meets)
    }

    /// One task for each that wants it; the event is written once.
    fn tasks(&self, event: &EventDraft<'_>, about: About<'_>) -> Vec<NewTask> {
        let mut wanting = self.wanting(event.what, about, &event.subject).peekable();
        if wanting.peek().is_none() {
            return Vec::new();
        }
        let json = written(&self.source, event);
        wanting.map(|it| of_one(event, it, &json)).collect()
    }
}

fn of_one(event: &EventDraft<'_>, subscription: &Subscription, json: &str) -> NewTask {
    let payload = Payload::from_store(json.to_owned());
    delivery(&event.id, subscription.name.as_str(), event.at, payload)
}

/// The task that delivers `payload` to a subscription.
pub(super) fn delivery(id: &str, name: &str, at: Timestamp, payload: Payload) -> NewTask {
    NewTask {
        identity: identity(id, name),
        status: Status::Init,
        execute_at: to_micros(at),
        payload,
        callback_url: None,
        call_options: None,
        share_key: None,
        expiry: Expiry::NEVER,
        priority: Priority::LOW,
        max_retry: MAX_RETRY_MAX,
        revision: Revision::NONE,
        tags: Tags::NONE,
        origin: ORIGIN.to_owned(),
        replaces: None,
    }
}

#[expect(
    clippy::expect_used,
    reason = "our own structs of texts, numbers and times are always JSON"
)]
pub(super) fn written(source: &str, event: &EventDraft<'_>) -> String {
    let event = CloudEvent {
        specversion: "1.0".to_owned(),
        id: event.id.clone(),
        source: source.to_owned(),
        r#type: event.what.as_str().to_owned(),
        subject: event.subject.clone(),
        time: event.at,
        datacontenttype: "application/json".to_owned(),
        data: &event.data,
    };
    serde_json::to_string(&event).expect("plain data")
}

#[expect(
    clippy::expect_used,
    reason = "ids and names are bounded, and of characters that subjects take"
)]
fn identity(id: &str, name: &str) -> Identity {
    let subject = format!("{SUBJECT_PREFIX}{id}@{name}");
    Identity::parse(&subject, KIND).expect("a short subject")
}
