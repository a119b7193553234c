//! What is wrong with an edition, by its own rows and by what was found before.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::Finding;
use crate::{
    alert::{About, Key, Rule, Severity},
    both,
    edition::{
        Account, State,
        batch::{Batch, Status},
        delivery::Delivery,
        hold::{Hold, HoldReason, OnSilence},
        ladder::{self, Cause},
        rules::spendthrift_over,
    },
    lang::{Lang, Sentence},
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
    let of_edition = |rule, severity, detail: Sentence| {
        Finding::new(rule, About::Edition(account.edition.id), severity, detail)
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
fn overdue(account: &Account, after: Option<SignedDuration>, now: Timestamp) -> Option<Sentence> {
    let (edition, counts) = (&account.edition, account.counts());
    let age = now.duration_since(edition.started_at);
    // What waits for a person is late by their leave.
    let waits = edition.waiting().is_some();
    if !edition.state.is_open() || waits || age <= after? {
        return None;
    }
    let ([state, state_zh], minutes) = (words_of(edition.state), age.as_mins());
    let (completed, total) = (counts.completed, counts.total);
    let late = both!(
        "after {minutes} minutes the edition is still {state}, with {completed} of {total} stories completed",
        "{minutes} 分钟后日报仍为“{state_zh}”，{total} 篇文章中已完成 {completed} 篇"
    );
    Some(because(late, account))
}

/// Readers expected it, and do not have it (ED-38).
fn missed(account: &Account, now: Timestamp) -> Option<Sentence> {
    let edition = &account.edition;
    let due_at = edition.due_at.filter(|_| !account.was_published())?;
    let late = now.duration_since(due_at);
    (edition.state.is_open() && late > LATE_AFTER).then(|| {
        let ([state, state_zh], late) = (words_of(edition.state), late.as_mins());
        let missed = both!(
            "{late} minutes after its deadline the edition is still {state}",
            "期限过后 {late} 分钟日报仍为“{state_zh}”"
        );
        because(missed, account)
    })
}

/// The name of a state in each language.
fn words_of(state: State) -> [&'static str; 2] {
    Lang::ALL.map(|lang| state.word(lang))
}

/// With what the edition said last.
fn because(detail: Sentence, account: &Account) -> Sentence {
    match &account.edition.reason {
        Some(reason) => detail.joined(&both!("; last: {reason}", "；最近：{reason}")),
        None => detail,
    }
}

/// It is held because it is below its quality standard (ED-39), also while it is being improved.
fn quality(account: &Account) -> Option<Sentence> {
    let edition = &account.edition;
    let hold = edition.hold.as_ref().filter(|hold| hold.is_waiting())?;
    let is_below = edition.state.is_open() && hold.reason == HoldReason::Quality;
    is_below.then(|| {
        let why = edition.reason.as_deref().unwrap_or_default();
        both!(
            "{why}; publish it as it is, or correct the cause",
            "{why}；请照原样发布，或排除原因"
        )
    })
}

/// Its day ended before it was published (ED-20). An edition that was taken up again is not
/// finished; one that is first requested after its day is not unfinished.
fn unfinished(account: &Account, found_before: &BTreeSet<Key>) -> Option<Sentence> {
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
    let [state, state_zh] = words_of(edition.archived_from.unwrap_or(edition.state));
    ((left_open || taken_up) && !account.was_published()).then(|| {
        both!(
            "the day of the edition ended while it was {state}",
            "当天结束时日报仍为“{state_zh}”"
        )
    })
}

/// No story could be completed (ED-32).
fn empty(account: &Account) -> Option<Sentence> {
    let edition = &account.edition;
    let state = edition.archived_from.unwrap_or(edition.state);
    (state == State::Empty).then(|| edition.reason.clone().unwrap_or_default().into())
}

/// Stories have less than they could, because models may not cost more (ED-44).
fn cap(account: &Account) -> Option<Sentence> {
    let mut degraded = ladder::degraded(account);
    let (_, count) = degraded.find(|(cause, _)| *cause == Cause::Cap)?;
    let stories = if count == 1 { "story" } else { "stories" };
    Some(both!(
        "{count} {stories} written without a model; raise the cap or wait until it frees",
        "{count} 篇文章未使用模型撰写；请提高上限，或等待其恢复"
    ))
}

/// It waits for a person, or was dropped because none decided in time (ED-42).
fn approval(account: &Account) -> Option<Sentence> {
    let edition = &account.edition;
    let (revision, stories) = (edition.revision, account.counts().completed);
    if edition.hold.as_ref().is_some_and(Hold::is_dropped) {
        return Some(both!(
            "nobody approved revision {revision} in time, so it was dropped; approve it to publish it",
            "修订 {revision} 未能及时获得批准，已被放弃；批准它即可发布"
        ));
    }
    let hold = edition.waiting()?;
    let then = match (hold.until, hold.on_silence) {
        (None, _) => both!("nothing is sent before", "在此之前不会发送"),
        (Some(until), OnSilence::Publish) => {
            let at = clock(until);
            both!(
                "without an answer it is published at {at}",
                "如无答复，将于 {at} 发布"
            )
        }
        (Some(until), OnSilence::Drop) => {
            let at = clock(until);
            both!(
                "without an answer it is dropped at {at}",
                "如无答复，将于 {at} 放弃"
            )
        }
    };
    Some(
        both!(
            "revision {revision}, {stories} stories; ",
            "修订 {revision}，{stories} 篇文章；"
        )
        .joined(&then),
    )
}

fn clock(at: Timestamp) -> impl std::fmt::Display {
    at.strftime("%Y-%m-%d %H:%M UTC")
}

/// The last batch that ended spent more than it should (ED-27).
fn spendthrift(account: &Account) -> Option<Sentence> {
    let ended = |batch: &&Batch| batch.status != Status::Running;
    let batch = account.batches.iter().rfind(ended)?;
    let most = spendthrift_over(batch.story_count);
    let over = account.edition.state.is_open() && batch.spend.requests > most;
    over.then(|| {
        let (index, stories, used) = (batch.index, batch.story_count, batch.spend.requests);
        both!(
            "batch {index} of {stories} stories used {used} requests, more than {most}; use a smaller batch size",
            "第 {index} 批（{stories} 篇文章）用了 {used} 次请求，超过 {most} 次；请减小批次"
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
            let chinese = if delivery.state.is_settled() {
                "未确认"
            } else {
                "失败"
            };
            let detail = both!("{name} is {state}: {why}", "{name} {chinese}：{why}");
            let found = Finding::new(Rule::Destination, about, Severity::Critical, detail);
            // One that is being tried again is in trouble until it has arrived: its detail still
            // says why.
            (delivery.detail.is_some() || found_before.contains(&found.key)).then_some(found)
        })
}
