//! What is to be done next about an edition: the whole state machine in one pure function.
//!
//! A tick reads an account, asks [`plan`] and carries the answer out; then it asks again. Actions
//! that make no request ([`Action::is_free`]) may follow one another within a tick; of the others a
//! tick makes one (ED-01).

use std::fmt;

use jiff::Timestamp;

use super::{
    Account, State,
    batch::{self, stories_within},
    delivery::{self, Delivery, Step},
    rules::Rules,
    story::{Status, Story, StoryKey},
};

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
    /// Render its document (ED-11).
    Aggregate,
    /// Nothing was completed: end it, and say so (ED-32).
    GiveUp,
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
}

impl Waiting {
    /// When to ask again, at the latest.
    pub fn until(self) -> Timestamp {
        match self {
            Self::Fetching(until)
            | Self::Batch { until, .. }
            | Self::Retry(until)
            | Self::Sending(until)
            | Self::Delivery(until) => until,
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
        !matches!(self, Self::Fetch | Self::Process(_) | Self::Deliver(_))
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
        State::Aggregating => plan_deliveries(&account.deliveries, now),
        State::Archived if requester == Requester::Person && unfinished(account) => Action::Reopen,
        State::Published | State::Empty | State::Archived => Action::Rest(edition.state),
    }
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
    let size = next_size(account, rules);
    let next = keys(account, |story| story.status == Status::Pending);
    if !next.is_empty() {
        return Action::Process(next.into_iter().take(size).collect());
    }
    plan_retries(account, requester, rules, now).unwrap_or_else(|| plan_end(account, now))
}

/// How many stories the next batch takes. After one whose budget was too small it takes half as
/// many, so that an outside where everything has to be tried twice makes an edition slow, not
/// endless.
fn next_size(account: &Account, rules: &Rules) -> usize {
    let usual = rules.batch_size.min(stories_within(rules.budget)).max(1);
    let Some(last) = account.batches.last() else {
        return usual;
    };
    let not_tried =
        |story: &Story| story.status == Status::Pending && story.batch == Some(last.index);
    if account.stories.iter().any(not_tried) {
        usual.min(last.story_count as usize / 2).max(1)
    } else {
        usual
    }
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
