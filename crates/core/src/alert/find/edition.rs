//! What is wrong with an edition, by its own rows and by what was found before.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::Finding;
use crate::{
    alert::{About, Key, Rule, Severity},
    edition::{
        Account, State,
        batch::{Batch, Status},
        delivery::Delivery,
        hold::{Hold, HoldReason, OnSilence},
        ladder::{self, Cause},
        rules::spendthrift_over,
    },
};

/// How late an edition may be before people hear of it: the time its deliveries may take.
const LATE_AFTER: SignedDuration = SignedDuration::from_mins(5);

/// What is wrong with it. An edition that does not come is what this product is for, so that is
/// critical; that one was left behind, or costs much, can wait until morning.
pub fn find(
    account: &Account,
    found_before: &BTreeSet<Key>,
    overdue_after: Option<SignedDuration>,
    now: Timestamp,
) -> Vec<Finding> {
    let of_edition = |rule, severity, detail: String| {
        Finding::new(rule, About::Edition(account.edition.id), severity, &detail)
    };
    let of_itself = [
        (
            Rule::Overdue,
            Severity::Critical,
            overdue(account, overdue_after, now).or_else(|| missed(account, now)),
        ),
        (
            Rule::Unfinished,
            Severity::Warning,
            unfinished(account, found_before),
        ),
        (Rule::Empty, Severity::Critical, empty(account)),
        (Rule::Approval, Severity::Warning, approval(account)),
        (Rule::Quality, Severity::Critical, quality(account)),
        (Rule::Spendthrift, Severity::Warning, spendthrift(account)),
        (Rule::Cap, Severity::Warning, cap(account)),
    ];
    let of_itself = of_itself
        .into_iter()
        .filter_map(|(rule, severity, detail)| Some(of_edition(rule, severity, detail?)));
    of_itself.chain(unreached(account, found_before)).collect()
}

/// It is older than it should be, and not published (ED-18).
fn overdue(account: &Account, after: Option<SignedDuration>, now: Timestamp) -> Option<String> {
    let (edition, counts) = (&account.edition, account.counts());
    let age = now.duration_since(edition.started_at);
    // What waits for a person is late by their leave.
    let waits = edition.waiting().is_some();
    if !edition.state.is_open() || waits || age <= after? {
        return None;
    }
    let because = edition.reason.as_ref();
    let because = because.map_or(String::new(), |reason| format!("; last: {reason}"));
    Some(format!(
        "the edition is in {} after {} minutes, with {} of {} stories completed{because}",
        edition.state,
        age.as_mins(),
        counts.completed,
        counts.total,
    ))
}

/// Readers expected it, and do not have it (ED-38).
fn missed(account: &Account, now: Timestamp) -> Option<String> {
    let edition = &account.edition;
    let due_at = edition.due_at.filter(|_| !account.was_published())?;
    let late = now.duration_since(due_at);
    (edition.state.is_open() && late > LATE_AFTER).then(|| {
        let because = edition.reason.as_ref();
        let because = because.map_or(String::new(), |reason| format!("; last: {reason}"));
        let (state, late) = (edition.state, late.as_mins());
        format!("the edition is in {state} {late} minutes after its deadline{because}")
    })
}

/// It is held because it is below its quality standard (ED-39), also while it is being improved.
fn quality(account: &Account) -> Option<String> {
    let edition = &account.edition;
    let hold = edition.hold.as_ref().filter(|hold| hold.is_waiting())?;
    let is_below = edition.state.is_open() && hold.reason == HoldReason::Quality;
    is_below.then(|| {
        let why = edition.reason.as_deref().unwrap_or_default();
        format!("{why}; publish it as it is, or correct the cause")
    })
}

