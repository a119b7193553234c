//! Destinations that refuse, and what an operator does about it (ED-12, ED-23, ED-24).

use almanack_world::model::{
    fault::{Effect, Matching, Rule, When},
    task::Kind,
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
    assert!(ran.notes.contains("\nhint: it goes on at "), "{ran}");
    let date = date(&home);
    let messages = world.telegram.handle.sent(CHAT);
    assert!(messages > 0);
    assert_eq!(world.file(&date), None);
    // People are told, once.
    assert_eq!(world.telegram.handle.sent("@alerts"), 1);
    // The right token, and somebody who does not want to wait.
    let home = home.set("GITHUB_TOKEN", super::GITHUB_SECRET);
    let ran = run(&home, &["edition", "run"]).await;
    if ran.code == 0 {
        assert!(world.file(&date).is_some());
    } else {
        assert!(ran.notes.contains("hint: it goes on at "), "{ran}");
    }
    assert_eq!(world.telegram.handle.sent(CHAT), messages, "nothing twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_23_ed_24_failed_stories_are_left_out_by_force_and_put_back_by_hand() {
    let world = World::start().await;
    let home = world.everything("sqlite:almanack.db");
    let best = world.news.handle.best_stories()[0];
    let title = world.news.handle.story(best).unwrap().story.title;
    let poison = Rule {
        matching: Matching {
            kind: Some(Kind::Titles),
            contains: Some(title.clone()),
            model: None,
        },
        when: When::Always,
        effect: Effect::ElementEmpty,
    };
    world.model.handle.add_fault(poison);
    let ran = run(&home, &["edition", "run"]).await;
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.data.contains(&title), "who failed, and why: {ran}");
    let forced = run(&home, &["edition", "publish"]).await;
    assert_eq!(forced.code, 0, "{forced}");
    assert!(forced.notes.contains("left out: 1 story that"), "{forced}");
    assert!(forced.data.contains(": 11 stories\n"), "{forced}");
    world.model.handle.clear_faults();
    let told = home.run(&["edition", "retry"]).expect_data();
    assert!(told.starts_with("put back 1 story of "), "{told}");
    let view = run(&home, &["edition", "run", "--json"])
        .await
        .expect_json();
    assert_eq!(
        (&view["state"], &view["counts"]["completed"]),
        (&"published".into(), &12.into())
    );
    let told = home.run(&["edition", "retry"]).expect_data();
    assert!(told.starts_with("nothing changed: "), "{told}");
    let again = run(&home, &["edition", "publish"]).await;
    assert_eq!(again.code, 1, "{again}");
    assert!(again.notes.contains("published already"), "{again}");
}
