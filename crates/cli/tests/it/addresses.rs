//! Addresses in the configuration: what stands behind their host may be a secret, and is shown
//! nowhere.

use crate::harness::Home;

const SECRET: &str = "T0xB0hunter2";

/// Every setting with an address that may contain a secret, and whether it is shown without it.
#[test]
fn of_an_address_its_host_is_shown_and_no_more() {
    let toml = format!(
        r#"
[alerts.webhook]
url = "https://hooks.example.org/{SECRET}?key={SECRET}"

[alerts.ntfy]
url = "env:NTFY"

[kinds.ARTICLE_PUBLISH]
url = "file:callback"

[[subscription]]
name = "audit"
url = "https://audit.example.org/{SECRET}"
"#
    );
    let home = Home::with(&toml)
        .file(
            "callback",
            &format!("https://articles.example.org/{SECRET}\n"),
        )
        .set("NTFY", &format!("https://ntfy.example.org/{SECRET}"));
    let reported = home.run(&["check"]);
    assert_eq!(reported.code, 0, "{reported}");
    let reported = reported.to_string();
    assert!(!reported.contains(SECRET), "{reported}");
    for shown in [
        "\"https://hooks.example.org/***\"",
        "\"https://ntfy.example.org/***\" (env:NTFY)",
        "\"https://articles.example.org/***\" (file:callback)",
        "\"https://audit.example.org/***\"",
    ] {
        assert!(reported.contains(shown), "{shown} in {reported}");
    }
}

/// Problems with one are reported without it, wherever it is.
#[test]
fn a_bad_address_is_not_repeated() {
    let bad = format!("htps://hooks.example.org/{SECRET}");
    let literal = format!("[alerts.webhook]\nurl = \"{bad}\"\n");
    let kept = "[alerts.webhook]\nurl = \"env:HOOK\"\n";
    for home in [
        Home::with(&literal),
        Home::with(kept).set("HOOK", &bad),
        Home::new().set("ALMANACK_ALERTS_WEBHOOK_URL", &bad),
        Home::with(kept),
    ] {
        let reported = home.run(&["check"]);
        assert_ne!(reported.code, 0, "{reported}");
        let reported = reported.to_string();
        assert!(reported.contains("alerts.webhook.url"), "{reported}");
        assert!(!reported.contains(SECRET), "{reported}");
    }
}
