//! Fits the weights of the adaptive policy to recorded publication times.
//!
//!     cargo run --release -p almanack-core --example fit_policy -- TRACES.tsv [POINTS] >
//!     weights.txt
//!
//! The likelihood of a Poisson process with intensity λ(t) over a stretch is Σ ln λ(tᵢ) − ∫λ. From
//! each source, random instants are drawn; at each, the history is what a check would know by then,
//! the events are the entries of the coming hours, and the integral is taken at random places in
//! them. With ln λ linear in the features this is concave, and Newton's method with a little ridge
//! finds the top in a handful of steps. Sources are split into three folds first, to say how well
//! weights do on sources they have not seen; then all are used, and that is what is printed.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a program for fitting the weights; if it cannot begin, it has failed"
)]

use std::{
    env, fs,
    io::{self, Write},
};

use almanack_core::source::{
    policy::{
        History,
        intensity::{FEATURES, Features},
    },
    replay::{Trace, Traces},
};
use jiff::Timestamp;

const FOLDS: usize = 3;
const POINTS: usize = 500;
/// Places at which the integral of one stretch is taken.
const PLACES: usize = 16;
const RIDGE: f64 = 10.0;
const STEPS: usize = 12;
const YEAR_S: i64 = 365 * 86_400;

/// What one source contributes.
#[derive(Default)]
struct Rows {
    events: Vec<[f32; FEATURES]>,
    /// Features and the hours they cover.
    places: Vec<([f32; FEATURES], f32)>,
}

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let file = arguments
        .next()
        .expect("name a file of traces, not compressed");
    let points = arguments
        .next()
        .map_or(POINTS, |text| text.parse().unwrap());
    let mut traces = Traces::default();
    for line in fs::read_to_string(file)?.lines() {
        traces.line(line).unwrap();
    }
    let mut dice = 7;
    let rows: Vec<Rows> = traces
        .finish()
        .iter()
        .map(|trace| sample(trace, points, &mut dice))
        .collect();
    let mut out = io::stdout().lock();
    for fold in 0..FOLDS {
        let part = |inside: bool| -> Vec<&Rows> {
            let numbered = rows.iter().enumerate();
            let chosen = numbered.filter(|(number, _)| (number % FOLDS == fold) == inside);
            chosen.map(|(_, rows)| rows).collect()
        };
        let (before, behind) = (part(true), fit(&part(false)));
        let start = likelihood(&before, &start());
        writeln!(
            out,
            "// fold {fold}: held-out log-likelihood per entry {:.4}, unfitted {start:.4}",
            likelihood(&before, &behind)
        )?;
    }
    let all: Vec<&Rows> = rows.iter().collect();
    for eight in fit(&all).chunks(8) {
        let row: Vec<String> = eight.iter().map(|weight| format!("{weight:.4},")).collect();
        writeln!(out, "    {}", row.join(" "))?;
    }
    Ok(())
}

/// The three levels count fully, everything else not at all.
fn start() -> Vec<f64> {
    (0..FEATURES)
        .map(|place| f64::from(u8::from((1..4).contains(&place))))
        .collect()
}

fn sample(trace: &Trace, points: usize, dice: &mut u64) -> Rows {
    let times = &trace.published_s;
    let mut rows = Rows::default();
    let known = (times.len() / 4).min(30);
    let (Some(last), Some(first)) = (times.last(), times.get(known)) else {
        return rows;
    };
    let begin = (*first).max(last - YEAR_S);
    let span = (last - begin) as f64;
    let rate = times.len() as f64 / ((last - times[0]) as f64 / 3_600.0).max(1.0);
    // A few gaps at a usual price.
    let horizon_h = (2.5 * (0.8 / rate).sqrt()).clamp(0.5, 24.0);
    let draw = |_| begin + (unit(dice) * span) as i64;
    let mut instants: Vec<i64> = (0..points).map(draw).collect();
    instants.sort_unstable();
    let mut history = History::new();
    let mut seen = times
        .partition_point(|time| *time <= begin)
        .saturating_sub(30);
    for now in instants {
        let upto = times.partition_point(|time| *time <= now);
        let new: Vec<Timestamp> = times[seen..upto].iter().map(|time| at(*time)).collect();
        seen = upto;
        history.observe(at(now), &new, None);
        let stretch = ((horizon_h * 3_600.0) as i64).min(last - now).max(60);
        stretch_of(&history, now, stretch, &times[upto..], dice, &mut rows);
    }
    rows
}

