//! `almanack chaos` itself: short real runs on both databases, and what it refuses.
//!
//! For longer runs see docs/guide/chaos.md; these tests show that it injects faults, settles and
//! checks. Their seeds draw every fault they name. Faults below the nodes, of server and disk, are
//! in [`below`].

mod below;

use std::collections::BTreeSet;

use almanack_testkit::postgres::Schema;
use serde_json::Value;

use crate::harness::Home;

/// Detects a dead node and retries quickly.
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

/// Promises were made, these faults were injected, and no promise was broken.
fn assert_held(report: &Value, faults: &[&str]) {
    assert_eq!(report["broken"], serde_json::json!([]), "{report}");
    let number = |path: &str| report.pointer(path).and_then(Value::as_u64).unwrap();
    assert!(number("/customer/acknowledged") > 20, "{report}");
    assert_eq!(
        number("/customer/called"),
        number("/customer/asked"),
        "{report}"
    );
    assert!(number("/articles/published") > 0, "{report}");
    assert!(number("/schedules/0/slots") >= 10, "{report}");
    let injections = report["injections"].as_object().unwrap();
    let fell: BTreeSet<&str> = injections.keys().map(String::as_str).collect();
    assert_eq!(fell, faults.iter().copied().collect(), "{report}");
}

#[test]
fn rs_08_dp_16_a_node_on_sqlite_holds_while_it_is_killed_and_frozen() {
    let home = Home::new();
    let faults = ["--faults", "kill,freeze"];
    let report = run(
        &home,
        &[&["--minutes", "0.2", "--seed", "0"], &faults[..]].concat(),
    );
    assert_held(&report, &["freeze", "kill"]);
    let left = std::fs::read_dir(home.path()).unwrap().count();
    assert_eq!(left, 0, "chaos left something where it was started");
}

/// The clock is set an hour ahead or back, while the node runs and before it starts.
#[test]
fn dp_24_a_node_on_sqlite_holds_while_its_clock_is_wrong() {
    let home = Home::new();
    let climate = ["--minutes", "0.5", "--faults", "clock,start", "--seed", "1"];
    let report = run(&home, &climate);
    assert_held(&report, &["clock", "start"]);
}

/// Each node's clock is stepped by libfaketime, which `dev/check` installs.
#[test]
fn rs_08_dp_16_three_nodes_on_postgres_hold_under_every_fault() {
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
    let report = run(
        &home,
        &[&["--database", schema.url()], &climate[..]].concat(),
    );
    assert_held(&report, &["clock", "cut", "freeze", "kill"]);
    let drawn = std::fs::read_to_string(picture).unwrap();
    assert!(drawn.contains("every promise held"), "{drawn}");
}

#[test]
fn impossible_runs_are_refused_before_anything_starts() {
    for (arguments, message) in [
        (&["--nodes", "3"][..], "SQLite supports one node"),
        (&["--faults", "cut"], "SQLite has no connection to cut"),
        (
            &["--faults", "flood"],
            "is none of kill, freeze, cut, clock, start",
        ),
        (&["--minutes", "0"], "from 0.1 to 1440"),
    ] {
        let home = Home::new();
        let ran = home.run(&[&["chaos"], arguments].concat());
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.notes.contains(message), "{ran}");
    }
}
