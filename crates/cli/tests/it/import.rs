//! `almanack import`: schedules out of other programs' files, and what is said about them.

use serde_json::Value;

use crate::harness::{Home, Ran};

/// The data, then the notes, with a line between.
fn import(file: &str, text: &str, arguments: &[&str]) -> String {
    let ran = run(file, text, arguments);
    format!("{}----\n{}exit {}", ran.data, ran.notes, ran.code)
}

fn run(file: &str, text: &str, arguments: &[&str]) -> Ran {
    let line: Vec<&str> = ["import"].iter().chain(arguments).copied().collect();
    Home::new().file(file, text).run(&line)
}

#[test]
fn dp_01_a_dispatch_text_is_shown_as_schedules_with_everything_that_is_wrong() {
    let text = "\
*/5 * * * *  owner/repo  check.yml     # 每 5 分鐘
0 25 * * *   owner/repo  late.yml
0 0 13 * 5   owner/repo  friday.yml
";
    insta::assert_snapshot!(import("DISPATCH", text, &["dispatch", "DISPATCH"]), @r#"
    # DISPATCH, line 1
    [[schedule]]
    name = "dispatch-86ed6ca5eeb2"
    expression = "*/5 * * * *"
    tz = "UTC"
    target = { type = "workflow", repository = "owner/repo", workflow = "check.yml" }

    # DISPATCH, line 3
    [[schedule]]
    name = "dispatch-099c5fd091ce"
    expression = "0 0 13 * +5"
    tz = "UTC"
    target = { type = "workflow", repository = "owner/repo", workflow = "friday.yml" }
    ----
    error: hour: 25 is not between 0 and 23
     --> DISPATCH:2:3
      |
    2 | 0 25 * * *   owner/repo  late.yml
      |   ^^

    warning: a line with a comment behind it was dropped there; here it fires
     --> DISPATCH:1:1
      |
    1 | */5 * * * *  owner/repo  check.yml     # 每 5 分鐘
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    warning: a day had to fit both day fields there and either one here; written with `+`, which asks for both
     --> DISPATCH:3:1
      |
    3 | 0 0 13 * 5   owner/repo  friday.yml
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    warning: missed times were lost there; here the latest one is caught up (catch_up=none loses it)

    2 schedules, 3 differences, 1 problem
    exit 2
    "#);
}

#[test]
fn a_crontab_from_standard_input() {
    let text = "MAILTO=me\n0 8 * * 1-5 report --daily\n@reboot x\n0 5 * * * cd /srv && ./run\n";
    let arguments = ["import", "crontab", "-", "--tz", "Europe/Berlin"];
    let ran = Home::new().run_with_input(&arguments, text);
    insta::assert_snapshot!(ran, @r#"
    # standard input, line 2
    [[schedule]]
    name = "crontab-967fa1e72fd3"
    expression = "0 8 * * 1-5"
    tz = "Europe/Berlin"
    target = { type = "command", argv = ["report", "--daily"] }
    catch_up = "none"
    overlap = "allow"

    # standard input, line 4
    [[schedule]]
    name = "crontab-74c8181c27f9"
    expression = "0 5 * * *"
    tz = "Europe/Berlin"
    target = { type = "command", argv = ["/bin/sh", "-c", "cd /srv && ./run"] }
    catch_up = "none"
    overlap = "allow"
    error: `@reboot` names no time: nothing fires because of a restart
     --> standard input:3:1
      |
    3 | @reboot x
      | ^^^^^^^

    warning: the command needs a shell; /bin/sh is used as its program, because none is started by default
     --> standard input:4:1
      |
    4 | 0 5 * * * cd /srv && ./run
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^

    warning: output was mailed there; here it is kept with the firing

    2 schedules, 2 differences, 1 problem
    exit 2
    "#);
}

#[test]
fn a_timer_with_its_policies() {
    let text =
        "[Timer]\nOnCalendar=Sat *-*-1..7 18:00\nPersistent=true\nRandomizedDelaySec=10min\n";
    insta::assert_snapshot!(import("backup.timer", text, &["systemd-timer", "backup.timer"]), @r#"
    # backup.timer, line 2
    [[schedule]]
    name = "backup"
    expression = "0 18 1-7 * +6"
    tz = "UTC"
    target = { type = "command", argv = ["systemctl", "start", "backup.service"] }
    splay = "10m"
    ----
    warning: starts backup.service by systemctl: commands must be allowed on the node, and its user must be allowed to start units

    warning: times are in the machine's own zone there; taken as UTC here (--tz names another)

    warning: a timer may be late by its AccuracySec there (1min by default); here it fires on the second

    warning: every start was delayed at random there; here the delay is picked once, from the name

    1 schedule, 4 differences, 0 problems
    exit 0
    "#);
}

const WORKFLOW: &str = "\
name: Daily   # 每天
on:
  push: { branches: [main] }
  schedule:
    - cron: '0 8 * * 1-5'
      timezone: \"Asia/Shanghai\"
    - cron: \"*/2 * * * *\"
    - cron: 0 25 * * *
    - timezone: UTC
jobs:
  run: { runs-on: ubuntu-latest, steps: [ { run: 'true' } ] }
";

#[test]
fn a_workflow_of_github() {
    let arguments = ["github-workflow", "daily.yml", "--repository", "owner/repo"];
    insta::assert_snapshot!(import("daily.yml", WORKFLOW, &arguments), @r#"
    # daily.yml, line 5
    [[schedule]]
    name = "daily"
    expression = "0 8 * * 1-5"
    tz = "Asia/Shanghai"
    target = { type = "workflow", repository = "owner/repo", workflow = "daily.yml" }

    # daily.yml, line 7
    [[schedule]]
    name = "daily-2"
    expression = "*/2 * * * *"
    tz = "UTC"
    target = { type = "workflow", repository = "owner/repo", workflow = "daily.yml" }
    ----
    error: hour: 25 is not between 0 and 23
     --> daily.yml:8:13
      |
    8 |     - cron: 0 25 * * *
      |             ^^^^^^^^^^

    error: an entry of `schedule` has a `cron`
     --> daily.yml:9:7
      |
    9 |     - timezone: UTC
      |       ^^^^^^^^^^^^^

    warning: nothing runs more often than every 5 minutes there; here it does
     --> daily.yml:7:13
      |
    7 |     - cron: "*/2 * * * *"
      |             ^^^^^^^^^^^^^

    warning: scheduled workflows start late or not at all there when much is going on; here they are dispatched on time

    warning: the default branch runs there; here it is the branch `main` (ref)

    warning: the workflow has no `workflow_dispatch` trigger and cannot be started from outside; add it beside `schedule`

    2 schedules, 4 differences, 2 problems
    exit 2
    "#);
}

#[test]
fn a_workflow_says_its_triggers_in_many_shapes() {
    let arguments = ["github-workflow", "w.yml", "--repository", "o/r", "--json"];
    let asked = |text: &str| -> Value {
        serde_json::from_str(&run("w.yml", text, &arguments).data).unwrap()
    };
    let codes = |list: &Value| -> Vec<String> {
        let codes = list.as_array().unwrap().iter();
        codes
            .map(|it| it["code"].as_str().unwrap().to_owned())
            .collect()
    };
    for (text, schedules, problems) in [
        ("on: push", 0, &["no_time"][..]),
        ("on: [push, workflow_dispatch]", 0, &["no_time"]),
        ("jobs: {}", 0, &["no_time"]),
        ("", 0, &["no_time"]),
        ("on: { schedule: [ { cron: '0 8 * * *' } ] }", 1, &[]),
        ("\"on\":\n  schedule:\n  - cron: 0 8 * * *\n", 1, &[]),
        ("\u{feff}on:\n  schedule:\n  - cron: 0 8 * * *\n", 1, &[]),
        ("on:\n  schedule:\n    cron: 0 8 * * *\n", 0, &["shape"]),
        ("on:\n  schedule: daily\n", 0, &["shape"]),
        ("on:\n  schedule:\n  - 0 8 * * *\n", 0, &["shape"]),
        ("on: &t { schedule: *t }", 0, &["shape"]),
        ("on: [", 0, &["yaml"]),
        ("on:\n\tschedule: x", 0, &["yaml"]),
        ("- a\n- b", 0, &["no_time"]),
    ] {
        let reported = asked(text);
        let found = reported["schedules"].as_array().unwrap().len();
        assert_eq!(found, schedules, "{text:?}: {reported}");
        assert_eq!(
            codes(&reported["problems"]),
            problems,
            "{text:?}: {reported}"
        );
    }
    let both = "on: { workflow_dispatch: {}, schedule: [ { cron: '0 8 * * *' } ] }";
    assert_eq!(codes(&asked(both)["differences"]), ["late", "branch"]);
    let deep = format!("on: {}", "[".repeat(20_000));
    assert_eq!(
        codes(&asked(&deep)["problems"]),
        ["yaml"],
        "and nothing falls over"
    );
}

#[test]
fn programs_get_one_document() {
    let text = "0 8 * * * o/r a.yml # x\n0/15 * * * * o/r b.yml\n";
    let arguments = ["dispatch", "DISPATCH", "--dry-run", "--json"];
    let ran = run("DISPATCH", text, &arguments);
    assert_eq!((ran.code, ran.notes.as_str()), (2, ""));
    let reported: Value = serde_json::from_str(&ran.data).unwrap();
    insta::assert_json_snapshot!(reported, @r#"
    {
      "differences": [
        {
          "code": "caught_up",
          "kept": false,
          "message": "missed times were lost there; here the latest one is caught up (catch_up=none loses it)"
        }
      ],
      "dry_run": true,
      "file": "DISPATCH",
      "format": "dispatch",
      "ok": false,
      "problems": [
        {
          "code": "expression",
          "column": 1,
          "hint": "write `0-59/15`",
          "line": 2,
          "message": "minute: a step needs `*` or a range before it; `0/15` means different things elsewhere",
          "span": [
            24,
            28
          ]
        }
      ],
      "schedules": [
        {
          "column": 1,
          "definition": {
            "catch_up": "latest",
            "catch_up_pace": "1s",
            "expression": "0 8 * * *",
            "max_catch_up": 100,
            "on_resume": "skip",
            "overlap": "skip",
            "priority": 5,
            "splay": "0s",
            "target": {
              "ref": "main",
              "repository": "o/r",
              "type": "workflow",
              "workflow": "a.yml"
            },
            "tz": "UTC"
          },
          "differences": [
            {
              "code": "dropped",
              "kept": false,
              "message": "a line with a comment behind it was dropped there; here it fires"
            }
          ],
          "line": 1,
          "name": "dispatch-097006bde964",
          "warnings": []
        }
      ]
    }
    "#);
}

#[test]
fn nothing_wrong_is_exit_code_0() {
    let ran = run("DISPATCH", "# nothing\n\n", &["dispatch", "DISPATCH"]);
    assert_eq!(
        ran.to_string(),
        "0 schedules, 0 differences, 0 problems\nexit 0"
    );
    let ran = run("DISPATCH", "@10s o/r w.yml", &["dispatch", "DISPATCH"]);
    assert_eq!(ran.code, 0, "{ran}");
}

#[test]
fn what_cannot_work_is_refused_before_it_is_read() {
    for (arguments, expected) in [
        (&["crontab", "missing"][..], "read missing: "),
        (
            &["dispatch", "F", "--system"],
            "--system is only for crontabs",
        ),
        (&["crontab", "F", "--tz", "Mars/X"], "no time zone `Mars/X`"),
        (&["github-workflow", "F"], "--repository owner/repo"),
        (&["systemd-timer", "-"], "--as backup.timer"),
        (&["quartz", "F"], "invalid value 'quartz'"),
    ] {
        let ran = run("F", "0 8 * * * x", arguments);
        assert_eq!((ran.code, ran.data.as_str()), (2, ""), "{ran}");
        assert!(ran.notes.contains(expected), "{arguments:?}: {ran}");
    }
}
