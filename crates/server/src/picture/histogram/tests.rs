use insta::assert_snapshot;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;
use crate::picture::gallery;

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
        (0, "0 ms to below 1 ms"),
        (1, "1 ms to below 2 ms"),
        (99, "50 ms to below 100 ms"),
        (100, "100 ms to below 200 ms"),
        (59_999, "20 s to below 1 min"),
        (3_600_000, "1 h to below 2 h"),
    ] {
        let bins = bins(&lengths(&[millis]));
        let filled = bins.iter().find(|bin| bin.count == 1).unwrap();
        assert_eq!(told(filled, Lang::English), bin);
    }
}

#[test]
fn a_histogram_marks_percentiles() {
    assert_snapshot!(gallery::lines(draw(&lengths(&[1, 2, 2]), &FRAME)), @r##"
    <figure class="picture">
    <figcaption>
    <strong>Lateness</strong> <span class="told" id="l-told">Of 3, half took at most 2 ms, 95 % at most 2 ms, 99 % at most 2 ms.</span>
    </figcaption>
    <div class="scroll" tabindex="0" role="region" aria-label="Lateness">
    <svg class="wide" viewBox="0 0 640 240" role="img" aria-labelledby="l-t l-d">
    <title id="l-t">Lateness</title>
    <desc id="l-d">Of 3, half took at most 2 ms, 95 % at most 2 ms, 99 % at most 2 ms.</desc>
    <path class="tick" d="M48 210H624">
    </path>
    <text class="value" x="40" y="214">0</text>
    <path class="tick" d="M48 132H624">
    </path>
    <text class="value" x="40" y="136">1</text>
    <path class="tick" d="M48 54H624">
    </path>
    <text class="value" x="40" y="58">2</text>
    <g>
    <rect class="hit" x="48" y="54" width="96" height="156">
    </rect>
    <title>0 ms to below 1 ms: 0</title>
    </g>
    <text class="hour" x="48" y="228">0 ms</text>
    <g>
    <rect class="hit" x="144" y="54" width="96" height="156">
    </rect>
    <rect class="column" x="145" y="132" width="94" height="78" rx="2">
    </rect>
    <title>1 ms to below 2 ms: 1</title>
    </g>
    <text class="hour" x="144" y="228">1 ms</text>
    <g>
    <rect class="hit" x="240" y="54" width="96" height="156">
    </rect>
    <rect class="column" x="241" y="54" width="94" height="156" rx="2">
    </rect>
    <title>2 ms to below 5 ms: 2</title>
    </g>
    <text class="hour" x="240" y="228">2 ms</text>
    <g>
    <rect class="hit" x="336" y="54" width="96" height="156">
    </rect>
    <title>5 ms to below 10 ms: 0</title>
    </g>
    <text class="hour" x="336" y="228">5 ms</text>
    <g>
    <rect class="hit" x="432" y="54" width="96" height="156">
    </rect>
    <title>10 ms to below 20 ms: 0</title>
    </g>
    <text class="hour" x="432" y="228">10 ms</text>
    <g>
    <rect class="hit" x="528" y="54" width="96" height="156">
    </rect>
    <title>20 ms to below 50 ms: 0</title>
    </g>
    <text class="hour" x="528" y="228">20 ms</text>
    <path class="mean" d="M240 6V210">
    </path>
    <text class="mean" x="245" y="14">p50 2 ms</text>
    <path class="mean" d="M240 21V210">
    </path>
    <text class="mean" x="245" y="29">p95 2 ms</text>
    <path class="mean" d="M240 36V210">
    </path>
    <text class="mean" x="245" y="44">p99 2 ms</text>
    </svg>
    </div>
    <details class="data">
    <summary>As a table</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="Table: Lateness">
    <table>
    <caption>Lateness</caption>
    <thead>
    <tr>
    <th scope="col">Length</th>
    <th scope="col">Count</th>
    </tr>
    </thead>
    <tbody>
    <tr>
    <th scope="row">0 ms to below 1 ms</th>
    <td>0</td>
    </tr>
    <tr>
    <th scope="row">1 ms to below 2 ms</th>
    <td>1</td>
    </tr>
    <tr>
    <th scope="row">2 ms to below 5 ms</th>
    <td>2</td>
    </tr>
    <tr>
    <th scope="row">5 ms to below 10 ms</th>
    <td>0</td>
    </tr>
    <tr>
    <th scope="row">10 ms to below 20 ms</th>
    <td>0</td>
    </tr>
    <tr>
    <th scope="row">20 ms to below 50 ms</th>
    <td>0</td>
    </tr>
    </tbody>
    </table>
    </div>
    </details>
    </figure>
    "##);
}

#[test]
fn nothing_measured_is_said() {
    let html = draw(&[], &FRAME).into_string();
    assert!(html.contains("Nothing has been measured yet."), "{html}");
}

proptest! {
    #[test]
    fn every_length_is_counted_and_placed(millis in prop::collection::vec(any::<i64>(), 0..50)) {
        let mut sorted = lengths(&millis);
        sorted.iter_mut().for_each(|length| *length = (*length).max(SignedDuration::ZERO));
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
