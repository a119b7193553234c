//! `almanack task`: the rules of rescheduling as the command line reports them.

use crate::{
    business::Business,
    harness::{Home, Ran, settled},
    process::{Process, free_address},
};

const AT: &str = "2999-01-05T08:00Z";

fn home() -> Home {
    Home::with("[kinds.ARTICLE_PUBLISH]\nurl = \"http://127.0.0.1:1025/publish\"\n")
}

fn put(home: &Home, at: &str, more: &[&str]) -> Ran {
    let mut arguments = vec!["task", "put", "ARTICLE_PUBLISH", "article:42", "--at", at];
    arguments.extend(more);
    home.run(&arguments)
}

#[test]
fn a_task_is_created_moved_withdrawn_and_put_again() {
    let home = home();
    let mut reported = String::new();
    reported += &put(&home, AT, &["--payload", "{\"lang\":\"en\"}"]).expect_data();
    reported += &put(&home, "2999-01-06 08:00 Europe/Berlin", &[]).expect_data();
    reported += &put(
        &home,
        "2999-01-06 08:00 Europe/Berlin",
        &["--revision", "7"],
    )
    .expect_data();
    reported += &put(&home, AT, &["--revision", "6"]).expect_data();
    reported += &home
        .run(&["task", "cancel", "ARTICLE_PUBLISH", "article:42"])
        .expect_data();
    reported += &home
        .run(&["task", "cancel", "ARTICLE_PUBLISH", "article:42"])
        .expect_data();
    reported += &home
        .run(&["task", "retry", "ARTICLE_PUBLISH", "article:42"])
        .expect_data();
    insta::assert_snapshot!(settled(&reported), @"
    created task 1: ARTICLE_PUBLISH article:42 at 2999-01-05 08:00:00Z AGO
    moved task 1: ARTICLE_PUBLISH article:42 from 2999-01-05 08:00:00Z to 2999-01-06 07:00:00Z AGO
    changed task 1: ARTICLE_PUBLISH article:42, still at 2999-01-06 07:00:00Z AGO
    No change: revision 7 of ARTICLE_PUBLISH article:42 is already known
    cancelled task 1: ARTICLE_PUBLISH article:42
    No change: ARTICLE_PUBLISH article:42 is already in that state
    created again as task 2: ARTICLE_PUBLISH article:42 at TIME AGO
    ");

    let history = home
        .run(&["task", "history", "ARTICLE_PUBLISH", "article:42"])
        .expect_data();
    insta::assert_snapshot!(settled(&history), @"
    ARTICLE_PUBLISH article:42
    WHEN  TASK  BY  WHAT
    TIME  AGO  1  cli:anna  created for 2999-01-05 08:00:00Z
    TIME  AGO  1  cli:anna  moved from 2999-01-05 08:00:00Z to 2999-01-06 07:00:00Z
    TIME  AGO  1  cli:anna  changed, still for 2999-01-06 07:00:00Z
    TIME  AGO  1  cli:anna  requested for 2999-01-05 08:00:00Z (revision 6), no change: old revision
    TIME  AGO  1  cli:anna  cancelled
    TIME  AGO  1  cli:anna  requested to cancel it, no change: already in that state
    TIME  AGO  1  cli:anna  replaced by task 2
    TIME  AGO  2  cli:anna  created again for TIME
    ");

    let list = home.run(&["task", "list"]).expect_data();
    insta::assert_snapshot!(settled(&list), @"
    TASK  STATUS  KIND  SUBJECT  EXECUTE AT  ATTEMPT
    2  Waiting  ARTICLE_PUBLISH  article:42  TIME  AGO  0/4
    1  Cancelled  ARTICLE_PUBLISH  article:42  2999-01-06 07:00:00Z  AGO  0/4
    ");
}

#[test]
fn a_withdrawal_of_nothing_says_that_it_left_a_mark() {
    let home = home();
    let cancel = |revision| {
        let (kind, subject) = ("ARTICLE_PUBLISH", "article:42");
        home.run(&["task", "cancel", kind, subject, "--revision", revision])
    };
    assert_eq!(
        cancel("7").expect_data(),
        "nothing to cancel yet: ARTICLE_PUBLISH article:42; later changes up to revision 7 will be \
         ignored\n"
    );
    for revision in ["6", "7"] {
        let reported = put(&home, AT, &["--revision", revision]).expect_data();
        assert!(reported.starts_with("No change"), "{reported}");
    }
    put(&home, AT, &["--revision", "8"]).expect_data();
    let withdrawn = cancel("9").expect_data();
    assert!(withdrawn.starts_with("cancelled task"), "{withdrawn}");
    let again = home.run(&["task", "retry", "ARTICLE_PUBLISH", "article:42"]);
    assert_eq!(
        again.notes,
        "warning: the task had been cancelled; it is scheduled again\n"
    );
}

#[tokio::test]
async fn a_change_of_a_running_task_says_that_its_call_goes_on() {
    let (home, business) = (home(), Business::start().await);
    let node = Process::node(&home, free_address(), &[]).ready().await;
    let (kind, subject) = ("ARTICLE_PUBLISH", "article:42");
    node.api()
        .put_due(kind, subject, &business.held_url())
        .await;
    business.until_called(subject, 1).await;
    let retried = home.run(&["task", "retry", kind, subject]);
    assert!(
        retried
            .notes
            .contains("warning: the running call is not aborted"),
        "{retried}"
    );
    business.until_called(subject, 2).await;
    let withdrawn = home.run(&["task", "cancel", kind, subject]);
    assert!(
        withdrawn.notes.contains("warning: the task was running"),
        "{withdrawn}"
    );
}

#[tokio::test]
async fn a_list_reports_a_failure_that_will_be_retried_from_the_last_one() {
    let home = Home::with("[outbound]\nallow = [\"127.0.0.1\"]\n");
    let retries = ["--set", "retry.base=1h", "--set", "retry.cap=1h"];
    let node = Process::node(&home, free_address(), &retries).ready().await;
    for (subject, max_retry) in [("again", "1"), ("never", "0")] {
        let nobody = "http://127.0.0.1:1025/";
        let put = ["task", "put", "K", subject, "--at", "now"];
        let more = ["--callback-url", nobody, "--max-retry", max_retry];
        home.run(&[&put[..], &more].concat()).expect_data();
        node.api().until_status("K", subject, "FAIL").await;
    }
    let list = home.run(&["task", "list"]).expect_data();
    let line = |subject: &str| list.lines().find(|line| line.contains(subject)).unwrap();
    assert!(line("never").contains("Failed (final)"), "{list}");
    assert!(line("again").contains("Failed (retry at "), "{list}");
}

#[test]
fn what_does_not_exist_is_exit_code_3() {
    let home = home();
    put(&home, AT, &[]).expect_data();
    for verb in ["get", "cancel", "retry", "history"] {
        let ran = home.run(&["task", verb, "ARTICLE_PUBLISH", "article:43"]);
        assert_eq!((ran.code, ran.data.as_str()), (3, ""), "{verb}: {ran}");
        assert!(
            ran.notes.contains("no task ARTICLE_PUBLISH article:43"),
            "in the order of the command line, {verb}: {ran}"
        );
    }
    let ran = home.run(&["task", "get", "K", "s", "--json"]);
    let reported: serde_json::Value = serde_json::from_str(&ran.notes).unwrap();
    assert_eq!(reported["error"]["code"], "not_found");
}

#[test]
fn who_only_looks_makes_no_database() {
    let home = Home::new();
    for arguments in [
        &["task", "list"][..],
        &["task", "get", "K", "s"],
        &["task", "retry", "K", "s"],
        &["task", "history", "K", "s"],
        &["token", "list"],
        &["token", "revoke", "editor"],
    ] {
        let ran = home.run(arguments);
        assert_eq!(
            (ran.code, ran.data.as_str()),
            (3, ""),
            "{arguments:?}: {ran}"
        );
        assert!(ran.notes.contains("no database at almanack.db"), "{ran}");
        let left = std::fs::read_dir(home.path()).unwrap().count();
        assert_eq!(left, 0, "{arguments:?} leaves nothing behind");
    }
}

#[test]
fn lists_are_filtered_and_cut() {
    let home = home();
    for number in 1..=5 {
        let subject = format!("article:{number}");
        home.run(&["task", "put", "ARTICLE_PUBLISH", &subject, "--at", AT])
            .expect_data();
    }
    home.run(&["task", "cancel", "ARTICLE_PUBLISH", "article:2"])
        .expect_data();
    let subjects = |more: &[&str]| {
        let reported = home
            .run(&[&["task", "list", "--json-lines"], more].concat())
            .expect_data();
        let subject = |line: &str| {
            let task: serde_json::Value = serde_json::from_str(line).unwrap();
            task["subject"]
                .as_str()
                .unwrap()
                .trim_start_matches("article:")
                .to_owned()
        };
        reported.lines().map(subject).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(subjects(&[]), "5 4 3 2 1");
    assert_eq!(subjects(&["--limit", "2"]), "5 4");
    assert_eq!(subjects(&["--all"]), "5 4 3 2 1");
    assert_eq!(subjects(&["--status", "cancelled"]), "2");
    assert_eq!(subjects(&["--subject", "article:3"]), "3");
    assert_eq!(subjects(&["--kind", "OTHER"]), "");
    let cut = home.run(&["task", "list", "--limit", "2"]);
    assert_eq!(cut.notes, "more rows: --limit 4 or --all\n");
    let whole = home.run(&["task", "list", "--limit", "5"]);
    assert_eq!(whole.notes, "");
    assert_eq!(home.run(&["task", "list", "--status", "DONE"]).code, 2);
}

/// What was stored before there was a limit, or written by hand.
#[test]
fn sf_02_no_stored_payload_stops_a_command() {
    let home = home();
    put(&home, AT, &[]).expect_data();
    let database = rusqlite::Connection::open(home.path().join("almanack.db")).unwrap();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for payload in [deep.as_str(), r#""\ud800""#, "1e999", "{not JSON"] {
        let written = database.execute("update task set payload = ?1", [payload]);
        assert_eq!(written.unwrap(), 1);
        let start: String = payload.chars().take(20).collect();
        for command in [
            &["task", "list", "--json-lines"][..],
            &["task", "list"],
            &["task", "get", "ARTICLE_PUBLISH", "article:42", "--json"],
            &["task", "get", "ARTICLE_PUBLISH", "article:42"],
            &["task", "history", "ARTICLE_PUBLISH", "article:42", "--json"],
        ] {
            let ran = home.run(command);
            assert_eq!(
                (ran.code, ran.notes.as_str()),
                (0, ""),
                "{command:?} {start}"
            );
            let is_exact = command.contains(&"--json") && !payload.starts_with("{not");
            let shown = ran.data.contains(payload);
            assert!(
                shown || !is_exact || command[1] == "history",
                "{command:?} {start}"
            );
        }
    }
}

#[test]
fn a_database_that_cannot_be_opened_is_exit_code_4() {
    let nowhere = "sqlite:/no/such/folder/x.db";
    let ran = put(&home(), AT, &["--database", nowhere]);
    assert_eq!((ran.code, ran.data.as_str()), (4, ""), "{ran}");
    let nobody = "postgres://bob:hunter2@127.0.0.1:1/x";
    let ran = home().run(&["task", "list", "--database", nobody]);
    assert_eq!((ran.code, ran.data.as_str()), (4, ""), "{ran}");
    assert!(!ran.notes.contains("hunter2"), "{ran}");
}

#[test]
fn who_lists_tasks_need_not_hold_the_signing_keys() {
    let home = Home::with("[callback]\nsecret = \"env:NOT_SET\"\n");
    home.run(&["token", "create", "viewer", "--scope", "read"])
        .expect_data();
    assert_eq!(home.run(&["task", "list"]).code, 0);
    assert_eq!(home.run(&["check"]).code, 2);
}
