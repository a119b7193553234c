//! Nodes that plan. One dies by having its task aborted, at whatever call it had reached.

use std::{
    sync::{Arc, OnceLock, atomic::AtomicBool},
    time::Duration,
};

use almanack_core::{
    clock::GuardedClock,
    store::Store,
    time::{Clock, CorrectedClock},
};
use almanack_engine::{planner::Planner, zones::Zones};
use jiff::SignedDuration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{
    super::{
        dice::Dice,
        faults::{FaultyStore, Traffic, Weather},
        record::Record,
        time::{Barrier, NodeClock, NodeSleeper, SetClock, TrueClock},
    },
    chronicle::Chronicle,
};

#[derive(Clone)]
pub(super) struct World {
    pub(super) truth: TrueClock,
    pub(super) record: Arc<Record>,
    pub(super) chronicle: Chronicle,
    /// The store, behind the chronicle.
    pub(super) store: Arc<dyn Store>,
    pub(super) weather: Weather,
    pub(super) skew: SignedDuration,
    pub(super) healed: Arc<AtomicBool>,
    pub(super) zones: Arc<Zones>,
}

impl World {
    /// A separate way to the store.
    pub(super) fn way(&self, who: &str, barrier: &Arc<Barrier>, dice: &Dice) -> Arc<dyn Store> {
        let way = FaultyStore {
            below: Arc::clone(&self.store),
            who: who.to_owned(),
            truth: self.truth,
            barrier: Arc::clone(barrier),
            link: Arc::new(Barrier::new(self.truth)),
            record: Arc::clone(&self.record),
            dice: dice.fork(),
            weather: self.weather,
            session: Arc::new(OnceLock::new()),
            traffic: Traffic::default(),
            healed: Arc::clone(&self.healed),
        };
        way.store()
    }

    /// A clock as wrong as any, on a machine whose own is set now and then.
    pub(super) fn clock(&self, dice: &Dice) -> Arc<CorrectedClock> {
        let most = i64::try_from(self.skew.as_micros()).unwrap_or(0);
        let ahead_us = dice.between(-most, most);
        let clock = SetClock(NodeClock::new(self.truth, ahead_us, 0));
        let mark = clock.mark();
        let guard = GuardedClock::start(Arc::new(clock), Some(&mark));
        Arc::new(CorrectedClock::guarded(Arc::new(guard)))
    }
}

/// One node, from start to end.
pub(super) struct Process {
    name: String,
    run: usize,
    world: World,
    barrier: Arc<Barrier>,
    handle: JoinHandle<()>,
}

impl Process {
    pub(super) fn start(world: &World, slot: usize, dice: &Dice) -> Self {
        let name = format!("node-{slot}");
        let barrier = Arc::new(Barrier::new(world.truth));
        let clock = world.clock(dice);
        let store = world.way(&name, &barrier, dice);
        let sleeper = NodeSleeper {
            clock: Arc::clone(&clock),
            barrier: Arc::clone(&barrier),
        };
        let clock: Arc<dyn Clock> = clock;
        let planner = Planner::new(store, clock, Arc::clone(&world.zones));
        let run = world.chronicle.starts();
        world.record.note(&name, "starts");
        let handle = tokio::spawn(async move {
            let never = CancellationToken::new();
            planner.run(&sleeper, &never).await;
        });
        Self {
            name,
            run,
            world: world.clone(),
            barrier,
            handle,
        }
    }

    pub(super) fn crash(self) {
        self.world.record.note(&self.name, "crashes");
        self.handle.abort();
        self.world.chronicle.ends(self.run);
    }

    /// SIGSTOP, for so long.
    pub(super) fn freeze(&self, time: Duration) {
        let note = format_args!("is frozen for {time:?}");
        self.world.record.note(&self.name, note);
        self.barrier.shut_for(time);
        self.world
            .chronicle
            .freezes(self.run, self.world.truth.now() + time);
    }
}
