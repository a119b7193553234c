//! Processes that make editions. One dies by being dropped, at whatever await it had reached.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::{Context, Poll},
};

use almanack_core::{
    alert::port::Notifier,
    store::Store,
    time::{Clock, CorrectedClock},
};
use almanack_engine::{
    editions::{EditionSet, Editions, Outside, Settings, shared::SharedTexts},
    reloadable::Reloadable,
    reschedule::{Kinds, Rescheduler},
    watch::{Watch, WatchSettings, Watching},
};
use almanack_testkit::edition_harness::EditionHarness;
use tokio::sync::Mutex;

use super::{
    super::{
        dice::Dice,
        faults::{FaultyStore, Traffic, Weather},
        record::Record,
        time::{Barrier, NodeClock, NodeSleeper, TrueClock},
    },
    between,
    cast::Cast,
    witness::Witness,
};

pub(super) struct World {
    pub(super) truth: TrueClock,
    pub(super) record: Arc<Record>,
    pub(super) cast: Arc<Cast>,
    pub(super) room: EditionHarness,
    pub(super) witness: Witness,
    /// The store, behind the witness.
    pub(super) store: Arc<dyn Store>,
    pub(super) weather: Weather,
    pub(super) healed: Arc<AtomicBool>,
    pub(super) adjust: fn(&mut Settings),
    pub(super) meddle: fn(Outside) -> Outside,
    pub(super) notifier: fn(EditionHarness) -> Arc<dyn Notifier>,
    pub(super) processes: AtomicU32,
}

/// One process, from start to end.
pub(super) struct Process {
    pub(super) name: String,
    /// On whose account the harness counts.
    pub(super) account: u32,
    pub(super) editions: EditionSet,
    /// Looks at everything for as long as the process lives, as a node's does.
    pub(super) watch: Mutex<Watch>,
}

impl World {
    pub(super) fn start(&self, name: &str, dice: &Dice) -> Process {
        let account = 1 + self.processes.fetch_add(1, Ordering::Relaxed);
        let barrier = Arc::new(Barrier::new(self.truth));
        let clock = self.clock(dice);
        let store = self.way(name, &barrier, dice);
        let sleeper = NodeSleeper {
            clock: Arc::clone(&clock),
            barrier,
        };
        let clock: Arc<dyn Clock> = clock;
        let kinds = Kinds {
            accept_any: true,
            ..Kinds::default()
        };
        let rescheduler = Rescheduler::new(Arc::clone(&store), Arc::clone(&clock), kinds);
        let outside = self.room.on_account_of(account).outside();
        let (sleeper, rescheduler) = (Arc::new(sleeper), Arc::new(rescheduler));
        // One alone shares nothing, as in the product.
        let renderer = Arc::clone(&outside.renderer);
        let texts = (self.cast.names.len() > 1)
            .then(|| SharedTexts::new(Arc::clone(&store), Arc::clone(&clock), renderer));
        let all = self.cast.names.iter().map(|edition| {
            let mut settings = self.cast.settings.clone();
            settings.name = *edition;
            name.clone_into(&mut settings.node);
            (self.adjust)(&mut settings);
            let own = ((self.meddle)(outside.clone()), &settings);
            let outside = between::around(self, (&store, &clock), texts.as_ref(), own);
            Arc::new(Editions {
                shown: Arc::clone(&store),
                store: Arc::clone(&store),
                clock: Arc::clone(&clock),
                sleeper: sleeper.clone(),
                rescheduler: Arc::clone(&rescheduler),
                outside,
                settings,
                subscriptions: Reloadable::default(),
            })
        });
        let all: Vec<_> = all.collect();
        Process {
            name: name.to_owned(),
            account,
            watch: Mutex::new(Watch::new(
                Arc::clone(&store),
                Arc::clone(&clock),
                Reloadable::new(Watching {
                    settings: WatchSettings::default(),
                    notifier: (self.notifier)(self.room.clone()),
                }),
            )),
            editions: EditionSet::of(all),
        }
    }

    fn way(&self, who: &str, barrier: &Arc<Barrier>, dice: &Dice) -> Arc<dyn Store> {
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

    fn clock(&self, dice: &Dice) -> Arc<CorrectedClock> {
        let most = i64::try_from(self.cast.skew.as_micros()).unwrap_or(0);
        let clock = NodeClock::new(self.truth, dice.between(-most, most), 0);
        Arc::new(CorrectedClock::new(Arc::new(clock)))
    }

    pub(super) fn is_healed(&self) -> bool {
        self.healed.load(Ordering::Relaxed)
    }
}

/// Work that is dropped when it has been polled so often: `None` then.
pub(super) struct Mortal<'a, T> {
    pub(super) work: Pin<Box<dyn Future<Output = T> + 'a>>,
    pub(super) polls_left: Option<u64>,
}

impl<T> Future for Mortal<'_, T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        match &mut self.polls_left {
            Some(0) => return Poll::Ready(None),
            Some(left) => *left -= 1,
            None => {}
        }
        self.work.as_mut().poll(context).map(Some)
    }
}
