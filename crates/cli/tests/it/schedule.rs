//! `almanack schedule`, `why` and `tick`: what people see and what programs see.

use serde_json::Value;

use crate::{
    harness::{Home, settled},
    process::eventually,
};

const HOOK: [&str; 2] = ["--target-webhook", "https://example.org/hook"];

fn put(home: &Home, name: &str, expression: &str, further: &[&str]) -> crate::harness::Ran {
    home.run(&[&["schedule", "put", name, expression], further].concat())
}

#[test]
fn a_schedule_is_put_changed_and_listed() {
    let home = Home::new();
    let made = put(
        &home,
        "paper",
        "0 8 * * 1-5",
        &[&HOOK[..], &["--tz", "Europe/Berlin"]].concat(),
    );
    insta::assert_snapshot!(settled(&made.expect_data()), @"created paper: at 08:00 on weekdays (Europe/Berlin); next at TIME AGO");
    let same = put(
        &home,
        "paper",
        "0 8 * * 1-5",
        &[&HOOK[..], &["--tz", "Europe/Berlin"]].concat(),
    );
    insta::assert_snapshot!(same, @"
    No change: paper is already in that state
    exit 0
    ");
    let changed = put(
        &home,
        "paper",
        "@daily",
        &[
            &HOOK[..],
            &["--catch-up", "all", "--splay", "10m", "--grace", "7d"],
        ]
        .concat(),
    );
    insta::assert_snapshot!(settled(&changed.expect_data()), @"changed paper: at 00:00 every day (UTC); next at TIME AGO");
    insta::assert_snapshot!(settled(&home.run(&["schedule", "list"]).expect_data()), @"
    NAME  STATE  WHEN  ZONE  TARGET  NEXT  ORIGIN  FIRING
    paper  active  @daily  UTC  webhook  TIME  AGO  api
    ");
}

#[test]
fn a_schedule_is_shown_and_removed() {
    let home = Home::new();
    put(&home, "paper", "@yearly", &HOOK).expect_data();
    let policies = ["--catch-up", "all", "--splay", "10m", "--grace", "7d"];
    put(&home, "paper", "@daily", &[&HOOK[..], &policies].concat()).expect_data();
    let shown = home.run(&["schedule", "show", "paper"]).expect_data();
    let stable: Vec<&str> = shown
        .lines()
        .filter(|line| !line.contains(":00 +00:00"))
        .collect();
    insta::assert_snapshot!(settled(&stable.join("\n")), @r#"
    paper
    state  active
    when  at 00:00 every day
    expression  @daily
    zone  UTC
    target  {"type":"webhook","url":"https://example.org/hook"}
    catch up  all, grace 7d, at most 100, AGO apart
    overlap  skip
    time limit  AGO
    on resume  skip
    retries for  AGO
    splay  10m, its own part AGO
    priority  5
    origin  api
    revision  2

    NEXT  UTC

    REVISION  EDIT  AT  BY  NOTE
    2  changed  TIME  cli:anna
    1  created  TIME  cli:anna
    "#);
    assert_eq!(shown.matches(":00:00 +00:00").count(), 5, "{shown}");
    insta::assert_snapshot!(home.run(&["schedule", "remove", "paper"]), @"
    removed paper; its history stays
    exit 0
    ");
    let shown = home.run(&["schedule", "show", "paper"]).expect_data();
    let state = shown.lines().nth(1).unwrap();
    insta::assert_snapshot!(settled(state), @"state  removed at TIME");
    assert!(shown.contains("it will not fire again"), "{shown}");
    let slots = home.run(&["schedule", "slots", "paper"]);
    assert_eq!(slots.code, 0, "{slots}");
    assert!(slots.notes.starts_with("paper was removed at 2"), "{slots}");
    let fired = home.run(&["schedule", "fire", "paper"]);
    assert_eq!(fired.code, 3, "what is gone is only looked at: {fired}");
    insta::assert_snapshot!(home.run(&["schedule", "list"]), @"
    no schedules
    exit 0
    ");
    let removed = home
        .run(&["schedule", "list", "--state", "removed", "--json-lines"])
        .expect_json();
    assert_eq!(
        (&removed["name"], &removed["state"]),
        (&"paper".into(), &"removed".into())
    );
}

#[test]
fn every_target_can_be_put() {
    let home = Home::new();
    for (name, flags, expected) in [
        (
            "a",
            &[
                "--target-workflow",
                "o/r/w.yml",
                "--target-ref",
                "x",
                "--target-input",
                "k=v",
            ][..],
            r#"{"inputs":{"k":"v"},"ref":"x","repository":"o/r","type":"workflow","workflow":"w.yml"}"#,
        ),
        (
            "b",
            &[
                "--target-task",
                "EDITION_RUN",
                "edition:{date}",
                "--target-payload",
                "{\"n\":1}",
            ],
            r#"{"kind":"EDITION_RUN","payload":{"n":1},"subject":"edition:{date}","type":"task"}"#,
        ),
        (
            "c",
            &["--target-command", "/bin/sync", "--target-command", "--all"],
            r#"{"argv":["/bin/sync","--all"],"timeout":"10m","type":"command"}"#,
        ),
        (
            "d",
            &["--target", r#"{"type":"webhook","url":"http://x/"}"#],
            r#"{"type":"webhook","url":"http://x/"}"#,
        ),
    ] {
        let made = put(&home, name, "@hourly", &[flags, &["--json"]].concat()).expect_json();
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(made["definition"]["target"], expected);
        assert_eq!(made["revision"], 1);
    }
}

#[test]
fn what_cannot_be_kept_is_refused_with_its_place() {
    let home = Home::new();
    insta::assert_snapshot!(put(&home, "x", "0 25 * * *", &HOOK), @"
    error: hour: 25 is not between 0 and 23
      0 25 * * *
        ^^
    exit 2
    ");
    insta::assert_snapshot!(put(&home, "x", "@daily", &[&HOOK[..], &["--tz", "Europe/Berln"]].concat()), @"
    error: unknown time zone `Europe/Berln`; write an IANA name such as Europe/Berlin
    hint: did you mean `Europe/Berlin`?
    exit 2
    ");
    insta::assert_snapshot!(put(&home, "x y", "@daily", &HOOK), @"
    error: schedule name `x y` must start with a letter or digit and have at most 100 letters, digits, `.`, `_` or `-`
    exit 2
    ");
    insta::assert_snapshot!(put(&home, "x", "@daily", &["--target-workflow", "w.yml"]), @"
    error: --target-workflow: the repository is missing
    hint: write owner/name/daily.yml
    exit 2
    ");
    insta::assert_snapshot!(put(&home, "x", "@daily", &[&HOOK[..], &["--grace", "soon"]].concat()), @r#"
    error: --grace: `soon` is not a duration
    hint: write numbers with units, like "30s", "10m", "1h30m" or "7d"
    exit 2
    "#);
    for bad in [
        &[][..],
        &["--target-webhook", "http://x/", "--target-task", "K", "s"],
    ] {
        assert_eq!(put(&home, "x", "@daily", bad).code, 2, "{bad:?}");
    }
    assert_eq!(
        home.run(&["schedule", "show", "x"]).code,
        3,
        "nothing was written"
    );
}

#[test]
fn dp_17_a_pause_is_reported_with_its_note_and_ends() {
    let home = Home::new();
    put(&home, "paper", "@daily", &HOOK).expect_data();
    let paused = home.run(&[
        "schedule",
        "pause",
        "paper",
        "--until",
        "2999-01-01T00:00Z",
        "--note",
        "moving house",
    ]);
    insta::assert_snapshot!(paused, @"
    paused paper until 2999-01-01 00:00:00Z
    exit 0
    ");
    let shown = home.run(&["schedule", "show", "paper"]).expect_data();
    let state = shown
        .lines()
        .find(|line| line.starts_with("state"))
        .unwrap();
    insta::assert_snapshot!(settled(state), @"state  paused by cli:anna since TIME until 2999-01-01 00:00:00Z: moving house");
    let why = home
        .run(&["why", "paper", "2150-01-01 00:00"])
        .expect_data();
    let expected = "does not fire: the schedule is paused by cli:anna: moving house, since";
    assert!(why.contains(expected), "{why}");
    insta::assert_snapshot!(settled(&home.run(&["schedule", "resume", "paper"]).expect_data()), @"resumed paper; next at TIME AGO");
    insta::assert_snapshot!(home.run(&["schedule", "resume", "paper"]), @"
    No change: paper is already in that state
    exit 0
    ");
    let past = home.run(&["schedule", "pause", "paper", "--until", "2020-01-01T00:00Z"]);
    insta::assert_snapshot!(past, @"
    error: until must be in the future
    hint: for example --until +2h
    exit 2
    ");
    insta::assert_snapshot!(home.run(&["schedule", "pause", "nobody"]), @"
    error: no schedule `nobody`
    hint: `almanack schedule list` lists all
    exit 3
    ");
}

#[test]
fn dp_16_why_answers_in_the_schedules_own_zone() {
    let home = Home::new();
    put(
        &home,
        "paper",
        "0 8 * * *",
        &[&HOOK[..], &["--tz", "Europe/Berlin"]].concat(),
    )
    .expect_data();
    let answer = home
        .run(&["why", "paper", "2120-07-01 08:00", "--json"])
        .expect_json();
    assert_eq!(answer["is_slot"], true, "summer time");
    insta::assert_snapshot!(home.run(&["why", "paper", "2120-07-01T08:00Z"]), @"
    2120-07-01T08:00:00Z is not a slot of `paper` (`0 8 * * *` in Europe/Berlin); the nearest are 2120-07-01T06:00:00Z and 2120-07-02T06:00:00Z.
    exit 0
    ");
    insta::assert_snapshot!(home.run(&["why", "paper", "2120-07-01"]), @r#"
    error: TIME: `2120-07-01` has no time of day
    hint: write 2120-07-01T08:00Z, or with a zone: "2120-07-01 08:00 Europe/Berlin"
    exit 2
    "#);
}

#[test]
fn a_schedule_is_fired_by_hand_and_its_past_is_filled() {
    let home = Home::new();
    put(&home, "paper", "@daily", &HOOK).expect_data();
    let fired = home
        .run(&["schedule", "fire", "paper", "--json"])
        .expect_json();
    assert!(
        fired["subject"]
            .as_str()
            .unwrap()
            .starts_with("schedule:paper@manual-")
    );
    let again = home.run(&["schedule", "fire", "paper"]);
    assert_eq!(again.code, 1, "{again}");
    assert!(
        again.notes.contains("hint: use --force to fire anyway"),
        "{again}"
    );
    home.run(&["schedule", "fire", "paper", "--force"])
        .expect_data();
    let range = [
        "schedule",
        "backfill",
        "paper",
        "--from",
        "2024-01-01 00:00",
        "--to",
        "2024-01-04T00:00Z",
    ];
    let planned = home.run(&[&range[..], &["--dry-run"]].concat());
    insta::assert_snapshot!(planned.data.lines().last().unwrap(), @"3 of 3 slots would fire");
    let done = home.run(&[&range[..], &["--json"]].concat()).expect_json();
    assert_eq!(
        (&done["fires"], &done["dry_run"]),
        (&3.into(), &false.into())
    );
    assert_eq!(
        done["slots"][1]["firing"],
        "schedule:paper@2024-01-02T00:00:00Z"
    );
    let twice = home.run(&range).expect_data();
    assert!(twice.contains("0 of 3 slots fire"), "{twice}");
    let slots = home.run(&["schedule", "slots", "paper"]).expect_data();
    let by_hand = |verdict: &str| slots.matches(&format!("{verdict} by cli:anna")).count();
    assert_eq!(
        (by_hand("manual"), by_hand("backfilled")),
        (2, 3),
        "{slots}"
    );
}

#[test]
fn a_plan_reports_which_firings_change() {
    let table = |name: &str, rest: &str| {
        format!(
            "[[schedule]]\nname = \"{name}\"\n{rest}\ntarget = {{ type = \"webhook\", url = \"http://127.0.0.1:1025/\" }}\n"
        )
    };
    let before = table("changes", "expression = \"0 0 8 1 1 * 2120\"")
        + &table("goes", "expression = \"0 0 0 1 1 * 2120\"")
        + &table("stays", "expression = \"0 0 0 1 1 * 2120\"");
    let home = Home::with(&before);
    home.run(&["tick"]).expect_data();
    let listed = home
        .run(&["schedule", "list", "--json-lines"])
        .expect_data();
    assert_eq!(listed.matches("\"origin\":\"file\"").count(), 3, "{listed}");
    let after = table("changes", "expression = \"0 0 9 1 1 * 2120\"\npriority = 7")
        + &table("comes", "expression = \"0 0 9 1 1,2 * 2120\"")
        + &table("stays", "expression = \"0 0 0 1 1 * 2120\"");
    let home = home.file("new.toml", &after);
    insta::assert_snapshot!(home.run(&["schedule", "plan", "new.toml", "--for", "40000d"]), @"
    changed changes (expression, priority); firings: 1 come, 1 go, 0 stay
      -  2120-01-01 08:00:00Z
      +  2120-01-01 09:00:00Z
    created comes; firings: 2 come, 0 go, 0 stay
      +  2120-01-01 09:00:00Z
      +  2120-02-01 09:00:00Z
    removed goes; firings: 0 come, 1 go, 0 stay
      -  2120-01-01 00:00:00Z
    1 unchanged
    exit 0
    ");
    let reported = home
        .run(&["schedule", "plan", "new.toml", "--json"])
        .expect_json();
    assert_eq!(
        reported["schedules"][0]["keys"],
        serde_json::json!(["expression", "priority"])
    );
    let bad = home.file("bad.toml", &table("goes", "expression = \"0 25 * * *\""));
    let reported = bad.run(&["schedule", "plan", "bad.toml"]);
    assert_eq!(reported.code, 2, "{reported}");
    assert!(
        !reported.data.contains("removed goes"),
        "a bad schedule stays: {reported}"
    );
    assert!(reported.data.contains("removed stays"), "{reported}");
}

#[test]
fn a_plan_says_which_schedules_do_not_fire_now() {
    let table = |hour: u8| {
        format!(
            "[[schedule]]\nname = \"paper\"\nexpression = \"0 0 {hour} 1 1 * 2120\"\ntarget = {{ type = \"webhook\", url = \"http://127.0.0.1:1025/\" }}\n"
        )
    };
    let home = Home::with(&table(8)).file("new.toml", &table(9));
    home.run(&["tick"]).expect_data();
    home.run(&["schedule", "pause", "paper"]).expect_data();
    let plan = ["schedule", "plan", "new.toml", "--for", "40000d"];
    insta::assert_snapshot!(home.run(&plan), @"
    changed paper (expression); firings: 1 come, 1 go, 0 stay; it is paused
      -  2120-01-01 08:00:00Z
      +  2120-01-01 09:00:00Z
    0 unchanged
    exit 0
    ");
    let reported = home.run(&[&plan[..], &["--json"]].concat()).expect_json();
    assert_eq!(reported["schedules"][0]["state"], "paused");
    home.run(&["schedule", "resume", "paper"]).expect_data();
    let reported = home.run(&plan).data;
    assert!(reported.contains("0 stay\n"), "{reported}");
}

#[test]
fn a_schedule_of_a_file_is_changed_there() {
    let home = Home::with(
        "[[schedule]]\nname = \"paper\"\nexpression = \"@yearly\"\ntarget = { type = \"webhook\", url = \"http://127.0.0.1:1025/\" }\n",
    );
    home.run(&["tick"]).expect_data();
    insta::assert_snapshot!(put(&home, "paper", "@daily", &HOOK), @"
    error: schedule `paper` belongs to the configuration file; change it there
    hint: change or remove it in its file
    exit 1
    ");
    insta::assert_snapshot!(home.run(&["schedule", "remove", "paper"]), @"
    error: schedule `paper` belongs to the configuration file; change it there
    hint: change or remove it in its file
    exit 1
    ");
    let left = home
        .run(&["schedule", "list", "--json-lines"])
        .expect_json();
    assert_eq!(left["state"], "active");
}

#[test]
fn a_tick_that_finds_nothing_says_so_and_one_without_a_file_removes_nothing() {
    let home = Home::with(
        "[[schedule]]\nname = \"paper\"\nexpression = \"0 0 0 1 1 * 2120\"\ntarget = { type = \"webhook\", url = \"http://127.0.0.1:1025/\" }\n",
    );
    let reported = home.run(&["tick", "--json"]).expect_json();
    assert_eq!(reported["complete"], true, "{reported}");
    assert_eq!(
        (&reported["fired"], &reported["next_due_at"]),
        (&0.into(), &"2120-01-01T00:00:00Z".into())
    );
    std::fs::remove_file(home.path().join("almanack.toml")).unwrap();
    insta::assert_snapshot!(settled(&home.run(&["tick"]).expect_data()), @"
    slots: 0 fired, 0 skipped; attempts: none
    next due: AGO
    ");
    let left = home
        .run(&["schedule", "list", "--json-lines"])
        .expect_json();
    assert_eq!(left["name"], "paper");
    assert_eq!(home.run(&["tick", "--budget", "x"]).code, 2);
}

/// A home whose schedule `touch` has failed: its commands are off.
async fn with_a_failed_firing() -> Home {
    let home = Home::new();
    put(&home, "touch", "@1s", &["--target-command", "/bin/true"]).expect_data();
    eventually("a slot has fired", async || {
        home.run(&["tick"]).expect_data();
        let slots = home.run(&["schedule", "slots", "touch"]).expect_data();
        (!slots.is_empty()).then_some(())
    })
    .await;
    home
}

#[tokio::test]
async fn a_firing_that_failed_is_reported_wherever_its_slot_is() {
    let home = with_a_failed_firing().await;
    let slots = home.run(&["schedule", "slots", "touch"]).expect_data();
    assert!(slots.lines().next().unwrap().contains("OUTCOME"), "{slots}");
    assert!(slots.contains("Failed, will retry: "), "{slots}");
    let reported = home
        .run(&["schedule", "slots", "touch", "--limit", "1", "--json-lines"])
        .expect_json();
    let firing = reported["firing"].as_str().unwrap();
    let reported = home
        .run(&["task", "get", "DISPATCH", firing, "--json"])
        .expect_json();
    assert_eq!(reported["status"], "FAIL", "{reported}");
    let detail = reported["detail"].as_str().unwrap();
    assert!(detail.contains("command.enabled"), "{reported}");
    for command in [&["schedule", "list"][..], &["schedule", "show", "touch"]] {
        let reported = home.run(command).expect_data();
        assert!(reported.contains("Failed"), "{reported}");
    }
}

#[test]
fn a_firing_by_hand_is_reported_with_its_state() {
    let home = Home::new();
    put(&home, "paper", "@yearly", &HOOK).expect_data();
    home.run(&["schedule", "fire", "paper"]).expect_data();
    let shown = home.run(&["schedule", "show", "paper"]).expect_data();
    assert!(shown.contains("@manual-"), "{shown}");
    assert!(shown.contains("Waiting"), "{shown}");
}

#[test]
fn the_next_time_of_a_paused_schedule_is_behind_its_pause() {
    let home = Home::new();
    put(&home, "paper", "@daily", &HOOK).expect_data();
    let until = ["--until", "2120-01-01T08:00Z"];
    home.run(&[&["schedule", "pause", "paper"][..], &until].concat())
        .expect_data();
    let listed = home
        .run(&["schedule", "list", "--json-lines"])
        .expect_json();
    assert_eq!(listed["next_at"], "2120-01-02T00:00:00Z");
    let shown = home.run(&["schedule", "show", "paper"]).expect_data();
    let mut next = shown.lines().filter(|line| line.contains(" +00:00"));
    assert!(next.next().unwrap().contains("2120-01-02 "), "{shown}");
    assert_eq!(next.count(), 4, "{shown}");
}

#[test]
fn a_pause_without_end_has_no_next_time() {
    let home = Home::new();
    put(&home, "paper", "@daily", &HOOK).expect_data();
    home.run(&["schedule", "pause", "paper"]).expect_data();
    insta::assert_snapshot!(settled(&home.run(&["schedule", "list"]).expect_data()), @"
    NAME  STATE  WHEN  ZONE  TARGET  NEXT  ORIGIN  FIRING
    paper  paused  @daily  UTC  webhook  paused  api
    ");
    let shown = home.run(&["schedule", "show", "paper"]).expect_data();
    let reported = "it does not fire until it is resumed";
    assert!(shown.contains(reported), "{shown}");
    let reported = home
        .run(&["schedule", "show", "paper", "--json"])
        .expect_json();
    assert_eq!(reported["next_at"], Value::Null);
    assert_eq!(reported["timetable"]["next"], serde_json::json!([]));
}

#[test]
fn a_target_that_no_node_can_fire_at_is_stored_with_a_warning() {
    let home = Home::with("[kinds.EDITION_RUN]\nurl = \"http://127.0.0.1:1025/\"\n");
    let good = ["--target-task", "EDITION_RUN", "edition:{date}"];
    assert_eq!(put(&home, "a", "@daily", &good).notes, "");
    let near = ["--target-task", "EDITION_RNU", "edition:{date}"];
    insta::assert_snapshot!(put(&home, "a", "@daily", &near).notes, @"
    warning: kind `EDITION_RNU` is not configured, so every firing would fail
    hint: did you mean `EDITION_RUN`?
    ");
    let command = ["--target-command", "/bin/true"];
    insta::assert_snapshot!(put(&home, "b", "@daily", &command).notes, @"
    warning: commands are off
    hint: set command.enabled = true to let schedules run programs on this machine
    ");
    let on = ["--set", "command.enabled=true"];
    let on = put(&home, "b", "@daily", &[&command[..], &on].concat());
    assert_eq!(on.notes, "", "{on}");
}

#[test]
fn what_a_target_would_drop_is_refused() {
    let home = Home::new();
    insta::assert_snapshot!(put(&home, "x", "@daily", &[&HOOK[..], &["--target-ref", "main"]].concat()), @"
    error: --target-ref needs --target-workflow
    hint: remove it, or see `almanack schedule put --help`
    exit 2
    ");
    let input = [&HOOK[..], &["--target-input", "a=b"]].concat();
    assert_eq!(put(&home, "x", "@daily", &input).code, 2);
    insta::assert_snapshot!(put(&home, "x", "@daily", &["--target-task", "K", "at {slott}"]), @"
    error: target.subject: the only placeholders are {slot} and {date}
    exit 2
    ");
}
