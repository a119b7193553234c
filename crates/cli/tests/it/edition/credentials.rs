//! `almanack doctor` tries the credentials that editions need.

use super::{CHAT, READER_SECRET, World, assert_hushed, run};
use crate::{harness::Home, process::free_address};

/// What an edition would find out at six in the morning.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_doctor_tries_the_credentials_of_editions() {
    let world = World::start().await;
    let verdicts = async |home: &Home| {
        let listen = format!("server.listen={}", free_address());
        let ran = run(home, &["doctor", "--json", "--set", &listen]).await;
        assert_hushed(&ran);
        let reported: serde_json::Value = serde_json::from_str(&ran.data).unwrap();
        ["edition.github", "edition.telegram", "edition.model"].map(|check| {
            let mut findings = reported["findings"].as_array().unwrap().iter();
            let found = findings.find(|finding| finding["check"] == check);
            found.unwrap()["verdict"].as_str().unwrap().to_owned()
        })
    };
    let home = world.everything("sqlite:almanack.db");
    assert_eq!(verdicts(&home).await, ["ok", "ok", "ok"]);
    let home = home
        .set("GITHUB_TOKEN", READER_SECRET)
        .set("TELEGRAM_BOT_TOKEN", "4242:AAhush-hush_another0123456789")
        .set("MODEL_KEY", "sk-hush-hush-another");
    assert_eq!(verdicts(&home).await, ["failed", "failed", "failed"]);
    let messages = world.telegram.handle.sent(CHAT) + world.telegram.handle.sent("@alerts");
    assert_eq!(messages, 0, "nothing was sent");
}
