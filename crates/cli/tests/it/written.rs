//! `[[schedule]]` and DISPATCH: every problem has its place, and stops no other schedule.

use crate::harness::Home;

/// The problems of a bad file.
fn complaint(toml: &str) -> String {
    let ran = Home::with(toml).run(&["check"]);
    assert_eq!(ran.code, 2, "{ran}");
    ran.notes
}

/// A schedule with these lines.
fn schedule(lines: &str) -> String {
    format!("[[schedule]]\nname = \"nightly\"\n{lines}\n")
}

const WEBHOOK: &str = "target = { type = \"webhook\", url = \"https://example.org/hook\" }";

#[test]
fn good_schedules_are_good() {
    let toml = [
        schedule(&format!("expression = \"0 3 * * *\"\n{WEBHOOK}")),
        "[[schedule]]\nname = \"paper\"\nexpression = '@10s'\ntz = \"Asia/Shanghai\"\ncatch_up = \"all\"
grace = \"7d\"\nmax_catch_up = 5\ncatch_up_pace = \"2s\"\noverlap = \"queue_one\"\nsplay = \"1m30s\"
on_resume = \"latest\"\nretry_for = \"10m\"\npriority = 7\n[schedule.target]\ntype = \"task\"
kind = \"EDITION_RUN\"\nsubject = \"edition:{date}\"\npayload = { n = 1, x = [1.5, true] }\n"
            .to_owned(),
        "[[schedule]]\nname = \"sync\"\nexpression = \"@daily\"\ntarget = { type = \"command\", argv = [\"/bin/true\"], timeout = \"5s\" }\n".to_owned(),
        "[[schedule]]\nname = \"ci\"\nexpression = \"@daily\"\ntarget = { type = \"workflow\", repository = \"o/r\", workflow = \"w.yml\", ref = \"main\", inputs = { a = \"b\" } }\n".to_owned(),
    ]
    .concat();
    let ran = Home::with(&toml).run(&["check"]);
    assert_eq!(ran.code, 0, "{ran}");
}

