//! Steps: everything one budget pays for; and runs: step after step, until an edition is published.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        Account, EditionId, State,
        delivery::{Delivery, TEST_DESTINATION},
        plan::{Action, Requester, Waiting, plan},
        port::Publisher,
        turn,
    },
};
use jiff::{SignedDuration, Timestamp};

use super::{Editions, Error, quality::Gate};
use crate::wake::later;

/// Most actions of one step: far more than a step has, so that an error in the plan is an error and
/// no endless loop.
const ACTIONS_MAX: usize = 100;
/// Most steps of one run: every story alone, three times, and then some.
const STEPS_MAX: usize = 1_000;
/// How often a run checks whether another run's batch has ended.
const LOOK_EVERY: SignedDuration = SignedDuration::from_secs(1);
/// How long a run waits for other runs in total.
const WAIT_MAX: SignedDuration = SignedDuration::from_mins(10);

/// Watches steps, to show them.
pub trait Observer: Send + Sync {
    /// An action begins; what it spends can be read from the budget.
    fn began(&self, account: &Account, action: &Action, budget: &Arc<Budget>);
    /// A step ended.
    fn ended(&self, account: &Account);
    /// A run waits for another run.
    fn waits(&self, _: &Waiting) {}
    /// Whether a run may begin another step; asked after each.
    fn goes_on(&self) -> bool {
        true
    }
}

/// No observer.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Observer for Unwatched {
    fn began(&self, _: &Account, _: &Action, _: &Arc<Budget>) {}
    fn ended(&self, _: &Account) {}
}

/// Why a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// There is more to do, out of another budget.
    More,
    /// Nothing can be done now.
    Waits(Waiting),
    /// There is nothing to do any more.
    Rests(State),
    /// Something outside did not work; the edition's own reason says what.
    Failed,
}

/// What a step did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stepped {
    /// The edition's state before.
    pub before: State,
    /// Its state now.
    pub after: State,
    /// What was done, in order, by the names of the actions.
    pub actions: Vec<&'static str>,
    /// Requests that were spent.
    pub requests: u32,
    pub end: End,
}

impl Stepped {
    /// A step that found nothing to do before an edition begins.
    pub(super) fn not_begun(waiting: Waiting) -> Self {
        Self {
            before: State::Init,
            after: State::Init,
            actions: Vec::new(),
            requests: 0,
            end: End::Waits(waiting),
        }
    }

    /// What was done, or why nothing was, for a log and for the caller of a tick.
    pub fn summary(&self) -> String {
        match (&self.end, self.actions.as_slice()) {
            (End::Rests(State::Aggregating), []) => {
                "nothing: a delivery needs attention: resend it or skip it".to_owned()
            }
            (End::Rests(state), []) => format!("nothing: it is {state}"),
            (End::Waits(waiting), []) => format!("nothing: {waiting}"),
            (End::Waits(waiting), actions) => format!("{}; {waiting}", actions.join(", ")),
            (_, actions) => actions.join(", "),
        }
    }
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// The edition as it is now.
    pub account: Account,
    /// Requests that were spent.
    pub requests: u32,
    pub end: End,
}

impl Editions {
    /// Does what one budget pays for: free actions, and one that spends (ED-01, ED-08). In a chain
    /// that one may be a wave of batches, each of which has such a budget.
    pub async fn step(
        &self,
        id: EditionId,
        requester: Requester,
        observer: &dyn Observer,
    ) -> Result<Stepped, Error> {
        let budget = Budget::new(self.settings.rules.step_budget());
        let mut before = None;
        let mut actions: Vec<&'static str> = Vec::new();
        let mut paid: Option<Action> = None;
        let (after, end) = loop {
            let account = self.account(id).await?;
            before.get_or_insert(account.edition.state);
            let action = plan(&account, requester, &self.settings.rules, self.clock.now());
            if action == Action::Rest(State::Aggregating) && self.forget_gone(&account).await? {
                continue;
            }
            if action == Action::Rest(State::Published) && self.went_nowhere(&account) {
                self.aggregate(&account, Gate::Kept, &budget).await?;
                continue;
            }
            if let Some(end) = self.end_before(&account, &action, paid.as_ref(), &budget) {
                observer.ended(&account);
                break (account.edition.state, end);
            }
            observer.began(&account, &action, &budget);
            actions.push(action.name());
            if actions.len() > ACTIONS_MAX {
                return Err(Error::Contended(id));
            }
            if !self.act(&account, &action, &budget).await? {
                let account = self.account(id).await?;
                observer.ended(&account);
                break (account.edition.state, End::Failed);
            }
            if !action.is_free() {
                paid = Some(action);
            }
        };
        Ok(Stepped {
            before: before.unwrap_or(after),
            after,
            actions,
            requests: budget.spent(),
            end,
        })
    }

