//! A definition, ready to be planned by: its slots, and when each of them is due.

use jiff::{SignedDuration, Timestamp};

use super::{
    definition::{CatchUp, Definition, GRACE_DEFAULT_MAX, PROMPT, ScheduleName},
    slots::{Slots, Surroundings},
    unfit::Unfit,
    words,
};
use crate::lang::Lang;
use crate::schedule::{ClockChange, Expression, Mode, Timetable, Warning, Zone, hash_of};

const RETRY_FOR_DEFAULT_MIN: SignedDuration = SignedDuration::from_secs(10);
const RETRY_FOR_DEFAULT_MAX: SignedDuration = SignedDuration::from_hours(1);

/// By how much a slot fires later than its time, as its schedule asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Delay {
    /// Its schedule's own part of the splay, the same for every slot.
    pub splay: SignedDuration,
    /// Its own part of the jitter.
    pub jitter: SignedDuration,
}

impl Delay {
    /// Both together.
    pub fn whole(self) -> SignedDuration {
        self.splay + self.jitter
    }

    /// What it comes of, in both languages.
    pub fn name(self) -> (&'static str, &'static str) {
        match (self.splay.is_zero(), self.jitter.is_zero()) {
            (_, true) => ("its splay", "错峰"),
            (true, false) => ("its jitter", "抖动"),
            (false, false) => ("its splay and jitter", "错峰与抖动"),
        }
    }
}

/// A definition that can be planned by: compiled, with its zone.
#[derive(Debug, Clone)]
pub struct Ready {
    /// As written.
    pub definition: Definition,
    slots: Slots,
    offset: SignedDuration,
    /// Of slots that are counted from pings.
    pub(super) period: Option<SignedDuration>,
    /// What the jitter of its slots is drawn from.
    seed: u64,
}

impl Ready {
    /// Checks and compiles. Everything depends on the name, the definition, the zones and the
    /// calendars alone, so every node plans the same.
    pub fn new(
        name: &ScheduleName,
        definition: Definition,
        around: &impl Surroundings,
    ) -> Result<Self, Unfit> {
        definition.check()?;
        let slots = Slots::new(name, &definition, around)?;
        let offset = offset_of(name, definition.splay);
        let period = slots.period_s().filter(|_| definition.is_monitor());
        Ok(Self {
            definition,
            slots,
            offset,
            period: period.map(|seconds| SignedDuration::from_secs(seconds.into())),
            seed: hash_of(name.as_str(), "jitter"),
        })
    }

    /// Whose clock it reads.
    pub fn zone(&self) -> &Zone {
        &self.slots.first.zone
    }

    /// Says when it fires.
    pub fn describe(&self, lang: Lang) -> String {
        words::describe(&self.definition, &self.slots, lang)
    }

    /// What is worth knowing about its expressions; see [`Expression::lints`]. Each is named by its
    /// key, and only those about the first one know their place in it.
    pub fn lints(&self, from: Timestamp, round_s: u32) -> Vec<(&'static str, Warning)> {
        let mut warnings = Vec::new();
        for (place, rule) in self.slots.rules().enumerate() {
            // It was read before, so it reads now.
            let read = Expression::parse(&rule.expression, Mode::Strict);
            let found = read.map(|read| read.lints(&rule.timetable, &rule.zone, from, round_s));
            let is_first = place == 0;
            let key = if is_first { "expression" } else { "also" };
            warnings.extend(found.into_iter().flatten().map(|warning| {
                let span = warning.span.filter(|_| is_first);
                (key, Warning { span, ..warning })
            }));
        }
        warnings
    }

    /// The changes of the clocks that touch a slot; see [`Timetable::clock_changes`].
    pub fn clock_changes(&self, from: Timestamp, until: Timestamp) -> Vec<ClockChange> {
        let rules = self.slots.rules();
        rules
            .flat_map(|rule| rule.timetable.clock_changes(&rule.zone, from, until))
            .collect()
    }

    /// The first slot after `at`.
    #[inline]
    pub fn next_after(&self, at: Timestamp) -> Option<Timestamp> {
        if let Some(period) = self.period {
            return at.checked_add(period).ok();
        }
        self.slots.next_after(at)
    }

    /// Why a slot is left out by a calendar or quiet hours, if it is.
    pub fn exclusion(&self, slot: Timestamp) -> Option<String> {
        self.slots.exclusion(slot)
    }

    /// The slots after `at`, each with why it is left out, if it is.
    pub fn slots_after(&self, at: Timestamp) -> impl Iterator<Item = (Timestamp, Option<String>)> {
        let slots = std::iter::successors(self.next_after(at), |slot| self.next_after(*slot));
        slots.map(|slot| (slot, self.exclusion(slot)))
    }

    /// Whether some slots may be left out.
    pub fn leaves_out(&self) -> bool {
        self.slots.leaves_out()
    }

    /// The first slot at or after `at` that is not left out.
    pub fn next_firing_from(&self, at: Timestamp) -> Option<Timestamp> {
        if self.leaves_out() {
            self.slots.next_left_in(at)
        } else {
            self.next_from(at)
        }
    }

    /// The first slot after `at` that is not left out.
    pub fn next_firing_after(&self, at: Timestamp) -> Option<Timestamp> {
        self.next_firing_from(self.next_after(at)?)
    }

    /// The first slot after `at`, unless `done` runs were all.
    pub fn next_run_after(&self, at: Timestamp, done: u64) -> Option<Timestamp> {
        let left = self.runs_left(done).is_none_or(|left| left > 0);
        left.then(|| self.next_after(at)).flatten()
    }

