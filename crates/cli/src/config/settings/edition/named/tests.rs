//! What a named edition has of what `[edition]` says (ED-37).

use std::{collections::BTreeMap, fs};

use crate::config::{
    Inputs, Need, load,
    settings::{Edition, edition::Model},
};

const SECRETS: [(&str, &str); 4] = [
    ("KEY", "sk-theirs"),
    ("OTHER_KEY", "sk-other"),
    ("HOOK", "https://hooks.example/secret"),
    ("SIGNING", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
];

/// The edition `weekly` of a file, or what is wrong with the file.
fn weekly(toml: &str) -> Result<Edition, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("almanack.toml");
    fs::write(&file, toml).unwrap();
    let named = SECRETS.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let bot = ("BOT".to_owned(), format!("123456:{}", "A".repeat(35)));
    let inputs = Inputs {
        environment: BTreeMap::from(named).into_iter().chain([bot]).collect(),
        file: Some(file),
        ..Inputs::default()
    };
    let loaded = load(&inputs, Need::Everything);
    let problems = loaded.report.problems.iter().map(|it| it.what.clone());
    let settings = loaded
        .settings
        .ok_or_else(|| problems.collect::<Vec<_>>())?;
    let mut named = settings.editions.named.into_values();
    Ok(named.next().expect("it is configured"))
}

/// Where an edition goes.
fn destinations(edition: &Edition) -> usize {
    let to = &edition.destinations;
    usize::from(to.github.is_some())
        + usize::from(to.telegram.is_some())
        + usize::from(to.directory.is_some())
        + usize::from(to.webhook.is_some())
        + edition.posts.len()
        + usize::from(edition.newsletter.is_some())
}

/// Every section that is a destination, enough of it to be on, and a key that says it again.
const DESTINATIONS: [(&str, &str, &str); 9] = [
    (
        "github",
        "repository = \"a/b\"\ntoken = \"env:KEY\"",
        "branch = \"x\"",
    ),
    (
        "telegram",
        "chat = \"@all\"\ntoken = \"env:BOT\"",
        "chat = \"@weekly\"",
    ),
    ("directory", "path = \"posts\"", "file = \"w-{date}.md\""),
    (
        "webhook",
        "url = \"https://hooks.example/x\"",
        "url = \"https://hooks.example/w\"",
    ),
    ("slack", "url = \"env:HOOK\"", "on_unknown = \"repeat\""),
    ("discord", "url = \"env:HOOK\"", "on_unknown = \"repeat\""),
    (
        "mastodon",
        "server = \"https://m.example\"\ntoken = \"env:KEY\"",
        "visibility = \"unlisted\"",
    ),
    (
        "bluesky",
        "handle = \"a.example\"\npassword = \"env:KEY\"",
        "handle = \"w.example\"",
    ),
    (
        "mail",
        "host = \"mail.example\"\nfrom = \"a@b.example\"\nsecret = \"env:SIGNING\"",
        "from = \"weekly@b.example\"",
    ),
];
/// Sections that are passed on.
const PASSED_ON: [&str; 6] = ["source", "reader", "model", "caps", "quality", "prompts"];

#[test]
fn ed_37_a_named_edition_goes_nowhere_that_it_does_not_name() {
    for listed in super::super::sections() {
        let inside = listed
            .name
            .trim_start_matches("edition")
            .trim_start_matches('.');
        let first = inside.split('.').next().unwrap_or_default();
        let is_known = inside.is_empty()
            || PASSED_ON.contains(&first)
            || DESTINATIONS.iter().any(|(section, ..)| *section == first);
        assert!(
            is_known,
            "is [{}] passed on, or a destination?",
            listed.name
        );
    }
    for (section, whole, own) in DESTINATIONS {
        let toml = format!(
            "[server]\npublic_url = \"https://news.example\"\n[edition]\nlanguage = \"en\"\n\
             [edition.{section}]\n{whole}\n[editions.weekly]\nlanguage = \"en\"\n"
        );
        let edition = weekly(&toml).unwrap();
        assert_eq!(destinations(&edition), 0, "{toml}");
        for own in [own, ""] {
            let toml = format!("{toml}[editions.weekly.{section}]\n{own}\n");
            let edition = weekly(&toml).unwrap();
            assert_eq!(
                destinations(&edition),
                1,
                "what it does not set is inherited: {toml}"
            );
        }
        let alone = format!("[editions.weekly.{section}]\n");
        let problems = weekly(&alone).unwrap_err();
        let said =
            format!("[editions.weekly.{section}] is empty, and there is no [edition.{section}]");
        assert!(
            problems.iter().any(|it| it.starts_with(&said)),
            "{problems:?}"
        );
    }
}

