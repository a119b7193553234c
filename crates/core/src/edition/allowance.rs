//! What a model costs an edition, and how much it may cost in a day and in a month (ED-44).
//!
//! A request is counted before it leaves, with the most that it can cost, and corrected when its
//! answer is here. So a cap holds although requests overlap, on several nodes, too; and a node that
//! dies between answer and correction leaves a count that is too high, never one that is too low.
//!
//! Days and months are those of the edition's zone. Money is in whatever currency the operator's
//! prices are in: nothing here converts one.
//!
//! INVARIANT: what [`Caps::refuses`] lets pass, added to what was counted, exceeds no cap.

use std::fmt;

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::{Serialize, Serializer};

use super::day::start_of;

/// How many millionths one is.
const MILLION: u64 = 1_000_000;
/// Bytes of a token where the service did not count: English has about four, Chinese three.
const BYTES_PER_TOKEN: usize = 3;

/// An amount of money, in millionths of the currency that prices are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Money(pub u64);

impl Money {
    /// Reads a decimal number like `0.27`, with at most six digits after the point.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(rest) || rest.len() > 6 {
            return None;
        }
        let rest: u64 = format!("{rest:0<6}").parse().ok()?;
        let whole: u64 = whole.parse().ok()?;
        Some(Self(whole.checked_mul(MILLION)?.checked_add(rest)?)).filter(|it| *it <= Self::MAX)
    }

    /// The most that a price or a cap may be: sums of it stay far below what a database counts to.
    pub const MAX: Self = Self(1_000_000_000 * MILLION);
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / MILLION, self.0 % MILLION);
        let rest = format!("{rest:06}");
        let cents = rest.trim_end_matches('0');
        write!(f, "{whole}.{cents:0<2}")
    }
}

impl Serialize for Money {
    /// A decimal number: exact up to a billion, which no cap exceeds.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a number of JSON has 53 bits, and a person reads it"
    )]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0 as f64 / MILLION as f64)
    }
}

/// What a model costs; nothing if it is one's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Price {
    /// A million tokens that it reads.
    pub input: Money,
    /// A million tokens that it writes.
    pub output: Money,
}

impl Price {
    /// What so many tokens cost, rounded up.
    pub fn of(self, tokens_in: u64, tokens_out: u64) -> Money {
        let wide = |price: Money, tokens: u64| u128::from(price.0) * u128::from(tokens);
        let all = wide(self.input, tokens_in) + wide(self.output, tokens_out);
        Money(u64::try_from(all.div_ceil(u128::from(MILLION))).unwrap_or(u64::MAX))
    }

    /// What one request is counted as.
    pub fn usage(self, tokens_in: u64, tokens_out: u64) -> Usage {
        Usage {
            requests: 1,
            tokens_in,
            tokens_out,
            cost: self.of(tokens_in, tokens_out),
        }
    }
}

/// About how many tokens a text is, where the service did not say.
pub fn tokens_of(text: &str) -> u64 {
    text.len().div_ceil(BYTES_PER_TOKEN) as u64
}

/// What was asked of models, and what it cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = ModelUsage))]
pub struct Usage {
    /// Requests to a model.
    pub requests: u64,
    /// Tokens it read.
    pub tokens_in: u64,
    /// Tokens it wrote.
    pub tokens_out: u64,
    /// Their price, in the currency of the configured prices; 0 without prices.
    #[cfg_attr(feature = "schema", schema(value_type = f64))]
    pub cost: Money,
}

impl Usage {
    /// Tokens in both directions.
    pub fn tokens(&self) -> u64 {
        self.tokens_in.saturating_add(self.tokens_out)
    }
}

names! {
    /// For how long a cap holds.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Period {
        Day = "day",
        Month = "month",
    }
}

impl Period {
    /// When a new one begins, in the zone of the edition.
    pub fn ends_at(self, on: Date, zone: &TimeZone) -> Timestamp {
        let next = match self {
            Self::Day => on.tomorrow(),
            Self::Month => on.last_of_month().tomorrow(),
        };
        next.map_or(Timestamp::MAX, |date| start_of(date, zone))
    }
}

/// How much models may cost an edition; what is not set is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(as = ModelCaps))]
pub struct Caps {
    /// Tokens of a day, in both directions.
    pub tokens_per_day: Option<u64>,
    /// Tokens of a month.
    pub tokens_per_month: Option<u64>,
    /// Cost of a day.
    #[cfg_attr(feature = "schema", schema(value_type = Option<f64>))]
    pub money_per_day: Option<Money>,
    /// Cost of a month.
    #[cfg_attr(feature = "schema", schema(value_type = Option<f64>))]
    pub money_per_month: Option<Money>,
}

