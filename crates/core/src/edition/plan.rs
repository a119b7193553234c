//! What is to be done next about an edition: the whole state machine in one pure function.
//!
//! A tick reads an account, asks [`plan`] and carries the answer out; then it asks again. Actions
//! that make no request ([`Action::is_free`]) may follow one another within a tick; of the others a
//! tick makes one (ED-01).

use std::fmt;

use jiff::Timestamp;

use super::{
    Account, State, batch,
    delivery::{self, Delivery, Step},
    hold::{Hold, HoldReason},
    ladder::{self, Rung},
    rules::{Rules, WAVE_BATCHES_MAX},
    story::{Status, Story, StoryKey},
};
use crate::time::LATEST;

/// Who requests it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requester {
    /// A tick: it leaves alone what is archived.
    Tick,
    /// A person, who may want an edition of a day that is over (ED-20).
    Person,
}

/// What is to be done next.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Action {
    /// Take it up again although its day is over.
    Reopen,
    /// Fetch the list of its stories (ED-03).
    Fetch,
    /// Give back the stories of batches whose lease has passed (ED-15).
    Recover,
    /// Put failed stories back: they have tries left.
    PutBack(Vec<StoryKey>),
    /// Work on these stories, as one batch (ED-05, ED-06).
    Process(Vec<StoryKey>),
    /// Work on these batches at once, in a chain: each out of its own budget and under its own
    /// lease, so that none waits for another (ED-17).
    Wave(Vec<Vec<StoryKey>>),
    /// Work again on these stories, which have less than they could (ED-38).
    Improve(Vec<StoryKey>),
    /// Hold it against its quality standard again (ED-39).
    Judge,
    /// Render its document (ED-11).
    Aggregate,
    /// Nothing was completed: end it, and say so (ED-32).
    GiveUp,
    /// Nobody decided about a held edition in time: do what is set for that (ED-42).
    EndHold,
    /// Send or settle these parts; each destination for itself (ED-12).
    Deliver(Vec<Due>),
    /// Every delivery is settled: it is published.
    Publish,
    Wait(Waiting),
    /// Nothing any more (ED-13); while `aggregating`, nothing before a person decides about what is
    /// held.
    Rest(State),
}

/// A delivery that something is to be done about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    pub destination: String,
    pub part: u32,
    /// The action: send or settle.
    pub step: Step,
}

/// Why nothing is done now, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// A node fetches the list.
    Fetching(Timestamp),
    /// The previous batch is still running.
    Batch {
        index: u32,
        /// When its lease passes.
        until: Timestamp,
    },
    /// Failed stories are tried again then.
    Retry(Timestamp),
    /// A node is sending to a destination, until then at most.
    Sending(Timestamp),
    /// A destination is tried again then.
    Delivery(Timestamp),
    /// It is held: a person has to decide, or it becomes better; asked again then.
    Held(HoldReason, Option<Timestamp>),
    /// Its history says that it need not begin before.
    Start(Timestamp),
}

impl Waiting {
    /// When to ask again, at the latest.
    pub fn until(self) -> Timestamp {
        match self {
            Self::Fetching(until)
            | Self::Batch { until, .. }
            | Self::Retry(until)
            | Self::Sending(until)
            | Self::Delivery(until)
            | Self::Start(until) => until,
            Self::Held(_, until) => until.unwrap_or(LATEST),
        }
    }
}

/// For logs and for waiting callers.
impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let until = self.until().strftime("%Y-%m-%d %H:%M:%SZ");
        match self {
            Self::Fetching(_) => {
                write!(f, "the story list is being fetched, until {until} at most")
            }
            Self::Batch { index, .. } => {
                write!(f, "batch {index} is still running, until {until} at most")
            }
            Self::Retry(_) => write!(f, "failed stories are tried again from {until} on"),
            Self::Sending(_) => write!(f, "a destination is being sent to, until {until} at most"),
            Self::Delivery(_) => write!(f, "a destination is tried again from {until} on"),
            Self::Held(HoldReason::Approval, None) => f.write_str("it waits for approval"),
            Self::Held(HoldReason::Approval, Some(_)) => {
                write!(f, "it waits for approval, until {until} at most")
            }
            Self::Held(HoldReason::Quality, _) => {
                f.write_str("it is held because it is below its quality standard")
            }
            Self::Start(_) => write!(f, "it begins at {until}, in time for its deadline"),
        }
    }
}