fn stretch_of(
    history: &History,
    now: i64,
    stretch: i64,
    coming: &[i64],
    dice: &mut u64,
    rows: &mut Rows,
) {
    let features = Features::new(history, at(now));
    let inside = coming.iter().take_while(|time| **time <= now + stretch);
    rows.events
        .extend(inside.map(|time| features.at(at(*time))));
    let share_h = (stretch as f64 / 3_600.0 / PLACES as f64) as f32;
    for place in 0..PLACES {
        let into = (place as f64 + unit(dice)) / PLACES as f64 * stretch as f64;
        rows.places
            .push((features.at(at(now + into as i64)), share_h));
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// `SplitMix64`, so that every run draws the same numbers.
fn unit(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0
}

fn log_rate(features: &[f32; FEATURES], weights: &[f64]) -> f64 {
    let products = features.iter().zip(weights);
    products
        .map(|(feature, weight)| f64::from(*feature) * weight)
        .sum()
}

/// Per entry.
fn likelihood(parts: &[&Rows], weights: &[f64]) -> f64 {
    let (mut sum, mut events) = (0.0, 0.0);
    for rows in parts {
        for (features, share) in &rows.places {
            sum -= f64::from(*share) * log_rate(features, weights).clamp(-20.0, 8.0).exp();
        }
        sum += rows
            .events
            .iter()
            .map(|features| log_rate(features, weights))
            .sum::<f64>();
        events += rows.events.len() as f64;
    }
    sum / events
}

fn fit(parts: &[&Rows]) -> Vec<f64> {
    let start = start();
    let mut weights = start.clone();
    for _ in 0..STEPS {
        let (mut slope, mut curve) = slopes(parts, &weights);
        for place in 0..FEATURES {
            slope[place] -= RIDGE * (weights[place] - start[place]);
            curve[place][place] += RIDGE;
        }
        let step = solve(curve, slope);
        let largest = step.iter().fold(0.0_f64, |most, part| most.max(part.abs()));
        for (weight, part) in weights.iter_mut().zip(&step) {
            *weight += part / largest.max(1.0);
        }
        if largest < 1e-3 {
            break;
        }
    }
    weights
}

fn slopes(parts: &[&Rows], weights: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut slope = vec![0.0; FEATURES];
    let mut curve = vec![vec![0.0; FEATURES]; FEATURES];
    for rows in parts {
        for features in &rows.events {
            let parts = slope.iter_mut().zip(features);
            parts.for_each(|(sum, feature)| *sum += f64::from(*feature));
        }
        for (features, share) in &rows.places {
            let expected = f64::from(*share) * log_rate(features, weights).clamp(-20.0, 6.0).exp();
            let set: Vec<usize> = (0..FEATURES)
                .filter(|place| features[*place] != 0.0)
                .collect();
            for row in &set {
                let scaled = expected * f64::from(features[*row]);
                slope[*row] -= scaled;
                for column in &set {
                    curve[*row][*column] += scaled * f64::from(features[*column]);
                }
            }
        }
    }
    (slope, curve)
}

/// Gaussian elimination; the ridge keeps the matrix positive definite, so no pivots are needed.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for place in 0..size {
        let pivot = matrix[place].clone();
        for row in place + 1..size {
            let factor = matrix[row][place] / pivot[place];
            let parts = matrix[row].iter_mut().zip(&pivot).skip(place);
            parts.for_each(|(part, above)| *part -= factor * above);
            right[row] -= factor * right[place];
        }
    }
    for place in (0..size).rev() {
        let known: f64 = (place + 1..size)
            .map(|column| matrix[place][column] * right[column])
            .sum();
        right[place] = (right[place] - known) / matrix[place][place];
    }
    right
}
