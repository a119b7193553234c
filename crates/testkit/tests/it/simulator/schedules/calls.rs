//! Calls that ask for more than an answer: retries of the schedule's own, a time limit, a cap of
//! firings at once, reports about the end (DP-19, DP-22).
//!
//! The product's own handler makes them; the service that is called is the simulation's. It notes
//! when each call began and ended, and reports the end twice in the same moment, to two nodes, with
//! different outcomes. What was accepted must be what is stored.

use std::sync::Arc;

use almanack_core::{
    finish::Outcome,
    follow::{Ended, HandedOver, Report, Reported, Stage, Work},
    plan::{Definition, Firing, Overlap, Retry},
    run_log::NoRunLogs,
    target::{Launcher, Target},
    task::{ClaimedTask, TaskId},
    time::Clock,
};
use almanack_engine::reports::{Error, Reports};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::{
    super::{
        dice::Dice,
        time::{Barrier, NodeSleeper, Setting, pass},
    },
    chronicle::Pages,
    planners::World,
    runner::injected_fault,
};

/// How long a call may take in this world: each second of one that gives way is a look.
const TAKES_MAX: std::time::Duration = std::time::Duration::from_mins(10);
/// A reporter without an answer tries so often.
const TRIES: usize = 20;
/// Clocks differ, and a call that is given up ends a moment later.
const MOMENT: SignedDuration = SignedDuration::from_secs(5);

/// One call of a webhook.
#[derive(Debug, Clone)]
pub(super) struct Call {
    firing: Firing,
    subject: String,
    at: Timestamp,
    /// When its answer came, or its caller was gone.
    until: Option<Timestamp>,
    /// Whether it failed in a way that may pass.
    failed: bool,
    /// Whether the work goes on after the answer.
    works: bool,
}

/// Whether the product's own handler makes the call.
pub(super) fn is_handled(firing: &Firing) -> bool {
    let is_plain = firing.retry == Retry::default()
        && firing.timeout.is_none()
        && firing.firings_max.is_none()
        && firing.target.report_within().is_none();
    !is_plain && matches!(firing.target, Target::Webhook { .. })
}

/// Draws what a webhook's schedule asks for beside the call.
pub(super) fn draw(dice: &Dice, definition: &mut Definition) {
    let Target::Webhook { report_within, .. } = &mut definition.target else {
        return;
    };
    let minutes = SignedDuration::from_mins;
    (*report_within, definition.retry) = (None, Retry::default());
    (definition.timeout, definition.firings_max) = (None, None);
    if dice.hits(150) {
        *report_within = Some(minutes(dice.between(2, 40)));
    }
    if dice.hits(150) {
        definition.retry = Retry {
            count: u32::try_from(dice.between(0, 3)).ok(),
            backoff: Some(SignedDuration::from_secs(dice.between(1, 90))),
            backoff_max: None,
        };
    }
    if dice.hits(100) {
        definition.timeout = Some(SignedDuration::from_secs(dice.between(5, 120)));
    }
    if dice.hits(150) {
        definition.firings_max = u32::try_from(dice.between(1, 2)).ok();
        // Only here can several run.
        definition.overlap = Overlap::Allow;
    }
}

/// The service that webhooks call.
pub(super) struct Service {
    pub(super) world: World,
    pub(super) dice: Dice,
    pub(super) healed: bool,
}

/// A call ends when it is answered or when its caller is gone.
struct Running {
    world: World,
    place: usize,
}

impl Running {
    fn note(&self, change: impl Fn(&mut Call)) {
        if let Some(call) = self.world.chronicle.pages().calls.get_mut(self.place) {
            change(call);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let now = self.world.truth.now();
        self.note(|call| call.until = Some(now));
    }
}

impl Service {
    fn begin(&self, firing: &Firing, task: &ClaimedTask) -> Running {
        let at = self.world.truth.now();
        let subject = task.identity.subject.to_string();
        let mut pages = self.world.chronicle.pages();
        pages.calls.push(Call {
            firing: firing.clone(),
            subject,
            at,
            until: None,
            failed: false,
            works: false,
        });
        let place = pages.calls.len() - 1;
        drop(pages);
        Running {
            world: self.world.clone(),
            place,
        }
    }
}

#[async_trait]
impl Launcher for Service {
    async fn fire(&self, _: &Firing, _: &ClaimedTask) -> Outcome {
        Outcome::give_up("this world hands over")
    }

