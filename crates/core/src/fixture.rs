//! Rows for this crate's own tests. Other crates use the testkit's fixtures; seen from here, the
//! testkit is linked against a different build of this crate.

use jiff::{SignedDuration, Timestamp};

use crate::{
    reschedule::{Cancel, Put, Request},
    task::{
        ClaimedTask, Expiry, Identity, Kind, Payload, Priority, Revision, Status, Subject, Tags,
        Task, TaskId, Term,
    },
};

/// The present of most tests: 2026-01-05T08:00:00Z.
pub(crate) const NOW: Timestamp = Timestamp::constant(1_767_600_000, 0);

/// The revision [`row`]s have.
pub(crate) const KNOWN: i64 = 5;

pub(crate) fn at(seconds: i64) -> Timestamp {
    NOW + SignedDuration::from_secs(seconds)
}

pub(crate) fn identity() -> Identity {
    Identity {
        subject: Subject::parse("article:42").unwrap(),
        kind: Kind::parse("ARTICLE_PUBLISH").unwrap(),
    }
}

/// Where a row can stand, as the rules see it: FAIL is two states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Init,
    Running,
    Success,
    FailWithTries,
    FailSpent,
    Cancelled,
}

impl Standing {
    pub(crate) const ALL: [Self; 6] = [
        Self::Init,
        Self::Running,
        Self::Success,
        Self::FailWithTries,
        Self::FailSpent,
        Self::Cancelled,
    ];

    pub(crate) fn status(self) -> Status {
        match self {
            Self::Init => Status::Init,
            Self::Running => Status::Running,
            Self::Success => Status::Success,
            Self::FailWithTries | Self::FailSpent => Status::Fail,
            Self::Cancelled => Status::Cancelled,
        }
    }

    pub(crate) fn waits(self) -> bool {
        matches!(self, Self::Init | Self::FailWithTries)
    }

    pub(crate) fn was_tried(self) -> bool {
        !matches!(self, Self::Init | Self::Cancelled)
    }
}

/// Row 7, meant for an hour from now (tried ones: an hour ago), at revision [`KNOWN`].
pub(crate) fn row(standing: Standing) -> Task {
    let tried = standing.was_tried();
    let execute_at = if standing.waits() || !tried {
        at(3600)
    } else {
        at(-3600)
    };
    Task {
        id: TaskId(7),
        identity: identity(),
        status: standing.status(),
        current: true,
        execute_at,
        due_at: standing.waits().then_some(execute_at),
        payload: Payload::parse(r#"{"article":42}"#, 1000).unwrap(),
        callback_url: Some("http://127.0.0.1:9/publish".to_owned()),
        call_options: None,
        priority: Priority::new(7).unwrap(),
        tags: Tags::NONE,
        attempt: u32::from(tried),
        max_retry: 2,
        expiry: Expiry::NEVER,
        term: Term(i64::from(tried)),
        revision: Revision(KNOWN),
        decisions: 3,
        origin: "author".to_owned(),
        detail: None,
        node: tried.then(|| "node-a".to_owned()),
        lease_until: (standing == Standing::Running).then(|| at(30)),
        replaces: None,
        created_at: at(-7200),
        created_execute_at: at(-5400),
        started_at: tried.then(|| at(-3600)),
        finished_at: (tried && standing != Standing::Running).then(|| at(-3599)),
    }
}

pub(crate) fn put(execute_at: Timestamp, revision: Option<i64>) -> Request {
    Request::Put(Put {
        identity: identity(),
        execute_at,
        payload: None,
        callback_url: None,
        call_options: None,
        max_retry: None,
        priority: None,
        expires: None,
        tags: None,
        revision: revision.map(Revision),
    })
}

pub(crate) fn cancel(revision: Option<i64>) -> Request {
    Request::Cancel(Cancel {
        identity: identity(),
        revision: revision.map(Revision),
    })
}

/// Attempt number `attempt` at row 7, under the term of the same number.
pub(crate) fn claimed(attempt: u32, max_retry: u32) -> ClaimedTask {
    let row = row(Standing::Running);
    ClaimedTask {
        id: row.id,
        identity: row.identity,
        term: Term(i64::from(attempt)),
        attempt,
        max_retry,
        expiries: 0,
        execute_at: row.execute_at,
        started_at: at(-10),
        payload: row.payload,
        callback_url: row.callback_url,
        call_options: row.call_options,
        expiry: row.expiry,
        revision: row.revision,
    }
}
