//! The stage: one world, years of days, a rest, and the reckoning.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use almanack_core::{edition::EditionId, store::Store};
use almanack_testkit::{
    edition_harness::{Call, EditionHarness},
    layer::Layered,
};
use jiff::{SignedDuration, Timestamp, ToSpan, civil::Date};

use super::{
    super::{
        Broken,
        dice::Dice,
        faults::Weather,
        record::Record,
        time::{TrueClock, pass},
    },
    EditionOptions, EditionSummary,
    cast::Cast,
    checks::{self, Mailboxes},
    climate::Climate,
    deeds::{Deed, Ended, Turn, perform},
    nodes::{Process, World},
    people,
    witness::Witness,
};

/// Sets the dice about deadlines and quality apart from all others.
const STANDARDS: u64 = 0x5eed_0038;
/// And those about costs and repeats.
const COSTS: u64 = 0x5eed_0044;
const NODES: usize = 2;
const MINUTE_MS: u64 = 60_000;
const HOUR_MS: u64 = 60 * MINUTE_MS;
/// Days in which nothing goes wrong any more: what was taken up again has a day's time, and a day
/// to be put away.
const REST_DAYS: u32 = 3;
/// Makes another seed of a seed.
const DESK: u64 = 0xDE5C;
/// Retention keeps stories for so long.
const KEPT_DAYS: i64 = 30;

/// When readers of a day with a deadline must have its edition.
#[derive(Clone, Copy)]
enum Expected {
    InTime,
    Sometime,
}

/// Everything one simulation needs.
pub(super) struct Stage {
    seed: u64,
    dice: Dice,
    days: u32,
    world: World,
    climate: Arc<Climate>,
    mailboxes: Mailboxes,
    nodes: [Option<Process>; NODES],
    away_until: [Timestamp; NODES],
    person: Dice,
    /// The dice of whoever approves and corrects.
    desk: Dice,
    queued: BTreeSet<EditionId>,
    /// The day whose destination a person skipped last, until they have another request.
    skipped: Option<EditionId>,
}

impl Stage {
    pub(super) fn set(seed: u64, options: &EditionOptions, store: Arc<dyn Store>) -> Self {
        let dice = Dice::new(seed);
        let truth = TrueClock::start();
        let record = Arc::new(Record::new(truth));
        let desk = Dice::new(seed ^ DESK);
        let standards = Dice::new(seed ^ STANDARDS);
        let costs = Dice::new(seed ^ COSTS);
        let own = (&desk, &standards, &costs);
        let cast = Cast::draw((seed, &dice), own, options.approving);
        let cast = Arc::new(cast);
        record.note("world", format_args!("{:?}", cast.settings.rules));
        record.note("world", format_args!("{:?}", cast.places));
        record.note("world", format_args!("{:?}", cast.settings.caps));
        // Enough that an edition of which all days before had everything finds something new.
        let stories = 4 * u32::try_from(cast.settings.rules.stories).unwrap_or(1) + 3;
        let room = EditionHarness::with_places(stories, cast.places.clone()).opening();
        let healed = Arc::new(AtomicBool::new(false));
        let climate = Climate::rules_over(&room, dice.fork(), truth, Arc::clone(&healed));
        let witness = Witness::new(truth, Arc::clone(&record), Arc::clone(&cast), room.clone());
        let world = World {
            truth,
            record,
            cast,
            room,
            store: Layered::over(store, witness.clone()),
            witness,
            weather: Weather::draw_quiet(&dice),
            healed,
            adjust: options.adjust,
            meddle: options.meddle,
            notifier: options.notifier,
            processes: AtomicU32::new(0),
        };
        Self {
            seed,
            days: options.days,
            climate,
            mailboxes: Mailboxes::default(),
            nodes: [None, None],
            away_until: [truth.now(); NODES],
            person: dice.fork(),
            desk,
            queued: BTreeSet::new(),
            skipped: None,
            dice,
            world,
        }
    }

