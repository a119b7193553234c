//! Cadences and frequency types: the classic policy's words for how often a source publishes.
//!
//! The seven levels, their names and their base intervals are the founding design's and are kept
//! exactly (SS-02), because people set them by hand and statistics are counted by them. P7 is no
//! frequency: it is how a person says "do not check".

use crate::{
    lang::{Lang, Say},
    say,
};
use std::str::FromStr;

use jiff::SignedDuration;

/// How many of the latest entries the classification looks at.
pub const CLASSIFIED: usize = 20;
/// Fewer entries than this say nothing.
pub const ENTRIES_MIN: usize = 3;
/// So many entries on one day make a source realtime, whatever its mean gap.
const BUSY_DAY: usize = 5;
const HOUR_S: i64 = 3_600;
const DAY_S: i64 = 86_400;

names! {
    /// A level of checking, from every quarter of an hour to once a day, or never.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Cadence {
        /// Every 15 minutes.
        P0 = "P0",
        /// Every 30 minutes.
        P1 = "P1",
        /// Every hour.
        P2 = "P2",
        /// Every 2 hours.
        P3 = "P3",
        /// Every 4 hours.
        P4 = "P4",
        /// Every 8 hours.
        P5 = "P5",
        /// Every 24 hours.
        P6 = "P6",
        /// Not at all: set by hand only.
        P7 = "P7",
    }
}

impl Cadence {
    /// The base interval; none when the source is not to be checked.
    pub fn interval(self) -> Option<SignedDuration> {
        let minutes = match self {
            Self::P0 => 15,
            Self::P1 => 30,
            Self::P2 => 60,
            Self::P3 => 120,
            Self::P4 => 240,
            Self::P5 => 480,
            Self::P6 => 1_440,
            Self::P7 => return None,
        };
        Some(SignedDuration::from_mins(minutes))
    }
}

/// A text that names no cadence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub struct UnknownCadence(pub String);

impl Say for UnknownCadence {
    fn say(&self, lang: Lang) -> String {
        let text = &self.0;
        say!(lang; "`{text}` is not a cadence; write one of P0 to P7",
            "`{text}` 不是检查频率；请写 P0 到 P7 之一")
    }
}

impl FromStr for Cadence {
    type Err = UnknownCadence;

    fn from_str(text: &str) -> Result<Self, UnknownCadence> {
        let found = Self::ALL
            .into_iter()
            .find(|cadence| cadence.as_str().eq_ignore_ascii_case(text));
        found.ok_or_else(|| UnknownCadence(text.to_owned()))
    }
}

names! {
    /// How often a source publishes, as the founding design names it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Frequency {
        /// Mean gap below 6 hours, or 5 entries on one day.
        Realtime = "realtime",
        /// Below 18 hours.
        High = "high",
        /// Below 36 hours; also what is assumed of a source that has shown too little.
        Daily = "daily",
        /// Below 72 hours.
        DailyFixed = "daily_fixed",
        /// Below a week.
        Weekly = "weekly",
        /// Below 30 days.
        Monthly = "monthly",
        /// Less often.
        Low = "low",
    }
}

impl Frequency {
    /// The cadence that goes with it.
    pub fn cadence(self) -> Cadence {
        Cadence::ALL[self as usize]
    }

    /// What a mean gap between entries amounts to.
    pub fn of_mean_gap(hours: f64) -> Self {
        const BOUNDS_H: [f64; 6] = [6.0, 18.0, 36.0, 72.0, 168.0, 720.0];
        let place = BOUNDS_H.iter().take_while(|bound| hours >= **bound).count();
        Self::ALL[place]
    }
}

/// Classifies by the latest entries, given in ascending order, in seconds of the epoch. None says
/// that there is too little to go by. Days are counted in UTC, so that all nodes agree.
pub fn classify(published: &[i64]) -> Option<Frequency> {
    let latest = &published[published.len().saturating_sub(CLASSIFIED)..];
    if latest.len() < ENTRIES_MIN {
        return None;
    }
    // Entries of one second are one act of publishing; their gap of zero says nothing.
    let gaps = latest.windows(2).map(|pair| pair[1] - pair[0]);
    let (count, sum) = gaps
        .filter(|gap| *gap > 0)
        .fold((0_u32, 0_i64), |(count, sum), gap| {
            (count + 1, sum.saturating_add(gap))
        });
    if count == 0 {
        return None;
    }
    if busiest_day(latest) >= BUSY_DAY {
        return Some(Frequency::Realtime);
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "a sum of gaps is below 2^53 seconds"
    )]
    let mean_h = sum as f64 / f64::from(count) / HOUR_S as f64;
    Some(Frequency::of_mean_gap(mean_h))
}

fn busiest_day(ascending: &[i64]) -> usize {
    ascending
        .chunk_by(|a, b| a.div_euclid(DAY_S) == b.div_euclid(DAY_S))
        .map(<[i64]>::len)
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests;
