//! A chaos run from start to end: set up, inject faults, repair, settle, and check.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use almanack_adapters::clock::{SystemClock, pause};
use almanack_core::{
    plan::{Ready, ScheduleName, Slot, slot_identity},
    store::{LedgerPage, Store},
    task::Status,
    time::Clock,
};
use almanack_engine::schedules::Wanted;
use almanack_lab::{
    article, authors,
    chaos::{
        fleet::{Member, Recipe, Sample, most_memory},
        plan::{Fault, Injection},
        report::{self, ChaosReport, SlotFigures},
    },
    customer,
    hooks::{self, Outcome},
};
use almanack_store::scratch::Scratch;
use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    configuration::{self, EVERY_SECOND, Places},
    ledger::account,
    outside::{failed, member, put_schedules, start_articles, start_customer, start_hooks},
};
use crate::{
    args::ChaosArguments,
    config::Settings,
    failure::{Failure, Result},
};

/// How often memory is sampled and settling is checked.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time between two actions of authors, and how far ahead they plan: not far, because a run waits
/// for the last of it.
const ACT_EVERY: Duration = Duration::from_millis(300);
const HABITS: authors::Habits = authors::Habits {
    ahead_min: Duration::from_secs(1),
    ahead_max: Duration::from_secs(4),
};
/// How long settling may take, in addition to two leases.
const SETTLE_WITHIN: Duration = Duration::from_secs(90);
/// Articles to read at the end; more than authors write in a day.
const ARTICLES_MAX: u32 = 1_000_000;
/// Ledger rows and tasks per page.
const PAGE: usize = 1_000;

/// Which faults are injected when, and the number of nodes.
pub(crate) struct Plan {
    pub(crate) nodes: usize,
    pub(crate) period: Duration,
    pub(crate) faults: Vec<Fault>,
    /// Faults that cannot be injected here, with the reason.
    pub(crate) left_out: BTreeMap<&'static str, String>,
    /// The library that sets clocks, if a fault needs it.
    pub(crate) faketime: Option<PathBuf>,
    pub(crate) injections: Vec<Injection>,
}

/// The input of a run.
pub(crate) struct Run<'a> {
    pub(crate) arguments: &'a ChaosArguments,
    /// The user's own settings.
    pub(crate) settings: &'a Settings,
    /// The user's own schedules.
    pub(crate) own: &'a [Wanted],
    pub(crate) plan: &'a Plan,
    /// Folder for files during the run.
    pub(crate) folder: &'a Path,
    pub(crate) scratch: &'a Scratch,
}

pub(crate) struct Stage {
    recipe: Recipe,
    store: Arc<dyn Store>,
    members: Vec<Member>,
    customer: customer::Handle,
    service: article::Running,
    hooks: hooks::Running,
    schedules: Vec<(ScheduleName, Ready)>,
    begun: Timestamp,
    lease: Duration,
    samples: Vec<Sample>,
    /// Stops the clients; the rest of the world stays until everything has settled.
    asking: CancellationToken,
    world: CancellationToken,
}

impl Stage {
    /// Sets everything up, and returns once all nodes are running.
    pub(crate) async fn set(run: &Run<'_>) -> Result<Self> {
        let location = run.scratch.location();
        let durability = run.settings.database.durability;
        let store = almanack_store::open(&location, durability).await?;
        let (asking, world) = (CancellationToken::new(), CancellationToken::new());
        let wires = run.plan.faults.contains(&Fault::Cut);
        let mut members = Vec::new();
        for number in 1..=run.plan.nodes {
            members.push(member(number, &location, wires).await.map_err(failed)?);
        }
        let first = members.first().map(Member::url).unwrap_or_default();
        let customer = start_customer(run, &world).await?;
        let service = start_articles(run, &first, &world).await?;
        let hooks = start_hooks(&world).await?;
        let places = Places {
            customer: customer.calls_url(),
            articles: service.url(),
            hooks: hooks.hook_url("").trim_end_matches('/').to_owned(),
        };
        let text = configuration::file(run.settings, &places);
        std::fs::write(run.folder.join("almanack.toml"), text).map_err(failed)?;
        let schedules = put_schedules(run.own, &places, &store).await?;
        let recipe = Recipe {
            program: std::env::current_exe().map_err(failed)?,
            folder: run.folder.to_owned(),
            faketime: run.plan.faketime.clone(),
        };
        let mut stage = Self {
            recipe,
            store,
            members,
            customer,
            service,
            hooks,
            schedules,
            begun: SystemClock.now(),
            lease: run.settings.node.lease.unsigned_abs(),
            samples: Vec::new(),
            asking,
            world,
        };
        stage.start_nodes().await?;
        stage.start_asking(run.arguments.seed);
        Ok(stage)
    }