    pub(super) async fn play(mut self) -> Result<EditionSummary, Broken> {
        let mut date = self.today();
        for _ in 0..self.days {
            if self.world.record.is_broken() {
                break;
            }
            self.day(date).await;
            date = date.tomorrow().unwrap_or(date);
        }
        self.heal();
        for day in 0..REST_DAYS {
            if !self.world.record.is_broken() {
                // The first of them may have begun before, with everything that went wrong.
                let when = if day == 0 {
                    Expected::Sometime
                } else {
                    Expected::InTime
                };
                self.quiet_day(date, when).await;
                date = date.tomorrow().unwrap_or(date);
            }
        }
        if !self.world.record.is_broken() {
            self.mute_day(date).await;
        }
        let mut summary = EditionSummary::default();
        if !self.world.record.is_broken() {
            let reader = self.world.start("reader", &self.dice);
            let costs = self.world.witness.check_costs(&*self.world.store).await;
            self.world.record.check(costs);
            let checked = checks::check(&self.world, &reader.editions).await;
            self.world
                .record
                .check(checked.map(|counted| summary = counted));
        }
        summary.messages = self.mailboxes.messages();
        summary.log = self.world.record.take_lines();
        match self.world.record.broken() {
            None => Ok(summary),
            Some(what) => Err(Broken {
                seed: self.seed,
                what,
                log: summary.log,
            }),
        }
    }

    fn today(&self) -> Date {
        let zone = &self.world.cast.settings.zone;
        zone.to_datetime(self.world.truth.now()).date()
    }

    /// Waits for an instant of a day; not at all if it is over.
    async fn wait_for(&self, date: Date, into_the_day: Duration) {
        let midnight = date.to_zoned(self.world.cast.settings.zone.clone());
        let midnight = midnight.expect("a day of the calendar").timestamp();
        let at = midnight + SignedDuration::try_from(into_the_day).unwrap_or_default();
        loop {
            let left = at.duration_since(self.world.truth.now());
            match Duration::try_from(left) {
                Ok(left) if left > Duration::ZERO => pass(left).await,
                _ => return,
            }
        }
    }

    /// A day with everything that may go wrong: as many moments as it needs, and a few.
    async fn day(&mut self, date: Date) {
        let begins = match self.dice.below(20) {
            // Clocks differ: one node is in the new day, another in the old one.
            0 | 1 => self.dice.millis(0, 4_000),
            // The day ends before the edition does.
            2 => self.dice.millis(22 * HOUR_MS, 24 * HOUR_MS),
            _ => self.dice.millis(0, 20 * HOUR_MS),
        };
        self.wait_for(date, begins).await;
        self.dawn(date).await;
        if self.dice.hits(10) {
            self.world.record.note("world", "no node is running");
            return;
        }
        let most = self.world.cast.ticks_needed() as u64 + 3 + self.dice.below(6);
        for _ in 0..most {
            self.moment().await;
            let broken = self.world.record.is_broken();
            let quiet = !self.is_open(date) && !self.dice.hits(300);
            if broken || quiet || self.today() > date {
                break;
            }
            let wait = if self.dice.hits(50) {
                self.dice.millis(HOUR_MS, 5 * HOUR_MS)
            } else {
                self.dice.millis(8 * MINUTE_MS, 11 * MINUTE_MS)
            };
            pass(wait).await;
        }
    }

    /// Whether there is work left in an edition of a day.
    fn is_open(&self, date: Date) -> bool {
        let mut names = self.world.cast.names.iter();
        names.any(|name| self.world.witness.is_open(EditionId::new(*name, date)))
    }

    async fn dawn(&mut self, date: Date) {
        let world = &self.world;
        world.room.forget_calls();
        let places = world.cast.places.iter().map(|place| place.name.clone());
        self.climate
            .dawns(&places.collect::<Vec<_>>(), &world.record);
        for (slot, until) in self.away_until.iter_mut().enumerate() {
            if self.dice.hits(20) {
                let hours = self.dice.between(1, 70);
                let note = format_args!("node-{slot} is away for {hours} hours");
                world.record.note("world", note);
                *until = world.truth.now() + SignedDuration::from_hours(hours);
                self.nodes[slot] = None;
            }
        }
        if self.dice.hits(20) {
            let before = date.checked_sub(KEPT_DAYS.days()).unwrap_or(date);
            let pruned = world.store.prune_stories(before, 50).await;
            world.record.note("retention", format_args!("{pruned:?}"));
            world.witness.forget_before(before);
        }
    }