    /// Takes an edition from its current state as far as it goes without waiting for anything but
    /// others at work on it (ED-21).
    pub async fn run(&self, id: EditionId, observer: &dyn Observer) -> Result<Ran, Error> {
        let wait_until = later(self.clock.now(), WAIT_MAX);
        let mut requests: u32 = 0;
        for _ in 0..STEPS_MAX {
            let stepped = self.step(id, Requester::Person, observer).await?;
            requests = requests.saturating_add(stepped.requests);
            match stepped.end {
                End::More if observer.goes_on() => {}
                End::Waits(
                    Waiting::Batch { until, .. }
                    | Waiting::Fetching(until)
                    | Waiting::Sending(until),
                ) if self.clock.now() < wait_until && observer.goes_on() => {
                    self.wait_for_others(id, until.min(wait_until), observer)
                        .await?;
                }
                end => {
                    let account = self.account(id).await?;
                    return Ok(Ran {
                        account,
                        requests,
                        end,
                    });
                }
            }
        }
        Err(Error::Contended(id))
    }

    /// Checks every second whether the other run is done. It only reads: a waiting run writes
    /// nothing.
    async fn wait_for_others(
        &self,
        id: EditionId,
        until: Timestamp,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        while self.clock.now() < until && observer.goes_on() {
            let (account, now) = (self.account(id).await?, self.clock.now());
            let Action::Wait(waiting) =
                plan(&account, Requester::Person, &self.settings.rules, now)
            else {
                return Ok(());
            };
            observer.waits(&waiting);
            let soon = later(now, LOOK_EVERY);
            self.sleeper.until(waiting.until().min(soon)).await;
        }
        Ok(())
    }

    /// Whether it was only printed, in test mode, and this node would publish it: a test does not
    /// use up the day.
    fn went_nowhere(&self, account: &Account) -> bool {
        let is_test = |name: &str| name == TEST_DESTINATION;
        let mut publishers = self.outside.publishers.iter();
        let only_printed = account.deliveries.iter().all(|it| is_test(&it.destination));
        let tests = publishers.any(|publisher| is_test(publisher.destination()));
        !account.deliveries.is_empty() && only_printed && !tests
    }

    /// Why a step ends before an action, if it does; `paid` is the action that spent something
    /// already.
    fn end_before(
        &self,
        account: &Account,
        action: &Action,
        paid: Option<&Action>,
        budget: &Budget,
    ) -> Option<End> {
        match (action, paid) {
            (Action::Wait(waiting), _) => Some(End::Waits(*waiting)),
            (Action::Rest(state), _) => Some(End::Rests(*state)),
            // What goes out with the last batch need not wait for another tick (ED-17).
            (Action::Deliver(_), Some(Action::Process(_) | Action::Wave(_))) => {
                let most = budget.left().min(self.settings.rules.budget);
                let fits = self.requests_for(&account.deliveries) <= most;
                (!fits).then_some(End::More)
            }
            (action, Some(_)) if !action.is_free() => Some(End::More),
            _ => None,
        }
    }

    /// What the deliveries that are not settled are expected to spend.
    fn requests_for(&self, deliveries: &[Delivery]) -> u32 {
        let publishers = &self.outside.publishers;
        let open = deliveries
            .iter()
            .filter(|delivery| !delivery.state.is_settled());
        let each = open.filter_map(|delivery| {
            let own =
                |publisher: &&Arc<dyn Publisher>| publisher.destination() == delivery.destination;
            publishers
                .iter()
                .find(own)
                .map(|publisher| publisher.requests_per_part())
        });
        each.fold(0, u32::saturating_add)
    }

    /// Whether it worked; a list that could not be fetched ends the step.
    async fn act(
        &self,
        account: &Account,
        action: &Action,
        budget: &Arc<Budget>,
    ) -> Result<bool, Error> {
        let now = self.clock.now();
        // No action but a wave spends more than a tick may.
        let own = || Budget::part(budget, self.settings.rules.budget);
        let change = match action {
            Action::Fetch => return self.fetch(account, &own()).await,
            Action::Process(keys) => {
                let only = std::slice::from_ref(keys);
                self.process(account, only, budget).await?;
                None
            }
            Action::Wave(batches) => {
                self.process(account, batches, budget).await?;
                None
            }
            Action::Deliver(due) => {
                self.deliver(account, due, &own()).await?;
                None
            }
            Action::Aggregate => {
                self.aggregate(account, Gate::Kept, &own()).await?;
                None
            }
            Action::Judge => {
                self.judge(account, &own()).await?;
                None
            }
            Action::Improve(keys) => turn::improve(account, keys, now),
            Action::Reopen => turn::reopen(account, now),
            Action::Recover => Some(turn::recover(account, &self.settings.rules, now)),
            Action::PutBack(keys) => Some(turn::put_back(account, keys, now)),
            Action::GiveUp => Some(turn::give_up(account, now)),
            Action::EndHold => turn::end_hold(account, self.day_of(account.edition.id)?.1, now),
            Action::Publish => Some(turn::publish(account, now)),
            Action::Wait(_) | Action::Rest(_) => None,
        };
        // The faster run has done it, or something else; either way the next plan knows.
        if let Some(change) = change {
            self.write(account, change).await?;
        }
        Ok(true)
    }
}
