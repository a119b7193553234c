//! Alerts: what people are notified of, once when it begins and once when it is over.
//!
//! ```text
//!            found                    not found                the cool-down has passed
//!   (none) ───────► open ────────────────────► cooling down ────────────────────────► closed
//!                    ▲                              │                                   │
//!                    └────────── found: it returned ┘                                   │
//!                    └───────────────────────────────────────── found: opened again ────┘
//! ```
//!
//! Every round of the duty `watch` looks at the store ([`facts`]), finds what is wrong now
//! ([`find`]), and compares it with what was wrong before ([`decide`]). There is at most one alert
//! for a [`Rule`] and what it is [`About`]: a thousand failed tries of one schedule are one alert.
//! An alert closes only after a cool-down, which is longer the more often it came back, so that
//! something that comes and goes does not wake people each time.
//!
//! INVARIANT: the last notification about an alert is true, or a newer one is due (`notify_at`).
//! The row decides who sends it: the node that moves `notify_at` ahead by a compare-and-set has a
//! lease on sending, and if that node dies, the lease expires.

pub mod decide;
pub mod facts;
pub mod find;
pub mod port;
pub mod quiet;
pub mod trouble;
pub mod words;

use std::fmt;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::lang::Sentence;
use crate::{edition::EditionId, plan::ScheduleName, source::SourceId, task::Kind};

names! {
    /// An alert rule. Its name is stored: it never changes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[cfg_attr(feature = "schema", schema(as = AlertRule))]
    pub enum Rule {
        /// A slot of a schedule passed without a run.
        Missing = "missing",
        /// A schedule's firing started later than it should.
        Late = "late",
        /// Work that does not end, or that no node starts.
        Stuck = "stuck",
        /// It failed for good, several times in a row.
        Failing = "failing",
        /// A schedule cannot be computed.
        Parked = "parked",
        /// A node sends no heartbeat and did not shut down cleanly.
        Gone = "gone",
        /// A source is unusually quiet.
        Silent = "silent",
        /// A source needs credentials.
        Credentials = "credentials",
        /// The sources exceed their budget.
        Budget = "budget",
        /// An edition is not published long after it began.
        Overdue = "overdue",
        /// An edition's day ended before it was published.
        Unfinished = "unfinished",
        /// No story of an edition could be completed.
        Empty = "empty",
        /// An edition waits for a person to approve it, or was dropped because nobody did.
        Approval = "approval",
        /// An edition is held because it is below its quality standard.
        Quality = "quality",
        /// A batch of an edition used too many requests.
        Spendthrift = "spendthrift",
        /// Stories were written without a model, because a cap on its cost is reached.
        Cap = "cap",
        /// A destination lacks an edition, or may lack it.
        Destination = "destination",
        /// A message bus cannot be read from.
        Disconnected = "disconnected",
        /// Little space is left on the disk of the store.
        Disk = "disk",
        /// The scheduled backup fails.
        Backup = "backup",
        /// Nothing can be written to the store.
        Unwritable = "unwritable",
        /// The machine's clock cannot be trusted, or a schedule was planned by a clock that was
        /// ahead.
        Clock = "clock",
    }
}

names! {
    /// The severity.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Severity {
        /// Look at it when there is time.
        Warning = "warning",
        /// Work that should happen does not.
        Critical = "critical",
    }
}

/// What an alert is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum About {
    /// A schedule.
    Schedule(ScheduleName),
    /// All tasks of a kind.
    Kind(Kind),
    /// A source.
    Source(SourceId),
    /// The edition of a name and a day.
    Edition(EditionId),
    /// An edition at one of its destinations.
    Delivery {
        edition: EditionId,
        /// The destination's name.
        destination: String,
    },
    /// A calendar, by its name.
    Calendar(String),
    /// A node, by its name.
    Node(String),
    /// All sources together.
    Fleet,
    /// The machine's clock.
    Clock,
}

