//! A history as bytes.
//!
//! A fixed layout of little-endian numbers, what kind of times it is about in front and a checksum
//! behind. Histograms
//! are written as 16-bit shares of their largest sum. Whatever is not exactly that is refused: the
//! caller begins the source again, which costs it some learning and nothing else.

use super::{History, RECENT};
use crate::source::policy::{
    cadence::{Cadence, Frequency},
    classic::{Analysis, PublishHour},
    number::{index, small},
    rhythm::Rhythm,
};

/// No encoded history is longer.
pub const ENCODED_MAX: usize = 2_048;
/// What a history of times that the publisher gave begins with.
const PUBLISHED: u8 = 1;
/// And one of times at which entries were first seen. Nodes of before that know only the other take
/// it for damaged, and check the source hourly, as they always have.
const FIRST_SEEN: u8 = 2;

/// Bytes that are no history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the learned history is damaged or of another version")]
pub struct Corrupt;

impl History {
    /// Writes everything down; at most [`ENCODED_MAX`] bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(ENCODED_MAX);
        out.push(if self.by_first_seen {
            FIRST_SEEN
        } else {
            PUBLISHED
        });
        out.extend(self.checks.to_le_bytes());
        out.extend(self.hits.to_le_bytes());
        out.extend(self.learned_at_s.to_le_bytes());
        put_recent(&mut out, &self.recent, self.fresh);
        put_analysis(&mut out, &self.analysis);
        put_rhythm(&mut out, &self.rhythm);
        let sum = checksum(&out);
        out.extend(sum.to_le_bytes());
        out
    }

    /// Reads what [`History::encode`] wrote.
    pub fn decode(bytes: &[u8]) -> Result<Self, Corrupt> {
        let (body, sum) = bytes.split_last_chunk::<4>().ok_or(Corrupt)?;
        if checksum(body) != u32::from_le_bytes(*sum) {
            return Err(Corrupt);
        }
        let mut from = Reader(body);
        let by_first_seen = match from.take::<1>()? {
            [PUBLISHED] => false,
            [FIRST_SEEN] => true,
            _ => return Err(Corrupt),
        };
        let checks = u32::from_le_bytes(from.take()?);
        let hits = u32::from_le_bytes(from.take()?);
        let learned_at_s = i64::from_le_bytes(from.take()?);
        let (recent, fresh) = take_recent(&mut from)?;
        let analysis = take_analysis(&mut from)?;
        let rhythm = take_rhythm(&mut from)?;
        if !from.0.is_empty() {
            return Err(Corrupt);
        }
        let mut history = Self {
            checks,
            hits,
            learned_at_s,
            recent,
            fresh,
            by_first_seen,
            analysis,
            rhythm,
            factors: Box::default(),
        };
        history.derive();
        Ok(history)
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Corrupt> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or(Corrupt)?;
        self.0 = rest;
        Ok(*taken)
    }

    /// A number that a sum can be.
    fn sum(&mut self) -> Result<f32, Corrupt> {
        let number = f32::from_le_bytes(self.take()?);
        let sensible = number.is_finite() && number.abs() < 1e9;
        sensible.then_some(number).ok_or(Corrupt)
    }
}

/// The newest in full, then how much older each earlier one is than the one after it.
fn put_recent(out: &mut Vec<u8>, recent: &[i64], fresh: usize) {
    out.extend([small_count(recent.len()), small_count(fresh)]);
    out.extend(recent.last().copied().unwrap_or(0).to_le_bytes());
    for pair in recent.windows(2).rev() {
        // A gap of more than a century is cut; it does not matter.
        let gap = u32::try_from(pair[1] - pair[0]).unwrap_or(u32::MAX);
        out.extend(gap.to_le_bytes());
    }
}

fn take_recent(from: &mut Reader<'_>) -> Result<(Vec<i64>, usize), Corrupt> {
    let [count, fresh] = from.take()?.map(usize::from);
    let mut time = i64::from_le_bytes(from.take()?);
    if count > RECENT || fresh > count {
        return Err(Corrupt);
    }
    let mut recent = Vec::with_capacity(RECENT);
    for number in 0..count {
        if number > 0 {
            let gap = u32::from_le_bytes(from.take()?);
            time = time.checked_sub(i64::from(gap)).ok_or(Corrupt)?;
        }
        recent.push(time);
    }
    recent.reverse();
    Ok((recent, fresh))
}

