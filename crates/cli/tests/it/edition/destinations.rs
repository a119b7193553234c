//! Destinations that refuse, and what an operator does about it (ED-12, ED-24).

use almanack_lab::{
    model::{
        fault::{Effect, Rule, When},
        task::Kind,
    },
    telegram::fault as telegram,
};

use super::{CHAT, READER_SECRET, World, assert_hushed, date, run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_12_who_may_not_write_to_github_still_reaches_telegram_once() {
    let world = World::start().await;
    let home = world
        .everything("sqlite:almanack.db")
        .set("GITHUB_TOKEN", READER_SECRET);
    let ran = run(&home, &["edition", "run"]).await;
    assert_hushed(&ran);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(
        ran.notes.contains("is not published: it is aggregating"),
        "{ran}"
    );
    assert!(ran.notes.contains("github, part 1, is failed: "), "{ran}");
    assert!(ran.notes.contains("; next try 2"), "{ran}");
    assert!(
        ran.notes
            .contains("\nhint: a destination is tried again from "),
        "{ran}"
    );
    let date = date(&home);
    let messages = world.telegram.handle.sent(CHAT);
    assert!(messages > 0);
    assert_eq!(world.file(&date), None);
    // An alert is sent, once.
    assert_eq!(world.telegram.handle.sent("@alerts"), 1);
    // The right token, and an immediate resend.
    let home = home.set("GITHUB_TOKEN", super::GITHUB_SECRET);
    let ran = run(&home, &["edition", "run"]).await;
    if ran.code == 0 {
        assert!(world.file(&date).is_some());
    } else {
        assert!(ran.notes.contains("is tried again from "), "{ran}");
    }
    assert_eq!(world.telegram.handle.sent(CHAT), messages, "nothing twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_24_failed_stories_are_left_out_and_put_back_by_hand() {
    let world = World::start().await;
    let home = world.everything("sqlite:almanack.db");
    // One title of every batch is missing, also of the one that tries again.
    let fault = Rule::of(Kind::Titles, When::Always, Effect::ElementEmpty);
    world.model.handle.add_fault(fault);
    let ran = run(&home, &["edition", "run"]).await;
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.data.contains("11 completed, 1 failed"), "{ran}");
    assert!(
        ran.data.contains("the translation of its title is missing"),
        "{ran}"
    );
    world.model.handle.clear_faults();
    let reported = home.run(&["edition", "retry"]).expect_data();
    assert!(reported.starts_with("retrying 1 story of "), "{reported}");
    let view = run(&home, &["edition", "run", "--json"])
        .await
        .expect_json();
    assert_eq!(view["state"], "published");
    assert_eq!(
        (&view["counts"]["completed"], &view["revision"]),
        (&12.into(), &2.into())
    );
    let reported = home.run(&["edition", "retry"]).expect_data();
    assert!(reported.starts_with("No change: "), "{reported}");
    let again = run(&home, &["edition", "publish"]).await;
    assert_eq!(again.code, 1, "{again}");
    assert!(again.notes.contains("published already"), "{again}");
}

/// Telegram is away for the whole run: nothing is sent, nothing is reported as sent, nothing is
/// lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_41_an_outage_of_telegram_holds_the_edition_until_it_is_sent_again() {
    let world = World::start().await;
    let home = world.everything("sqlite:almanack.db");
    let outage = telegram::Rule::on_send(telegram::When::Always, telegram::Effect::FailBefore(503));
    world.telegram.handle.add_fault(outage);
    for _ in 0..3 {
        let ran = run(&home, &["edition", "run"]).await;
        assert_eq!(ran.code, 1, "{ran}");
        assert!(
            ran.notes.contains("telegram, part 1, is failed: HTTP 503"),
            "{ran}"
        );
    }
    let asked = world.telegram.handle.total();
    assert!(asked <= 4, "{asked} requests in three runs");
    assert_eq!(world.telegram.handle.sent(CHAT), 0);
    world.telegram.handle.clear_faults();
    let reported = home.run(&["edition", "resend", "telegram"]).expect_data();
    assert!(
        reported.starts_with("Sending part 1 to `telegram` again; "),
        "{reported}"
    );
    let ran = run(&home, &["edition", "run"]).await;
    assert_eq!(ran.code, 0, "{ran}");
    let sent = world.telegram.handle.sent(CHAT);
    assert!(sent > 1, "all of it");
    let again = home.run(&["edition", "resend", "telegram"]);
    assert_eq!(again.code, 1, "{again}");
    assert!(again.notes.contains("nothing is sent twice"), "{again}");
    let unknown = home.run(&["edition", "skip", "teletext"]);
    assert!(
        unknown
            .notes
            .contains("nothing of the edition goes to `teletext`"),
        "{unknown}"
    );
    assert_eq!(world.telegram.handle.sent(CHAT), sent);
    // A week later it is as published as before.
    let database = rusqlite::Connection::open(home.path().join("almanack.db")).unwrap();
    let archived = "update edition set state = 'archived', archived_from = 'published'";
    database.execute(archived, []).unwrap();
    let ran = run(&home, &["edition", "run", &date(&home)]).await;
    assert_eq!(ran.code, 0, "{ran}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_41_a_destination_can_be_skipped() {
    let world = World::start().await;
    let home = world
        .everything("sqlite:almanack.db")
        .set("GITHUB_TOKEN", READER_SECRET);
    assert_eq!(run(&home, &["edition", "run"]).await.code, 1);
    let reported = home.run(&["edition", "skip", "github"]).expect_data();
    assert_eq!(reported, "Skipped part 1 of `github`\n");
    let ran = run(&home, &["edition", "run"]).await;
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(world.file(&date(&home)), None);
}
