//! Alerts by real processes: one message when it opens, one when it closes, however many nodes run.

use std::{fs, os::unix::fs::PermissionsExt};

use almanack_testkit::postgres::Schema;

use crate::{
    harness::Home,
    process::{Process, eventually, free_address},
};

/// A program that receives alerts; they are in the file `received`.
const PAGE: &str = "#!/bin/sh
cat > /dev/null
echo \"$ALMANACK_ALERT_NEWS $ALMANACK_ALERT_RULE $ALMANACK_ALERT_ABOUT\" >> received
";

/// A schedule that fails until there is a file `mended`.
fn home(database: &str) -> Home {
    let home = Home::new().set("PATH", "/usr/bin:/bin");
    let folder = home.path().to_owned();
    let page = folder.join("page");
    fs::write(&page, PAGE).unwrap();
    fs::set_permissions(&page, fs::Permissions::from_mode(0o755)).unwrap();
    let (page, folder) = (page.display(), folder.display());
    home.file(
        "almanack.toml",
        &format!(
            "[database]\nurl = \"{database}\"\n\
             [command]\nenabled = true\ndirectory = \"{folder}\"\n\
             [alerts]\nevery = \"1s\"\ncool_down = \"2s\"\nlate_after = \"1h\"\nmissing_after = \"1h\"\n\
             [alerts.exec]\ncommand = [\"{page}\"]\n\
             [[schedule]]\nname = \"beat\"\nexpression = \"@1s\"\nretry_for = \"0s\"\n\
             target = {{ type = \"command\", argv = [\"/usr/bin/test\", \"-e\", \"mended\"], timeout = \"20s\" }}\n"
        ),
    )
}

fn reported(home: &Home) -> Vec<String> {
    let reported = fs::read_to_string(home.path().join("received")).unwrap_or_default();
    reported.lines().map(str::to_owned).collect()
}

/// How many firings have ended since `from` of them had.
async fn until_fired(home: &Home, more: usize) {
    let count = || {
        let listed = home.run(&[
            "schedule",
            "slots",
            "beat",
            "--limit",
            "1000",
            "--json-lines",
        ]);
        listed.data.lines().count()
    };
    let from = count();
    eventually("more slots are decided", async || {
        (count() >= from + more).then_some(())
    })
    .await;
}

async fn check_reported_once(home: &Home) {
    eventually("people hear that it fails", async || {
        (!reported(home).is_empty()).then_some(())
    })
    .await;
    until_fired(home, 4).await;
    assert_eq!(reported(home), ["opened failing schedule:beat"]);
    let listed = home.run(&["alert", "list", "--json"]).expect_json();
    assert_eq!(listed["alerts"][0]["about"], "schedule:beat", "{listed}");
    fs::write(home.path().join("mended"), "").unwrap();
    eventually("people hear that it is over", async || {
        (reported(home).len() > 1).then_some(())
    })
    .await;
    until_fired(home, 4).await;
    let both = [
        "opened failing schedule:beat",
        "closed failing schedule:beat",
    ];
    assert_eq!(reported(home), both);
    let over = home.run(&["alert", "list"]);
    assert_eq!(
        (over.data.as_str(), over.notes.as_str()),
        ("", "no open alerts\n")
    );
    let kept = home
        .run(&["alert", "list", "--all", "--json"])
        .expect_json();
    assert_eq!(kept["alerts"][0]["open"], false, "{kept}");
}

#[tokio::test]
async fn people_hear_once_that_it_fails_and_once_that_it_is_over() {
    let home = home("sqlite:almanack.db");
    let _node = Process::node(&home, free_address(), &[]).ready().await;
    check_reported_once(&home).await;
}

#[tokio::test]
async fn of_two_nodes_one_reports() {
    let schema = Schema::create().await;
    let home = home(schema.url());
    let _first = Process::node(&home, free_address(), &["--node-name", "a"])
        .ready()
        .await;
    let _second = Process::node(&home, free_address(), &["--node-name", "b"])
        .ready()
        .await;
    check_reported_once(&home).await;
}

#[test]
fn channels_can_be_tried_before_anything_runs() {
    let home = home("sqlite:almanack.db");
    let tried = home.run(&["alert", "test", "--json"]).expect_json();
    assert_eq!(tried["answers"][0]["channel"], "exec");
    assert_eq!(tried["answers"][0]["outcome"], "taken");
    assert_eq!(reported(&home), ["test  "]);
    let unknown = home.run(&["alert", "test", "pager"]);
    assert_eq!(unknown.code, 3, "{unknown}");
    assert!(
        unknown.notes.contains("configured channels: exec"),
        "{unknown}"
    );
    let none = Home::new().run(&["alert", "test"]);
    assert!(none.notes.contains("no channel is configured"), "{none}");
    assert!(
        !home.path().join("almanack.db").exists(),
        "no database is needed"
    );
}

/// What is wrong, where it is, and what to write instead.
#[test]
fn channels_that_are_wrong_are_refused() {
    for (text, what) in [
        (
            "[alerts]\nquiet = \"22-7\"",
            "`22-7` is not a span of hours",
        ),
        (
            "[alerts]\nquiet = \"7:00-7:00\"",
            "is an empty span of hours",
        ),
        ("[alerts]\nquiet_tz = \"Mars\"", "`Mars` is not a time zone"),
        (
            "[alerts.ntfy]\nurl = \"https://ntfy.sh/\"",
            "contains no topic",
        ),
        (
            "[alerts.ntfy]\nurl = \"https://ntfy.sh/a\"\nrules = [\"fialing\"]",
            "did you mean \"failing\"?",
        ),
        (
            "[alerts.exec]\ncommand = [\"page\"]",
            "not the full path of a program",
        ),
        (
            "[alerts.slack]\nurl = \"https://hooks.example/T/B/hush\"",
            "only where it is kept",
        ),
        (
            "[alerts.smtp]\nhost = \"post.example\"",
            "the sender is missing",
        ),
        (
            "[alerts.smtp]\nhost = \"post.example\"\nfrom = \"a@b.example\"\nto = [\"c@d.example\"]\ntls = \"none\"",
            "on this machine",
        ),
        (
            "[alerts.smtp]\nhost = \"post.example\"\nfrom = \"ab.example\"\nto = [\"c@d.example\"]",
            "is not a mail address",
        ),
        (
            "[heartbeat]\nurl = \"https://hc.example/hush\"",
            "only where it is kept",
        ),
    ] {
        let home = Home::with(text);
        let ran = home.run(&["check"]);
        assert_ne!(ran.code, 0, "{text}");
        let said = format!("{}{}", ran.data, ran.notes);
        assert!(said.contains(what), "{text}\n{said}");
        assert!(!said.contains("hush"), "{said}");
    }
}