    async fn hand_over(&self, firing: &Firing, task: &ClaimedTask) -> HandedOver {
        let running = self.begin(firing, task);
        let (takes, outcome) = injected_fault(&self.dice);
        let accepts = matches!(outcome, Outcome::Done { .. });
        let within = firing.target.report_within().filter(|_| accepts);
        let reporter = Reporter::new(self.world.clone(), self.dice.fork(), task.id);
        let mut report = within.map(|within| reporter.report(within));
        // Some are done before they have answered.
        if self.dice.hits(200) {
            report.take().map(tokio::spawn);
        }
        if !self.healed {
            pass(takes.min(TAKES_MAX)).await;
        }
        if let Some(within) = within {
            running.note(|call| call.works = true);
            report.map(tokio::spawn);
            let within_s = within.as_secs();
            return HandedOver::Works(Work::Report { within_s });
        }
        running.note(|call| call.failed = matches!(outcome, Outcome::Retry { .. }));
        HandedOver::Ended(outcome)
    }
}

/// Whoever accepted a call and reports its end.
struct Reporter {
    world: World,
    dice: Dice,
    firing: TaskId,
}

impl Reporter {
    fn new(world: World, dice: Dice, firing: TaskId) -> Self {
        Self {
            world,
            dice,
            firing,
        }
    }

    /// Mostly in time; sometimes late or never.
    async fn report(self, within: SignedDuration) {
        let within_ms = u64::try_from(within.as_millis()).unwrap_or(0);
        if self.dice.hits(300) {
            pass(self.dice.millis(1_000, within_ms)).await;
            let stage = *self.dice.pick(&[Stage::Start, Stage::Progress]);
            self.take(stage, None).await;
        }
        match self.dice.below(10) {
            0 => return,
            1 => pass(self.dice.millis(within_ms, 2 * within_ms)).await,
            _ => pass(self.dice.millis(500, within_ms)).await,
        }
        tokio::join!(
            self.take(Stage::Finish, Some(Reported::Done)),
            self.take(Stage::Finish, Some(Reported::Failed)),
        );
    }

    /// One report, to a node of its own.
    async fn take(&self, stage: Stage, outcome: Option<Reported>) {
        let barrier = Arc::new(Barrier::new(self.world.truth));
        let store = self.world.way("reporter", &barrier, &self.dice);
        let clock = self.world.clock(&self.dice);
        let sleeper = Arc::new(NodeSleeper {
            clock: Arc::clone(&clock),
            barrier,
        });
        let clock: Arc<dyn Clock> = clock;
        let reports = Reports {
            store,
            clock,
            sleeper,
            logs: Arc::new(NoRunLogs),
        };
        let text = None;
        let report = Report { outcome, text };
        for _ in 0..TRIES {
            match reports.take(self.firing, stage, &report).await {
                Ok(_) => return self.check_accepted(stage, outcome).await,
                Err(Error::Ended { .. } | Error::Cancelled(_)) => {
                    return self.note(format_args!("its report is refused"));
                }
                // A report may be faster than what it is about.
                Err(Error::NotExpected(_) | Error::Store(_)) => {
                    pass(self.dice.millis(200, 9_000)).await;
                }
                Err(Error::Invalid(why)) => return self.world.record.broke(why),
            }
        }
    }

    /// What was accepted is what is stored, whatever comes later.
    async fn check_accepted(&self, stage: Stage, outcome: Option<Reported>) {
        self.note(format_args!("its report of {stage} is accepted"));
        let reported = match outcome {
            Some(Reported::Done) => Ended::Done,
            Some(Reported::Failed) => Ended::Failed,
            None => return,
        };
        let found = self.world.store.load_followed(&[self.firing]).await;
        let ending = found.ok().and_then(|mut found| found.pop()?.ending);
        let stored = ending.map(|ending| ending.ended);
        if stored != Some(reported) {
            let firing = self.firing;
            self.world.record.broke(format_args!(
                "a report that firing {firing} is {reported} was accepted, and {stored:?} is stored"
            ));
        }
    }

