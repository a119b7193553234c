//! What becomes of calls to the outside: each seed has its own rates, and parts of it are down for
//! days.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use almanack_core::edition::port::FailureClass;
use almanack_testkit::edition_harness::{Call, EditionHarness, InjectedFault};
use jiff::{SignedDuration, Timestamp};

use super::super::{dice::Dice, record::Record, time::TrueClock};

/// Parts of the outside that can be down, beside the destinations.
const PARTS: [&str; 4] = ["list", "reader", "writer", "notifier"];

/// How likely each trouble is, per thousand calls.
struct Rates {
    fails: u64,
    hangs: u64,
    lost: u64,
    lacks: u64,
    late: u64,
    down: u64,
}

pub(super) struct Climate {
    dice: Dice,
    truth: TrueClock,
    rates: Rates,
    healed: Arc<AtomicBool>,
    /// Whether no page and no model answers, while all else is well.
    mute: AtomicBool,
    down_until: Mutex<BTreeMap<String, Timestamp>>,
}

impl Climate {
    pub(super) fn rules_over(
        room: &EditionHarness,
        dice: Dice,
        truth: TrueClock,
        healed: Arc<AtomicBool>,
    ) -> Arc<Self> {
        let rate = |most: u64| if dice.hits(300) { 0 } else { dice.below(most) };
        let rates = Rates {
            fails: rate(60),
            hangs: rate(8),
            lost: rate(80),
            lacks: rate(40),
            late: rate(60),
            down: rate(40),
        };
        let climate = Arc::new(Self {
            rates,
            dice,
            truth,
            healed,
            mute: AtomicBool::new(false),
            down_until: Mutex::default(),
        });
        let decides = Arc::clone(&climate);
        room.decide(move |call, _| decides.injected_fault(call));
        climate
    }

    /// From now on, pages and models answer nothing, or answer again.
    pub(super) fn mute(&self, mute: bool) {
        self.mute.store(mute, Ordering::Relaxed);
    }

    /// A day begins, and something may break for some of them.
    pub(super) fn dawns(&self, destinations: &[String], record: &Record) {
        let parts = PARTS.into_iter().map(str::to_owned);
        for part in parts.chain(destinations.iter().cloned()) {
            if self.dice.hits(self.rates.down) {
                let hours = self.dice.between(1, 80);
                record.note("world", format_args!("{part} is down for {hours} hours"));
                let until = self.truth.now() + SignedDuration::from_hours(hours);
                self.down().insert(part, until);
            }
        }
    }

    fn down(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Timestamp>> {
        let down = self.down_until.lock();
        down.unwrap_or_else(PoisonError::into_inner)
    }

    /// How a part fails for as long as it is down. A model is silent or answers nonsense, each time
    /// another way: nonsense is no outage, and may end an edition without a story (ED-32).
    fn down_by(&self, part: &str) -> Option<FailureClass> {
        let until = self.down().get(part).copied();
        let until = until.filter(|until| *until > self.truth.now())?;
        let nonsense = part == "writer" && until.as_second() % 2 == 0;
        Some(if nonsense {
            FailureClass::Unusable
        } else {
            FailureClass::Credentials
        })
    }

    fn injected_fault(&self, call: &Call) -> InjectedFault {
        let answers = !matches!(
            call,
            Call::Page(_)
                | Call::Comments(_)
                | Call::Titles(_)
                | Call::Summary(_)
                | Call::Overview(_)
        );
        if self.mute.load(Ordering::Relaxed) && !answers {
            return InjectedFault::Hangs;
        }
        if self.healed.load(Ordering::Relaxed) {
            return InjectedFault::Well;
        }
        let (part, hangs, loses) = match call {
            Call::List => ("list", false, false),
            Call::Page(_) | Call::Comments(_) => ("reader", true, false),
            Call::Titles(_) | Call::Summary(_) | Call::Overview(_) => ("writer", true, false),
            // The filter has its own time limit, as have the list and the notifier.
            Call::Judge(_) => ("writer", false, false),
            Call::Send(to, _) => (to.as_str(), true, true),
            Call::Look(at, _) => (at.as_str(), true, false),
            Call::Ready(of) => (of.as_str(), false, false),
            Call::Report(..) => ("notifier", false, true),
        };
        let (dice, rates) = (&self.dice, &self.rates);
        if let Some(class) = self.down_by(part) {
            return match dice.below(20) {
                0 if hangs => InjectedFault::Hangs,
                1 if loses => InjectedFault::Lost,
                _ => InjectedFault::Fails(class),
            };
        }
        if dice.hits(rates.fails) {
            InjectedFault::Fails(FailureClass::Transient)
        } else if hangs && dice.hits(rates.hangs) {
            InjectedFault::Hangs
        } else if loses && dice.hits(rates.lost) {
            InjectedFault::Lost
        } else if dice.hits(rates.lacks) {
            InjectedFault::Lacks
        } else if dice.hits(rates.late) {
            InjectedFault::Late(dice.millis(100, 200_000))
        } else {
            InjectedFault::Well
        }
    }
}