#[test]
fn ed_37_mail_of_a_named_edition_alone_is_whole_and_has_its_own_sender_and_list() {
    let (_, whole, own) = DESTINATIONS[8];
    let head = "[server]\npublic_url = \"https://news.example\"\n";
    let alone = weekly(&format!("{head}[editions.weekly.mail]\n{whole}\n")).unwrap();
    let beside = format!("{head}[edition.mail]\n{whole}\n[editions.weekly.mail]\n{own}\n");
    let beside = weekly(&beside).unwrap();
    for (edition, from) in [(alone, "a@b.example"), (beside, "weekly@b.example")] {
        let smtp = edition.newsletter.unwrap().smtp;
        assert_eq!((smtp.list.as_str(), smtp.from.as_str()), ("weekly", from));
    }
    let half = weekly(&format!(
        "{head}[editions.weekly.mail]\nhost = \"mail.example\"\n"
    ));
    let problems = half.unwrap_err();
    assert!(
        problems
            .iter()
            .all(|it| it.starts_with("[editions.weekly.mail] is incomplete")),
        "{problems:?}"
    );
}

fn model(own: &str) -> Result<Option<Model>, Vec<String>> {
    let theirs = "[edition.model]\nprovider = \"deepseek\"\nkey = \"env:KEY\"\nname = \"big\"\n";
    weekly(&format!(
        "{theirs}[editions.weekly]\nlanguage = \"en\"\n{own}"
    ))
    .map(|it| it.model)
}

#[test]
fn ed_37_a_models_key_reaches_the_service_it_was_written_for() {
    let local =
        "[editions.weekly.model]\nbase_url = \"http://127.0.0.1:11434/v1\"\nname = \"small\"\n";
    let is_theirs = |model: &Model| model.key.as_ref().map(|key| key.expose().to_owned());
    for (own, url, name, key, why) in [
        (
            "",
            "https://api.deepseek.com/v1",
            "big",
            Some("sk-theirs"),
            "inherited",
        ),
        (
            "[editions.weekly.model]\nname = \"small\"\n",
            "https://api.deepseek.com/v1",
            "small",
            Some("sk-theirs"),
            "another model there",
        ),
        (
            "[editions.weekly.model]\nprovider = \"deepseek\"\nname = \"small\"\n",
            "https://api.deepseek.com/v1",
            "small",
            Some("sk-theirs"),
            "the same service, written again",
        ),
        (
            local,
            "http://127.0.0.1:11434/v1",
            "small",
            None,
            "another address",
        ),
        (
            "[editions.weekly.model]\nprovider = \"zhipu\"\n\
             [editions.weekly.model.zhipu]\nkey = \"env:OTHER_KEY\"\n",
            "https://open.bigmodel.cn/api/paas/v4",
            "glm-4.5-flash",
            Some("sk-other"),
            "another service",
        ),
    ] {
        let model = model(own).unwrap().unwrap();
        assert_eq!(
            (model.base_url.as_str(), model.model.as_str()),
            (url, name),
            "{why}"
        );
        assert_eq!(is_theirs(&model).as_deref(), key, "{why}");
    }
    let missing = model("[editions.weekly.model]\nprovider = \"zhipu\"\n").unwrap_err();
    assert!(missing[0].contains("a key is missing"), "{missing:?}");
}

#[test]
fn ed_37_an_address_of_ones_own_does_not_get_the_key_of_a_service() {
    let toml = |key: &str| {
        format!(
            "[edition.model]\nprovider = \"deepseek\"\nbase_url = \"https://proxy.example/v1\"\n{key}\
             [edition.model.deepseek]\nkey = \"env:KEY\"\n[editions.weekly]\nlanguage = \"en\"\n"
        )
    };
    let problems = weekly(&toml("")).unwrap_err();
    assert_eq!(
        problems,
        [
            "edition.model.base_url: the key in [edition.model.deepseek] is for \
          https://api.deepseek.com/v1 alone"
        ]
    );
    let model = weekly(&toml("key = \"env:OTHER_KEY\"\n"))
        .unwrap()
        .model
        .unwrap();
    assert_eq!(model.key.unwrap().expose(), "sk-other");
}

