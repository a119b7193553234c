//! What operators see about schedules: warnings wherever one is accepted, and what is left out.

use serde_json::{Value, json};

use crate::harness::{Home, Ran};

const MIXED: &str = r#"
[[schedule]]
name = "good"
expression = "0 8 * * *"
target = { type = "webhook", url = "https://example.org/x" }

[[schedule]]
name = "bad"
expression = "0 25 * * *"
target = { type = "webhook", url = "https://example.org/x" }
"#;

fn has(ran: &Ran, what: &str) {
    assert!(ran.notes.contains(what), "{what}: {ran}");
}

#[test]
fn dp_14_a_simulation_names_what_it_leaves_out() {
    let home = Home::with(MIXED).set("DISPATCH", "0 9 * * * o/r w.yml\nbad line\n");
    let night = ["simulate", "--from", "2026-01-05T00:00Z", "--for", "24h"];
    let ran = home.run(&night);
    assert_eq!(ran.code, 2, "{ran}");
    has(
        &ran,
        "schedule `bad`: expression: hour: 25 is not between 0 and 23",
    );
    has(&ran, "almanack.toml:9:17");
    has(&ran, "DISPATCH:2:1");
    has(&ran, "2 errors: the schedules named above were left out");
    assert!(
        ran.data.contains("2026-01-05 08:00:00Z"),
        "the good ones run: {ran}"
    );
    assert!(
        ran.data.contains("2026-01-05 09:00:00Z"),
        "those of DISPATCH, too: {ran}"
    );
}

/// DISPATCH lines were written for a scheduler in which a day had to fit both day fields.
#[test]
fn dp_01_days_that_fired_otherwise_there_are_warned_of() {
    let text = "0 8 1 * 1 o/r w.yml overlap=allow\n0 8 2 * 1 o/r x.yml overlap=skip\n";
    let home = Home::new().set("DISPATCH", text).set("PAT", "x");
    let both = "both day fields are restricted";
    let there = "the scheduler that the format comes from asked for both";
    let ignored = "`almanack chain` ignores overlap=";
    let checked = home.run(&["check"]);
    assert_eq!(checked.code, 0, "{checked}");
    assert_eq!(checked.notes.matches(there).count(), 2, "{checked}");
    assert_eq!(checked.notes.matches(ignored).count(), 1, "once: {checked}");
    let simulated = home.run(&["simulate", "--from", "2026-01-05T00:00Z", "--for", "24h"]);
    has(&simulated, there);
    let chain = [
        "chain",
        "--self",
        "tick-a",
        "--lock",
        "git:/nowhere",
        "--once",
    ];
    let chained = home.run(&chain);
    assert_eq!(chained.data.matches(there).count(), 2, "{chained}");
    assert_eq!(chained.data.matches(ignored).count(), 1, "{chained}");
    let put = home.run(&[
        "schedule",
        "put",
        "x",
        "0 8 1 * 1",
        "--target-webhook",
        "https://example.org/x",
    ]);
    assert_eq!(put.code, 0, "{put}");
    has(&put, both);
}

#[test]
fn dp_11_firings_that_ask_for_one_task_are_warned_of_everywhere() {
    let home = Home::with(
        r#"
[kinds.AUDIT]
url = "https://example.org/x"
[[schedule]]
name = "audit"
expression = "0 8 * * *"
target = { type = "task", kind = "AUDIT", subject = "all" }
"#,
    );
    let same = "target.subject: every firing asks for the same task";
    let checked = home.run(&["check"]);
    has(&checked, same);
    has(&checked, "almanack.toml:7:53");
    let put = [
        "schedule",
        "put",
        "x",
        "@daily",
        "--target-task",
        "AUDIT",
        "all",
    ];
    has(&home.run(&put), same);
    let json = home.run(&[&put[..], &["--json"]].concat()).expect_json();
    assert_eq!(json["warnings"][0]["code"], "same_task");
    assert_eq!(json["warnings"][0]["path"], "target.subject");
}

#[test]
fn dp_17_what_never_fires_is_refused_and_what_has_passed_is_warned_of() {
    let home = Home::new();
    let put = |expression: &str| {
        let target = ["--target-webhook", "https://example.org/x"];
        home.run(&[&["schedule", "put", "x", expression][..], &target].concat())
    };
    let over = put("0 0 0 1 1 * 2020");
    assert_eq!(over.code, 2, "{over}");
    has(
        &over,
        "it would never fire: its last time was 2020-01-01T00:00:00Z",
    );
    let half = put("0 0 0 1 1 * 2020,2199");
    assert_eq!(half.code, 0, "{half}");
    has(&half, "the year 2020 has passed");
}

