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
        rules::SPENDTHRIFT_OVER,
    },
};

/// What is wrong with it. An edition that does not come is what this product is for, so that is
/// critical; that one was left behind, or costs much, can wait until morning.
pub fn find(
    account: &Account,
    found_before: &BTreeSet<Key>,
    overdue_after: Option<SignedDuration>,
    now: Timestamp,
) -> Vec<Finding> {
    let of_edition = |rule, severity, detail: String| {
        Finding::new(
            rule,
            About::Edition(account.edition.date),
            severity,
            &detail,
        )
    };
    let of_itself = [
        (
            Rule::Overdue,
            Severity::Critical,
            overdue(account, overdue_after, now),
        ),
        (
            Rule::Unfinished,
            Severity::Warning,
            unfinished(account, found_before),
        ),
        (Rule::Empty, Severity::Critical, empty(account)),
        (Rule::Spendthrift, Severity::Warning, spendthrift(account)),
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
    if !edition.state.is_open() || age <= after? {
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

/// Its day ended before it was published (ED-20). An edition that was taken up again is not
/// finished; one that is first requested after its day is not unfinished.
fn unfinished(account: &Account, found_before: &BTreeSet<Key>) -> Option<String> {
    let edition = &account.edition;
    let key = Key {
        rule: Rule::Unfinished,
        about: About::Edition(edition.date),
    };
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

/// The last batch that ended spent more than it should (ED-27).
fn spendthrift(account: &Account) -> Option<String> {
    let ended = |batch: &&Batch| batch.status != Status::Running;
    let batch = account.batches.iter().rfind(ended)?;
    let over = account.edition.state.is_open() && batch.spend.requests > SPENDTHRIFT_OVER;
    over.then(|| {
        format!(
            "batch {} of {} stories used {} requests, more than {SPENDTHRIFT_OVER}; use a smaller batch size",
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
                date: account.edition.date,
                destination: name.clone(),
            };
            let detail = format!("{name} is {state}: {why}");
            let found = Finding::new(Rule::Destination, about, Severity::Critical, &detail);
            // One that is being tried again is in trouble until it has arrived: its detail still
            // says why.
            (delivery.detail.is_some() || found_before.contains(&found.key)).then_some(found)
        })
}