    /// Nodes tick, in turn or at once, and people have requests.
    async fn moment(&mut self) {
        let queued: Vec<EditionId> = self.queued.iter().copied().collect();
        let [first, second] = self.turns(&queued);
        let request = people::request(&self.world, self.today().into(), self.skipped, &self.person);
        if let Some((deed, _)) = request {
            self.queued.extend(people::queues(&self.world, deed));
        }
        let decision = people::at_desk(&self.world, self.today().into(), &self.desk);
        if let Some((deed, _)) = decision {
            self.queued.extend(people::queues(&self.world, deed));
        }
        let world = &self.world;
        let (person, editor) = (self.person.fork(), self.desk.fork());
        let deciding = async {
            if let Some((deed, delay)) = decision {
                pass(delay).await;
                let process = world.start("eve", &editor);
                perform(world, &process, deed, &editor).await;
            }
        };
        let mut skipped = self.skipped;
        let requesting = async {
            if let Some((deed, delay)) = request {
                pass(delay).await;
                let process = world.start("ada", &person);
                let ended = perform(world, &process, deed, &person).await;
                skipped = match deed {
                    Deed::Skip(id) if ended == Ended::Well => Some(id),
                    _ => None,
                };
            }
        };
        let (first, second, (), ()) = tokio::join!(
            take(first, world),
            take(second, world),
            requesting,
            deciding
        );
        self.skipped = skipped;
        self.nodes = [first, second];
        self.mailboxes.look(&self.world);
        let witness = &self.world.witness;
        self.queued.extend(witness.let_out_late());
        self.queued.retain(|id| witness.is_open(*id));
    }