    fn note(&self, what: std::fmt::Arguments<'_>) {
        self.world
            .record
            .note(&format!("firing {}", self.firing), what);
    }
}

/// Each schedule's limits, held against the calls that were made.
pub(super) fn check(world: &World) -> Result<(), String> {
    let pages = world.chronicle.pages();
    for (place, call) in pages.calls.iter().enumerate() {
        let earlier = &pages.calls[..place];
        check_tries(earlier, call, world.skew)?;
        check_duration(call)?;
        check_cap(&pages, earlier, call)?;
    }
    Ok(())
}

/// A firing is tried again as often as its schedule says, and within its window. Work that was
/// handed over and could not be written down is no failure: it is handed over again whenever that is.
fn check_tries(earlier: &[Call], call: &Call, skew: SignedDuration) -> Result<(), String> {
    let (subject, at) = (&call.subject, call.at);
    let own = || earlier.iter().filter(|it| it.subject == *subject);
    let failed = own().filter(|it| it.failed).count();
    let allowed = call.firing.retry.count;
    let allowed = allowed.and_then(|count| usize::try_from(count).ok());
    if allowed.is_some_and(|allowed| failed > allowed) {
        return Err(format!(
            "{subject} was called again after {failed} failures"
        ));
    }
    let until = call.firing.retry_until;
    if own().next_back().is_some_and(|it| !it.works) && is_right(at) && at > until + skew + MOMENT {
        return Err(format!("{subject} was called at {at}, after {until}"));
    }
    Ok(())
}

/// No more firings of a schedule run at once than it says, to the end of their work.
fn check_cap(pages: &Pages, earlier: &[Call], call: &Call) -> Result<(), String> {
    let Some(most) = call.firing.firings_max.filter(|_| is_right(call.at)) else {
        return Ok(());
    };
    let runs = |it: &&Call| {
        let is_same = it.firing.schedule == call.firing.schedule;
        let other = is_same && it.subject != call.subject && it.firing.firings_max.is_some();
        other && ended_at(pages, it).is_none_or(|ended| ended > call.at)
    };
    // While all nodes were gone, nobody kept its permit.
    let kept = |it: &&Call| pages.covered(it.at, call.at) && is_right(it.at);
    let running = earlier.iter().filter(runs).filter(kept).count();
    if running < usize::try_from(most).unwrap_or(usize::MAX) {
        return Ok(());
    }
    let (subject, at) = (&call.subject, call.at);
    Err(format!(
        "{subject} was called at {at} beside {running} others, though {most} may run"
    ))
}

/// No attempt takes longer than its schedule lets it.
fn check_duration(call: &Call) -> Result<(), String> {
    let (Some(timeout), Some(until)) = (call.firing.timeout, call.until) else {
        return Ok(());
    };
    let took = until.duration_since(call.at);
    if took > timeout + MOMENT && is_right(call.at) && is_right(until) {
        let subject = &call.subject;
        return Err(format!(
            "a call of {subject} took {took:#}, though {timeout:#} is the limit"
        ));
    }
    Ok(())
}

/// When a call and the work that it handed over had ended.
fn ended_at(pages: &Pages, call: &Call) -> Option<Timestamp> {
    if !call.works {
        return call.until;
    }
    let ended = pages.works_ended.get(&call.subject).copied();
    let births = pages
        .births
        .iter()
        .filter(|birth| birth.subject == call.subject);
    births.filter_map(|birth| birth.ended_at).chain(ended).min()
}

/// Whether the machine's clock was right, and had been for a while.
fn is_right(at: Timestamp) -> bool {
    let setting = Setting::at(at - SignedDuration::from_hours(1));
    Setting::ahead(at).is_zero() && setting.from > at
}