fn put_analysis(out: &mut Vec<u8>, analysis: &Analysis) {
    out.extend([analysis.frequency as u8, analysis.cadence as u8]);
    let hour = analysis.hour;
    let kind = hour.map_or(0, |hour| 1 + u8::from(hour.is_pattern));
    let (mean, spread) = hour.map_or((0.0, 0.0), |hour| (hour.mean, hour.spread));
    out.push(kind);
    out.extend(small(mean).to_le_bytes());
    out.extend(small(spread).to_le_bytes());
}

fn take_analysis(from: &mut Reader<'_>) -> Result<Analysis, Corrupt> {
    let [frequency, cadence, kind] = from.take()?;
    let frequency = Frequency::ALL.get(usize::from(frequency)).ok_or(Corrupt)?;
    let cadence = Cadence::ALL.get(usize::from(cadence)).ok_or(Corrupt)?;
    let (mean, spread) = (from.sum()?, from.sum()?);
    let hour = match kind {
        0 => None,
        1 | 2 => Some(PublishHour {
            mean: f64::from(mean),
            spread: f64::from(spread),
            is_pattern: kind == 2,
        }),
        _ => return Err(Corrupt),
    };
    Ok(Analysis {
        frequency: *frequency,
        cadence: *cadence,
        hour,
    })
}

fn put_rhythm(out: &mut Vec<u8>, rhythm: &Rhythm) {
    out.extend(rhythm.since_s.to_le_bytes());
    out.extend(rhythm.as_of_s.to_le_bytes());
    let numbers = [rhythm.gaps, rhythm.gap_mean, rhythm.gap_variance];
    for number in rhythm.levels.iter().chain(&numbers) {
        out.extend(number.to_le_bytes());
    }
    put_histogram(out, &rhythm.minute);
    put_histogram(out, &rhythm.slot);
    put_histogram(out, &rhythm.week);
}

fn take_rhythm(from: &mut Reader<'_>) -> Result<Rhythm, Corrupt> {
    let mut rhythm = Rhythm {
        since_s: i64::from_le_bytes(from.take()?),
        as_of_s: i64::from_le_bytes(from.take()?),
        ..Rhythm::default()
    };
    for level in &mut rhythm.levels {
        *level = from.sum()?;
    }
    rhythm.gaps = from.sum()?;
    rhythm.gap_mean = from.sum()?;
    rhythm.gap_variance = from.sum()?;
    take_histogram(from, &mut rhythm.minute)?;
    take_histogram(from, &mut rhythm.slot)?;
    take_histogram(from, &mut rhythm.week)?;
    Ok(rhythm)
}

fn put_histogram(out: &mut Vec<u8>, sums: &[f32]) {
    let largest = sums.iter().copied().fold(0.0, f32::max);
    out.extend(largest.to_le_bytes());
    let scale = if largest > 0.0 {
        f32::from(u16::MAX) / largest
    } else {
        0.0
    };
    for sum in sums {
        let share = index((sum * scale).round());
        out.extend(u16::try_from(share).unwrap_or(u16::MAX).to_le_bytes());
    }
}

fn take_histogram(from: &mut Reader<'_>, sums: &mut [f32]) -> Result<(), Corrupt> {
    let largest = from.sum()?;
    for sum in sums {
        let share = u16::from_le_bytes(from.take()?);
        *sum = f32::from(share) / f32::from(u16::MAX) * largest;
    }
    Ok(())
}

fn small_count(count: usize) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}

/// FNV-1a: enough to notice damage; there is no attacker in one's own database.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| {
        (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

/// What a history takes at most, by its layout.
const _FITS: () =
    assert!(17 + 10 + 4 * RECENT + 11 + 52 + 12 + 2 * (60 + 288 + 168) + 4 <= ENCODED_MAX);
