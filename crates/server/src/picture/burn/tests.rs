use insta::assert_snapshot;
use jiff::tz::TimeZone;

use super::*;
use crate::picture::tests as gallery;

const FRAME: Frame<'static> = Frame {
    id: "b",
    caption: "Budget",
    lang: Lang::English,
    zone: &TimeZone::UTC,
};

fn batches(spent: &[u64]) -> Vec<Batch> {
    let batch = |spent: &u64| Batch {
        name: "batch & co".to_owned(),
        spent: *spent,
        href: None,
    };
    spent.iter().map(batch).collect()
}

#[test]
fn batches_climb_towards_the_limit() {
    assert_snapshot!(gallery::lines(draw(10, &batches(&[4, 3]), &FRAME)), @r##"
    <figure class="picture">
    <figcaption>
    <strong>Budget</strong> <span class="summary" id="b-summary">Spent 7 of 10, 3 left (batches: 2).</span>
    <div class="scroll" tabindex="0" role="group" aria-label="Budget">
    <svg class="wide" viewBox="0 0 640 220" role="group" aria-labelledby="b-t b-d">
    <title id="b-t">Budget</title>
    <desc id="b-d">Spent 7 of 10, 3 left (batches: 2).</desc>
    <g aria-hidden="true">
    <g>
    <rect class="spent" x="48" y="192" width="261" height="0">
    <rect class="column" x="48" y="121.6" width="261" height="70.4">
    <title>batch &amp; co: 4 spent, total 4, 6 left</title>
    <text class="hour" x="178.5" y="209">1</text>
    <g>
    <rect class="spent" x="309" y="121.6" width="261" height="70.4">
    <rect class="column" x="309" y="68.8" width="261" height="52.8">
    <title>batch &amp; co: 3 spent, total 7, 3 left</title>
    <text class="hour" x="439.5" y="209">2</text>
    <path class="step" d="M48 192V121.6h261V68.8h261">
    <path class="limit" d="M48 16H570">
    <text class="limit" x="576" y="20">limit 10</text>
    "##);
}

#[test]
fn what_is_left_and_what_is_too_much_is_said() {
    for (spent, limit, shown) in [
        (&[][..], 10, "Spent 0 of 10, 10 left (batches: 0)."),
        (&[4, 6], 10, "Spent 10 of 10, 0 left (batches: 2)."),
        (
            &[4, 7],
            10,
            "Spent 11 of 10, 1 over the limit (batches: 2).",
        ),
        (&[0], 0, "Spent 0 of 0, 0 left (batches: 1)."),
        (
            &[u64::MAX, u64::MAX],
            1,
            "Spent 18446744073709551615 of 1, 18446744073709551614 over the limit (batches: 2).",
        ),
    ] {
        let batches = &batches(spent);
        let html = draw(limit, batches, &FRAME).into_string();
        assert!(html.contains(shown), "{shown}: {html}");
        assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
    }
}

#[test]
fn a_batch_beyond_the_limit_has_a_cross() {
    let crosses = |spent| {
        let batches = &batches(spent);
        let html = draw(10, batches, &FRAME).into_string();
        html.matches("class=\"o failed\"").count()
    };
    assert_eq!(crosses(&[4, 6]), 0);
    assert_eq!(crosses(&[4, 6, 1]), 1);
}
