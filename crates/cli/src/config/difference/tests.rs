//! Differences by table: one key at a time, and what becomes of it.

use super::*;
use crate::config::{Inputs, Loaded, Need, Settings, load};
use Effect::{AtOnce, NextStart};

/// When a changed key takes effect.
#[derive(Debug, Clone, Copy)]
enum Effect {
    AtOnce,
    NextStart,
}

/// What every reading has.
const BASE: &str = r#"
[kinds.ARTICLE_PUBLISH]
url = "https://news.example/publish"
slots_in_all = 4
[alerts.webhook]
url = "https://ops.example/alerts"
"#;

/// A key that is written, and when it takes effect.
const TABLE: &[(&str, &str, Effect)] = &[
    (
        "[database]\ndurability = \"normal\"",
        "database.durability",
        NextStart,
    ),
    (
        "[server]\nlisten = \"127.0.0.1:9\"",
        "server.listen",
        NextStart,
    ),
    (
        "[server]\nallowed_hosts = [\"a.example\"]",
        "server.allowed_hosts",
        NextStart,
    ),
    (
        "[server]\ntrusted_proxies = [\"10.0.0.1\"]",
        "server.trusted_proxies",
        NextStart,
    ),
    ("[node]\nslots = 5", "node.slots", AtOnce),
    ("[node]\nlease = \"9s\"", "node.lease", NextStart),
    ("[node]\ndrain = \"9s\"", "node.drain", NextStart),
    ("[retry]\nbase = \"9s\"", "retry.base", AtOnce),
    ("[retention]\ndays = 3", "retention.days", NextStart),
    ("[limits]\nbatch_items = 3", "limits.batch_items", NextStart),
    ("[limits]\nkinds = 3", "limits.kinds", NextStart),
    ("[callback]\ntimeout = \"9s\"", "callback.timeout", AtOnce),
    (
        "[outbound]\nallow = [\"10.0.0.0/8\"]",
        "outbound.allow",
        AtOnce,
    ),
    (
        "[outbound]\ncontact = \"a@b.example\"",
        "outbound.contact",
        NextStart,
    ),
    (
        "[sources]\nchecks_per_day = 3",
        "sources.checks_per_day",
        NextStart,
    ),
    ("[schedules]\nreload = \"9s\"", "schedules.reload", AtOnce),
    (
        "[github]\napi_url = \"https://gh.example/\"",
        "github.api_url",
        NextStart,
    ),
    ("[command]\nenabled = true", "command.enabled", AtOnce),
    (
        "[kinds.OTHER]\nurl = \"https://o.example/\"",
        "kinds.OTHER.url",
        AtOnce,
    ),
    (
        "[[subscription]]\nname = \"audit\"\nurl = \"https://a.example/\"",
        "subscription.audit.url",
        AtOnce,
    ),
    (
        "[event_delivery]\nsource = \"/b\"",
        "event_delivery.source",
        AtOnce,
    ),
    ("[alerts]\nquiet = \"22:00-07:00\"", "alerts.quiet", AtOnce),
    ("[alerts]\nlate_after = \"9s\"", "alerts.late_after", AtOnce),
    (
        "[alerts.ntfy]\nurl = \"https://ntfy.example/t\"",
        "alerts.ntfy.url",
        AtOnce,
    ),
    ("[heartbeat]\nevery = \"9s\"", "heartbeat.every", NextStart),
    ("[log]\nlevel = \"debug\"", "log.level", AtOnce),
    ("[log]\nformat = \"json\"", "log.format", NextStart),
    (
        "[telemetry]\nservice = \"b\"",
        "telemetry.service",
        NextStart,
    ),
];

fn read(toml: &str) -> (Loaded, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("almanack.toml");
    std::fs::write(&file, toml).unwrap();
    std::fs::write(
        folder.path().join("a"),
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    )
    .unwrap();
    std::fs::write(
        folder.path().join("b"),
        "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
    )
    .unwrap();
    let inputs = Inputs {
        file: Some(file),
        ..Inputs::default()
    };
    let loaded = load(&inputs, Need::Everything);
    assert!(
        loaded.settings.is_some(),
        "{:?}\n{toml}",
        loaded.report.problems
    );
    (loaded, folder)
}

fn with(more: &str) -> Loaded {
    read(&format!("{more}\n{BASE}")).0
}

/// Everything that can be distinguished by its shown value, secrets aside.
fn all_of(settings: &Settings) -> String {
    format!("{settings:#?}")
}

#[test]
fn every_key_takes_effect_wholly_at_once_or_wholly_at_the_next_start() {
    let (before, _folder) = read(BASE);
    for (toml, key, effect) in TABLE {
        let after = with(toml);
        let difference = compare(&before.effective, &after.effective);
        let (old, new) = (before.settings.as_ref().unwrap(), after.settings.unwrap());
        let taken = all_of(&old.adopted(&new));
        let (expected, as_is) = match effect {
            AtOnce => (&difference.at_once, all_of(&new)),
            NextStart => (&difference.next_start, all_of(old)),
        };
        assert_eq!(
            (expected.as_slice(), difference.len()),
            (&[(*key).to_owned()][..], 1)
        );
        assert_eq!(taken, as_is, "{key}");
        let shown = in_force(&before.effective, &after.effective);
        let then = compare(&shown, &after.effective);
        assert_eq!(then.next_start, difference.next_start, "{key} still waits");
        assert_eq!(then.at_once, Vec::<String>::new(), "{key}");
    }
}

#[test]
fn a_limit_of_all_nodes_waits_while_the_rest_of_its_kind_does_not() {
    let (before, _folder) = read(BASE);
    let after = read(&BASE.replace("slots_in_all = 4", "slots_in_all = 5\nslots = 2")).0;
    let difference = compare(&before.effective, &after.effective);
    assert_eq!(difference.at_once, ["kinds.ARTICLE_PUBLISH.slots"]);
    assert_eq!(
        difference.next_start,
        ["kinds.ARTICLE_PUBLISH.slots_in_all"]
    );
    let taken = before.settings.unwrap().adopted(&after.settings.unwrap());
    let kind = taken.kinds.values().next().unwrap();
    assert_eq!((kind.slots, kind.slots_in_all), (Some(2), Some(4)));
}

#[test]
fn a_secret_that_changed_where_it_is_kept_has_changed() {
    let toml = |file: &str| format!("[callback]\nsecret = \"file:{file}\"");
    let (before, folder) = read(&toml("a"));
    let same = compare(&before.effective, &read(&toml("a")).0.effective);
    assert_eq!(same, Difference::default());
    std::fs::copy(folder.path().join("b"), folder.path().join("a")).unwrap();
    let inputs = Inputs {
        file: Some(folder.path().join("almanack.toml")),
        ..Inputs::default()
    };
    let after = load(&inputs, Need::Everything);
    let difference = compare(&before.effective, &after.effective);
    assert_eq!(difference.at_once, ["callback.secret"]);
    assert!(!format!("{:?}", after.effective).contains("C2FVsBQI"));
}

#[test]
fn a_table_that_goes_is_a_change_of_what_was_written_in_it() {
    let (before, _folder) = read(BASE);
    let difference = compare(&before.effective, &read("").0.effective);
    assert_eq!(
        difference.at_once,
        ["alerts.webhook.url", "kinds.ARTICLE_PUBLISH.url"]
    );
    assert_eq!(
        difference.next_start,
        ["kinds.ARTICLE_PUBLISH.slots_in_all"]
    );
}
