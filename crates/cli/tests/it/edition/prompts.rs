//! The prompts that models get, in an operator's words (ED-36).

use super::{World, date, run};
use crate::harness::Home;

const MODEL: &str = "[edition.model]\nbase_url = \"http://127.0.0.1:1099/v1\"\nname = \"m\"\n\n";

#[test]
fn ed_36_a_prompt_is_refused_where_it_is_wrong() {
    let toml = format!(
        "{MODEL}[edition.prompts]\nsummary = \"In {{lang}}. {{data}}\"\ntitles = \"Translate. {{data}}\"\n"
    );
    let ran = Home::with(&toml).run(&["check"]);
    assert_eq!(ran.code, 2, "{ran}");
    insta::assert_snapshot!(ran.notes, @r#"
    error: edition.prompts.summary: there is no placeholder {lang} in this prompt
     --> almanack.toml:6:15
      |
    6 | summary = "In {lang}. {data}"
      |               ^^^^^^
      = hint: it needs {data}, and may have {language} and {chars}

    error: edition.prompts.titles: the placeholder {format} is missing
     --> almanack.toml:7:10
      |
    7 | titles = "Translate. {data}"
      |          ^^^^^^^^^^^^^^^^^^^
      = hint: it needs {format} and {data}, and may have {language}

    2 errors
    "#);
}

#[test]
fn ed_36_prompts_are_inherited_and_need_a_model() {
    let toml = format!(
        "[edition]\n\n{MODEL}[edition.prompts]\nsummary = \"Be brief. {{data}}\"\n\n\
         [editions.weekly.prompts]\noverview = \"\"\"\nOpen it.\n{{data}}\"\"\"\n"
    );
    let home = Home::with(&toml);
    let prompts = |name: &[&str]| {
        let ran = home.run(&[&["edition", "prompts", "--json"], name].concat());
        ran.expect_json()["prompts"].as_array().unwrap().clone()
    };
    let put = [
        "task",
        "put",
        "K",
        "s",
        "--at",
        "+1h",
        "--callback-url",
        "https://articles.example/",
    ];
    home.run(&put).expect_data();
    let (default, weekly) = (prompts(&[]), prompts(&["weekly"]));
    let own = |all: &[serde_json::Value]| -> Vec<String> {
        let own = all.iter().filter(|it| it["is_built_in"] == false);
        own.map(|it| it["kind"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(own(&default), ["summary"]);
    assert_eq!(own(&weekly), ["summary", "overview"]);
    assert_eq!(default[1]["version"], weekly[1]["version"], "the same text");
    assert_ne!(default[3]["version"], weekly[3]["version"]);
    let without = toml.replace(MODEL, "");
    let ran = Home::with(&without).run(&["check"]);
    assert!(
        ran.notes.contains("edition.prompts.summary has no effect"),
        "{ran}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_36_a_story_says_by_which_prompts_it_was_written() {
    let world = World::start().await;
    let home = world.everything("sqlite:almanack.db");
    let name = "ALMANACK_EDITION_PROMPTS_SUMMARY";
    let home = home.set(name, "Write for sailors, in {language}. {data}");
    let ran = run(&home, &["edition", "run"]).await;
    assert_eq!(ran.code, 0, "{ran}");
    let day = date(&home);
    let status = run(&home, &["edition", "status", &day, "--json"]).await;
    let prompts = run(&home, &["edition", "prompts", "--json"]).await;
    let prompts = &prompts.expect_json()["prompts"];
    let stories = status.expect_json()["stories"].clone();
    let written = stories.as_array().unwrap().iter();
    let written: Vec<_> = written.filter(|it| it["note"].is_null()).collect();
    assert!(!written.is_empty(), "{stories:#}");
    for story in written {
        assert_eq!(
            story["prompts"]["titles"], prompts[0]["version"],
            "{story:#}"
        );
        assert_eq!(story["prompts"]["summary"], prompts[1]["version"]);
    }
    assert_eq!(prompts[1]["is_built_in"], false);
}
