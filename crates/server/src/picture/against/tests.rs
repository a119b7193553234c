use insta::assert_snapshot;
use jiff::tz::TimeZone;

use super::*;
use crate::picture::tests as gallery;

const FRAME: Frame<'static> = Frame {
    id: "a",
    caption: "Runs",
    lang: Lang::English,
    zone: &TimeZone::UTC,
};

fn run(late: SignedDuration, took: Option<SignedDuration>) -> Run {
    Run {
        at: "2026-01-05T13:00:00Z".parse().unwrap(),
        late,
        took,
        outcome: Outcome::Done,
        href: Some("/slots/1".to_owned()),
    }
}

#[test]
fn runs_stand_against_their_interval() {
    let interval = Some(SignedDuration::from_secs(60));
    let runs = [run(
        SignedDuration::from_millis(12),
        Some(SignedDuration::from_millis(340)),
    )];
    assert_snapshot!(gallery::lines(draw(interval, &runs, &FRAME)), @r##"
    <figure class="picture">
    <figcaption>
    <strong>Runs</strong> <span class="summary" id="a-summary">Runs: 1. Duration: p50 340 ms, p95 340 ms. Delay: p50 12 ms, p95 12 ms. Interval: 1 min.</span>
    <div class="scroll" tabindex="0" role="group" aria-label="Runs">
    <svg class="wide" viewBox="0 0 640 260" role="group" aria-labelledby="a-t a-d">
    <title id="a-t">Runs</title>
    <desc id="a-d">Runs: 1. Duration: p50 340 ms, p95 340 ms. Delay: p50 12 ms, p95 12 ms. Interval: 1 min.</desc>
    <text class="hour" x="70" y="249">13:00:00</text>
    <path class="limit" d="M62 20.6H564">
    <text class="limit" x="570" y="24.6">interval</text>
    <path class="mean" d="M62 119H564">
    <text class="mean" x="570" y="123">duration p95</text>
    <path class="mean late" d="M62 182.7H564">
    <text class="mean late" x="570" y="186.7">delay p95</text>
    <g aria-hidden="true">
    <a href="/slots/1" tabindex="-1">
    <path class="late" d="M67 182.7h6m-3-3v6">
    <g transform="translate(70 119)">
    <path class="o done" d="M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0">
    <title>5 Jan, 13:00: done, duration 340 ms, delay 12 ms</title>
    <ul class="legend">
    <li>
    <svg class="icon" viewBox="-7 -7 14 14" aria-hidden="true">
    <path class="o done" d="M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0">
    <ul class="legend">
    <li>
    <svg class="icon" viewBox="-7 -7 14 14" aria-hidden="true">
    <path class="o done" d="M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0">
    <li>
    <svg class="icon" viewBox="-7 -7 14 14" aria-hidden="true">
    <path class="late" d="M-3 0h6m-3-3v6">
    "##);
}

#[test]
fn extreme_lengths_still_make_a_picture() {
    let extremes = [
        SignedDuration::MIN,
        SignedDuration::ZERO,
        SignedDuration::MAX,
    ];
    for late in extremes {
        for took in extremes.map(Some).into_iter().chain([None]) {
            let html = draw(None, &[run(late, took)], &FRAME).into_string();
            assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
        }
    }
    let none = draw(None, &[], &FRAME).into_string();
    assert!(none.contains("No runs yet."));
}

#[test]
fn names_of_lines_do_not_touch() {
    let placed = apart(vec![(50.0, "b", "b"), (48.0, "a", "a"), (51.0, "c", "c")]);
    let written: Vec<f64> = placed.iter().map(|(_, written)| *written).collect();
    assert_eq!(written, [52.0, 66.0, 80.0]);
}