impl Action {
    /// The name used in logs, metrics and reports.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// Whether it makes no request.
    pub fn is_free(&self) -> bool {
        !matches!(
            self,
            Self::Fetch | Self::Process(_) | Self::Wave(_) | Self::Deliver(_)
        )
    }
}

/// Decides.
pub fn plan(account: &Account, requester: Requester, rules: &Rules, now: Timestamp) -> Action {
    let edition = &account.edition;
    match edition.state {
        State::Init => match edition.fetching_until {
            Some(until) if until > now => Action::Wait(Waiting::Fetching(until)),
            _ => Action::Fetch,
        },
        State::ListFetched | State::Processing => plan_stories(account, requester, rules, now),
        State::Aggregating => match &edition.hold {
            Some(hold) if !hold.lets_out() => plan_hold(account, hold, requester, now),
            _ => plan_deliveries(&account.deliveries, now),
        },
        State::Archived if requester == Requester::Person && unfinished(account) => Action::Reopen,
        State::Published if requester == Requester::Tick && edition.retraction.is_none() => {
            let has_tries = |story: &Story| story.retry_count < rules.retries_max;
            let improved = due_for_improvement(account, has_tries, now);
            improved.unwrap_or(Action::Rest(State::Published))
        }
        State::Published | State::Empty | State::Archived => Action::Rest(edition.state),
    }
}

/// What is held is improved as long as its day lasts, ever more slowly: readers have nothing yet.
fn plan_hold(account: &Account, hold: &Hold, requester: Requester, now: Timestamp) -> Action {
    if hold.reason == HoldReason::Approval && hold.is_over(now) {
        return Action::EndHold;
    }
    let improved = match (hold.reason, requester) {
        (HoldReason::Quality, Requester::Tick) if hold.is_waiting() => {
            let judged = hold.is_over(now).then_some(Action::Judge);
            due_for_improvement(account, |_| true, now).or(judged)
        }
        _ => None,
    };
    let waits = || Action::Wait(Waiting::Held(hold.reason, hold.until));
    improved.unwrap_or_else(waits)
}

/// Stories whose improvement is due, if there are any.
fn due_for_improvement(
    account: &Account,
    which: impl Fn(&Story) -> bool,
    now: Timestamp,
) -> Option<Action> {
    let due = keys(account, |story| {
        let ready = story.retry_at.is_none_or(|at| at <= now);
        story.is_improvable() && ready && which(story)
    });
    (!due.is_empty()).then_some(Action::Improve(due))
}

fn unfinished(account: &Account) -> bool {
    let was = account.edition.archived_from;
    was.is_some_and(State::is_open) && !account.is_pruned()
}

fn plan_stories(account: &Account, requester: Requester, rules: &Rules, now: Timestamp) -> Action {
    let running = |batch: &&batch::Batch| batch.status == batch::Status::Running;
    let live = account.batches.iter().find(|batch| batch.is_live(now));
    if let Some(batch) = live {
        return Action::Wait(Waiting::Batch {
            index: batch.index,
            until: batch.lease_until,
        });
    }
    let left_behind = |story: &&Story| story.status == Status::Processing;
    if account.batches.iter().any(|batch| running(&batch))
        || account.stories.iter().any(|story| left_behind(&story))
    {
        return Action::Recover;
    }
    let retries = plan_retries(account, requester, rules, now);
    // What failed has to come along with the rest, if no tick comes any more before the deadline.
    if ladder::is_last_chance(account, rules, now)
        && let Some(put_back) = retries
    {
        return put_back;
    }
    let next = keys(account, |story| story.status == Status::Pending);
    if !next.is_empty() {
        return plan_batches(account, &next, rules, now);
    }
    retries.unwrap_or_else(|| plan_end(account, now))
}

/// The next batch, or in a chain the next batches at once. After a node died at its work, batches
/// come one by one: a story that kills whoever works on it is found by halving what is tried.
fn plan_batches(account: &Account, next: &[StoryKey], rules: &Rules, now: Timestamp) -> Action {
    let rung = ladder::rung(account, rules, now);
    let size = next_size(account, rung, rules).min(next.len()).max(1);
    let died = last_wave(account).any(batch::Batch::never_ended);
    let at_once = if rules.chain && !died {
        WAVE_BATCHES_MAX
    } else {
        1
    };
    let mut wave: Vec<Vec<StoryKey>> = next.chunks(size).take(at_once).map(Vec::from).collect();
    if wave.len() > 1 {
        return Action::Wave(wave);
    }
    Action::Process(wave.pop().unwrap_or_default())
}

