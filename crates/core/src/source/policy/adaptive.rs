//! The adaptive policy: look when what is expected pays for a check (SS-15).
//!
//! Let μ be the price of a check in hours of delay, λ(t) the expected entries an hour and N(t) the
//! entries expected since the last check. Waiting a little longer costs N(t) of delay; looking now
//! saves it, but the next gap then begins here, and a gap at rate λ costs √(2μλ) an hour at best.
//! So the time to look is the first at which N(t) ≥ √(2μλ(t)). At a constant rate that is the gap
//! √(2μ/λ): checks go with the root of the rate, not with the rate. Where the rate changes, checks
//! come just after a peak and wait just before one.
//!
//! λ is looked at slot by slot, minutes for an hour and five minutes from there. In the last step
//! the rate ahead is drawn a little towards the mean of the gap (the fourth root): sharp peaks of a
//! forecast are less certain than they look. That, and looking one step ahead instead of planning
//! the coming day, was decided by replays; see `docs/adr/0013-adaptive-policy.md`.
//!
//! Slow sources are looked at as if each of their entries counted more, so that their delay does
//! not grow without limit ([`Budget::rate_min_per_day`]). Where it is known how often an even spread
//! of the budget would check every source ([`Budget::even`]), a slow source is looked at as if its
//! rate did not fall below what pays for as much of that as was configured
//! ([`Budget::slow_share`]), and for all of it while the source is new and has shown too little to
//! wait by. What slow sources are held to is in
//! `docs/adr/0045-classes-are-compared-at-their-own-checks.md`.

use jiff::{SignedDuration, Timestamp};

use super::{
    Bound, Budget, Expected, FLOOR_MIN, History, Next, Reason, after, chance,
    intensity::Course,
    number::{hours, small},
    rhythm::{PHASE_S, hour_of_week, minute_of, slot_of},
};

/// Distances at which the smooth part of the intensity is computed; between them it is a line.
const KNOTS_S: [i64; 13] = [
    0, 300, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 32_400, 43_200, 64_800, 86_400, 172_800,
];
/// So far ahead slots are minutes, beyond it five minutes.
const FINE_S: i64 = 3_600;
/// Sources of one rhythm look within so many seconds of each other, not at one instant.
const SPREAD_S: u64 = 10;
/// With fewer entries than this, a source has shown no rhythm to follow.
const RHYTHM_ENTRIES: usize = 10;
/// A source is new while an even spread would have made fewer checks than in this time.
const NEW: SignedDuration = SignedDuration::from_hours(14 * 24);
/// Farther ahead nothing is looked for, whatever the ceiling: the store would not believe it.
const FARTHEST_S: i64 = 30 * 86_400;

/// Decides when to look.
pub(super) fn next(history: &History, now: Timestamp, budget: &Budget, jitter: u64) -> Next {
    let mut ahead = Ahead::new(history, now.as_second(), jitter);
    let level = ahead.course.level();
    let price = price(budget, level);
    ahead.least = Least::new(budget, history, price);
    let found = ahead.find(budget, price);
    let factors = &history.factors;
    Next {
        at: after(now, SignedDuration::from_secs(found.wait_s)),
        reason: Reason::Expected(Expected {
            basis: history.basis(),
            entries: f64::from(found.entries),
            per_day: f64::from(level) * 24.0,
            peak_hour: factors.peak_hour,
            weekdays_only: factors.weekdays_only,
            bound: found.bound,
        }),
    }
}

/// What a check of this source is worth: less than the fleet's price if the source is slow.
fn price(budget: &Budget, level: f32) -> f32 {
    let sane = |number: f64, most: f64| {
        if number.is_finite() {
            number.clamp(0.0, most)
        } else {
            most
        }
    };
    let least = small(sane(budget.rate_min_per_day, 1e3) / 24.0);
    small(sane(budget.price_h, 1e6)) / (1.0 + least / level.max(1e-6))
}

/// What a source is weighed with at least, in entries an hour.
#[derive(Clone, Copy, Default)]
struct Least {
    rate: f32,
    /// Whether at all hours, because no rhythm is known to wait by.
    at_all_hours: bool,
}

impl Least {
    /// The rate at which a source gets its share of an even spread.
    fn new(budget: &Budget, history: &History, price: f32) -> Self {
        let even = budget.even.filter(|even| *even >= FLOOR_MIN);
        let Some(even) = even else {
            return Self::default();
        };
        let is_new = f64::from(history.checks()) * even.as_secs_f64() < NEW.as_secs_f64();
        let at_all_hours = is_new && history.known() < RHYTHM_ENTRIES;
        let share = match budget.slow_share {
            _ if at_all_hours => 1.0,
            share if share.is_finite() => share.clamp(0.0, 1.0),
            _ => 0.0,
        };
        let per_hour = share / even.as_secs_f64() * 3_600.0;
        Self {
            rate: 2.0 * price * small(per_hour * per_hour),
            at_all_hours,
        }
    }

    fn weigh(self, smooth: f32, rhythm: f32) -> f32 {
        if self.at_all_hours {
            (smooth * rhythm).max(self.rate)
        } else {
            smooth.max(self.rate) * rhythm
        }
    }
}

