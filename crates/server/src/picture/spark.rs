//! Throughput per minute: small inline bars.

use super::prelude::*;

/// Most bars; the newest are shown.
const BARS_MAX: usize = 180;
const STEP: f64 = 4.0;
const HEIGHT: f64 = 32.0;

/// Counts of equal stretches of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spark<'a> {
    /// Where the first stretch begins.
    pub(crate) from: Timestamp,
    /// How long each is.
    pub(crate) step: SignedDuration,
    /// What was counted in each, the oldest first.
    pub(crate) counts: &'a [u64],
}

pub(crate) fn draw(spark: &Spark<'_>, frame: &Frame<'_>) -> Markup {
    let gone = spark.counts.len().saturating_sub(BARS_MAX);
    let counts = &spark.counts[gone..];
    let most = counts.iter().copied().max().unwrap_or(0);
    let scale = Scale::new(real(most), HEIGHT - 1.0, 2.0);
    let width = real(counts.len().max(1)) * STEP;
    let bar = |x: f64, n: u64| {
        let top = scale.place(real(n));
        html! {
            (rect("hit", [x, 0.0], [STEP, HEIGHT]))
            @if n > 0 { (rect("column", [x + 0.5, top], [STEP - 1.0, HEIGHT - 1.0 - top])) }
        }
    };
    let label = format!("{}: {}", frame.caption, summary(counts, most, spark, frame));
    let ink = html! {
        (path("tick", [0.0, HEIGHT - 0.5], format_args!("h{}", Px(width))))
        @for (number, n) in counts.iter().enumerate() {
            (titled(describe(spark, gone + number, *n, frame), bar(real(number) * STEP, *n)))
        }
    };
    figure::inline("picture spark", [width, HEIGHT], &label, &ink)
}

fn describe(spark: &Spark<'_>, number: usize, n: u64, frame: &Frame<'_>) -> String {
    let steps = i32::try_from(number).unwrap_or(i32::MAX);
    let at = spark.step.checked_mul(steps);
    let at = at.and_then(|ahead| spark.from.checked_add(ahead).ok());
    let at = clock::time(at.unwrap_or(spark.from), frame.zone);
    format!("{at}: {n}")
}

fn summary(counts: &[u64], most: u64, spark: &Spark<'_>, frame: &Frame<'_>) -> String {
    let total = counts.iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
    let (steps, step) = (counts.len(), span::words(spark.step, frame.lang));
    say!(frame.lang; "{total} in {steps} × {step}, peak {most}",
        "{steps} × {step} 内共 {total}，峰值 {most}")
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use jiff::tz::TimeZone;

    use super::*;
    use almanack_core::lang::Lang;

    fn spark(counts: &[u64]) -> String {
        let frame = Frame {
            id: "s",
            caption: "Attempts",
            lang: Lang::English,
            zone: &TimeZone::UTC,
        };
        let from = "2026-01-05T13:00:00Z".parse().unwrap();
        let step = SignedDuration::from_mins(1);
        draw(&Spark { from, step, counts }, &frame).into_string()
    }

    #[test]
    fn counts_are_bars() {
        assert_snapshot!(spark(&[0, 3]).replace("><", ">\n<"), @r##"
        <svg class="picture spark" viewBox="0 0 8 32" role="img" aria-label="Attempts: 3 in 2 × 1 min, peak 3">
        <path class="tick" d="M0 31.5h8">
        </path>
        <g>
        <rect class="hit" x="0" y="0" width="4" height="32">
        </rect>
        <title>13:00: 0</title>
        </g>
        <g>
        <rect class="hit" x="4" y="0" width="4" height="32">
        </rect>
        <rect class="column" x="4.5" y="2" width="3" height="29">
        </rect>
        <title>13:01: 3</title>
        </g>
        </svg>
        "##);
    }

    #[test]
    fn only_the_newest_are_shown() {
        let mut counts = vec![1; 1_000];
        counts[999] = u64::MAX;
        let svg = spark(&counts);
        assert_eq!(svg.matches("<g>").count(), BARS_MAX);
        assert!(
            svg.contains("<title>05:39: 18446744073709551615</title>"),
            "{svg}"
        );
        assert!(!spark(&[]).contains("NaN"));
    }
}
