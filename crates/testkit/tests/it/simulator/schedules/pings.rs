//! Jobs that run elsewhere and ping: on time, late, never, twice, failing, while nodes crash,
//! clocks are wrong and people pause monitors (DP-23).
//!
//! Each job knows only its own times. It notes when it sent a ping and when it got its answer, by
//! the true clock; like `curl --retry` it tries again without one. The checks compare these notes
//! with the ledger: what was surely in time is `pinged`, what surely was not is `no_ping`, every
//! slot has one verdict, and what was answered is kept.

use std::{
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use almanack_core::{
    plan::{Arrival, Definition, DownCause, Origin, PingKind, Reason, ScheduleName, Slot, Verdict},
    store::{LedgerPage, MonitorKey, MonitorKeys, Store},
    target::Target,
};
use almanack_engine::{
    schedules::{Error, Schedules},
    zones::Zones,
};
use almanack_testkit::layer::{Layer, Layered};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::{
    super::{
        Broken,
        dice::Dice,
        faults::Weather,
        record::Record,
        time::{Barrier, TrueClock, on_virtual_time, pass},
    },
    chronicle::Chronicle,
    planners::{Process, World},
};

const PERIOD: SignedDuration = SignedDuration::from_mins(30);
const GRACE: SignedDuration = SignedDuration::from_mins(10);
const SKEW: SignedDuration = SignedDuration::from_secs(2);
/// Within this a note and a decision are at the same time: two wrong clocks and a slow call.
const UNSURE: SignedDuration = SignedDuration::from_secs(10);
const DAYS: i64 = 2;
const NODES: usize = 3;
/// By expression, and by period.
const JOBS: [(&str, &str); 4] = [
    ("cron-a", "*/30 * * * *"),
    ("cron-b", "*/30 * * * *"),
    ("period-a", "@every 30m"),
    ("period-b", "@every 30m"),
];
/// Answered pings that are looked for among the newest.
const LOOKED_FOR: usize = 30;

/// A store that nodes need not ask every second: a verdict may come late, and is the same.
struct Unhurried;

#[async_trait]
impl Layer for Unhurried {
    fn safety_poll(&self, _: &dyn Store) -> SignedDuration {
        SignedDuration::from_mins(5)
    }
}

/// A ping as its job knows it.
#[derive(Debug, Clone)]
struct Note {
    id: String,
    sent: Timestamp,
    /// When the last try was over.
    over: Timestamp,
    answered: bool,
}

type Notes = Arc<Mutex<Vec<Note>>>;

/// A pause as the person knows it who asked for it: each end is somewhere between two instants.
#[derive(Debug, Clone, Copy)]
struct Rest {
    from: (Timestamp, Timestamp),
    to: (Timestamp, Timestamp),
}

impl Rest {
    /// Whether all of this time surely lies in it.
    fn covers(&self, from: Timestamp, to: Timestamp) -> bool {
        self.from.1 + UNSURE <= from && to <= self.to.0 - UNSURE
    }

    /// Whether some of this time may lie in it.
    fn may_touch(&self, from: Timestamp, to: Timestamp) -> bool {
        self.from.0 - UNSURE <= to && from <= self.to.1 + UNSURE
    }
}

/// Runs the story of `seed`.
pub(crate) fn simulate_pings(
    seed: u64,
    open: impl FnOnce() -> Arc<dyn Store>,
) -> Result<Vec<String>, Broken> {
    on_virtual_time(async {
        let dice = Dice::new(seed);
        let world = world(&dice, open());
        let (notes, rests) = play(&world, &dice).await;
        for ((name, _), notes) in JOBS.iter().zip(notes) {
            let rests: Vec<Rest> = rests
                .iter()
                .filter(|it| it.0 == *name)
                .map(|it| it.1)
                .collect();
            let checked = check(&world, name, (&notes, &rests)).await;
            world.record.check(checked);
        }
        let log = world.record.take_lines();
        match world.record.broken() {
            Some(what) => Err(Broken { seed, what, log }),
            None => Ok(log),
        }
    })
}

fn world(dice: &Dice, store: Arc<dyn Store>) -> World {
    let truth = TrueClock::start();
    let record = Arc::new(Record::new(truth));
    World {
        truth,
        chronicle: Chronicle::new(truth, Arc::clone(&record), SKEW),
        record,
        store: Layered::over(store, Unhurried),
        weather: Weather::draw_steady(dice),
        skew: SKEW,
        healed: Arc::new(AtomicBool::new(false)),
        zones: Arc::new(Zones::default()),
    }
}

async fn play(world: &World, dice: &Dice) -> (Vec<Vec<Note>>, Vec<(&'static str, Rest)>) {
    let until =
        world.truth.now() + SignedDuration::from_hours(24) * i32::try_from(DAYS).unwrap_or(1);
    for (name, expression) in JOBS {
        put(world, name, expression).await;
    }
    let notes: Vec<Notes> = JOBS.iter().map(|_| Notes::default()).collect();
    let jobs: Vec<_> = JOBS
        .iter()
        .zip(&notes)
        .map(|((name, _), notes)| {
            let job = job(
                world.clone(),
                (*name).to_owned(),
                dice.fork(),
                notes.clone(),
                until,
            );
            tokio::spawn(job)
        })
        .collect();
    let person = tokio::spawn(pause_now_and_then(world.clone(), dice.fork(), until));
    let mut processes: Vec<Option<Process>> = (0..NODES).map(|_| None).collect();
    while world.truth.now() < until {
        let slot = usize::try_from(dice.below(NODES as u64)).unwrap_or(0);
        processes[slot] = match processes[slot].take() {
            None => Some(Process::start(world, slot, dice)),
            Some(node) if dice.hits(400) => {
                node.crash();
                None
            }
            Some(node) => {
                node.freeze(dice.millis(500, 600_000));
                Some(node)
            }
        };
        pass(dice.millis(10_000, 5_400_000)).await;
    }
    for job in jobs {
        let _ = job.await;
    }
    let rests = person.await.unwrap_or_default();
    world
        .healed
        .store(true, std::sync::atomic::Ordering::Relaxed);
    for (slot, node) in processes.iter_mut().enumerate() {
        if let Some(node) = node.take() {
            node.crash();
        }
        *node = Some(Process::start(world, slot, dice));
    }
    // Longer than any slot and its grace, and than the machine's clock is wrong.
    pass(Duration::from_hours(3)).await;
    processes.into_iter().flatten().for_each(Process::crash);
    let taken = |notes: Notes| notes.lock().unwrap_or_else(PoisonError::into_inner).clone();
    (notes.into_iter().map(taken).collect(), rests)
}

/// A person who pauses jobs, each until the pause is over or they resume it.
async fn pause_now_and_then(
    world: World,
    dice: Dice,
    until: Timestamp,
) -> Vec<(&'static str, Rest)> {
    let mut rests = Vec::new();
    let hours = SignedDuration::from_hours;
    loop {
        pass(dice.millis(3_600_000, 10 * 3_600_000)).await;
        let lasts = SignedDuration::from_mins(dice.between(20, 300));
        if world.truth.now() + lasts > until - hours(2) {
            return rests;
        }
        let (name, _) = *dice.pick(&JOBS);
        let by_itself = dice.hits(500);
        let ends_at = world.truth.now() + lasts;
        let from = ask(&world, &dice, |schedules| async move {
            let end = by_itself.then_some(ends_at);
            schedules.pause(&named(name), end, None, "ada").await
        });
        let from = from.await;
        let wait = ends_at
            .duration_since(world.truth.now())
            .max(SignedDuration::ZERO);
        pass(Duration::try_from(wait).unwrap_or_default()).await;
        let to = if by_itself {
            (ends_at, ends_at)
        } else {
            let resumed = ask(&world, &dice, |schedules| async move {
                schedules.resume(&named(name), "ada").await
            });
            resumed.await
        };
        world.record.note(name, "was paused");
        rests.push((name, Rest { from, to }));
    }
}

/// Asks until there is an answer; from when to when that took.
async fn ask<T, F: Future<Output = Result<T, Error>>>(
    world: &World,
    dice: &Dice,
    request: impl Fn(Schedules) -> F,
) -> (Timestamp, Timestamp) {
    let asked_at = world.truth.now();
    loop {
        let barrier = Arc::new(Barrier::new(world.truth));
        let store = world.way("ada", &barrier, dice);
        let schedules = Schedules::new(store, world.clock(dice), Arc::clone(&world.zones));
        match request(schedules).await {
            Ok(_) => return (asked_at, world.truth.now()),
            Err(error) => world.record.note("ada", format_args!("hears: {error}")),
        }
        pass(dice.millis(100, 5_000)).await;
    }
}

fn named(name: &str) -> ScheduleName {
    ScheduleName::parse(name).expect("a short name")
}

async fn put(world: &World, name: &str, expression: &str) {
    let clock = world.clock(&Dice::new(0));
    let schedules = Schedules::new(Arc::clone(&world.store), clock, Arc::clone(&world.zones));
    let definition = Definition {
        grace: Some(GRACE),
        ..Definition::new(expression, Target::Ping { note: None })
    };
    let monitor = named(name);
    let put = schedules.put(&monitor, definition, Origin::Api, "ada");
    let schedule = put.await.expect("a new monitor").schedule;
    let keys = MonitorKeys {
        ping_hash: Some(name.to_owned()),
        badge: None,
    };
    assert!(schedules.save_keys(&schedule, &keys).await.expect("keys"));
}

async fn job(world: World, name: String, dice: Dice, notes: Notes, until: Timestamp) {
    for run in 0_i32.. {
        let slot = almanack_testkit::fixture::START + PERIOD * (run + 1);
        if slot > until {
            return;
        }
        let (delays, kinds): (Vec<i64>, &[PingKind]) = match dice.below(100) {
            0..50 => (vec![dice.between(15, 480)], &[PingKind::Success]),
            50..58 => (
                vec![dice.between(15, 480)],
                &[PingKind::Start, PingKind::Success],
            ),
            58..66 => (vec![dice.between(15, 480)], &[PingKind::Fail]),
            66..76 => (
                vec![dice.between(15, 100), dice.between(110, 480)],
                &[PingKind::Success],
            ),
            76..88 => (vec![dice.between(595, 1_500)], &[PingKind::Success]),
            _ => (Vec::new(), &[]),
        };
        for delay in delays {
            let at = slot + SignedDuration::from_secs(delay);
            let wait = at
                .duration_since(world.truth.now())
                .max(SignedDuration::ZERO);
            pass(Duration::try_from(wait).unwrap_or_default()).await;
            for kind in kinds {
                let note = ping(&world, &name, *kind, &dice, run).await;
                if *kind != PingKind::Start {
                    notes
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(note);
                }
            }
        }
    }
}

/// Sends one ping until it is answered, or for as long as `curl --retry 5` would.
async fn ping(world: &World, name: &str, kind: PingKind, dice: &Dice, run: i32) -> Note {
    let barrier = Arc::new(Barrier::new(world.truth));
    let store = world.way(name, &barrier, dice);
    let schedules = Schedules::new(store, world.clock(dice), Arc::clone(&world.zones));
    let sent = world.truth.now();
    let id = format!("{name}-{run}-{}", sent.as_millisecond());
    let arrival = Arrival {
        kind,
        exit_status: None,
        rid: None,
        method: "POST".to_owned(),
        body: Some(id.clone()),
    };
    let key = MonitorKey::Ping(name.to_owned());
    let mut answered = false;
    for _ in 0..6 {
        match schedules.ping(&key, &arrival).await {
            Ok(Some(_)) => {
                answered = true;
                break;
            }
            Ok(None) => world
                .record
                .broke(format_args!("{name}: its key is unknown")),
            Err(error) => world.record.note(name, format_args!("a ping got: {error}")),
        }
        pass(dice.millis(100, 900)).await;
    }
    let over = world.truth.now();
    world
        .record
        .note(name, format_args!("pinged {kind}, answered: {answered}"));
    Note {
        id,
        sent,
        over,
        answered,
    }
}

async fn check(
    world: &World,
    name: &str,
    (notes, rests): (&[Note], &[Rest]),
) -> Result<(), String> {
    let broken = |what: String| Err(format!("{name}: {what}"));
    let found = world.store.load_schedules(&[named(name)]).await;
    let Some(schedule) = found.ok().and_then(|mut found| found.pop().flatten()) else {
        return broken("it is gone".to_owned());
    };
    let page = LedgerPage {
        before: Timestamp::MAX,
        limit: 100_000,
    };
    let rows = world.store.load_slots(schedule.id, page).await;
    let rows = rows.map_err(|error| error.to_string())?;
    for row in &rows {
        world.record.note(
            name,
            format_args!("{} {}", row.slot_at, row.verdict.as_str()),
        );
    }
    if name.starts_with("cron") {
        by_expression(&rows, notes, rests).or_else(broken)?;
    } else {
        by_period(&rows, notes, rests).or_else(broken)?;
    }
    let pings = world.store.load_pings(schedule.id, u64::MAX, 1_000).await;
    let pings = pings.map_err(|error| error.to_string())?;
    let is_kept = |note: &Note| {
        pings
            .iter()
            .any(|ping| ping.body.as_ref() == Some(&note.id))
    };
    let answered = notes.iter().rev().filter(|note| note.answered);
    if let Some(lost) = answered.take(LOOKED_FOR).find(|note| !is_kept(note)) {
        return broken(format!("the answered ping {} is not kept", lost.id));
    }
    let monitor = world.store.load_monitors(&[schedule.id]).await;
    let monitor = monitor.ok().and_then(|mut found| found.pop().flatten());
    let down = monitor.and_then(|monitor| monitor.down);
    match down {
        None => broken("no ping for hours, and it is not down".to_owned()),
        Some(down) if down.cause == DownCause::Overran => broken("every run ended".to_owned()),
        Some(_) => Ok(()),
    }
}

fn covering(rows: &[Slot], slot: Timestamp) -> Vec<&Slot> {
    let covers = |row: &&Slot| row.slot_at <= slot && slot <= row.last_at;
    rows.iter().filter(covers).collect()
}

/// Every slot of the expression, one by one.
fn by_expression(rows: &[Slot], notes: &[Note], rests: &[Rest]) -> Result<(), String> {
    let start = almanack_testkit::fixture::START;
    for number in 1..=(DAYS * 48) {
        let slot = start + PERIOD * i32::try_from(number).unwrap_or(1);
        let [row] = covering(rows, slot)[..] else {
            return Err(format!("{slot} has not exactly one verdict"));
        };
        let until = slot + GRACE;
        let is_paused = row.verdict == Verdict::Skipped(Reason::Paused);
        if rests.iter().any(|rest| rest.covers(slot, until)) {
            if !is_paused {
                let verdict = row.verdict.as_str();
                return Err(format!("{slot} is {verdict}, but the monitor was paused"));
            }
            continue;
        }
        if rests.iter().any(|rest| rest.may_touch(slot, until)) {
            continue;
        }
        if is_paused {
            return Err(format!("{slot} is paused, but the monitor was not"));
        }
        let surely = |note: &&Note| {
            note.answered && note.sent >= slot + UNSURE && note.over <= until - UNSURE
        };
        let maybe = |note: &&Note| note.over >= slot - UNSURE && note.sent <= until + UNSURE;
        let heard_before = |note: &&Note| note.answered && note.over < slot - UNSURE;
        let sure = notes.iter().find(surely);
        if let Some(note) = sure.filter(|_| row.verdict != Verdict::Pinged) {
            let verdict = row.verdict.as_str();
            return Err(format!("{slot} is {verdict}, but {} was in time", note.id));
        }
        if !notes.iter().any(|note| maybe(&note)) {
            let known = notes.iter().any(|note| heard_before(&note));
            match row.verdict {
                Verdict::Skipped(Reason::NoPing) => {}
                Verdict::Skipped(Reason::NeverPinged) if !known => {}
                other => {
                    let verdict = other.as_str();
                    return Err(format!("{slot} is {verdict}, but no ping came"));
                }
            }
        }
    }
    Ok(())
}

/// Every time between two pings of which both were answered and none is in doubt between.
fn by_period(rows: &[Slot], notes: &[Note], rests: &[Rest]) -> Result<(), String> {
    for pair in notes.windows(2) {
        let [a, b] = pair else { continue };
        let rested = rests.iter().any(|rest| rest.may_touch(a.sent, b.over));
        if !(a.answered && b.answered) || rested {
            continue;
        }
        let missed = rows.iter().find(|row| {
            row.verdict == Verdict::Skipped(Reason::NoPing)
                && row.slot_at > a.over
                && row.slot_at < b.sent
        });
        let (least, most) = (b.sent.duration_since(a.over), b.over.duration_since(a.sent));
        let allowed = PERIOD + GRACE;
        match missed {
            Some(row) if most < allowed - UNSURE => {
                return Err(format!(
                    "{} is no_ping, but {} was in time",
                    row.slot_at, b.id
                ));
            }
            None if least > allowed + UNSURE => {
                return Err(format!("nothing is missed between {} and {}", a.id, b.id));
            }
            _ => {}
        }
    }
    let mut before: Option<&Slot> = None;
    for row in rows.iter().rev() {
        if before.is_some_and(|before| before.last_at >= row.slot_at) {
            return Err(format!("{} has two verdicts", row.slot_at));
        }
        before = Some(row);
    }
    Ok(())
}