    async fn start_nodes(&mut self) -> Result<()> {
        for member in &mut self.members {
            member.start(&self.recipe).map_err(failed)?;
        }
        let waiting = async {
            while self.store.load_nodes().await?.len() < self.members.len() {
                pause(Duration::from_millis(200)).await;
            }
            Ok::<_, Failure>(())
        };
        let started = tokio::time::timeout(SETTLE_WITHIN, waiting).await;
        started.unwrap_or_else(|_| {
            let logs = self.recipe.folder.display();
            let what = format!("the nodes did not start; see their logs in {logs}");
            Err(Failure::failed(what))
        })
    }

    /// Starts the customer and the authors. The article service's table shows what authors do.
    fn start_asking(&self, seed: u64) {
        let nodes: Vec<String> = self.members.iter().map(Member::url).collect();
        let (customer, stop) = (self.customer.clone(), self.asking.clone());
        tokio::spawn(async move { customer.ask(&nodes, &stop).await });
        let mut config = authors::Config::new(self.service.url(), seed);
        config.every = ACT_EVERY;
        config.habits = HABITS;
        let (events, mut acts) = mpsc::channel(64);
        tokio::spawn(authors::run(config, events, self.asking.clone()));
        tokio::spawn(async move { while acts.recv().await.is_some() {} });
    }

    /// Injects the faults one after the other, until the end of the run or `stop`.
    pub(crate) async fn play(
        &mut self,
        plan: &Plan,
        stop: &CancellationToken,
        mut report: impl FnMut(&str),
    ) -> Result<()> {
        let (mut steps, period) = (steps(&plan.injections).into_iter().peekable(), plan.period);
        let begun = SystemClock.now();
        let passed = || SystemClock.now().duration_since(begun).unsigned_abs();
        let mut next_look = Duration::ZERO;
        loop {
            let next_step = steps.peek().map_or(period, |step| step.at);
            let next = next_step.min(next_look).min(period);
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = pause(next.saturating_sub(passed())) => {}
            }
            if passed() >= next_look {
                self.look(passed());
                next_look = passed() + LOOK_EVERY;
            }
            while let Some(step) = steps.next_if(|step| step.at <= passed()) {
                let acted = self.act(&step, passed(), &mut report).await;
                acted.map_err(failed)?;
            }
            if passed() >= period {
                return Ok(());
            }
        }
    }

    async fn act(
        &mut self,
        step: &Step,
        passed: Duration,
        report: &mut impl FnMut(&str),
    ) -> io::Result<()> {
        let injection = &step.injection;
        let Some(member) = self.members.get_mut(injection.node) else {
            return Ok(());
        };
        let words = if step.repairs {
            member.mend(injection.fault, &self.recipe)?;
            repaired(injection.fault)
        } else {
            member.strike(injection, &self.recipe).await?;
            injected(injection)
        };
        let (passed, name) = (passed.as_secs_f64(), &member.name);
        report(&format!("{passed:8.1} s  {name}  {words}\n"));
        Ok(())
    }

    fn look(&mut self, passed: Duration) {
        let at_s = passed.as_secs();
        let seen = self.members.iter().filter_map(|member| {
            Some(Sample {
                at_s,
                node: member.name.clone(),
                memory_kb: member.memory_kb()?,
            })
        });
        self.samples.extend(seen);
    }

    /// Stops the clients and waits until their work has finished, or should have.
    pub(crate) async fn settle(&self, end: Timestamp) {
        self.asking.cancel();
        let settling = async {
            // An unreachable database may return soon; if it does not, the check reports it.
            while !self.is_settled(end).await.unwrap_or(false) {
                pause(LOOK_EVERY).await;
            }
        };
        // What has not settled by then is checked unchanged.
        let within = SETTLE_WITHIN + self.lease * 2;
        let _ = tokio::time::timeout(within, settling).await;
    }

    async fn is_settled(&self, end: Timestamp) -> Result<bool> {
        if self.customer.figures().lost > 0 || self.service.waiting().await.map_err(failed)? > 0 {
            return Ok(false);
        }
        let articles = self.articles().await?;
        let figures = report::check_articles(&articles, SystemClock.now());
        if !figures.lost.is_empty() || figures.ahead > 0 {
            return Ok(false);
        }
        let slots = self.slots(end).await?;
        Ok(slots.iter().all(|it| it.missing + it.unfinished == 0))
    }

    /// Stops the nodes, then checks everything that was promised by `end`.
    pub(crate) async fn check(&mut self, end: Timestamp, run: &Run<'_>) -> Result<ChaosReport> {
        for member in &mut self.members {
            member.stop().await.map_err(failed)?;
        }
        let schedules = self.slots(end).await?;
        let articles = report::check_articles(&self.articles().await?, SystemClock.now());
        let customer = self.customer.figures();
        let mut counted = BTreeMap::new();
        for injection in &run.plan.injections {
            *counted.entry(injection.fault.name()).or_default() += 1;
        }
        Ok(ChaosReport {
            seed: run.arguments.seed,
            seconds: end.duration_since(self.begun).unsigned_abs().as_secs(),
            injections: counted,
            left_out: run.plan.left_out.clone(),
            broken: report::broken(&schedules, &customer, &articles),
            schedules,
            customer,
            articles,
            memory_kb: most_memory(&self.samples),
        })
    }

    /// The start and the memory samples, for the chart.
    pub(crate) fn seen(&self) -> (Timestamp, &[Sample]) {
        (self.begun, &self.samples)
    }

    /// Stops the world and every running node.
    pub(crate) async fn clear(mut self) {
        self.asking.cancel();
        for member in &mut self.members {
            // A node that cannot be killed has ended.
            let _ = member.kill().await;
        }
        self.world.cancel();
        let _ = tokio::join!(self.service.join, self.hooks.join);
    }

    async fn articles(&self) -> Result<Vec<article::state::Article>> {
        self.service.articles(ARTICLES_MAX).await.map_err(failed)
    }

    async fn slots(&self, end: Timestamp) -> Result<Vec<SlotFigures>> {
        let hooks = &self.hooks.handle;
        let mut all = Vec::new();
        for (name, ready) in &self.schedules {
            let mut figures = self.slots_of(name, ready, end).await?;
            figures.taken = hooks.count_at(name.as_str(), Outcome::Taken);
            figures.repeated = hooks.count_at(name.as_str(), Outcome::Repeated);
            all.push(figures);
        }
        Ok(all)
    }

    async fn slots_of(
        &self,
        name: &ScheduleName,
        ready: &Ready,
        end: Timestamp,
    ) -> Result<SlotFigures> {
        let found = self.store.load_schedules(std::slice::from_ref(name));
        let Some(schedule) = found.await?.into_iter().flatten().next() else {
            return Err(Failure::failed(format!("schedule `{name}` is missing")));
        };
        let mut ledger = Vec::new();
        let mut before = Timestamp::MAX;
        loop {
            let page = LedgerPage {
                before,
                limit: PAGE,
            };
            let rows = self.store.load_slots(schedule.id, page).await?;
            let Some(last) = rows.last() else { break };
            before = last.slot_at;
            ledger.extend(rows);
        }
        let expected: Vec<Timestamp> =
            std::iter::successors(ready.next_after(self.begun), |slot| ready.next_after(*slot))
                .take_while(|slot| *slot <= end)
                .collect();
        let mut figures = account(name.as_str(), &expected, &ledger);
        // Calls are counted over the whole run, so firings are too.
        figures.unfinished = self.unfinished(name, &ledger, end).await?;
        let fired = ledger.iter().filter(|row| row.verdict.is_fired());
        let beyond = fired.filter(|row| row.slot_at > end || row.slot_at <= self.begun);
        figures.fired_beyond = beyond.count() as u64;
        Ok(figures)
    }

    /// Fired slots without a result. The added schedule's firings must all succeed; those of others
    /// may fail, by their policies.
    async fn unfinished(
        &self,
        name: &ScheduleName,
        ledger: &[Slot],
        end: Timestamp,
    ) -> Result<u64> {
        let fired = ledger
            .iter()
            .filter(|row| row.verdict.is_fired() && row.slot_at <= end);
        // A stored name always gives valid identities.
        let identities: Vec<_> = fired
            .filter_map(|row| slot_identity(name, row.slot_at).ok())
            .collect();
        let mut unfinished = 0;
        for page in identities.chunks(PAGE) {
            let tasks = self.store.load_current(page).await?;
            let open = tasks.iter().filter(|task| match task {
                Some(task) if name.as_str() == EVERY_SECOND => task.status != Status::Success,
                Some(task) => task.is_live(),
                None => true,
            });
            unfinished += open.count() as u64;
        }
        Ok(unfinished)
    }
}

