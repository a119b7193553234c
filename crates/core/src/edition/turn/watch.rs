//! Which alerts an edition has, and who has been told.

use jiff::{SignedDuration, Timestamp};

use crate::edition::{
    Account, State,
    account::Change,
    alert::{Alert, News, Rule},
    batch::{Batch, Status},
    delivery::Delivery,
    rules::{Rules, SPENDTHRIFT_OVER},
};

/// A change together with the alerts that it opens or closes, or that time alone has opened. Nothing if there is nothing to write.
pub fn watched(
    account: &Account,
    change: Option<Change>,
    rules: &Rules,
    now: Timestamp,
) -> Option<Change> {
    let after = match &change {
        Some(change) => change.clone().apply(account.clone()),
        None => account.clone(),
    };
    let alerts = alerts_changed(&after, rules, now);
    if change.is_none() && alerts.is_empty() {
        return None;
    }
    let mut change = change.unwrap_or_else(|| Change::of(account.edition.clone()));
    change.alerts.extend(alerts);
    Some(change)
}

/// The alerts that people have not been told about, with what is to be told.
pub fn to_tell(account: &Account) -> Vec<(Alert, News)> {
    let untold = |alert: &Alert| alert.untold().map(|news| (alert.clone(), news));
    account.alerts.iter().filter_map(untold).collect()
}

/// People have been told; nothing if the alert has begun anew since.
pub fn told(account: &Account, alert: &Alert, news: News, now: Timestamp) -> Option<Change> {
    let same = |known: &&Alert| known.rule == alert.rule && known.opened_at == alert.opened_at;
    let mut alert = account.alerts.iter().find(same)?.clone();
    match news {
        News::Opened => alert.open_told_at = Some(now),
        News::Closed => alert.close_told_at = Some(now),
    }
    let mut change = Change::of(account.edition.clone());
    change.alerts.push(alert);
    Some(change)
}

fn alerts_changed(account: &Account, rules: &Rules, now: Timestamp) -> Vec<Alert> {
    let wrong = wrong(account, rules, now);
    let is_open = |alert: &&Alert| alert.closed_at.is_none();
    let known = |rule: &Rule| account.alerts.iter().find(|alert| alert.rule == *rule);
    let opened = wrong.iter().filter_map(|(rule, detail)| match known(rule) {
        Some(alert) if alert.closed_at.is_none() => None,
        _ => Some(Alert::new(rule.clone(), detail.clone(), now)),
    });
    let lasts = |alert: &&Alert| wrong.iter().any(|(rule, _)| *rule == alert.rule);
    let over = account
        .alerts
        .iter()
        .filter(is_open)
        .filter(|alert| !lasts(alert));
    let closed = over.map(|alert| Alert {
        closed_at: Some(now),
        ..alert.clone()
    });
    opened.chain(closed).collect()
}

/// What is wrong with an edition.
fn wrong(account: &Account, rules: &Rules, now: Timestamp) -> Vec<(Rule, String)> {
    let edition = &account.edition;
    let mut wrong = Vec::new();
    let age = now.duration_since(edition.started_at);
    if edition.state.is_open() && age > rules.overdue_after {
        wrong.push((Rule::Overdue, overdue(account, age)));
    }
    let left_open = edition.archived_from.is_some_and(State::is_open);
    // Taken up again is not finished; but one that is first asked for when its day is over was not left by anybody.
    let said = |alert: &Alert| alert.rule == Rule::Unfinished && alert.closed_at.is_none();
    let taken_up = edition.state.is_open() && account.alerts.iter().any(said);
    if (left_open || taken_up) && !account.was_published() {
        let state = edition.archived_from.unwrap_or(edition.state);
        wrong.push((
            Rule::Unfinished,
            format!("the day of the edition ended while it was in {state}"),
        ));
    }
    if edition.state == State::Empty || edition.archived_from == Some(State::Empty) {
        let reason = edition.reason.clone().unwrap_or_default();
        wrong.push((Rule::Empty, reason));
    }
    wrong.extend(spendthrift(account));
    wrong.extend(unreached(account));
    wrong
}

fn overdue(account: &Account, age: SignedDuration) -> String {
    let (edition, counts) = (&account.edition, account.counts());
    let because = edition
        .reason
        .as_ref()
        .map_or(String::new(), |reason| format!("; last: {reason}"));
    format!(
        "the edition is in {} after {} minutes, with {} of {} stories completed{because}",
        edition.state,
        age.as_mins(),
        counts.completed,
        counts.total,
    )
}

/// The last batch that ended spent more than it should (ED-27).
fn spendthrift(account: &Account) -> Option<(Rule, String)> {
    let ended = |batch: &&Batch| batch.status != Status::Running;
    let batch = account.batches.iter().rfind(ended)?;
    let over = account.edition.state.is_open() && batch.spend.requests > SPENDTHRIFT_OVER;
    over.then(|| {
        let detail = format!(
            "batch {} of {} stories spent {} requests, more than {SPENDTHRIFT_OVER}; a smaller batch may be wiser",
            batch.index, batch.story_count, batch.spend.requests
        );
        (Rule::Spendthrift, detail)
    })
}

/// Destinations that refused the edition, or of which nobody knows whether they have it. What was told of one stays true until
/// it has every part or a person has skipped what it lacks: neither a part that gets through nor the end of the day ends
/// an outage, and each outage is told once (ED-41).
fn unreached(account: &Account) -> Vec<(Rule, String)> {
    let mut found: Vec<(Rule, String)> = Vec::new();
    let lacks = |delivery: &&Delivery| !delivery.state.is_settled() || delivery.is_doubtful();
    for delivery in account.deliveries.iter().filter(lacks) {
        let rule = Rule::Destination(delivery.destination.clone());
        let is_open = |alert: &Alert| alert.rule == rule && alert.closed_at.is_none();
        // One that is being tried again is in trouble until it has arrived: its detail still says why.
        let troubled = delivery.detail.is_some() || account.alerts.iter().any(is_open);
        if troubled && !found.iter().any(|(known, _)| *known == rule) {
            let why = delivery.detail.clone().unwrap_or_default();
            let (name, state) = (&delivery.destination, delivery.state.as_str());
            found.push((rule, format!("{name} is {state}: {why}")));
        }
    }
    found
}
