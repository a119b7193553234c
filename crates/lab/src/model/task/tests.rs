//! Which messages are which task, as a table.

use super::*;

fn message(role: &str, content: &str) -> Message {
    Message {
        role: role.to_owned(),
        content: content.to_owned(),
    }
}

fn recognise(system: &str, user: &str) -> Task {
    let mut messages = vec![message("system", system), message("user", user)];
    messages.retain(|message| !message.content.is_empty());
    Task::recognise(&messages)
}

fn texts(task: &Task) -> Vec<(i64, &str)> {
    let titles = task.titles().iter();
    titles
        .map(|title| (title.index, title.text.as_str()))
        .collect()
}

#[test]
fn the_kind_of_work_is_known_by_what_the_messages_contain() {
    let long = "An article about arrays. ".repeat(40);
    let array = r#"["Tides", "Winds"]"#;
    let inside = format!("{long}{array}{long}");
    let asks_json = "Translate. Answer with a JSON array.";
    let classify = "Classify each title as SAFE or SENSITIVE.";
    for (why, system, user, kind) in [
        ("nothing but titles", "Translate.", array, Kind::Titles),
        (
            "titles at the end",
            "",
            &format!("{long}{array}\n"),
            Kind::Titles,
        ),
        (
            "in a fence",
            "",
            &format!("{long}\n```json\n{array}\n```"),
            Kind::Titles,
        ),
        (
            "in an object",
            "",
            &format!("{{\"titles\": {array}}}"),
            Kind::Titles,
        ),
        ("JSON is wanted", asks_json, &inside, Kind::Titles),
        (
            "an array inside an article",
            "Summarise.",
            &inside,
            Kind::Summary,
        ),
        (
            "numbers are no titles",
            "Summarise.",
            "[1, 2, 3]",
            Kind::Summary,
        ),
        (
            "a text",
            "Summarise.",
            "Tides rise and fall.",
            Kind::Summary,
        ),
        ("to be classified", classify, array, Kind::Filter),
        (
            "asked by the user",
            "",
            &format!("{classify}\n{array}"),
            Kind::Filter,
        ),
        (
            "a title that says so",
            "Translate.",
            r#"["SAFE or SENSITIVE?"]"#,
            Kind::Titles,
        ),
        ("nothing", "", "", Kind::Summary),
    ] {
        assert_eq!(recognise(system, user).kind(), kind, "{why}");
    }
}

#[test]
fn titles_keep_their_order_and_their_indices() {
    let strings = recognise("", r#"["b", "a [1]", "说 \"c\""]"#);
    assert_eq!(texts(&strings), [(0, "b"), (1, "a [1]"), (2, "说 \"c\"")]);
    let objects = recognise("", r#"[{"index": 7, "title": "x"}, {"title": "y"}]"#);
    assert_eq!(texts(&objects), [(7, "x"), (1, "y")]);
    let example = recognise("", r#"Like ["甲", "乙"], but for: ["x"]"#);
    assert_eq!(texts(&example), [(0, "x")], "examples come first");
    assert_eq!(
        recognise("", "[]"),
        Task::Titles {
            titles: Vec::new(),
            shape: Shape::Strings
        }
    );
}

#[test]
fn only_the_last_message_of_the_user_counts() {
    let messages = [
        message("user", r#"["old"]"#),
        message("assistant", r#"["旧"]"#),
        message("user", r#"["new"]"#),
    ];
    assert_eq!(texts(&Task::recognise(&messages)), [(0, "new")]);
}

#[test]
fn the_length_of_a_summary_is_the_one_asked_for() {
    for (system, user, chars) in [
        ("用不超过 120 字总结。", "Tides", 120),
        ("Summarise in 150-200 characters.", "Tides", 200),
        ("In about 80 Chinese characters.", "Tides", 80),
        ("", "Summarise in 60 words: Tides", 60),
        ("Summarise.", "In 1998 there were 30 boats.", SUMMARY_CHARS),
        ("The year is 2026. At most 90 chars.", "Tides", 90),
        ("At most 5 characters", "Tides", SUMMARY_CHARS),
    ] {
        let Task::Summary { chars_max, .. } = recognise(system, user) else {
            panic!("`{system}` is no summary");
        };
        assert_eq!(chars_max, chars, "{system} {user}");
    }
}

#[test]
fn the_language_is_the_one_the_instructions_ask_for() {
    for (system, user, language) in [
        ("Translate into English.", "Tides", Language::English),
        (
            "Write in English, in at most 300 characters.",
            "x",
            Language::English,
        ),
        (
            "Write in Simplified Chinese.",
            "A book in English",
            Language::Chinese,
        ),
        ("", "Summarise in English: 潮汐", Language::English),
        ("", "Summarise: tides", Language::Chinese),
        ("Translate.", "Tides", Language::Chinese),
    ] {
        let mut messages = vec![message("system", system), message("user", user)];
        messages.retain(|message| !message.content.is_empty());
        assert_eq!(language_asked(&messages), language, "{system} {user}");
    }
}
