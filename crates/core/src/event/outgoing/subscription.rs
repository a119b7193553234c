//! Subscriptions: which events they select, and the tasks that deliver these.

use std::fmt;

use serde::Serialize;
use serde_json::value::to_raw_value;

use super::{
    CloudEvent, KIND, SUBJECT_PREFIX, Type,
    data::{EventDraft, editions_published, source_looked, task_finished},
    is_reporting,
};
use crate::{
    edition::{Account, account::Change},
    finish::Finish,
    plan::pings::end_call,
    source::{Source, category::is_within},
    store::SourceWrite,
    task::{
        ClaimedTask, Identity, Kind, MAX_RETRY_MAX, NewTask, Payload, Priority, Revision, Status,
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
            About::Edition => true,
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
    /// What an ending has delivered: its event, and the call that a firing's end requests.
    pub fn of_finish(&self, task: &ClaimedTask, finish: &Finish) -> Vec<NewTask> {
        let mut tasks = self.events_of_finish(task, finish);
        tasks.extend(end_call(task, finish));
        tasks
    }

    /// The event deliveries of an ending; none unless it is the end of a task, and never of an
    /// event delivery.
    fn events_of_finish(&self, task: &ClaimedTask, finish: &Finish) -> Vec<NewTask> {
        let kind = &task.identity.kind;
        let subject = task.identity.subject.as_str();
        // Checked first: most endings of a busy node have no subscriber, and building a text costs
        // more than a look.
        if !finish.is_final() || is_reporting(kind) {
            return Vec::new();
        }
        let about = About::Task(kind);
        let mut wanting = self.wanting(Type::TaskFinished, about, subject);
        if wanting.next().is_none() {
            return Vec::new();
        }
        self.tasks(&task_finished(task, finish), about)
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

    fn wanting<'a>(
        &'a self,
        what: Type,
        about: About<'a>,
        subject: &'a str,
    ) -> impl Iterator<Item = &'a Name> {
        let meets = move |it: &&Subscription| it.wants.is_met(what, about, subject);
        self.all.iter().filter(meets).map(|it| &it.name)
    }

    /// One task for each that wants it; the event is written once.
    fn tasks(&self, event: &EventDraft<'_>, about: About<'_>) -> Vec<NewTask> {
        let mut wanting = self.wanting(event.what, about, &event.subject).peekable();
        if wanting.peek().is_none() {
            return Vec::new();
        }
        let payload = written(&self.source, event);
        wanting
            .map(|name| NewTask {
                identity: identity(&event.id, name),
                status: Status::Init,
                execute_at: to_micros(event.at),
                payload: payload.clone(),
                callback_url: None,
                priority: Priority::LOW,
                max_retry: MAX_RETRY_MAX,
                revision: Revision::NONE,
                origin: ORIGIN.to_owned(),
                replaces: None,
            })
            .collect()
    }
}

#[expect(
    clippy::expect_used,
    reason = "our own structs of texts, numbers and times are always JSON"
)]
fn written(source: &str, event: &EventDraft<'_>) -> Payload {
    let event = CloudEvent {
        specversion: "1.0".to_owned(),
        id: event.id.clone(),
        source: source.to_owned(),
        r#type: event.what.as_str().to_owned(),
        subject: event.subject.clone(),
        time: event.at,
        datacontenttype: "application/json".to_owned(),
        data: to_raw_value(&event.data).expect("plain data"),
    };
    Payload::from_store(serde_json::to_string(&event).expect("plain data"))
}

#[expect(
    clippy::expect_used,
    reason = "ids and names are bounded, and of characters that subjects take"
)]
fn identity(id: &str, name: &Name) -> Identity {
    let subject = format!("{SUBJECT_PREFIX}{id}@{name}");
    Identity::parse(&subject, KIND).expect("a short subject")
}
