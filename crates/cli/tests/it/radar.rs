//! The radar as a person sees it in a terminal.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::harness::Home;

fn radar(home: &Home) -> Value {
    let shown = home.run(&["radar", "--herd", "3", "--json"]);
    shown.expect_json()
}

#[test]
fn wk_09_a_herd_is_shown_and_spread_after_a_dry_run() {
    let home = Home::new();
    for name in ["job-1", "job-2", "job-3"] {
        let webhook = "https://jobs.example/run";
        let put = ["schedule", "put", name, "0 * * * *", "--target-webhook"];
        home.run(&[&put[..], &[webhook]].concat()).expect_data();
    }
    let shown = home.run(&["radar", "--herd", "3"]).expect_data();
    for text in [
        "KIND",
        "HOST",
        "one character of LOAD is 30 min",
        "DISPATCH at jobs.example (3 schedules)",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let before = radar(&home);
    let first: Timestamp = before["herds"][0]["at"].as_str().unwrap().parse().unwrap();
    // The first may pass while this runs.
    let at = (first + SignedDuration::from_hours(2)).to_string();
    let dry = home.run(&["radar", "spread", &at]);
    assert_eq!(dry.code, 0, "{dry}");
    assert!(
        dry.data.starts_with("would spread") && dry.notes.contains("--yes"),
        "{dry}"
    );
    assert_eq!(radar(&home)["herds"], before["herds"], "nothing changed");
    let done = home.run(&["radar", "spread", &at, "--yes"]);
    assert!(
        done.data.contains(": 3 schedules and 0 waiting tasks"),
        "{done}"
    );
    let after = radar(&home);
    assert_eq!(after["herds"], Value::Array(Vec::new()), "{after}");
    let edits = home.run(&["schedule", "show", "job-1"]).expect_data();
    assert!(edits.contains("splay"), "{edits}");
}
