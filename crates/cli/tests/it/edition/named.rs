//! `[editions.NAME]`: what is inherited, what is refused, and several of them made side by side
//! (ED-37).

use serde_json::Value;

use super::World;
use crate::harness::Home;

fn checked(toml: &str) -> Value {
    let home = Home::with(toml).set("HOOK", "https://hooks.example/x");
    let ran = home.run(&["check", "--json"]);
    serde_json::from_str(&ran.data).unwrap()
}

fn problems(toml: &str) -> Vec<String> {
    let checked = checked(toml);
    let all = checked["problems"].as_array().cloned().unwrap_or_default();
    let text = |problem: &Value| problem["message"].as_str().unwrap_or("").to_owned();
    all.iter().map(text).collect()
}

#[test]
fn ed_37_what_is_ambiguous_about_editions_is_refused() {
    for (toml, expected) in [
        (
            "[editions.default]\nlanguage = \"en\"\n",
            "the edition `default` is configured in [edition]",
        ),
        (
            "[editions.Weekly]\nlanguage = \"en\"\n",
            "`Weekly`: the name of an edition is",
        ),
        (
            "[editions]\nlanguage = \"en\"\n",
            "`editions.language` is a section, not a value",
        ),
        (
            "[editions.weekly]\npublic = false\n",
            "editions.weekly.public is about all editions of this node",
        ),
        (
            "[editions.weekly]\nbatch_size = 15\n",
            "editions.weekly.batch_size: a batch of 15 stories",
        ),
        (
            "[editions.weekly.telegram]\nchat = \"@weekly\"\n",
            "[editions.weekly.telegram] is incomplete: the bot's token is missing",
        ),
        (
            "[editions.weekly]\nlangage = \"en\"\n",
            "unknown key `langage` in [editions.weekly]",
        ),
        (
            "[editions.weekly.slack]\nurl = \"env:HOOK\"\n",
            "[editions.weekly.slack] is incomplete: the address of this server, which the link needs",
        ),
        (
            "[edition.directory]\npath = \"p\"\nfile = \"{date}.md\"\n\
             [editions.weekly.directory]\nfile = \"{date}.md\"\n",
            "the editions `default` and `weekly` write the same files",
        ),
    ] {
        let found = problems(toml);
        let has = found.iter().any(|problem| problem.starts_with(expected));
        assert!(has, "{toml}: {found:?}");
    }
}

/// What is set and does nothing, or what contradicts itself, is said where it is written.
#[test]
fn ed_37_settings_of_an_edition_without_effect_are_reported() {
    let useless = |key: &str| {
        format!(
            "edition.source.{key} has no effect without edition.source.from = \"entries\" or \"both\""
        )
    };
    let late = "edition.approve_by is after edition.ready_by: what nobody approves is late";
    for (toml, expected) in [
        (
            "[edition.source]\nsources = [\"a\"]\n",
            Some(useless("sources")),
        ),
        ("[edition.source]\ntags = [\"a\"]\n", Some(useless("tags"))),
        (
            "[edition.source]\ncategory = \"a\"\n",
            Some(useless("category")),
        ),
        (
            "[edition.source]\nfrom = \"both\"\nsources = [\"a\"]\n",
            None,
        ),
        (
            // It has its effect in the edition that it is written for.
            "[edition.source]\nfrom = \"entries\"\ntags = [\"a\"]\n\
             [editions.weekly.source]\nfrom = \"hacker-news\"\n",
            None,
        ),
        (
            "[editions.weekly.source]\ntags = [\"a\"]\n",
            Some(useless("tags").replace("edition.source.tags", "editions.weekly.source.tags")),
        ),
        (
            "[edition]\nready_by = \"07:00\"\napprove = true\napprove_by = \"07:30\"\n",
            Some(late.to_owned()),
        ),
        (
            "[edition]\nready_by = \"07:00\"\napprove = true\napprove_by = \"07:00\"\n",
            None,
        ),
    ] {
        assert_eq!(problems(toml), Vec::from_iter(expected), "{toml}");
    }
}

/// A misspelt name is an edition with fewer stories, and no error.
#[test]
fn ed_37_the_doctor_finds_sources_that_there_are_not() {
    let toml = "[database]\nurl = \"sqlite:almanack.db\"\n\
                [[source]]\nname = \"News\"\naddress = \"https://news.example/feed\"\n\
                [editions.weekly.source]\nfrom = \"entries\"\nsources = [\"News\", \"Nwes\"]\n";
    let home = Home::with(toml);
    // Creates the database.
    let ran = home.run(&["tick"]);
    assert_eq!(ran.code, 0, "{ran}");
    let ran = home.run(&["doctor", "--offline", "--json"]);
    let reported: Value = serde_json::from_str(&ran.data).unwrap();
    let findings = reported["findings"].as_array().unwrap().iter();
    let own = findings.filter(|it| it["check"] == "editions.weekly.source");
    let verdicts: Vec<&Value> = own.map(|it| &it["verdict"]).collect();
    assert_eq!(verdicts, ["ok", "warning"], "{reported:#}");
}

#[test]
fn ed_37_a_named_edition_inherits_what_it_does_not_set() {
    let toml = "[edition]\nlanguage = \"en\"\nstories = 12\n\
                [edition.directory]\npath = \"posts\"\n\
                [editions.weekly]\nstories = 5\nschedule = \"*/10 6-9 * * 1\"\n\
                [editions.weekly.source]\nwindow_hours = 168\n\
                [editions.weekly.directory]\nfile = \"weekly/{date}.md\"\n";
    assert_eq!(problems(toml), Vec::<String>::new());
    let checked = checked(toml);
    let settings = checked["settings"].as_array().unwrap();
    let value = |key: &str| {
        let found = settings.iter().find(|setting| setting["key"] == key);
        found.map(|setting| setting["value"].as_str().unwrap_or("").to_owned())
    };
    assert_eq!(value("edition.stories").as_deref(), Some("12"));
    assert_eq!(value("editions.weekly.stories").as_deref(), Some("5"));
    assert_eq!(
        value("editions.weekly.source.window_hours").as_deref(),
        Some("168")
    );
    assert_eq!(
        value("editions.weekly.language"),
        None,
        "only what is its own"
    );
}

/// Two editions of the same stories: each goes where it should, and what they share is read once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_37_two_editions_are_made_on_one_machine() {
    let world = World::start().await;
    let toml = format!(
        "{}[edition.directory]\npath = \"posts\"\n\n\
         [editions.short]\nstories = 6\ntitle = \"Short\"\n\n\
         [editions.short.directory]\n",
        world.stories()
    );
    let toml = format!("{toml}file = \"{{date}}-short.md\"\n");
    let home = Home::with(&toml);
    let ran = home.run(&["edition", "run"]);
    assert_eq!(ran.code, 0, "{ran}");
    let ran = home.run(&["edition", "run", "short"]);
    assert_eq!(ran.code, 0, "{ran}");
    let listed = home.run(&["edition", "list", "--json"]);
    let listed: Value =
        serde_json::from_str(listed.data.lines().next().unwrap_or("{}")).unwrap_or_default();
    assert!(listed.to_string().contains("\"name\""), "{listed}");
    let shown = home.run(&["edition", "show", "short"]);
    assert!(shown.data.contains("Short"), "{shown}");
    let refused = home.run(&["edition", "run", "monthly"]);
    assert_eq!(refused.code, 2, "{refused}");
    let early = home.run(&["edition", "run", "1969-01-01"]);
    assert_ne!(early.code, 0, "{early}");
    let listed = home.run(&["edition", "list"]);
    assert!(!listed.data.contains("1969"), "{listed}");
}