#[test]
fn ed_44_models_that_stand_in_have_sections_and_keys_of_their_own() {
    let toml = |fallback: &str, more: &str| {
        format!(
            "[edition.model]\nprovider = \"deepseek\"\nfallback = {fallback}\n\
             [edition.model.deepseek]\nkey = \"env:KEY\"\n{more}\
             [editions.weekly]\nlanguage = \"en\"\n"
        )
    };
    let own = "[edition.model.compatible]\nbase_url = \"http://127.0.0.1:11434/v1\"\n\
               name = \"qwen3:8b\"\n";
    let zhipu = "[edition.model.zhipu]\nkey = \"env:OTHER_KEY\"\n";
    let both = toml(
        "[\"zhipu\", \"openai-compatible\"]",
        &format!("{own}{zhipu}"),
    );
    let models: Vec<(String, Option<String>)> = weekly(&both)
        .unwrap()
        .models()
        .map(|model| {
            let key = model.key.as_ref().map(|key| key.expose().to_owned());
            (model.model.clone(), key)
        })
        .collect();
    let key = |key: &str| Some(key.to_owned());
    assert_eq!(
        models,
        [
            ("deepseek-v4-flash".to_owned(), key("sk-theirs")),
            ("glm-4.5-flash".to_owned(), key("sk-other")),
            ("qwen3:8b".to_owned(), None),
        ]
    );
    for (fallback, more, problem) in [
        ("[\"zhipu\"]", "", "edition.model.zhipu: a key is missing"),
        (
            "[\"openai-compatible\"]",
            "",
            "edition.model.compatible.base_url is missing",
        ),
        (
            "[\"deepseek\"]",
            "",
            "edition.model.fallback: \"deepseek\" is asked already",
        ),
        (
            "[\"zhipu\", \"zhipu\"]",
            zhipu,
            "edition.model.fallback: \"zhipu\" is asked already",
        ),
        ("[\"none\"]", "", "`none` is no service that can stand in"),
    ] {
        let problems = weekly(&toml(fallback, more)).unwrap_err();
        assert!(problems[0].contains(problem), "{fallback}: {problems:?}");
    }
    let another = format!("{both}[editions.weekly.model]\nprovider = \"zhipu\"\n");
    let models: Vec<String> = weekly(&another)
        .unwrap()
        .models()
        .map(|model| model.model.clone())
        .collect();
    assert_eq!(
        models,
        ["glm-4.5-flash"],
        "another service, without its stand-ins"
    );
    let alone = "[edition.model]\nfallback = [\"zhipu\"]\n[editions.weekly]\nlanguage = \"en\"\n";
    let problems = weekly(alone).unwrap_err();
    assert!(problems[0].contains("without `provider`"), "{problems:?}");
}

#[test]
fn ed_37_a_post_without_a_page_to_link_to_is_refused() {
    let posts = DESTINATIONS.iter().filter(|(section, ..)| {
        ["slack", "discord", "mastodon", "bluesky", "telegram"].contains(section)
    });
    for (section, whole, _) in posts {
        let form = if *section == "telegram" {
            "form = \"link\"\n"
        } else {
            ""
        };
        let section = format!("[edition.{section}]\n{whole}\n{form}");
        let weekly = "[editions.weekly]\nlanguage = \"en\"\n";
        let url = "[server]\npublic_url = \"https://news.example\"\n";
        for (head, why) in [
            (
                "",
                "the address of this server, which the link needs, is missing",
            ),
            (
                &*format!("{url}[edition]\npublic = false\n"),
                "only people who sign in can read",
            ),
        ] {
            let problems = self::weekly(&format!("{head}{section}{weekly}")).unwrap_err();
            assert!(problems[0].contains(why), "{section}: {problems:?}");
            assert_eq!(problems.len(), 1, "{problems:?}");
        }
        self::weekly(&format!("{url}{section}{weekly}")).unwrap();
    }
}
