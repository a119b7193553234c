use insta::assert_snapshot;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;
use crate::picture::tests as gallery;

const FRAME: Frame<'static> = Frame {
    id: "l",
    caption: "Lateness",
    lang: Lang::English,
    zone: &TimeZone::UTC,
};

fn lengths(millis: &[i64]) -> Vec<SignedDuration> {
    millis
        .iter()
        .copied()
        .map(SignedDuration::from_millis)
        .collect()
}

#[test]
fn lengths_fall_into_bins_that_people_say() {
    for (millis, bin) in [
        (0, "0 ms to 1 ms"),
        (1, "1 ms to 2 ms"),
        (99, "50 ms to 100 ms"),
        (100, "100 ms to 200 ms"),
        (59_999, "20 s to 1 min"),
        (3_600_000, "1 h to 2 h"),
    ] {
        let bins = bins(&lengths(&[millis]));
        let filled = bins.iter().find(|bin| bin.count == 1).unwrap();
        assert_eq!(describe(filled, Lang::English), bin);
    }
}

#[test]
fn a_histogram_marks_percentiles() {
    assert_snapshot!(gallery::lines(draw(&lengths(&[1, 2, 2]), &FRAME)), @r##"
    <figure class="picture">
    <figcaption>
    <strong>Lateness</strong> <span class="summary" id="l-summary">Count 3: p50 2 ms, p95 2 ms, p99 2 ms.</span>
    <div class="scroll" tabindex="0" role="group" aria-label="Lateness">
    <svg class="wide" viewBox="0 0 640 240" role="img" aria-labelledby="l-t l-d">
    <title id="l-t">Lateness</title>
    <desc id="l-d">Count 3: p50 2 ms, p95 2 ms, p99 2 ms.</desc>
    <g>
    <title>0 ms to 1 ms: 0</title>
    <text class="hour" x="48" y="228">0 ms</text>
    <g>
    <rect class="column" x="145" y="132" width="94" height="78" rx="2">
    <title>1 ms to 2 ms: 1</title>
    <text class="hour" x="144" y="228">1 ms</text>
    <g>
    <rect class="column" x="241" y="54" width="94" height="156" rx="2">
    <title>2 ms to 5 ms: 2</title>
    <text class="hour" x="240" y="228">2 ms</text>
    <g>
    <title>5 ms to 10 ms: 0</title>
    <text class="hour" x="336" y="228">5 ms</text>
    <g>
    <title>10 ms to 20 ms: 0</title>
    <text class="hour" x="432" y="228">10 ms</text>
    <g>
    <title>20 ms to 50 ms: 0</title>
    <text class="hour" x="528" y="228">20 ms</text>
    <path class="mean" d="M240 6V210">
    <text class="mean" x="245" y="14">p50 2 ms</text>
    <path class="mean" d="M240 21V210">
    <text class="mean" x="245" y="29">p95 2 ms</text>
    <path class="mean" d="M240 36V210">
    <text class="mean" x="245" y="44">p99 2 ms</text>
    "##);
}

#[test]
fn nothing_measured_is_said() {
    let html = draw(&[], &FRAME).into_string();
    assert!(html.contains("No measurements yet."), "{html}");
}

proptest! {
    #[test]
    fn every_length_is_counted_and_placed(millis in prop::collection::vec(any::<i64>(), 0..50)) {
        let mut sorted = lengths(&millis);
        for length in &mut sorted {
            *length = (*length).max(SignedDuration::ZERO);
        }
        sorted.sort_unstable();
        let bins = bins(&sorted);
        let counted: usize = bins.iter().map(|bin| bin.count).sum();
        prop_assert_eq!(counted, sorted.len());
        prop_assert!(bins.is_sorted_by(|a, b| a.until == b.from));
        let width = (WIDTH - LEFT - RIGHT) / real(bins.len());
        for length in sorted {
            let x = place(length, &bins, width);
            prop_assert!((LEFT..=WIDTH - RIGHT + 0.001).contains(&x), "{}", x);
        }
    }
}
