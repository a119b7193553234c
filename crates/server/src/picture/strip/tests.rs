use insta::assert_snapshot;
use jiff::tz::TimeZone;

use super::*;
use crate::picture::tests as gallery;

const FRAME: Frame<'static> = Frame {
    id: "o",
    caption: "Last outcomes",
    lang: Lang::English,
    zone: &TimeZone::UTC,
};

fn beats(outcomes: &[Outcome]) -> Vec<Beat> {
    let beat = |outcome: &Outcome| Beat {
        at: "2026-01-05T13:00:00Z".parse().unwrap(),
        outcome: *outcome,
        why: "a < b".to_owned(),
        href: Some("/slots/1".to_owned()),
    };
    outcomes.iter().map(beat).collect()
}

#[test]
fn a_strip_links_every_beat() {
    assert_snapshot!(gallery::lines(draw(&beats(&[Outcome::Failed]), &FRAME)), @r##"
    <figure class="picture">
    <figcaption>
    <strong>Last outcomes</strong> <span class="summary" id="o-summary">0 of 1 done, 1 failed</span>
    <svg class="strip" viewBox="0 0 240 28" role="group" aria-labelledby="o-t o-d">
    <title id="o-t">Last outcomes</title>
    <desc id="o-d">0 of 1 done, 1 failed</desc>
    <g aria-hidden="true">
    <a href="/slots/1" tabindex="-1">
    <rect class="bar failed" x="233.5" y="12" width="5" height="12" rx="1.5">
    <path class="cross" d="M233.5 3l5 5m0-5l-5 5">
    <title>5 Jan, 13:00: failed – a &lt; b</title>
    <ul class="legend">
    <li>
    <svg class="icon" viewBox="-7 -7 14 14" aria-hidden="true">
    <path class="o failed" d="M-3.8-3.8l7.6 7.6M-3.8 3.8l7.6-7.6">
    "##);
}

#[test]
fn a_strip_among_words_is_an_image() {
    let html = inline(&beats(&[Outcome::Done, Outcome::Skipped]), &FRAME).into_string();
    assert!(
        html.contains(r#"role="img" aria-label="Last outcomes: 1 of 2 done, 1 skipped""#),
        "{html}"
    );
    assert!(!html.contains("<a "), "{html}");
}

#[test]
fn a_strip_is_described_in_a_sentence() {
    let mut outcomes = vec![Outcome::Done; 58];
    outcomes.extend([Outcome::Failed, Outcome::Skipped]);
    for (outcomes, lang, text) in [
        (
            &outcomes[..],
            Lang::English,
            "58 of 60 done, 1 skipped, 1 failed",
        ),
        (
            &outcomes[..],
            Lang::Chinese,
            "60 次中 58 次完成，1 次跳过，1 次失败",
        ),
        (&outcomes[..1], Lang::English, "1 of 1 done"),
        (&[], Lang::English, "no runs yet"),
    ] {
        assert_eq!(summary(&beats(outcomes), lang), text);
    }
}

#[test]
fn only_the_newest_are_shown() {
    let html = draw(&beats(&[Outcome::Done; 1_000]), &FRAME).into_string();
    assert_eq!(html.matches("class=\"bar done\"").count(), BEATS_MAX);
    let none = draw(&[], &FRAME).into_string();
    assert!(none.contains("no runs yet"), "{none}");
}