/// Its day ended before it was published (ED-20). An edition that was taken up again is not
/// finished; one that is first requested after its day is not unfinished.
fn unfinished(account: &Account, found_before: &BTreeSet<Key>) -> Option<String> {
    let edition = &account.edition;
    let key = Key {
        rule: Rule::Unfinished,
        about: About::Edition(edition.id),
    };
    // That a person, or the time set for one, kept it back is no surprise.
    if edition.hold.as_ref().is_some_and(Hold::is_rejected) {
        return None;
    }
    let left_open = edition.archived_from.is_some_and(State::is_open);
    let taken_up = edition.state.is_open() && found_before.contains(&key);
    let state = edition.archived_from.unwrap_or(edition.state);
    ((left_open || taken_up) && !account.was_published())
        .then(|| format!("the day of the edition ended while it was in {state}"))
}

/// No story could be completed (ED-32).
fn empty(account: &Account) -> Option<String> {
    let edition = &account.edition;
    let state = edition.archived_from.unwrap_or(edition.state);
    (state == State::Empty).then(|| edition.reason.clone().unwrap_or_default())
}

/// Stories have less than they could, because models may not cost more (ED-44).
fn cap(account: &Account) -> Option<String> {
    let mut degraded = ladder::degraded(account);
    let (_, count) = degraded.find(|(cause, _)| *cause == Cause::Cap)?;
    let stories = if count == 1 { "story" } else { "stories" };
    Some(format!(
        "{count} {stories} written without a model; raise the cap or wait until it frees"
    ))
}

/// It waits for a person, or was dropped because none decided in time (ED-42).
fn approval(account: &Account) -> Option<String> {
    let edition = &account.edition;
    let (revision, stories) = (edition.revision, account.counts().completed);
    if edition.hold.as_ref().is_some_and(Hold::is_dropped) {
        return Some(format!(
            "nobody approved revision {revision} in time, so it was dropped; approve it to publish it"
        ));
    }
    let hold = edition.waiting()?;
    let then = match (hold.until, hold.on_silence) {
        (None, _) => "nothing is sent before".to_owned(),
        (Some(until), OnSilence::Publish) => {
            format!("without an answer it is published at {}", clock(until))
        }
        (Some(until), OnSilence::Drop) => {
            format!("without an answer it is dropped at {}", clock(until))
        }
    };
    Some(format!("revision {revision}, {stories} stories; {then}"))
}

fn clock(at: Timestamp) -> impl std::fmt::Display {
    at.strftime("%Y-%m-%d %H:%M UTC")
}

/// The last batch that ended spent more than it should (ED-27).
fn spendthrift(account: &Account) -> Option<String> {
    let ended = |batch: &&Batch| batch.status != Status::Running;
    let batch = account.batches.iter().rfind(ended)?;
    let most = spendthrift_over(batch.story_count);
    let over = account.edition.state.is_open() && batch.spend.requests > most;
    over.then(|| {
        format!(
            "batch {} of {} stories used {} requests, more than {most}; use a smaller batch size",
            batch.index, batch.story_count, batch.spend.requests
        )
    })
}

/// Destinations that refused the edition, or that may have it without having confirmed it (ED-12).
/// The alert stays open until the destination has every part or a person has skipped what it lacks:
/// neither a part that gets through nor the end of the day ends an outage, and each outage is
/// notified once (ED-41).
fn unreached(account: &Account, found_before: &BTreeSet<Key>) -> impl Iterator<Item = Finding> {
    let lacks = |delivery: &&Delivery| !delivery.state.is_settled() || delivery.is_doubtful();
    account
        .deliveries
        .iter()
        .filter(lacks)
        .filter_map(|delivery| {
            let (name, state) = (&delivery.destination, delivery.state.as_str());
            let why = delivery.detail.as_deref().unwrap_or_default();
            let about = About::Delivery {
                edition: account.edition.id,
                destination: name.clone(),
            };
            let detail = format!("{name} is {state}: {why}");
            let found = Finding::new(Rule::Destination, about, Severity::Critical, &detail);
            // One that is being tried again is in trouble until it has arrived: its detail still
            // says why.
            (delivery.detail.is_some() || found_before.contains(&found.key)).then_some(found)
        })
}