impl Caps {
    /// Whether nothing is limited.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Which cap `next` would exceed, on top of what the day and the month have cost so far. The
    /// month first: it is the one that is reached for longer.
    pub fn refuses(&self, day: &Usage, month: &Usage, next: &Usage) -> Option<Period> {
        let exceeds = |tokens: Option<u64>, money: Option<Money>, so_far: &Usage| {
            let tokens_then = so_far.tokens().saturating_add(next.tokens());
            let cost_then = Money(so_far.cost.0.saturating_add(next.cost.0));
            tokens.is_some_and(|cap| tokens_then > cap) || money.is_some_and(|cap| cost_then > cap)
        };
        if exceeds(self.tokens_per_month, self.money_per_month, month) {
            return Some(Period::Month);
        }
        exceeds(self.tokens_per_day, self.money_per_day, day).then_some(Period::Day)
    }
}

/// What an edition's models cost in a month.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spending {
    /// All of the month.
    pub month: Usage,
    /// Days with a request, the first one first.
    pub days: Vec<(Date, Usage)>,
}

impl Spending {
    /// What a day of the month cost.
    pub fn day(&self, on: Date) -> Usage {
        let found = self.days.iter().find(|(day, _)| *day == on);
        found.map(|(_, usage)| *usage).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use proptest::prelude::*;

    #[test]
    fn ed_44_money_is_read_and_shown_as_people_write_it() {
        for (text, micros, shown) in [
            ("0.27", 270_000, "0.27"),
            ("5", 5_000_000, "5.00"),
            ("0.000001", 1, "0.000001"),
            ("1000000000", Money::MAX.0, "1000000000.00"),
        ] {
            let money = Money::parse(text).unwrap();
            assert_eq!((money.0, money.to_string().as_str()), (micros, shown));
        }
        for bad in [
            "",
            ".",
            "1.",
            ".5",
            "-1",
            "1e3",
            "0.0000001",
            "1000000001",
            "1,5",
        ] {
            assert_eq!(Money::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn ed_44_what_costs_anything_never_costs_nothing() {
        let cheap = Price {
            input: Money(270_000),
            output: Money(1_100_000),
        };
        assert_eq!(cheap.of(1, 0), Money(1), "rounded up");
        assert_eq!(cheap.of(1_000_000, 1_000_000), Money(1_370_000));
        assert_eq!(Price::default().of(u64::MAX, u64::MAX), Money(0));
    }

    #[test]
    fn ed_44_a_cap_frees_when_its_day_or_its_month_ends_in_the_editions_zone() {
        let zone = TimeZone::get("Asia/Shanghai").unwrap();
        let at = |period: Period, on| period.ends_at(on, &zone).to_string();
        assert_eq!(at(Period::Day, date(2026, 1, 31)), "2026-01-31T16:00:00Z");
        assert_eq!(at(Period::Month, date(2026, 2, 3)), "2026-02-28T16:00:00Z");
        assert_eq!(
            at(Period::Month, date(2026, 12, 31)),
            "2026-12-31T16:00:00Z"
        );
    }

    fn usage() -> impl Strategy<Value = Usage> {
        (0..2_000_u64, 0..2_000_u64, 0..2_000_u64).prop_map(|(tokens_in, tokens_out, cost)| Usage {
            requests: 1,
            tokens_in,
            tokens_out,
            cost: Money(cost),
        })
    }

    fn caps() -> impl Strategy<Value = Caps> {
        let cap = || proptest::option::of(0..9_000_u64);
        (cap(), cap(), cap(), cap()).prop_map(|(day, month, per_day, per_month)| Caps {
            tokens_per_day: day,
            tokens_per_month: month,
            money_per_day: per_day.map(Money),
            money_per_month: per_month.map(Money),
        })
    }

    fn plus(one: Usage, other: Usage) -> Usage {
        Usage {
            requests: one.requests + other.requests,
            tokens_in: one.tokens_in + other.tokens_in,
            tokens_out: one.tokens_out + other.tokens_out,
            cost: Money(one.cost.0 + other.cost.0),
        }
    }

    proptest! {
        /// Whatever is asked in which order: the sum of what passes exceeds no cap, and what is
        /// refused would have.
        #[test]
        fn ed_44_no_order_of_requests_exceeds_a_cap(
            caps in caps(), asked in proptest::collection::vec((usage(), any::<bool>()), 0..40)
        ) {
            let fits = |day: &Usage, month: &Usage| {
                let within = |cap: Option<u64>, so_far: u64| cap.is_none_or(|cap| so_far <= cap);
                within(caps.tokens_per_day, day.tokens())
                    && within(caps.tokens_per_month, month.tokens())
                    && within(caps.money_per_day.map(|it| it.0), day.cost.0)
                    && within(caps.money_per_month.map(|it| it.0), month.cost.0)
            };
            let (mut day, mut month) = (Usage::default(), Usage::default());
            for (next, new_day) in asked {
                if new_day {
                    day = Usage::default();
                }
                let then = (plus(day, next), plus(month, next));
                let refused = caps.refuses(&day, &month, &next).is_some();
                prop_assert_eq!(refused, !fits(&then.0, &then.1));
                if !refused {
                    (day, month) = then;
                }
            }
        }
    }
}
