//! `almanack chaos` itself: short runs of the real thing, on both databases, and what it refuses.
//!
//! A longer run is one command away (docs/guide/chaos.md); these show that it strikes, settles and judges. Their seeds draw every fault that
//! they name. What breaks below the nodes, server and disk, is in [`below`].

mod below;

use std::collections::BTreeSet;

use almanack_testkit::postgres::Schema;
use serde_json::Value;

use crate::harness::Home;

/// Quick to notice that a node died, and to try again.
const QUICK: [&str; 8] = [
    "chaos",
    "--json",
    "--set",
    "node.lease=3s",
    "--set",
    "retry.base=100ms",
    "--set",
    "retry.cap=1s",
];

fn run(home: &Home, further: &[&str]) -> Value {
    let ran = home.run(&[&QUICK[..], further].concat());
    assert_eq!(ran.code, 0, "{ran}");
    serde_json::from_str(&ran.data).unwrap()
}

/// Promises were made, these injections fell, and nothing was broken.
fn assert_held(verdict: &Value, faults: &[&str]) {
    assert_eq!(verdict["broken"], serde_json::json!([]), "{verdict}");
    let number = |path: &str| verdict.pointer(path).and_then(Value::as_u64).unwrap();
    assert!(number("/customer/acknowledged") > 20, "{verdict}");
    assert_eq!(
        number("/customer/called"),
        number("/customer/asked"),
        "{verdict}"
    );
    assert!(number("/articles/published") > 0, "{verdict}");
    assert!(number("/schedules/0/slots") >= 10, "{verdict}");
    let injections = verdict["injections"].as_object().unwrap();
    let fell: BTreeSet<&str> = injections.keys().map(String::as_str).collect();
    assert_eq!(fell, faults.iter().copied().collect(), "{verdict}");
}

#[test]
fn rs_08_dp_16_a_node_on_sqlite_holds_while_it_is_killed_and_frozen() {
    let home = Home::new();
    let faults = ["--faults", "kill,freeze"];
    let verdict = run(
        &home,
        &[&["--minutes", "0.2", "--seed", "0"], &faults[..]].concat(),
    );
    assert_held(&verdict, &["freeze", "kill"]);
    let left = std::fs::read_dir(home.path()).unwrap().count();
    assert_eq!(left, 0, "chaos left something where it was started");
}

/// Set by an hour either way while it runs, and before it starts.
#[test]
fn dp_24_a_node_on_sqlite_holds_while_its_clock_is_wrong() {
    let home = Home::new();
    let climate = ["--minutes", "0.5", "--faults", "clock,start", "--seed", "1"];
    let verdict = run(&home, &climate);
    assert_held(&verdict, &["clock", "start"]);
}

/// Each node's clock is stepped by libfaketime, which `dev/check` installs.
#[test]
fn rs_08_dp_16_three_nodes_on_postgres_hold_while_they_are_hit() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let schema = runtime.block_on(Schema::create());
    let home = Home::new();
    let picture = home.path().join("chaos.svg");
    let picture = picture.to_str().unwrap();
    let climate = [
        "--minutes",
        "0.25",
        "--faults",
        "kill,freeze,cut,clock",
        "--seed",
        "302",
        "--picture",
        picture,
    ];
    let verdict = run(
        &home,
        &[&["--database", schema.url()], &climate[..]].concat(),
    );
    assert_held(&verdict, &["clock", "cut", "freeze", "kill"]);
    let drawn = std::fs::read_to_string(picture).unwrap();
    assert!(drawn.contains("every promise held"), "{drawn}");
}

#[test]
fn what_cannot_be_done_is_refused_before_anything_runs() {
    for (arguments, reported) in [
        (&["--nodes", "3"][..], "SQLite is for one node"),
        (&["--faults", "cut"], "there is no wire"),
        (
            &["--faults", "flood"],
            "is none of kill, freeze, cut, clock, start",
        ),
        (&["--minutes", "0"], "from 0.1 to 1440"),
    ] {
        let home = Home::new();
        let ran = home.run(&[&["chaos"], arguments].concat());
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.notes.contains(reported), "{ran}");
    }
}
