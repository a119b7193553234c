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
        Account, EditionId, EditionName,
        plan::{Action, Requester},
        revision::Correction,
        turn::{Chosen, Meant},
    },
};
use almanack_engine::editions::{Error, Observer, Unwatched};
use almanack_testkit::edition_harness::EditionHarness;

use super::{
    super::{dice::Dice, record::Record, time::pass},
    nodes::{Mortal, Process, World},
    witness::Witness,
};

/// Polls after which a process dies at most; a tick with a batch and deliveries has some hundreds.
const POLLS_MAX: u64 = 400;

/// Something that is asked of a process.
#[derive(Debug, Clone, Copy)]
pub(super) enum Deed {
    Tick(EditionName),
    /// A round of the watch.
    Watch,
    /// A step of a queued edition.
    Step(EditionId),
    Run(EditionId),
    Reset(EditionId),
    Retry(EditionId),
    Force(EditionId),
    Request(EditionId),
    /// About the destination of the cast that comes last.
    Resend(EditionId),
    Skip(EditionId),
    Approve(EditionId),
    Reject(EditionId),
    /// Drops, moves or edits a story, by a number.
    Correct(EditionId, u64),
    Retract(EditionId),
    Restore(EditionId),
}

impl Deed {
    /// The edition that it is about; a watch looks at all.
    fn edition(self) -> EditionName {
        match self {
            Self::Tick(name) => name,
            Self::Watch => EditionName::default(),
            Self::Step(id)
            | Self::Run(id)
            | Self::Reset(id)
            | Self::Retry(id)
            | Self::Force(id)
            | Self::Request(id)
            | Self::Resend(id)
            | Self::Skip(id)
            | Self::Approve(id)
            | Self::Reject(id)
            | Self::Correct(id, _)
            | Self::Retract(id)
            | Self::Restore(id) => id.name,
        }
    }
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
        (Deed::Tick(_) | Deed::Watch | Deed::Step(_), _) => false,
        (_, Error::NotQueued(_)) => trouble,
        (_, Error::NotNow(_) | Error::Unknown(_) | Error::Future { .. }) => true,
        (_, Error::Contended(_)) => matches!(
            deed,
            Deed::Force(_) | Deed::Correct(..) | Deed::Retract(_) | Deed::Restore(_)
        ),
        _ => false,
    }
}

#[expect(clippy::too_many_lines, reason = "one flat arm per deed")]
async fn carry_out(process: &Process, deed: Deed, meter: &Meter) -> Result<DeedReport, Error> {
    let name = deed.edition();
    let editions = process.editions.get(name).expect("an edition of the cast");
    let free = |text: String| DeedReport { text, requests: 0 };
    // What a person lets out, changes or takes back is theirs, whatever the standard.
    if let Deed::Force(id)
    | Deed::Approve(id)
    | Deed::Correct(id, _)
    | Deed::Retract(id)
    | Deed::Restore(id) = deed
    {
        meter.witness.is_forced(id);
    }
    Ok(match deed {
        Deed::Watch => {
            process.watch.lock().await.round_of_editions().await?;
            free("looked".to_owned())
        }
        Deed::Tick(_) => {
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
            let text = format!("{} {}{archived}", ticked.id, actions.join("+"));
            DeedReport { text, requests }
        }
        Deed::Step(id) => {
            let stepped = editions.step(id, Requester::Tick, &Unwatched).await?;
            let text = format!("{} {}", stepped.after, stepped.actions.join("+"));
            let requests = stepped.requests;
            DeedReport { text, requests }
        }
        Deed::Run(id) => {
            editions.take_up(id).await?;
            let ran = editions.run(id, meter).await?;
            let text = format!("ran until {}", ran.account.edition.state);
            let requests = ran.requests;
            DeedReport { text, requests }
        }
        Deed::Force(id) => {
            let forced = editions.force_publish(id, "operator").await?;
            let text = format!("forced, it is {}", forced.account.edition.state);
            let requests = forced.requests;
            DeedReport { text, requests }
        }
        Deed::Reset(id) => {
            let account = editions.reset(id, "ada").await?;
            free(format!("reset, it is {}", account.edition.state))
        }
        Deed::Retry(id) => {
            let retried = editions.retry(id, None, "ada").await?;
            free(format!("{} stories put back", retried.stories))
        }
        Deed::Request(id) => {
            let requested = editions.request(id, "ada").await?;
            free(format!("queued: {}", requested.receipt.is_some()))
        }
        Deed::Resend(id) => {
            let resent = editions.resend(id, &meter.chosen, "ada").await?;
            free(format!("parts {:?} are sent again", resent.parts))
        }
        Deed::Approve(id) => {
            let decided = editions.approve(id, Meant::default(), "ada").await?;
            free(format!("approved: {}", decided.changed))
        }
        Deed::Reject(id) => {
            let decided = editions.reject(id, Meant::default(), "ada").await?;
            free(format!("rejected: {}", decided.changed))
        }
        Deed::Correct(id, number) => {
            let wanted = correction(number);
            let account = editions.correct(id, &wanted, None, "ada").await?;
            free(format!(
                "{wanted:?} is revision {}",
                account.edition.revision
            ))
        }
        Deed::Retract(id) => {
            let account = editions.retract(id, Some("wrong"), "ada").await?;
            free(format!(
                "retracted by revision {}",
                account.edition.revision
            ))
        }
        Deed::Restore(id) => {
            let account = editions.restore(id, "ada").await?;
            free(format!("restored as revision {}", account.edition.revision))
        }
        Deed::Skip(id) => {
            let skipped = editions.skip(id, &meter.chosen, "ada").await?;
            free(format!("parts {:?} are skipped", skipped.parts))
        }
    })
}

/// One of the corrections that people make.
fn correction(number: u64) -> Correction {
    let story = (1 + number / 3).to_string();
    match number % 3 {
        0 => Correction::Drop { story },
        1 => Correction::Move { story, to: 1 },
        _ => Correction::Edit {
            story,
            title: Some(format!("Corrected {number}")),
            summary: None,
            comments: None,
        },
    }
}

/// Watches what steps spend.
struct Meter {
    room: EditionHarness,
    record: Arc<Record>,
    witness: Witness,
    account: u32,
    /// What a step may spend: more than a tick's only in a chain, where the witness holds every
    /// batch of a wave against a tick's.
    budget: u32,
    tick: u32,
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
            witness: world.witness.clone(),
            account: process.account,
            budget: rules.step_budget(),
            tick: rules.budget,
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
            Deed::Tick(_) if self.chain => u32::MAX,
            Deed::Run(_) => {
                self.ends();
                u32::MAX
            }
            Deed::Step(_) if self.chain => self.budget,
            Deed::Tick(_) | Deed::Step(_) | Deed::Force(_) => self.tick,
            Deed::Watch
            | Deed::Reset(_)
            | Deed::Retry(_)
            | Deed::Request(_)
            | Deed::Resend(_)
            | Deed::Skip(_)
            | Deed::Approve(_)
            | Deed::Reject(_)
            | Deed::Correct(..)
            | Deed::Retract(_)
            | Deed::Restore(_) => 0,
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
    pub(super) queued: &'a [EditionId],
}

impl Turn<'_> {
    /// Its ticks, and after each of them a step of what is queued. `None` if it died.
    pub(super) async fn take(self, world: &World) -> Option<Process> {
        let steps = self.queued.iter().map(|id| Deed::Step(*id));
        let ticks = world.cast.names.iter().map(|name| Deed::Tick(*name));
        let deeds: Vec<Deed> = ticks.chain([Deed::Watch]).chain(steps).collect();
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