    /// How many slots may still fire, if that is limited.
    pub fn runs_left(&self, done: u64) -> Option<u64> {
        let runs = self.definition.runs?;
        Some(u64::from(runs).saturating_sub(done))
    }

    /// The slots that fire, from `first` on, after so many runs.
    pub fn firings_from(
        &self,
        first: Option<Timestamp>,
        runs_done: u64,
    ) -> impl Iterator<Item = Timestamp> {
        let left = self.runs_left(runs_done);
        let left = left.and_then(|left| usize::try_from(left).ok());
        std::iter::successors(first, |at| self.next_firing_after(*at))
            .take(left.unwrap_or(usize::MAX))
    }

    /// The first slot at or after `at`.
    pub fn next_from(&self, at: Timestamp) -> Option<Timestamp> {
        let before = at.saturating_sub(SignedDuration::from_micros(1));
        let next = || self.next_after(before.unwrap_or(Timestamp::MIN));
        self.period.map_or_else(next, |_| Some(at))
    }

    /// The last slot before `at`.
    pub fn previous_before(&self, at: Timestamp) -> Option<Timestamp> {
        if let Some(period) = self.period {
            return at.checked_sub(period).ok();
        }
        self.slots.previous_before(at)
    }

    /// Whether `at` is a slot. Where slots are counted from pings, only the ledger knows.
    pub fn matches(&self, at: Timestamp) -> bool {
        self.period.is_some() || self.slots.matches(at)
    }

    /// When a slot is to fire: at once, or its schedule's own part of the splay and the slot's own
    /// part of the jitter later, but always before the next slot.
    pub fn due_at(&self, slot: Timestamp) -> Timestamp {
        self.due_after(slot, self.offset)
    }

    /// When a slot would fire if the splay of its schedule `name` were this.
    pub fn due_by(&self, name: &ScheduleName, splay: SignedDuration, slot: Timestamp) -> Timestamp {
        self.due_after(slot, offset_of(name, splay))
    }

    /// By how much a slot fires later than its time.
    pub fn delay_of(&self, slot: Timestamp) -> Delay {
        self.delay_after(slot, self.offset)
    }

    fn due_after(&self, slot: Timestamp, offset: SignedDuration) -> Timestamp {
        let delay = self.delay_after(slot, offset).whole();
        slot.saturating_add(delay).unwrap_or(slot)
    }

    fn delay_after(&self, slot: Timestamp, offset: SignedDuration) -> Delay {
        let jitter = self.jitter_of(slot);
        let wanted = offset + jitter;
        if wanted.is_zero() {
            return Delay::default();
        }
        let room = self.gap_after(slot).map_or(wanted, |gap| {
            gap.saturating_sub(SignedDuration::from_secs(1))
        });
        let whole = wanted.min(room).max(SignedDuration::ZERO);
        let splay = offset.min(whole);
        Delay {
            splay,
            jitter: whole - splay,
        }
    }

    /// How late a slot may still fire.
    pub fn grace(&self, slot: Timestamp) -> SignedDuration {
        if let Some(grace) = self.definition.grace {
            return grace;
        }
        let assumed = match self.definition.catch_up {
            CatchUp::All => GRACE_DEFAULT_MAX,
            CatchUp::None | CatchUp::Latest => self
                .gap_after(slot)
                .map_or(GRACE_DEFAULT_MAX, |gap| gap / 2),
        };
        assumed.clamp(PROMPT, GRACE_DEFAULT_MAX)
    }

    /// How late a slot may be without counting as missed.
    pub(super) fn prompt(&self) -> SignedDuration {
        self.definition
            .grace
            .map_or(PROMPT, |grace| grace.min(PROMPT))
    }

    /// How long a firing may be tried again.
    pub fn retry_for(&self, slot: Timestamp) -> SignedDuration {
        self.definition.retry_for.unwrap_or_else(|| {
            self.gap_after(slot)
                .unwrap_or(RETRY_FOR_DEFAULT_MAX)
                .clamp(RETRY_FOR_DEFAULT_MIN, RETRY_FOR_DEFAULT_MAX)
        })
    }

    /// Looks random, and is the same for everyone who asks: from the name and the slot.
    fn jitter_of(&self, slot: Timestamp) -> SignedDuration {
        let Ok(most @ 1..) = u64::try_from(self.definition.jitter.as_secs()) else {
            return SignedDuration::ZERO;
        };
        let drawn = hash_of(&slot.as_second().to_string(), &self.seed.to_string());
        SignedDuration::from_secs(i64::try_from(drawn % (most + 1)).unwrap_or(0))
    }

    fn gap_after(&self, slot: Timestamp) -> Option<SignedDuration> {
        self.next_after(slot).map(|next| next.duration_since(slot))
    }
}

pub(super) fn compile(name: &ScheduleName, expression: &str) -> Result<Timetable, Unfit> {
    let parsed =
        Expression::parse(expression, Mode::Strict).map_err(|error| Unfit::Expression {
            expression: expression.to_owned(),
            error: Box::new(error),
        })?;
    let timetable = parsed.compile(name.as_str());
    if timetable.never_fires() {
        let expression = expression.to_owned();
        return Err(Unfit::NeverFires { expression });
    }
    Ok(timetable)
}

/// A schedule's own part of its splay: stable, from its name.
fn offset_of(name: &ScheduleName, splay: SignedDuration) -> SignedDuration {
    let seconds = u64::try_from(splay.as_secs()).unwrap_or(0);
    if seconds == 0 {
        return SignedDuration::ZERO;
    }
    let offset = hash_of(name.as_str(), "splay") % (seconds + 1);
    SignedDuration::from_secs(i64::try_from(offset).unwrap_or(0))
}