/// The batches that were begun last: one, or those of a wave.
fn last_wave(account: &Account) -> impl Iterator<Item = &batch::Batch> {
    let last = account.batches.last();
    let batches = account.batches.iter();
    batches.filter(move |batch| last.is_some_and(|last| batch.began_with(last)))
}

/// How many stories the next batch takes. After one whose budget was too small it takes half as
/// many, so that an outside where everything has to be tried twice makes an edition slow, not
/// endless.
fn next_size(account: &Account, rung: Rung, rules: &Rules) -> usize {
    let usual = rung.batch_size(rules);
    // Titles alone cost one request, whatever their number.
    if rung == Rung::Title {
        return usual;
    }
    let not_tried = |batch: &&batch::Batch| {
        let mut stories = account.stories.iter();
        stories.any(|story| story.status == Status::Pending && story.batch == Some(batch.index))
    };
    let halves = last_wave(account)
        .filter(not_tried)
        .map(|batch| batch.story_count as usize / 2);
    halves.fold(usual, usize::min).max(1)
}

/// Failed stories that have tries left are put back once they have waited; a person does not wait.
fn plan_retries(
    account: &Account,
    requester: Requester,
    rules: &Rules,
    now: Timestamp,
) -> Option<Action> {
    let tries = rules.retries_by_itself.min(rules.retries_max);
    let has_tries = |story: &Story| story.status == Status::Failed && story.retry_count < tries;
    let waits_until = |story: &Story| {
        story
            .retry_at
            .filter(|at| *at > now && requester == Requester::Tick)
            // Before its deadline there is no time to wait in.
            .filter(|_| !ladder::is_last_chance(account, rules, now))
    };
    let ready = keys(account, |story| {
        has_tries(story) && waits_until(story).is_none()
    });
    if !ready.is_empty() {
        return Some(Action::PutBack(ready));
    }
    let waiting = account.stories.iter().filter(|story| has_tries(story));
    let first = waiting.filter_map(waits_until).min()?;
    Some(Action::Wait(Waiting::Retry(first)))
}

fn plan_end(account: &Account, now: Timestamp) -> Action {
    // A node that still sends an earlier document must not write over the new one.
    if let Some(until) = account.sending_until(now) {
        return Action::Wait(Waiting::Sending(until));
    }
    let completed = |story: &Story| story.status == Status::Completed;
    if account.stories.iter().any(completed) {
        Action::Aggregate
    } else {
        Action::GiveUp
    }
}

/// A destination takes its parts in order: something is due about the first that is not settled.
fn plan_deliveries(deliveries: &[Delivery], now: Timestamp) -> Action {
    let mut due: Vec<Due> = Vec::new();
    let mut waits: Vec<Waiting> = Vec::new();
    let mut held = false;
    let mut seen: Option<&str> = None;
    for delivery in deliveries {
        if delivery.state.is_settled() || seen == Some(delivery.destination.as_str()) {
            continue;
        }
        seen = Some(delivery.destination.as_str());
        match delivery.step(now) {
            Step::Wait(until) => {
                waits.push(match delivery.state {
                    delivery::State::Sent => Waiting::Sending(until),
                    _ => Waiting::Delivery(until),
                });
            }
            Step::Held => held = true,
            step => due.push(Due {
                destination: delivery.destination.clone(),
                part: delivery.part,
                step,
            }),
        }
    }
    if !due.is_empty() {
        return Action::Deliver(due);
    }
    // What a node is sending is over sooner than what waits for another try.
    let sending = waits
        .iter()
        .find(|wait| matches!(wait, Waiting::Sending(_)));
    let first = sending.or_else(|| waits.iter().min_by_key(|wait| wait.until()));
    match first {
        Some(wait) => Action::Wait(*wait),
        None if held => Action::Rest(State::Aggregating),
        None => Action::Publish,
    }
}

fn keys(account: &Account, which: impl Fn(&Story) -> bool) -> Vec<StoryKey> {
    let found = account.stories.iter().filter(|story| which(story));
    found.map(|story| story.listed.key.clone()).collect()
}

#[cfg(test)]
mod tests;
