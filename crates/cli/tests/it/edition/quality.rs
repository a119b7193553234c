//! The quality gate, as an operator meets it (ED-39).

use super::{CHAT, World, assert_hushed, date, run};
use crate::{harness::Home, process::free_address};

/// A world whose crawler does not answer, and an operator who wants so much.
fn without_pages(world: &World, wants: &str) -> Home {
    let (crawler, telegram) = (free_address(), world.telegram.url());
    let toml = format!(
        "{}[edition.reader]\nprovider = \"crawler\"\ncrawler_url = \"http://{crawler}/\"\n\n\
         {wants}[edition.telegram]\nchat = \"{CHAT}\"\napi_url = \"{telegram}\"\n",
        world.stories()
    );
    Home::with(&toml).set("TELEGRAM_BOT_TOKEN", super::BOT)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_39_a_poor_edition_is_held_with_an_exit_code_until_a_person_publishes_it() {
    let world = World::start().await;
    let home = without_pages(&world, "[edition.quality]\ntext_percent = 100\n\n");
    let ran = run(&home, &["edition", "run"]).await;
    assert_hushed(&ran);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(
        ran.to_string().contains("below its quality standard"),
        "{ran}"
    );
    assert!(
        ran.to_string().contains("almanack edition publish"),
        "{ran}"
    );
    assert_eq!(world.telegram.handle.sent(CHAT), 0, "nothing was sent");
    let status = run(&home, &["edition", "status", "--json"]).await;
    let status = status.expect_json();
    assert_eq!(status["state"], "aggregating");
    assert_eq!(status["hold"]["reason"], "quality");
    assert!(
        status["degraded"]["page"].as_u64().unwrap() > 0,
        "{status:#}"
    );
    let date = date(&home);
    assert_eq!(run(&home, &["edition", "publish", &date]).await.code, 0);
    assert!(world.telegram.handle.sent(CHAT) > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_39_an_edition_of_bare_titles_is_held_unless_it_is_wanted() {
    let world = World::start().await;
    // On some days, a few stories of the world have a text of their own.
    let home = without_pages(&world, "[edition.quality]\ntext_percent = 60\n\n");
    let ran = run(&home, &["edition", "run"]).await;
    assert_eq!(ran.code, 1, "{ran}");
    assert!(
        ran.to_string().contains("below its quality standard"),
        "{ran}"
    );
    assert_eq!(world.telegram.handle.sent(CHAT), 0, "nothing was sent");
    let wanted = without_pages(&world, "[edition.quality]\ntext_percent = 0\n\n");
    assert_eq!(run(&wanted, &["edition", "run"]).await.code, 0);
    assert!(world.telegram.handle.sent(CHAT) > 0);
}
