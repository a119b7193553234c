//! What processes do, and what it may cost: the harness's count is held against the engine's own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use almanack_core::{
    budget::Budget,
    edition::{
        Account,
        plan::{Action, Requester},
        turn::Chosen,
    },
};
use almanack_engine::editions::{Error, Observer, Unwatched};
use almanack_testkit::edition_harness::EditionHarness;
use jiff::civil::Date;

use super::{
    super::{dice::Dice, record::Record, time::pass},
    nodes::{Mortal, Process, World},
};

/// Polls after which a process dies at most; a tick with a batch and deliveries has some hundreds.
const POLLS_MAX: u64 = 400;

/// Something that is asked of a process.
#[derive(Debug, Clone, Copy)]
pub(super) enum Deed {
    Tick,
    /// A round of the watch.
    Watch,
    /// A step of a queued edition.
    Step(Date),
    Run(Date),
    Reset(Date),
    Retry(Date),
    Force(Date),
    Request(Date),
    /// About the destination of the cast that comes last.
    Resend(Date),
    Skip(Date),
}

/// What a deed says about itself.
struct DeedReport {
    text: String,
    requests: u32,
}

/// How a deed ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Well,
    Refused,
    Died,
}

/// Carries a deed out, and may die of it.
pub(super) async fn perform(world: &World, process: &Process, deed: Deed, dice: &Dice) -> Ended {
    let paid = || world.room.paid_by(process.account);
    let meter = Meter::new(world, process);
    let before = paid();
    // People are impatient with what takes long.
    let deaths = match deed {
        Deed::Run(_) | Deed::Force(_) => world.cast.deaths + 150,
        _ => world.cast.deaths,
    };
    let mortal = !world.is_healed() && dice.hits(deaths);
    // Half of the deaths are early ones; a step of what is queued mostly finds that it has to wait,
    // and is over soon.
    let early = if matches!(deed, Deed::Step(_)) { 8 } else { 40 };
    let most = if dice.hits(500) { early } else { POLLS_MAX };
    let ended = Mortal {
        work: Box::pin(carry_out(process, deed, &meter)),
        polls_left: mortal.then(|| 1 + dice.below(most)),
    }
    .await;
    let spent = paid() - before;
    world.record.check(meter.check(spent, deed));
    match ended {
        None => {
            let note = format_args!("dies at {deed:?} after {spent} requests");
            world.record.note(&process.name, note);
            Ended::Died
        }
        Some(Ok(report)) => {
            let DeedReport { text, requests } = report;
            let note = format_args!("{deed:?}: {text}, {spent} requests");
            world.record.note(&process.name, note);
            if requests != spent {
                world.record.broke(format_args!(
                    "{deed:?}: {requests} requests were counted, but {spent} were made"
                ));
            }
            Ended::Well
        }
        Some(Err(error)) => {
            let note = format_args!("{deed:?}: {}", error.chain());
            world.record.note(&process.name, note);
            if !may_fail(world, deed, &error) {
                let what = format_args!("{deed:?} failed: {}", error.chain());
                world.record.broke(what);
            }
            Ended::Refused
        }
    }
}

/// Whether an error has a cause that was injected, or is an answer.
fn may_fail(world: &World, deed: Deed, error: &Error) -> bool {
    let trouble = !world.is_healed();
    match (deed, error) {
        (_, Error::Store(error)) => trouble && error.is_transient(),
        // A node that is a moment behind does not know a day that another has begun.
        (Deed::Tick | Deed::Watch | Deed::Step(_), _) => false,
        (_, Error::NotQueued(_)) => trouble,
        (_, Error::NotNow(_) | Error::Unknown(_) | Error::Future { .. }) => true,
        (_, Error::Contended(_)) => matches!(deed, Deed::Force(_)),
        _ => false,
    }
}

