//! The adaptive policy: look when what is expected pays for a check (SS-15).

use jiff::{SignedDuration, Timestamp};

use super::{
    Bound, Budget, Expected, History, Next, Reason, after, chance,
    intensity::{self, Present},
    number::{hours, small},
    rhythm::PHASE_S,
};

/// Looks ahead slot by slot until the expected entries pay for a check.
pub(super) fn next(history: &History, now: Timestamp, budget: &Budget, jitter: u64) -> Next {
    let present = Present::new(history, now);
    let now_s = now.as_second();
    let floor_s = budget.floor().as_secs().max(1);
    let ceiling_s = budget.ceiling().as_secs().max(floor_s);
    let own = intensity::level(history, now_s);
    let rate_min = small(budget.rate_min_per_day / 24.0);
    let weight = 1.0 + rate_min / own.max(1e-6);
    let price = small(budget.price_h.max(0.0));
    let mut entries = 0.0;
    let mut at_s = now_s;
    let phase = PHASE_S + i64::from(chance::unit(chance::mix(jitter)) > 0.5);
    let mut rate = present.at(now);
    let mut bound = None;
    loop {
        let ahead = at_s - now_s;
        if ahead >= ceiling_s {
            bound = Some(Bound::Ceiling);
            break;
        }
        let step = if ahead < 3_600 {
            60
        } else if ahead < 6 * 3_600 {
            300
        } else {
            900
        };
        let mut edge = (at_s - phase).div_euclid(step) * step + step + phase;
        if ahead < floor_s {
            edge = edge.min(now_s + floor_s);
        }
        let edge = edge.min(now_s + ceiling_s);
        let middle = Timestamp::from_second(at_s.midpoint(edge)).unwrap_or(now);
        rate = present.at(middle);
        let next_rate = {
            let m = Timestamp::from_second(edge + step / 2).unwrap_or(now);
            present.at(m)
        };
        entries += rate * small(hours(edge - at_s));
        at_s = edge;
        if at_s - now_s >= floor_s && entries * entries * weight >= 2.0 * price * next_rate {
            break;
        }
    }
    let _ = rate;
    if at_s - now_s <= floor_s {
        bound = Some(Bound::Floor);
    }
    Next {
        at: after(now, SignedDuration::from_secs(at_s - now_s)),
        reason: Reason::Expected(Expected {
            entries: f64::from(entries),
            per_day: f64::from(own) * 24.0,
            peak_hour: None,
            weekdays_only: false,
            bound,
        }),
    }
}
