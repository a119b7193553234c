//! Everything that belongs to an edition, read together.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Edition, State,
    batch::Batch,
    delivery::{self, Delivery},
    document::Document,
    story::{Status, Story},
    turn::DeliveryKey,
};
use crate::task::NewTask;

/// An edition with all its rows, of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The edition.
    pub edition: Edition,
    /// Its stories, by rank.
    pub stories: Vec<Story>,
    /// Its batches, by index.
    pub batches: Vec<Batch>,
    /// The deliveries of its newest document, by destination and part.
    pub deliveries: Vec<Delivery>,
}

/// Stories counted by state. Derived from the rows whenever they are requested (ED-30).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = StoryCounts))]
pub struct Counts {
    /// All of them.
    pub total: u32,
    /// Those that wait.
    pub pending: u32,
    /// Those that are worked on.
    pub processing: u32,
    /// Those that have what is printed.
    pub completed: u32,
    /// Those that could not be completed.
    pub failed: u32,
}

impl Account {
    /// Its edition, to be changed at `now`.
    pub(super) fn touched(&self, now: Timestamp) -> Edition {
        Edition {
            updated_at: now,
            ..self.edition.clone()
        }
    }

    /// Its stories, counted.
    pub fn counts(&self) -> Counts {
        let count = |status: Status| {
            let found = self.stories.iter().filter(|story| story.status == status);
            u32::try_from(found.count()).unwrap_or(u32::MAX)
        };
        Counts {
            total: u32::try_from(self.stories.len()).unwrap_or(u32::MAX),
            pending: count(Status::Pending),
            processing: count(Status::Processing),
            completed: count(Status::Completed),
            failed: count(Status::Failed),
        }
    }

    /// Whether readers have its stories, or may still get them: it is open, was published, or some
    /// destination has a part of it although it was never finished. Nobody has the stories of one
    /// that was rejected, or that nobody approved in time.
    pub fn may_have_readers(&self) -> bool {
        let may_have_arrived = |it: &Delivery| {
            !matches!(
                it.state,
                delivery::State::Intended | delivery::State::Failed
            )
        };
        self.edition.state.is_open()
            || self.edition.published_at.is_some()
            || self.deliveries.iter().any(may_have_arrived)
    }

    /// Requests spent on it so far: those of its list, its ended batches and the deliveries of its
    /// newest document.
    pub fn requests(&self) -> u32 {
        let batches = self.batches.iter().map(|batch| batch.spend.requests);
        let deliveries = self.deliveries.iter().map(|delivery| delivery.requests);
        batches
            .chain(deliveries)
            .fold(self.edition.list_requests, u32::saturating_add)
    }

    /// Batches that have ended.
    pub fn batches_ended(&self) -> u32 {
        let ended = self.batches.iter().filter(|it| it.ended_at.is_some());
        u32::try_from(ended.count()).unwrap_or(u32::MAX)
    }

    /// Whether retention has taken the stories that it would need to continue from where it was
    /// archived.
    pub fn is_pruned(&self) -> bool {
        let was = self.edition.archived_from;
        self.stories.is_empty() && matches!(was, Some(State::ListFetched | State::Processing))
    }

    /// Until when a node may be sending a part of it, if one may.
    pub fn sending_until(&self, now: Timestamp) -> Option<Timestamp> {
        let sending = |delivery: &Delivery| delivery.sending_until(now);
        self.deliveries.iter().filter_map(sending).max()
    }

    /// Whether it was published, whatever happened to it since.
    pub fn was_published(&self) -> bool {
        self.edition.published_at.is_some()
    }
}

/// What is written of an edition, whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The edition as it is to be; its `version` is the one that was seen.
    pub edition: Edition,
    /// Stories to be written: new ones, and known ones in their new state.
    pub stories: Vec<Story>,
    /// Batches to be written, new or known.
    pub batches: Vec<Batch>,
    /// Deliveries to be written, new or known.
    pub deliveries: Vec<Delivery>,
    /// A new document.
    pub document: Option<Document>,
    /// Its event deliveries: written with the edition, or not at all.
    pub event_tasks: Vec<NewTask>,
}

impl Change {
    /// A change of the edition alone.
    pub fn of(edition: Edition) -> Self {
        Self {
            edition,
            stories: Vec::new(),
            batches: Vec::new(),
            deliveries: Vec::new(),
            document: None,
            event_tasks: Vec::new(),
        }
    }

    /// The account as it is once this is written.
    pub fn apply(self, mut account: Account) -> Account {
        account.edition = self.edition;
        account.edition.version += 1;
        put(&mut account.stories, self.stories, |story| {
            story.listed.key.clone()
        });
        put(&mut account.batches, self.batches, |batch| batch.index);
        if let Some(document) = &self.document {
            let made = document.inputs.revision;
            account.deliveries.retain(|known| known.revision == made);
        }
        put(&mut account.deliveries, self.deliveries, DeliveryKey::of);
        account.stories.sort_by_key(|story| story.rank);
        account
    }
}

/// Puts rows in the place of those with the same key, or beside them.
fn put<Row, Key: Ord>(rows: &mut Vec<Row>, new: Vec<Row>, key: impl Fn(&Row) -> Key) {
    for row in new {
        match rows.iter_mut().find(|known| key(known) == key(&row)) {
            Some(known) => *known = row,
            None => rows.push(row),
        }
    }
    rows.sort_by_key(key);
}