impl About {
    /// Reads what [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "fleet" => return Some(Self::Fleet),
            "clock" => return Some(Self::Clock),
            _ => {}
        }
        let (what, name) = text.split_once(':')?;
        match what {
            "schedule" => ScheduleName::parse(name).ok().map(Self::Schedule),
            "kind" => Kind::parse(name).ok().map(Self::Kind),
            "source" => name.parse().ok().map(SourceId).map(Self::Source),
            "edition" => name.parse().ok().map(Self::Edition),
            "delivery" => {
                let (edition, destination) = name.split_once('/')?;
                let destination = destination.to_owned();
                let edition = edition.parse().ok()?;
                Some(Self::Delivery {
                    edition,
                    destination,
                })
            }
            "calendar" => Some(Self::Calendar(name.to_owned())),
            "node" => Some(Self::Node(name.to_owned())),
            _ => None,
        }
    }

    /// The edition it is about, if it is about one.
    pub fn edition(&self) -> Option<EditionId> {
        match self {
            Self::Edition(edition) | Self::Delivery { edition, .. } => Some(*edition),
            _ => None,
        }
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schedule(name) => write!(f, "schedule:{name}"),
            Self::Kind(kind) => write!(f, "kind:{}", kind.as_str()),
            Self::Source(id) => write!(f, "source:{id}"),
            Self::Edition(id) => write!(f, "edition:{id}"),
            Self::Delivery {
                edition,
                destination,
            } => write!(f, "delivery:{edition}/{destination}"),
            Self::Calendar(name) => write!(f, "calendar:{name}"),
            Self::Node(name) => write!(f, "node:{name}"),
            Self::Fleet => f.write_str("fleet"),
            Self::Clock => f.write_str("clock"),
        }
    }
}

fn as_text<S: Serializer>(about: &About, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(about)
}

/// The key of an alert: unique.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AlertKey))]
pub struct Key {
    /// What is wrong.
    pub rule: Rule,
    /// What it is about, as `schedule:NAME`, `kind:KIND`, `source:NUMBER`, `edition:DATE`,
    /// `calendar:NAME`, `node:NAME`, `fleet` or `clock`.
    #[serde(serialize_with = "as_text")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub about: About,
}

/// An alert, as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Alert {
    #[serde(flatten)]
    pub key: Key,
    /// The severity.
    pub severity: Severity,
    /// The facts when it was found, for people.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub detail: Sentence,
    /// When it began.
    pub opened_at: Timestamp,
    /// Since when it has not been found; it may come back.
    pub cool_down_since: Option<Timestamp>,
    /// When it ended; none while it lasts.
    pub closed_at: Option<Timestamp>,
    /// How often it came back during or soon after its cool-down.
    pub returns: u32,
    /// When people were notified that it began.
    pub open_notified_at: Option<Timestamp>,
    /// When people were notified that it is over.
    pub close_notified_at: Option<Timestamp>,
    /// When a node may send what is not sent yet: at once, when quiet hours end, or when the lease
    /// of the sending node has passed. None when there is nothing to send.
    pub notify_at: Option<Timestamp>,
    /// The channels that accepted the current notification, while others have not.
    #[serde(skip)]
    pub taken_by: Vec<String>,
    /// Counts every write, from 1; the compare-and-set. 0 before it is written.
    #[serde(skip)]
    pub version: i64,
}

names! {
    /// What to notify people of.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum News {
        /// It began.
        Opened = "opened",
        /// It is over: recovered.
        Closed = "closed",
        /// It began and was over before a notification could be sent.
        Passed = "passed",
    }
}

impl Alert {
    /// What people have not been notified of yet.
    pub fn news(&self) -> Option<News> {
        match (
            self.open_notified_at,
            self.closed_at,
            self.close_notified_at,
        ) {
            (None, None, _) => Some(News::Opened),
            (None, Some(_), _) => Some(News::Passed),
            (Some(_), Some(_), None) => Some(News::Closed),
            (Some(_), None, _) | (Some(_), Some(_), Some(_)) => None,
        }
    }

    /// Whether it lasts.
    pub fn is_open(&self) -> bool {
        self.closed_at.is_none()
    }

    /// The permanent id of a notification, so that a receiver recognises a repetition.
    pub fn message_key(&self, news: News) -> String {
        let Key { rule, about } = &self.key;
        let since = self.opened_at.as_microsecond();
        format!("{rule}-{about}-{news}-{since}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_is_about_is_read_as_it_was_written() {
        let all = [
            About::Schedule(ScheduleName::parse("nightly").unwrap()),
            About::Kind(Kind::parse("ARTICLE_PUBLISH").unwrap()),
            About::Source(SourceId(17)),
            About::Edition(jiff::civil::date(2026, 1, 4).into()),
            About::Delivery {
                edition: "weekly@2026-01-04".parse().unwrap(),
                destination: "telegram/日报".to_owned(),
            },
            About::Calendar("de-be".to_owned()),
            About::Node("a:b".to_owned()),
            About::Fleet,
            About::Clock,
        ];
        for about in all {
            assert_eq!(About::parse(&about.to_string()), Some(about));
        }
        for unknown in [
            "",
            "fleets",
            "schedule:",
            "source:x",
            "edition:x",
            "delivery:2026-01-04",
        ] {
            assert_eq!(About::parse(unknown), None, "{unknown}");
        }
        for rule in Rule::ALL {
            assert_eq!(Rule::parse(rule.as_str()), Some(rule));
        }
    }
}
