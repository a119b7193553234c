//! Ready-made requests. Each takes only what a test is about; change a field of the result for the
//! rest: `Put { revision: Some(Revision(2)), ..put("article:1", PUBLISH, START) }`.

pub mod edition;

use almanack_core::{
    plan::{
        Definition, Origin, Schedule, ScheduleId, ScheduleName, ScheduleWrite, Slot, State,
        Verdict, slot_identity,
    },
    reschedule::{Cancel, Put, Request},
    source::{self, Source, entry::FoundEntry},
    store::{ClaimId, ClaimRequest, Node, SourceWrite},
    target::Target,
    task::{
        Expiry, Identity, Kind, MAX_RETRY_MAX, NewTask, PAYLOAD_BYTES_MAX, Payload, Priority,
        Revision, Status, Subject, Tags,
    },
    token::{Scope, Token},
};
use jiff::{SignedDuration, Timestamp};

/// When tests begin: 2026-01-05T08:00:00Z, a Monday.
pub const START: Timestamp = Timestamp::constant(1_767_600_000, 0);
/// The kind most tests use.
pub const PUBLISH: &str = "ARTICLE_PUBLISH";
/// How long claims of [`claim_request`] hold.
pub const LEASE: SignedDuration = SignedDuration::from_secs(30);

/// `seconds` after [`START`]; negative is before it.
pub fn at(seconds: i64) -> Timestamp {
    START + SignedDuration::from_secs(seconds)
}