#[test]
fn dp_17_a_duration_is_refused_in_our_own_words() {
    let home = Home::with(&MIXED.replace(
        "[[schedule]]\nname = \"bad\"",
        "[[schedule]]\ngrace = \"-6h\"\nname = \"bad\"",
    ));
    let checked = home.run(&["check"]);
    let home = Home::with(
        "[[schedule]]\nname = \"a\"\nexpression = \"@daily\"\ngrace = \"-6h\"\ntarget = { type = \"webhook\", url = \"https://x.test\" }\n",
    );
    has(&home.run(&["check"]), "grace must be between 1s and 8784h");
    assert!(!checked.notes.contains("friendly"), "{checked}");
}

#[test]
fn dp_17_schedules_are_found_by_tag_and_owner() {
    let home = Home::new();
    for (name, tag, owner) in [("a", "billing", "Ada"), ("b", "eu", "Bob")] {
        let labels = ["--tag", tag, "--owner", owner];
        let put = [
            "schedule",
            "put",
            name,
            "@daily",
            "--target-webhook",
            "https://example.org/x",
        ];
        home.run(&[&put[..], &labels].concat()).expect_data();
    }
    let names = |further: &[&str]| {
        let listed = home.run(&[&["schedule", "list", "--json"], further].concat());
        let listed = listed.expect_json();
        let schedules = listed["schedules"].as_array().unwrap().clone();
        schedules
            .into_iter()
            .map(|it| it["name"].clone())
            .collect::<Vec<Value>>()
    };
    assert_eq!(names(&["--tag", "billing"]), [json!("a")]);
    assert_eq!(names(&["--owner", "Bob"]), [json!("b")]);
    assert_eq!(names(&["--tag", "eu", "--owner", "Ada"]), [] as [Value; 0]);
    assert_eq!(home.run(&["schedule", "list", "--tag", "A B"]).code, 2);
}

#[test]
fn dp_01_a_plan_compares_dispatch_too() {
    let home = Home::with("").file("DISPATCH", "0 9 * * * o/r w.yml name=daily\n");
    let home = home.file("new.toml", "[schedules]\ndispatch = \"DISPATCH\"\n");
    let put = [
        "schedule",
        "put",
        "x",
        "@daily",
        "--target-webhook",
        "https://example.org/x",
    ];
    home.run(&put).expect_data();
    let plan = || home.run(&["schedule", "plan", "new.toml", "--json"]);
    let planned = plan().expect_json();
    assert_eq!(planned["schedules"][0]["name"], "daily");
    assert_eq!(planned["schedules"][0]["effect"], "created");
    assert_eq!(planned["schedules"][0]["origin"], "dispatch");
    home.run(&["tick", "--config", "new.toml"]).expect_data();
    assert_eq!(plan().expect_json()["schedules"][0]["effect"], "unchanged");
    let home = home.file("DISPATCH", "0 10 * * * o/r w.yml name=daily\nbad\n");
    let changed = home.run(&["schedule", "plan", "new.toml"]);
    assert_eq!(changed.code, 2, "{changed}");
    assert!(
        changed
            .data
            .contains("changed daily (DISPATCH) (expression)"),
        "{changed}"
    );
    has(&changed, "DISPATCH:2:1");
    let home = home.file("DISPATCH", "# nothing\n");
    let gone = home.run(&["schedule", "plan", "new.toml"]).expect_data();
    assert!(gone.contains("removed daily (DISPATCH)"), "{gone}");
}

#[test]
fn an_import_is_written_and_writing_it_again_changes_nothing() {
    let timer = "[Timer]\nOnCalendar=Mon..Fri 08:00\nOnCalendar=no day\nOnCalendar=Sat 10:00\n";
    let home = Home::new().file("backup.timer", timer);
    let import = ["import", "systemd-timer", "backup.timer", "--tz", "UTC"];
    assert_eq!(home.run(&import).code, 2, "one line cannot be read");
    assert_eq!(
        home.run(&["schedule", "list"]).code,
        3,
        "a dry run writes nothing"
    );
    let apply = [&import[..], &["--apply"]].concat();
    let first = home.run(&apply);
    assert_eq!(
        (first.code, first.data.as_str()),
        (2, "created backup\ncreated backup-3\n")
    );
    let again = home.run(&apply);
    assert_eq!(again.data, "unchanged backup\nunchanged backup-3\n");
    // The line that is repaired renames no other.
    let home = home.file("backup.timer", &timer.replace("no day", "Sun 10:00"));
    let repaired = home.run(&apply).expect_data();
    assert_eq!(
        repaired,
        "unchanged backup\ncreated backup-2\nunchanged backup-3\n"
    );
    let home = home.file("backup.timer", &timer.replace("no day", "Sun 11:00"));
    let json = home.run(&[&apply[..], &["--json"]].concat()).expect_json();
    assert_eq!(json["dry_run"], false);
    let effect = json!({ "what": "changed", "keys": ["expression"] });
    assert_eq!(json["schedules"][1]["effect"], effect);
}