async fn carry_out(process: &Process, deed: Deed, meter: &Meter) -> Result<DeedReport, Error> {
    let editions = &process.editions;
    let free = |text: String| DeedReport { text, requests: 0 };
    Ok(match deed {
        Deed::Watch => {
            process.watch().round_of_editions().await?;
            free("looked".to_owned())
        }
        Deed::Tick => {
            let ticked = editions.tick().await?;
            let steps = ticked.steps.iter();
            let actions: Vec<&str> = steps.flat_map(|step| step.actions.clone()).collect();
            for step in &ticked.steps {
                meter.step(step.requests);
            }
            let requests = ticked.steps.iter().map(|step| step.requests).sum();
            let archived = match ticked.archived.len() {
                0 => String::new(),
                count => format!(", {count} archived"),
            };
            let text = format!("{} {}{archived}", ticked.date, actions.join("+"));
            DeedReport { text, requests }
        }
        Deed::Step(date) => {
            let stepped = editions.step(date, Requester::Tick, &Unwatched).await?;
            let text = format!("{} {}", stepped.after, stepped.actions.join("+"));
            let requests = stepped.requests;
            DeedReport { text, requests }
        }
        Deed::Run(date) => {
            editions.take_up(date).await?;
            let ran = editions.run(date, meter).await?;
            let text = format!("ran until {}", ran.account.edition.state);
            let requests = ran.requests;
            DeedReport { text, requests }
        }
        Deed::Force(date) => {
            let forced = editions.force_publish(date, "operator").await?;
            let text = format!("forced, it is {}", forced.account.edition.state);
            let requests = forced.requests;
            DeedReport { text, requests }
        }
        Deed::Reset(date) => {
            let account = editions.reset(date, "ada").await?;
            free(format!("reset, it is {}", account.edition.state))
        }
        Deed::Retry(date) => {
            let retried = editions.retry(date, None, "ada").await?;
            free(format!("{} stories put back", retried.stories))
        }
        Deed::Request(date) => {
            let requested = editions.request(date, "ada").await?;
            free(format!("queued: {}", requested.receipt.is_some()))
        }
        Deed::Resend(date) => {
            let resent = editions.resend(date, &meter.chosen, "ada").await?;
            free(format!("parts {:?} are sent again", resent.parts))
        }
        Deed::Skip(date) => {
            let skipped = editions.skip(date, &meter.chosen, "ada").await?;
            free(format!("parts {:?} are skipped", skipped.parts))
        }
    })
}

/// Watches what steps spend.
struct Meter {
    room: EditionHarness,
    record: Arc<Record>,
    account: u32,
    budget: u32,
    chain: bool,
    /// What was spent when the present step began.
    began: AtomicU32,
    /// What people decide about.
    chosen: Chosen,
}

impl Meter {
    fn new(world: &World, process: &Process) -> Self {
        let rules = &world.cast.settings.rules;
        Self {
            room: world.room.clone(),
            record: Arc::clone(&world.record),
            account: process.account,
            budget: rules.budget,
            chain: rules.chain,
            began: AtomicU32::new(world.room.paid_by(process.account)),
            chosen: Chosen {
                destination: world
                    .cast
                    .places
                    .last()
                    .map_or_else(String::new, |place| place.name.clone()),
                part: None,
            },
        }
    }

    fn step(&self, requests: u32) {
        if requests > self.budget {
            let budget = self.budget;
            self.record.broke(format_args!(
                "a step made {requests} requests out of a budget of {budget}"
            ));
        }
    }

    fn ends(&self) {
        let paid = self.room.paid_by(self.account);
        let began = self.began.swap(paid, Ordering::Relaxed);
        self.step(paid - began);
    }

    /// What may have been spent by a deed that has ended, however it has.
    fn check(&self, spent: u32, deed: Deed) -> Result<(), String> {
        let most = match deed {
            Deed::Tick if self.chain => u32::MAX,
            Deed::Run(_) => {
                self.ends();
                u32::MAX
            }
            Deed::Tick | Deed::Step(_) | Deed::Force(_) => self.budget,
            Deed::Watch
            | Deed::Reset(_)
            | Deed::Retry(_)
            | Deed::Request(_)
            | Deed::Resend(_)
            | Deed::Skip(_) => 0,
        };
        if spent > most {
            return Err(format!(
                "{deed:?} made {spent} requests out of a budget of {most}"
            ));
        }
        Ok(())
    }
}

impl Observer for Meter {
    fn began(&self, _: &Account, _: &Action, _: &Arc<Budget>) {}
    fn ended(&self, _: &Account) {
        self.ends();
    }
}

/// A node's part of one moment.
pub(super) struct Turn<'a> {
    pub(super) process: Process,
    pub(super) dice: Dice,
    /// When it ticks, from the one before.
    pub(super) delays: Vec<Duration>,
    /// What it works on beside its own day.
    pub(super) queued: &'a [Date],
}

impl Turn<'_> {
    /// Its ticks, and after each of them a step of what is queued. `None` if it died.
    pub(super) async fn take(self, world: &World) -> Option<Process> {
        let steps = self.queued.iter().map(|date| Deed::Step(*date));
        let deeds: Vec<Deed> = [Deed::Tick, Deed::Watch].into_iter().chain(steps).collect();
        for delay in &self.delays {
            pass(*delay).await;
            for deed in &deeds {
                if perform(world, &self.process, *deed, &self.dice).await == Ended::Died {
                    return None;
                }
            }
        }
        Some(self.process)
    }
}