/// A kind, which must be well formed.
pub fn kind(text: &str) -> Kind {
    Kind::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// An identity, which must be well formed.
pub fn identity(subject: &str, kind_name: &str) -> Identity {
    let subject = Subject::parse(subject).unwrap_or_else(|error| panic!("{error}"));
    Identity {
        subject,
        kind: kind(kind_name),
    }
}

/// A payload, which must be JSON.
pub fn payload(json: &str) -> Payload {
    Payload::parse(json, PAYLOAD_BYTES_MAX).unwrap_or_else(|error| panic!("{error}"))
}

/// A request to try at a time, leaving everything else to the defaults.
pub fn put(subject: &str, kind_name: &str, execute_at: Timestamp) -> Put {
    Put::at(identity(subject, kind_name), execute_at)
}

/// [`put`] with a revision, as a request.
pub fn put_rev(subject: &str, kind_name: &str, execute_at: Timestamp, revision: i64) -> Request {
    let revision = Some(Revision(revision));
    Request::Put(Put {
        revision,
        ..put(subject, kind_name, execute_at)
    })
}

/// A request to withdraw.
pub fn cancel(subject: &str, kind_name: &str) -> Cancel {
    Cancel {
        identity: identity(subject, kind_name),
        revision: None,
    }
}

/// [`cancel`] with a revision, as a request.
pub fn cancel_rev(subject: &str, kind_name: &str, revision: i64) -> Request {
    let revision = Some(Revision(revision));
    Request::Cancel(Cancel {
        revision,
        ..cancel(subject, kind_name)
    })
}

/// A request of `node-a` for up to `slots` tasks due at `now`, held for [`LEASE`]. Give each claim
/// its own number.
pub fn claim_request(claim: i64, now: Timestamp, slots: usize) -> ClaimRequest {
    ClaimRequest {
        claim_id: ClaimId(claim),
        session: "session-a".to_owned(),
        node: "node-a".to_owned(),
        now,
        lease_until: now + LEASE,
        slots,
        limits: Vec::new(),
        kinds: Vec::new(),
        rates: Vec::new(),
        turns: Vec::new(),
    }
}

/// A node that started at [`START`].
pub fn node(name: &str, session: &str) -> Node {
    Node {
        name: name.to_owned(),
        session: session.to_owned(),
        version: "0.1.0".to_owned(),
        started_at: START,
        seen_at: START,
        skew_us: 0,
    }
}

/// A token made at [`START`] that does not expire. Its hash has the right shape and is its name's.
pub fn token(name: &str, scope: Scope) -> Token {
    let hash = name
        .bytes()
        .chain(std::iter::repeat(0))
        .take(32)
        .fold(String::with_capacity(64), |hash, byte| {
            format!("{hash}{byte:02x}")
        });
    Token {
        name: name.to_owned(),
        hash,
        scope,
        created_at: START,
        expires_at: None,
        revoked_at: None,
    }
}

/// A schedule's name, which must be well formed.
pub fn schedule_name(text: &str) -> ScheduleName {
    ScheduleName::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// A schedule of every 10 s that is written at [`START`] and whose first slot is `next_at`.
pub fn schedule(name: &str, next_at: Timestamp) -> Schedule {
    let target = Target::webhook("http://127.0.0.1:9/fire");
    Schedule {
        id: ScheduleId(0),
        name: schedule_name(name),
        origin: Origin::Api,
        definition: Definition::new("@10s", target).into(),
        revision: 1,
        version: 1,
        state: State::Active,
        next_at: Some(next_at),
        waits_since: None,
        look_at: Some(next_at),
        last: None,
        beside: Vec::new(),
        runs: 0,
        created_at: START,
        changed_at: START,
    }
}

/// Writes `schedule` for the first time, and nothing else.
pub fn new_schedule(schedule: Schedule) -> ScheduleWrite {
    ScheduleWrite::of(None, schedule, START)
}

/// Writes `schedule`, which was read, with `change` made to it, and nothing else.
pub fn next_write(schedule: &Schedule, change: impl FnOnce(&mut Schedule)) -> ScheduleWrite {
    let mut after = schedule.clone();
    after.version += 1;
    change(&mut after);
    ScheduleWrite {
        seen: Some(schedule.version),
        ..new_schedule(after)
    }
}

/// What a planner writes that finds the next slot of `schedule` due at once: its ledger row, its
/// firing, and the slot 10 s later to look at.
pub fn fires(schedule: &Schedule) -> ScheduleWrite {
    let slot_at = schedule.next_at.expect("a slot to come");
    let firing = firing(schedule, slot_at);
    let subject = firing.identity.subject.clone();
    let next_at = slot_at + SignedDuration::from_secs(10);
    ScheduleWrite {
        decided_at: slot_at,
        slots: vec![slot(slot_at, Verdict::Fired)],
        fires: vec![firing],
        ..next_write(schedule, |after| {
            after.next_at = Some(next_at);
            after.look_at = Some(next_at);
            after.last = Some(subject);
        })
    }
}

/// The ledger row of one slot, decided at once under the first revision.
pub fn slot(slot_at: Timestamp, verdict: Verdict) -> Slot {
    Slot {
        slot_at,
        last_at: slot_at,
        slots: 1,
        verdict,
        detail: None,
        revision: 1,
        decided_at: slot_at,
    }
}

/// The firing of a slot, to be tried at once.
pub fn firing(schedule: &Schedule, slot_at: Timestamp) -> NewTask {
    NewTask {
        identity: slot_identity(&schedule.name, slot_at).unwrap_or_else(|error| panic!("{error}")),
        status: Status::Init,
        execute_at: slot_at,
        payload: payload("{}"),
        callback_url: None,
        call_options: None,
        share_key: None,
        expiry: Expiry::NEVER,
        priority: Priority::DEFAULT,
        max_retry: MAX_RETRY_MAX,
        revision: Revision::NONE,
        tags: Tags::NONE,
        origin: format!("schedule {}", schedule.name),
        replaces: None,
    }
}

/// A feed of this name that is added at [`START`] and due at once.
pub fn source(name: &str) -> Source {
    let definition = source::Definition {
        name: name.to_owned(),
        address: format!("https://{name}.example/feed.xml"),
        ..source::Definition::default()
    };
    Source::new(definition, START)
}

/// Writes `source`, which was read, with `change` made to it, and nothing else.
pub fn next_look(source: &Source, now: Timestamp, change: impl FnOnce(&mut Source)) -> SourceWrite {
    let mut after = source.clone();
    after.updated_at = now;
    change(&mut after);
    SourceWrite {
        event_tasks: Vec::new(),
        source: after,
        entries: Vec::new(),
        edited: Vec::new(),
        at: now,
    }
}

/// An entry known by `id`, with its key.
pub fn found(id: &str, published_at: Option<Timestamp>) -> (String, FoundEntry) {
    let found = FoundEntry {
        id: Some(id.to_owned()),
        title: format!("Entry {id}"),
        published_at,
        ..FoundEntry::default()
    };
    let key = found.key().expect("an id is a key");
    (key, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_is_the_instant_its_doc_names() {
        assert_eq!(START.to_string(), "2026-01-05T08:00:00Z");
    }
}