    /// Who ticks at this moment, and when.
    fn turns<'a>(&mut self, queued: &'a [EditionId]) -> [Option<Turn<'a>>; NODES] {
        let delays: [Vec<u64>; NODES] = match self.dice.below(20) {
            0..10 => [vec![0], vec![0]],
            10..14 => [vec![0], vec![self.dice.below(5 * MINUTE_MS)]],
            14 => [vec![self.dice.below(20_000)], vec![0]],
            // One of them goes on while the other may be stuck.
            15 => [vec![0], vec![100_000; 5]],
            16 => [vec![100_000; 5], vec![0]],
            17 => [vec![0], vec![]],
            _ => [vec![], vec![0]],
        };
        let now = self.world.truth.now();
        let mut slot = 0;
        delays.map(|delays| {
            let mine = slot;
            slot += 1;
            if self.away_until[mine] > now || delays.is_empty() {
                return None;
            }
            let dice = self.dice.fork();
            Some(Turn {
                process: self.node(mine, &dice),
                dice,
                delays: delays.into_iter().map(Duration::from_millis).collect(),
                queued: if mine == 0 { queued } else { &[] },
            })
        })
    }

    fn node(&mut self, slot: usize, dice: &Dice) -> Process {
        let process = self.nodes[slot].take();
        process.unwrap_or_else(|| self.world.start(&format!("node-{slot}"), dice))
    }

    /// The faults stop, and all nodes run.
    fn heal(&mut self) {
        self.world.record.note("world", "heals");
        self.world.healed.store(true, Ordering::Relaxed);
        self.away_until = [self.world.truth.now(); NODES];
    }

    /// A day on which no page and no model answers: readers have titles when they expect them,
    /// unless that is below the standard (ED-38, ED-39).
    async fn mute_day(&mut self, date: Date) {
        let settings = &self.world.cast.settings;
        if settings.ready_by.is_none() || settings.rules.quality.text_percent_min > 0 {
            return;
        }
        self.world
            .record
            .note("world", "no page and no model answers");
        self.climate.mute(true);
        self.expected_day(date, Expected::InTime).await;
        self.climate.mute(false);
        // What was degraded is improved, and the day after puts it away.
        let tomorrow = date.tomorrow().unwrap_or(date);
        for slot in 0..12 {
            self.quiet_tick(slot % NODES).await;
        }
        self.quiet_day(tomorrow, Expected::InTime).await;
    }

    /// A day on which readers expect an edition at a certain time, and have it.
    async fn expected_day(&mut self, date: Date, when: Expected) {
        self.world.room.forget_calls();
        // Ticks come at their times, however long the ones before take; an hour more than half a
        // day, for clocks that are put back.
        for tick in 0..13 * 6 {
            let into_the_day = Duration::from_mins(10) * u32::try_from(tick + 1).unwrap_or(1);
            self.wait_for(date, into_the_day).await;
            self.tick_and_watch(tick % NODES).await;
            if self.approve_waiting(date).await {
                self.tick_and_watch(tick % NODES).await;
            }
        }
        self.mailboxes.look(&self.world);
        let checked = match when {
            // Who approves it decides when readers have it.
            Expected::InTime if !self.needs_approval() => self.ready_in_time(date),
            Expected::InTime | Expected::Sometime => self.published(date, 13 * 6),
        };
        self.world.record.check(checked);
    }

    fn ready_in_time(&self, date: Date) -> Result<(), String> {
        let account = self.world.witness.edition(date.into());
        let edition = account.map(|account| account.edition);
        let times = edition.as_ref().map(|it| (it.ready_at, it.due_at));
        match times {
            Some((Some(ready_at), Some(due_at))) if ready_at <= due_at => Ok(()),
            _ => {
                let state = edition.map(|it| it.state);
                Err(format!(
                    "{date}: it is {state:?}, ready and due at {times:?}"
                ))
            }
        }
    }

    /// A day on which nothing goes wrong: published in as many ticks as it takes.
    async fn quiet_day(&mut self, date: Date, when: Expected) {
        if self.world.cast.settings.ready_by.is_some() {
            return self.expected_day(date, when).await;
        }
        self.wait_for(date, Duration::from_mins(10)).await;
        self.world.room.forget_calls();
        let needed = self.world.cast.ticks_needed();
        for tick in 0..needed {
            self.quiet_tick(tick % NODES).await;
            if self.approve_waiting(date).await {
                self.quiet_tick(tick % NODES).await;
            }
        }
        self.mailboxes.look(&self.world);
        self.world.record.check(self.published(date, needed));
        self.world.record.check(self.paid_once());
        // What began and was over in the last of them is notified in two more.
        for slot in 0..NODES {
            self.quiet_tick(slot).await;
        }
    }

    /// What editions share was fetched once for all of them (ED-37). Today's calls alone are known.
    fn paid_once(&self) -> Result<(), String> {
        if self.world.cast.names.len() < 2 {
            return Ok(());
        }
        let mut seen = BTreeSet::new();
        let calls = self.world.room.calls().into_iter();
        let mut pages = calls.filter(|call| matches!(call, Call::Page(_)));
        match pages.find(|page| !seen.insert(page.clone())) {
            Some(page) => Err(format!("{page:?} is paid for twice")),
            None => Ok(()),
        }
    }

    fn needs_approval(&self) -> bool {
        self.world.cast.settings.rules.approval.is_some()
    }

    /// Whether a person had to approve an edition of a day, and did.
    async fn approve_waiting(&mut self, date: Date) -> bool {
        let mut waiting = self.world.witness.waiting();
        waiting.retain(|id| id.date == date);
        for id in &waiting {
            let process = self.world.start("eve", &self.desk);
            perform(&self.world, &process, Deed::Approve(*id), &self.desk).await;
        }
        !waiting.is_empty()
    }

    async fn quiet_tick(&mut self, slot: usize) {
        self.tick_and_watch(slot).await;
        pass(Duration::from_mins(10)).await;
    }

    async fn tick_and_watch(&mut self, slot: usize) {
        let dice = self.dice.fork();
        let process = self.node(slot, &dice);
        let names = self.world.cast.names.clone();
        let ticks = names.into_iter().map(Deed::Tick);
        for deed in ticks.chain([Deed::Watch]) {
            perform(&self.world, &process, deed, &dice).await;
        }
        self.nodes[slot] = Some(process);
    }

    fn published(&self, date: Date, ticks: usize) -> Result<(), String> {
        for name in &self.world.cast.names {
            let id = EditionId::new(*name, date);
            let account = self.world.witness.edition(id);
            let state = account.map(|account| account.edition.state);
            if state != Some(almanack_core::edition::State::Published) {
                return Err(format!(
                    "{id}: it is {state:?} after {ticks} ticks in which nothing went wrong"
                ));
            }
        }
        Ok(())
    }
}

async fn take(turn: Option<Turn<'_>>, world: &World) -> Option<Process> {
    turn?.take(world).await
}