struct Crossing {
    wait_s: i64,
    entries: f32,
    bound: Option<Bound>,
}

/// The coming hours of a source.
struct Ahead<'a> {
    history: &'a History,
    course: Course<'a>,
    now_s: i64,
    /// Slots end so many seconds after the full minute.
    phase_s: i64,
    /// The source is looked at as if its rate did not fall below this.
    least: Least,
    knot: usize,
    from: f32,
    to: f32,
}

impl<'a> Ahead<'a> {
    fn new(history: &'a History, now_s: i64, jitter: u64) -> Self {
        let spread = i64::try_from(chance::mix(jitter) % SPREAD_S).unwrap_or(0);
        let course = Course::new(history, now_s);
        let (from, to) = (course.at(KNOTS_S[0]), course.at(KNOTS_S[1]));
        Self {
            history,
            course,
            now_s,
            phase_s: PHASE_S + spread,
            least: Least::default(),
            knot: 0,
            from,
            to,
        }
    }

    /// Walks on until a check pays.
    fn find(&mut self, budget: &Budget, price: f32) -> Crossing {
        let floor_s = budget.floor().as_secs().clamp(1, FARTHEST_S);
        let ceiling_s = budget.ceiling().as_secs().clamp(floor_s, FARTHEST_S);
        let (mut wait_s, mut entries, mut weighed) = (0, 0.0, 0.0);
        // The rate ahead of one step is the rate of the next; it is computed once.
        let mut looked = None;
        while wait_s < ceiling_s {
            let step_s = if wait_s < FINE_S { 60 } else { 300 };
            let edge_s = self.edge(wait_s, step_s);
            // Before the floor nothing can happen, but at the floor itself it can.
            let bound_s = if wait_s < floor_s { floor_s } else { ceiling_s };
            let edge_s = edge_s.min(bound_s);
            let middle_s = wait_s.midpoint(edge_s);
            let rate = match looked {
                Some((at, step, rate)) if (at, step) == (middle_s, step_s) => rate,
                _ => self.rate(middle_s, step_s),
            };
            let elapsed_h = small(hours(edge_s - wait_s));
            entries += rate.expected * elapsed_h;
            weighed += rate.weighed * elapsed_h;
            wait_s = edge_s;
            if wait_s >= floor_s && wait_s < ceiling_s {
                let ahead_s = wait_s + step_s / 2;
                let rate = self.rate(ahead_s, step_s);
                if pays(weighed, small(hours(wait_s)), rate.weighed, price) {
                    break;
                }
                looked = Some((ahead_s, step_s, rate));
            }
        }
        Crossing {
            wait_s,
            entries,
            bound: bound(wait_s, floor_s, ceiling_s),
        }
    }

    /// The end of the slot that begins at, or contains, a distance from now.
    fn edge(&self, ahead_s: i64, step_s: i64) -> i64 {
        let at_s = self.now_s + ahead_s - self.phase_s;
        ahead_s + step_s - at_s.rem_euclid(step_s)
    }

    /// Entries an hour at a distance from now. Distances may only grow, but for half a step.
    fn rate(&mut self, ahead_s: i64, step_s: i64) -> Rate {
        while self.knot + 2 < KNOTS_S.len() && ahead_s >= KNOTS_S[self.knot + 1] {
            self.knot += 1;
            self.from = self.to;
            self.to = self.course.at(KNOTS_S[self.knot + 1]);
        }
        let (begin, end) = (KNOTS_S[self.knot], KNOTS_S[self.knot + 1]);
        let share = small(hours(ahead_s - begin) / hours(end - begin)).clamp(0.0, 1.0);
        let smooth = self.from + share * (self.to - self.from);
        let at_s = self.now_s + ahead_s;
        let factors = &self.history.factors;
        let mut rhythm = factors.week[hour_of_week(at_s)] * factors.slot[slot_of(at_s)];
        if step_s == 60 {
            rhythm *= factors.minute[minute_of(at_s)];
        }
        Rate {
            expected: smooth * rhythm,
            weighed: self.least.weigh(smooth, rhythm),
        }
    }
}

/// Entries an hour: as expected, and as they are weighed against the price.
#[derive(Clone, Copy)]
struct Rate {
    expected: f32,
    weighed: f32,
}

/// What decided instead of the expectation, if something did.
fn bound(wait_s: i64, floor_s: i64, ceiling_s: i64) -> Option<Bound> {
    if wait_s >= ceiling_s && ceiling_s > floor_s {
        Some(Bound::Ceiling)
    } else if wait_s > floor_s {
        None
    } else {
        Some(Bound::Floor)
    }
}

/// Whether the entries expected over the last hours pay for a check, given the rate ahead.
fn pays(entries: f32, elapsed_h: f32, rate_ahead: f32, price: f32) -> bool {
    let mean = entries / elapsed_h.max(1e-4);
    let drawn = (mean / rate_ahead.max(1e-9)).sqrt().sqrt();
    entries * entries >= 2.0 * price * rate_ahead * drawn
}

#[cfg(test)]
mod tests;