#[test]
fn the_caret_points_into_the_expression() {
    let toml = schedule(&format!("expression = \"0 25 * * *\"\n{WEBHOOK}"));
    insta::assert_snapshot!(complaint(&toml), @r#"
    error: schedule `nightly`: expression: hour: 25 is not between 0 and 23
     --> almanack.toml:3:17
      |
    3 | expression = "0 25 * * *"
      |                 ^^

    1 error
    "#);
}

#[test]
fn zone_target_and_policies_are_pointed_at() {
    let toml = schedule(&format!(
        "expression = \"@daily\"\ntz = \"Europe/Berln\"\n{WEBHOOK}"
    )) + "[[schedule]]\nname = \"a\"\nexpression = \"@daily\"\ntarget = { type = \"workflow\", repository = \"o\", workflow = \"w.yml\" }\n"
        + "[[schedule]]\nname = \"b\"\nexpression = \"@daily\"\ngrace = 5\npriority = 11\ncatch_up = \"newest\"\n"
        + WEBHOOK
        + "\n[[schedule]]\nname = \"c\"\nexpression = \"@daily\"\nsplay = \"25h\"\n"
        + WEBHOOK
        + "\n[[schedule]]\nname = \"d\"\nexpression = \"@daily\"\ncatch_up = \"all\"\noverlap = \"cancel_running\"\n"
        + WEBHOOK;
    insta::assert_snapshot!(complaint(&toml), @r#"
    error: schedule `nightly`: tz: there is no time zone `Europe/Berln`
     --> almanack.toml:4:6
      |
    4 | tz = "Europe/Berln"
      |      ^^^^^^^^^^^^^^
      = hint: did you mean `Europe/Berlin`?

    error: schedule `a`: target.repository must be written owner/name
     --> almanack.toml:9:44
      |
    9 | target = { type = "workflow", repository = "o", workflow = "w.yml" }
      |                                            ^^^

    error: schedule `b`: grace: expected a duration, found a number without a unit
      --> almanack.toml:13:9
       |
    13 | grace = 5
       |         ^
       = hint: did you mean "5s"?

    error: schedule `b`: priority: 11 is out of range
      --> almanack.toml:14:12
       |
    14 | priority = 11
       |            ^^
       = hint: write 0 to 9

    error: schedule `b`: catch_up: `newest` is not one of "none" or "latest" or "all"
      --> almanack.toml:15:12
       |
    15 | catch_up = "newest"
       |            ^^^^^^^^
       = hint: write "none" or "latest" or "all"

    error: schedule `c`: splay must be between 0s and 24h
      --> almanack.toml:20:9
       |
    20 | splay = "25h"
       |         ^^^^^

    error: schedule `d`: catch_up = "all" and overlap = "cancel_running" contradict each other: every missed slot would cancel the one before it
      --> almanack.toml:26:11
       |
    26 | overlap = "cancel_running"
       |           ^^^^^^^^^^^^^^^^

    7 errors
    "#);
}

#[test]
fn unknown_and_missing_keys_are_reported_with_their_neighbours() {
    let toml = schedule(&format!(
        "expresion = \"@daily\"\nexpression = \"@daily\"\n{WEBHOOK}"
    )) + "[[schedule]]\nexpression = \"@daily\"\ntarget = { type = \"webhok\", url = \"http://x\" }\n"
        + "[[schedule]]\nname = \"e\"\nexpression = \"@daily\"\ntarget = { type = \"command\", arg = [\"x\"] }\n"
        + "[[schedule]]\nname = \"two words\"\n";
    insta::assert_snapshot!(complaint(&toml), @r#"
    error: schedule `nightly`: unknown key `expresion`
     --> almanack.toml:3:1
      |
    3 | expresion = ***
      | ^^^^^^^^^
      = hint: did you mean `expression`?

    error: schedule #2: name: is missing
     --> almanack.toml:6:1
      |
    6 | [[schedule]]
      | ^^^^^^^^^^^^
      = hint: for example name = "nightly-report"

    error: schedule #2: target.type: `webhok` is not one of "webhook" or "workflow" or "command" or "task" or "ping"
     --> almanack.toml:8:19
      |
    8 | target = { type = "webhok", url = "http://x" }
      |                   ^^^^^^^^
      = hint: did you mean "webhook"?

    error: schedule `e`: target.argv: is missing
      --> almanack.toml:12:10
       |
    12 | target = { type = "command", arg = *** }
       |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       = hint: for example argv = ["/usr/bin/rsync", "-a", "from/", "to/"]

    error: schedule `e`: unknown key `target.arg`
      --> almanack.toml:12:30
       |
    12 | target = { type = "command", arg = *** }
       |                              ^^^
       = hint: did you mean `argv`?

    error: schedule #4: expression: is missing
      --> almanack.toml:13:1
       |
    13 | [[schedule]]
       | ^^^^^^^^^^^^
       = hint: for example expression = "0 8 * * 1-5"

    error: schedule #4: target: is missing
      --> almanack.toml:13:1
       |
    13 | [[schedule]]
       | ^^^^^^^^^^^^
       = hint: for example target = { type = "webhook", url = "https://example.org/hook" }

    error: schedule #4: schedule name `two words` must start with a letter or digit and have at most 100 letters, digits, `.`, `_` or `-`
      --> almanack.toml:14:8
       |
    14 | name = "two words"
       |        ^^^^^^^^^^^

    8 errors
    "#);
}

#[test]
fn a_name_belongs_to_one_schedule() {
    let one = schedule(&format!("expression = \"@daily\"\n{WEBHOOK}"));
    insta::assert_snapshot!(complaint(&format!("{one}{one}")), @r#"
    error: schedule `nightly`: name: an earlier schedule has the same name
     --> almanack.toml:6:8
      |
    6 | name = "nightly"
      |        ^^^^^^^^^
      = hint: give each a different name

    1 error
    "#);
    insta::assert_snapshot!(complaint("[schedule]\nname = \"x\"\n"), @"
    error: `schedule` is a list of tables
     --> almanack.toml:1:1
      |
    1 | [schedule]
      | ^^^^^^^^^^
      = hint: write `[[schedule]]` on its own line, then `name = …`

    1 error
    ");
}

#[test]
fn dp_01_dispatch_is_checked_line_by_line_and_a_variable_is_never_shown() {
    let text = "*/5 * * * *  owner/repo  check.yml  # fine\n0 25 * * *  owner/secret  daily.yml\n";
    let home = Home::with("[schedules]\ndispatch = \"DISPATCH.txt\"\n").file("DISPATCH.txt", text);
    insta::assert_snapshot!(home.run(&["check"]).notes, @r#"
    error: hour: 25 is not between 0 and 23
     --> DISPATCH.txt:2:3
      |
    2 | 0 25 * * *  owner/secret  daily.yml
      |   ^^

    warning: schedule `dispatch-86ed6ca5eeb2` cannot fire at a workflow: github.token is not set
     = hint: set github.token to "env:NAME", or the variable PAT or GH_TOKEN

    1 error, 1 warning
    "#);
    let home = Home::new().set("DISPATCH", text);
    insta::assert_snapshot!(home.run(&["check"]).notes, @r#"
    error: hour: 25 is not between 0 and 23
     --> DISPATCH:2:3
      |
    2 | ***
      |    ^

    warning: schedule `dispatch-86ed6ca5eeb2` cannot fire at a workflow: github.token is not set
     = hint: set github.token to "env:NAME", or the variable PAT or GH_TOKEN

    1 error, 1 warning
    "#);
    let missing = Home::with("[schedules]\ndispatch = \"nowhere\"\n").run(&["check"]);
    assert_eq!(missing.code, 2, "{missing}");
    assert!(missing.notes.contains("cannot read `nowhere`"), "{missing}");
}

#[test]
fn a_password_in_an_address_is_covered() {
    let toml = schedule(
        "expression = \"@daily\"\ntarget = { type = \"webhook\", url = \"https://me:hunter2@example.org/\" }",
    );
    let reported = complaint(&toml);
    assert!(!reported.contains("hunter2"), "{reported}");
    assert!(reported.contains("target.url"), "{reported}");
}

#[test]
fn a_target_that_this_node_may_not_fire_at_is_a_warning() {
    let toml = "[[schedule]]\nname = \"a\"\nexpression = \"@daily\"\ntarget = { type = \"command\", argv = [\"/bin/true\"] }\n";
    let home = Home::with(toml).set("DISPATCH", "@daily o/r a.yml\n@daily o/r b.yml\n");
    let ran = home.run(&["check"]);
    assert_eq!(ran.code, 0, "{ran}");
    insta::assert_snapshot!(ran.notes, @r#"
    warning: schedule `a` cannot fire at a command: commands are off
     = hint: set command.enabled = true to let schedules run programs on this machine

    warning: schedule `dispatch-f8a8e1c6924c` and 1 other cannot fire at a workflow: github.token is not set
     = hint: set github.token to "env:NAME", or the variable PAT or GH_TOKEN

    2 warnings
    "#);
    let toml = format!("{toml}[command]\nenabled = true\nprograms = [\"/bin\"]\n");
    let home = Home::with(&toml)
        .set("DISPATCH", "@daily o/r a.yml\n")
        .set("PAT", "ghp_hunter2");
    let ran = home.run(&["check"]);
    assert_eq!(ran.notes, "the configuration is valid\n");
    assert!(
        ran.data.contains("github.token") && !ran.data.contains("hunter2"),
        "{ran}"
    );
}

#[test]
fn advice_about_a_value_is_about_that_value() {
    let toml = schedule(&format!(
        "expression = \"@daily\"\nmax_catch_up = -1\npriority = 10\n{WEBHOOK}"
    )) + "[[schedule]]\nname = \"a\"\nexpression = \"@daily\"\ntarget = { type = \"task\", kind = \"K\", subject = \"\" }\n";
    let reported = complaint(&toml);
    let hints = reported.lines().filter(|line| line.contains("hint:"));
    let hints: Vec<&str> = hints.map(str::trim).collect();
    insta::assert_snapshot!(hints.join("\n"), @r#"
    = hint: write 1 to 1000
    = hint: write 0 to 9
    = hint: for example subject = "edition:{date}"
    "#);
}
