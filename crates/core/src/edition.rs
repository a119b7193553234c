//! Editions: a digest of a name and a day ([`id`]), built in bounded bites and published once.
//!
//! ```text
//!            story list      first batch     nothing pending     every delivery settled
//!   init ──────────► list_fetched ──► processing ──────► aggregating ──────────► published
//!    │                    ▲            ▲   │                 ▲                       │
//!    │                    │ reset      │   │ nothing         │ force publish         │ a week
//!    │                    │            │   ▼ completed       │                       ▼
//!    └─ day over ─────────┼─ retry ────┴─ empty ─────────────┘                   archived
//! ```
//!
//! An edition is the root of everything that belongs to it: its stories, batches and deliveries are
//! read together ([`Account`]), what is to be done next is decided by a pure function ([`plan`]),
//! and every change of any of its rows is written only if the edition is still the version that was
//! seen. So two nodes, a node that was thought dead and a person at the command line can all work
//! at once: the one that was overtaken changes nothing, reads again and decides again (ED-14,
//! ED-16).
//!
//! What must stay true:
//!
//! - Counts are derived from the rows, never kept beside them (ED-30).
//! - A story that is `processing` belongs to a running batch; when the batch's lease has passed,
//!   the story goes back to `pending` (ED-15). Nothing waits for a process that is gone.
//! - Batch indices only grow, so an index fences like a term: the end of a batch that was given up
//!   changes nothing.
//! - What leaves is recorded before it leaves ([`delivery`], ED-12), and nothing leaves that is held
//!   ([`hold`], ED-39, ED-42).
//! - Readers have it when they expect it, with as much as there was time for ([`ladder`], ED-38).
//! - What models cost it stays within its caps ([`allowance`], ED-44).

pub mod account;
pub mod allowance;
pub mod batch;
pub mod day;
pub mod deadline;
pub mod delivery;
pub mod document;
#[cfg(test)]
pub(crate) mod fixture;
pub mod forecast;
pub mod hold;
pub mod id;
pub mod ladder;
pub mod overview;
pub mod plain;
pub mod plan;
pub mod port;
pub mod prompts;
pub mod quality;
pub mod quote;
pub mod rank;
pub mod reading;
pub mod remark;
pub mod review;
pub mod revision;
pub mod rules;
pub mod same;
pub mod selection;
pub mod story;
pub mod summary;
pub mod turn;
pub mod weight;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::{
    hold::Hold,
    revision::{Correction, Retraction},
};
use crate::{
    lang::Lang,
    task::{Identity, Invalid},
    words,
};

pub use account::{Account, Counts};
pub use id::{EditionId, EditionName};

/// The kind of work that a tick's schedule fires at: one look at the day's edition. It is done in
/// the firing itself, so no task has this kind.
pub const EDITION_TICK: &str = "EDITION_TICK";
/// The kind of the tasks that build one edition to its end, on request.
pub const EDITION_RUN: &str = "EDITION_RUN";
/// What the subjects of ticks begin with.
const TICK_PREFIX: &str = "edition-tick:";
/// What the subjects of these tasks begin with.
const SUBJECT_PREFIX: &str = "edition:";

names! {
    /// The state of an edition.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[cfg_attr(feature = "schema", schema(as = EditionState))]
    pub enum State {
        /// It exists; its stories are not known yet.
        Init = "init",
        /// Its stories are known; none was worked on.
        ListFetched = "list_fetched",
        /// Its stories are worked on, batch by batch.
        Processing = "processing",
        /// Its document is rendered and is being delivered.
        Aggregating = "aggregating",
        /// Every destination has it.
        Published = "published",
        /// No story could be completed: there is nothing to publish, and an alert says so (ED-32).
        Empty = "empty",
        /// No node works on it any more: it was published long ago, or its day ended before it was.
        Archived = "archived",
    }
}

impl State {
    /// Whether there is work left in it.
    pub fn is_open(self) -> bool {
        matches!(
            self,
            Self::Init | Self::ListFetched | Self::Processing | Self::Aggregating
        )
    }

    /// What people call it.
    pub fn word(self, lang: Lang) -> &'static str {
        words! { lang, self;
            Self::Init => "not started", "未开始";
            Self::ListFetched => "list fetched", "已获取列表";
            Self::Processing => "processing", "处理中";
            Self::Aggregating => "assembling", "汇总中";
            Self::Published => "published", "已发布";
            Self::Empty => "empty", "无内容";
            Self::Archived => "archived", "已归档";
        }
    }
}

/// One day's digest, as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Edition {
    #[serde(flatten)]
    pub id: EditionId,
    pub state: State,
    /// What it was when it was archived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived_from: Option<State>,
    /// Documents rendered so far; the newest is delivered.
    pub revision: u32,
    /// Where its stories come from, once they are known.
    pub story_source: Option<String>,
    /// Requests that were spent on the list of its stories.
    #[serde(skip)]
    pub list_requests: u32,
    /// Until when a node is fetching that list.
    #[serde(skip)]
    pub fetching_until: Option<Timestamp>,
    /// Since when it is worked on: its creation, or the last reset, retry or reopening. The two
    /// hours of ED-18 are counted from here.
    pub started_at: Timestamp,
    /// When a person requested it although its day was over; ticks of later days leave it alone for
    /// a while.
    #[serde(skip)]
    pub reopened_at: Option<Timestamp>,
    /// When every destination had it.
    pub published_at: Option<Timestamp>,
    /// What last went wrong, why it is held, or why it ended as it did.
    pub reason: Option<String>,
    /// Why its newest document waits or waited for a person, and what was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// Who took it back, and why; readers see only that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retraction: Option<Retraction>,
    /// What people corrected, in order: documents made later have it, too.
    #[serde(skip)]
    pub corrections: Vec<Correction>,
    /// When readers expect it; null if it has no deadline.
    pub due_at: Option<Timestamp>,
    /// When readers first had it.
    #[serde(skip)]
    pub ready_at: Option<Timestamp>,
    /// Since when it is worked on again by itself, to improve what was degraded or is held.
    #[serde(skip)]
    pub improving_at: Option<Timestamp>,
    /// What opens it, as a model wrote it once its last story was completed; empty if it could not.
    /// None until then, and where there is no model.
    #[serde(skip)]
    pub overview: Option<String>,
    /// The version of the prompt that a model wrote its overview by; absent if none wrote one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overview_prompt: Option<String>,
    /// Counts every write to any of its rows; part of the compare-and-set.
    #[serde(skip)]
    pub version: i64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When any of its rows last changed.
    pub updated_at: Timestamp,
}

