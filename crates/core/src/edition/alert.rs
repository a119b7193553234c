//! Alerts: what a person should hear about an edition, once when it begins and once when it is over.

use std::fmt;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::alert::Severity;

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// It is older than two hours and not published (ED-18).
    Overdue,
    /// Its day ended before it was published (ED-20).
    Unfinished,
    /// No story could be completed (ED-32).
    Empty,
    /// A batch spent more than 30 requests (ED-27).
    Spendthrift,
    /// A destination does not take it (ED-12).
    Destination(String),
}

/// What the names of rules about destinations begin with.
const DESTINATION_PREFIX: &str = "destination:";

impl Rule {
    /// The name used in the store and the API.
    pub fn name(&self) -> String {
        match self {
            Self::Overdue => "overdue".to_owned(),
            Self::Unfinished => "unfinished".to_owned(),
            Self::Empty => "empty".to_owned(),
            Self::Spendthrift => "spendthrift".to_owned(),
            Self::Destination(name) => format!("{DESTINATION_PREFIX}{name}"),
        }
    }

    /// The kind of rule, for metrics: few and always the same.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Overdue => "overdue",
            Self::Unfinished => "unfinished",
            Self::Empty => "empty",
            Self::Spendthrift => "spendthrift",
            Self::Destination(_) => "destination",
        }
    }

    /// How much it matters: an edition that does not come is what this product is for; that one was left behind, or costs much, can
    /// wait until morning.
    pub fn severity(&self) -> Severity {
        match self {
            Self::Overdue | Self::Empty | Self::Destination(_) => Severity::Critical,
            Self::Unfinished | Self::Spendthrift => Severity::Warning,
        }
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "overdue" => Some(Self::Overdue),
            "unfinished" => Some(Self::Unfinished),
            "empty" => Some(Self::Empty),
            "spendthrift" => Some(Self::Spendthrift),
            _ => text
                .strip_prefix(DESTINATION_PREFIX)
                .map(|name| Self::Destination(name.to_owned())),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// An alert of an edition, as the store keeps it; at most one per rule. One that comes back after it was
/// over begins anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EditionAlert))]
pub struct Alert {
    /// What is wrong.
    #[serde(serialize_with = "by_name")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub rule: Rule,
    /// In a sentence, for people.
    pub detail: String,
    /// Since when.
    pub opened_at: Timestamp,
    /// Until when; none while it lasts.
    pub closed_at: Option<Timestamp>,
    /// When people were told that it began.
    #[serde(skip)]
    pub open_told_at: Option<Timestamp>,
    /// When people were told that it is over.
    #[serde(skip)]
    pub close_told_at: Option<Timestamp>,
}

fn by_name<S: Serializer>(rule: &Rule, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(rule)
}

/// What is to be told about an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// It began.
    Opened,
    /// It is over.
    Closed,
}

impl Alert {
    /// An alert that nobody has been told about.
    pub fn new(rule: Rule, detail: String, now: Timestamp) -> Self {
        Self {
            rule,
            detail,
            opened_at: now,
            closed_at: None,
            open_told_at: None,
            close_told_at: None,
        }
    }

    /// What is still to be told. One that was over before anybody heard of it is told as begun first: people
    /// should know that something was wrong.
    pub fn untold(&self) -> Option<News> {
        match (self.open_told_at, self.closed_at, self.close_told_at) {
            (None, _, _) => Some(News::Opened),
            (Some(_), Some(_), None) => Some(News::Closed),
            _ => None,
        }
    }
}