/// A step of the run: a fault is injected or repaired.
struct Step {
    at: Duration,
    injection: Injection,
    repairs: bool,
}

fn steps(injections: &[Injection]) -> Vec<Step> {
    let both = |injection: &Injection| {
        let step = |at, repairs| Step {
            at,
            injection: *injection,
            repairs,
        };
        [step(injection.at, false), step(injection.until(), true)]
    };
    let mut steps: Vec<_> = injections.iter().flat_map(both).collect();
    steps.sort_by_key(|step| step.at);
    steps
}

fn injected(injection: &Injection) -> String {
    let way = if injection.forward { "ahead" } else { "behind" };
    let what = match injection.fault {
        Fault::Kill => "killed".to_owned(),
        Fault::Freeze => "frozen".to_owned(),
        Fault::Cut => "cut off from the database".to_owned(),
        Fault::Clock => format!("clock set an hour {way}"),
        Fault::Start => format!("restarted with its clock an hour {way}"),
    };
    format!("{what}, for {:.1} s", injection.lasts.as_secs_f64())
}

fn repaired(fault: Fault) -> String {
    match fault {
        Fault::Kill => "restarted",
        Fault::Freeze => "resumed",
        Fault::Cut => "reconnected to the database",
        Fault::Clock | Fault::Start => "clock corrected",
    }
    .to_owned()
}