impl Edition {
    /// An edition of which nothing is known yet.
    pub fn new(id: impl Into<EditionId>, now: Timestamp) -> Self {
        Self {
            id: id.into(),
            state: State::Init,
            archived_from: None,
            revision: 0,
            story_source: None,
            list_requests: 0,
            fetching_until: None,
            started_at: now,
            reopened_at: None,
            published_at: None,
            reason: None,
            hold: None,
            retraction: None,
            corrections: Vec::new(),
            due_at: None,
            ready_at: None,
            improving_at: None,
            overview: None,
            overview_prompt: None,
            version: 0,
            created_at: now,
            updated_at: now,
        }
    }

    /// The hold that waits for a decision, if one does.
    pub fn waiting(&self) -> Option<&Hold> {
        let open = self.state == State::Aggregating;
        self.hold.as_ref().filter(|hold| open && hold.is_waiting())
    }

    /// Whether it is published in its present form, archived since or not: neither worked on again
    /// nor without a story.
    pub fn is_published(&self) -> bool {
        match self.state {
            State::Published => true,
            State::Archived => self.archived_from == Some(State::Published),
            _ => false,
        }
    }

    /// The task that builds it to its end. A task that succeeded is never put again (RS-04), so an
    /// edition that was reset, retried or reopened is requested under another name each time.
    pub fn run_identity(&self) -> Result<Identity, Invalid> {
        let again = if self.started_at == self.created_at {
            String::new()
        } else {
            format!("/{}", self.started_at)
        };
        let subject = format!("{SUBJECT_PREFIX}{}{again}", self.id);
        Identity::parse(&subject, EDITION_RUN)
    }
}

/// The subject of a tick's target: once per slot, and by name unless it is the default edition.
pub fn tick_subject(name: EditionName) -> String {
    format!("{TICK_PREFIX}{}{{slot}}", name.prefix())
}

/// The edition that a subject ticks; the default one if it names none that could be.
pub fn tick_of(subject: &str) -> EditionName {
    let named = subject.strip_prefix(TICK_PREFIX);
    let named = named.and_then(|rest| rest.split_once('@'));
    let name = named.and_then(|(name, _)| EditionName::parse(name).ok());
    name.unwrap_or_default()
}

/// Whose task this is, if it is an edition's.
pub fn id_of(identity: &Identity) -> Option<EditionId> {
    let named = identity.subject.as_str().strip_prefix(SUBJECT_PREFIX)?;
    let id = named.split('/').next()?;
    id.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_task_of_an_edition_names_its_day_and_whether_it_is_made_anew() {
        let date = jiff::civil::date(2026, 1, 4);
        let mut edition = Edition::new(date, Timestamp::UNIX_EPOCH);
        let first = edition.run_identity().unwrap();
        assert_eq!(first.to_string(), "(edition:2026-01-04, EDITION_RUN)");
        edition.started_at = Timestamp::from_second(60).unwrap();
        let second = edition.run_identity().unwrap();
        assert_eq!(
            second.subject.as_str(),
            "edition:2026-01-04/1970-01-01T00:01:00Z"
        );
        assert_eq!(id_of(&first), Some(date.into()));
        assert_eq!(id_of(&second), Some(date.into()));
        edition.id.name = EditionName::parse("weekly").unwrap();
        let named = edition.run_identity().unwrap();
        assert_eq!(
            named.subject.as_str(),
            "edition:weekly@2026-01-04/1970-01-01T00:01:00Z"
        );
        assert_eq!(id_of(&named), Some(edition.id));
    }

    #[test]
    fn ed_37_a_tick_names_its_edition_unless_it_is_the_default_one() {
        assert_eq!(tick_subject(EditionName::default()), "edition-tick:{slot}");
        let weekly = EditionName::parse("weekly").unwrap();
        assert_eq!(tick_subject(weekly), "edition-tick:weekly@{slot}");
        for (subject, name) in [
            ("edition-tick:2026-01-05T00:00:00Z", EditionName::default()),
            ("edition-tick:weekly@2026-01-05T00:00:00Z", weekly),
            (
                "edition-tick:We@2026-01-05T00:00:00Z",
                EditionName::default(),
            ),
            ("mine", EditionName::default()),
        ] {
            assert_eq!(tick_of(subject), name, "{subject}");
        }
    }

    #[test]
    fn every_state_is_read_by_its_own_name() {
        for state in State::ALL {
            assert_eq!(State::parse(state.as_str()), Some(state));
        }
        assert_eq!(State::parse("INIT"), None);
    }
}
