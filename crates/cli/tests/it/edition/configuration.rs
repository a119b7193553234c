//! Settings of editions: every problem is reported, every name of the original setup works.

use serde_json::Value;

use crate::harness::Home;

/// What `check` says of an environment, as JSON.
fn checked(home: &Home) -> Value {
    serde_json::from_str(&home.run(&["check", "--json"]).data).unwrap()
}

fn with(variables: &[(&str, &str)]) -> Home {
    let set = |home: Home, (name, value): &(&str, &str)| home.set(name, value);
    variables.iter().fold(Home::new(), set)
}

/// The value in force, and the variable it comes from.
fn setting(checked: &Value, key: &str) -> (String, String) {
    let settings = checked["settings"].as_array();
    let mut settings = settings.unwrap_or_else(|| panic!("{checked}")).iter();
    let found = settings.find(|setting| setting["key"] == key);
    let found = found.unwrap_or_else(|| panic!("no {key}"));
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    (text(&found["value"]), text(&found["origin"]["variable"]))
}

/// The first thing that is wrong: message and hint.
fn first_problem(checked: &Value) -> String {
    let problem = &checked["problems"][0];
    let text = |name: &str| problem[name].as_str().unwrap_or("").to_owned();
    format!(
        "{}: {} ({})",
        text("severity"),
        text("message"),
        text("hint")
    )
}

#[test]
fn ed_10_a_batch_that_would_spend_too_much_is_refused_with_estimate_limit_and_advice() {
    let ran = Home::with("[edition]\nbatch_size = 15\n").run(&["check"]);
    assert_eq!(ran.code, 2, "{ran}");
    insta::assert_snapshot!(ran.notes, @"
    error: edition.batch_size: a batch of 15 stories is expected to spend 61 requests, over the limit of 40
     --> almanack.toml:2:14
      |
    2 | batch_size = 15
      |              ^^
      = hint: use a batch size of at most 9 (advised: at most 6)

    1 error
    ");
}

#[test]
fn ed_10_sizes_of_batches_by_the_compat_variable() {
    for (value, expected) in [
        ("4", None),
        ("6", None),
        ("9", None),
        (
            "10",
            Some(
                "error: edition.batch_size: a batch of 10 stories is expected to spend 41 requests, over the limit of 40 (use a batch size of at most 9 (advised: at most 6))",
            ),
        ),
        (
            "15",
            Some(
                "error: edition.batch_size: a batch of 15 stories is expected to spend 61 requests, over the limit of 40 (use a batch size of at most 9 (advised: at most 6))",
            ),
        ),
        (
            "0",
            Some("error: edition.batch_size: 0 is out of range (write 1 to 100000)"),
        ),
        (
            "-1",
            Some("error: edition.batch_size: -1 is out of range (write 1 to 100000)"),
        ),
        (
            "six",
            Some("error: edition.batch_size: `six` is not a whole number (for example 64)"),
        ),
        (
            "NaN",
            Some("error: edition.batch_size: `NaN` is not a whole number (for example 64)"),
        ),
        (
            "6.5",
            Some("error: edition.batch_size: `6.5` is not a whole number (for example 64)"),
        ),
    ] {
        let checked = checked(&with(&[("TASK_BATCH_SIZE", value)]));
        match expected {
            None => assert_eq!(setting(&checked, "edition.batch_size").0, value),
            Some(expected) => assert_eq!(first_problem(&checked), expected, "{value}"),
        }
    }
}

#[test]
fn ed_10_a_node_does_not_start_with_such_a_batch() {
    let ran = with(&[("TASK_BATCH_SIZE", "15")]).run(&["serve"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.notes.contains("61 requests"), "{ran}");
}

#[test]
fn a_batch_must_fit_into_the_budget_of_a_tick() {
    let checked = checked(&Home::with("[edition]\nbudget = 20\n"));
    insta::assert_snapshot!(first_problem(&checked), @"error: edition.budget: a batch of 6 stories is expected to spend 25 requests, but a tick may spend only 20 (make the batch smaller, or the budget larger)");
}

#[test]
fn ed_19_an_interval_becomes_a_schedule_and_a_short_one_is_warned_about() {
    for (value, schedule, warned) in [
        ("10", "\"*/10 * * * *\"", false),
        ("5", "\"*/5 * * * *\"", false),
        ("4", "\"*/4 * * * *\"", true),
        ("1", "\"*/1 * * * *\"", true),
        ("45", "\"@every 45m\"", false),
    ] {
        let checked = checked(&with(&[("CRON_INTERVAL_MINUTES", value)]));
        assert_eq!(setting(&checked, "edition.schedule").0, schedule);
        let reported = checked["problems"].to_string();
        assert_eq!(
            reported.contains("uses up quotas quickly"),
            warned,
            "{value}: {reported}"
        );
    }
    let short = checked(&with(&[("CRON_INTERVAL_MINUTES", "3")]));
    insta::assert_snapshot!(first_problem(&short), @"warning: edition.interval_minutes: a tick every 3m uses up quotas quickly (recommended: at least 5 minutes)");
    for wrong in ["0", "x", "1441"] {
        let reported = first_problem(&checked(&with(&[("CRON_INTERVAL_MINUTES", wrong)])));
        assert!(
            reported.starts_with("error: edition.interval_minutes"),
            "{reported}"
        );
    }
}

#[test]
fn ed_19_a_schedule_of_ones_own_is_checked_like_any_other() {
    let toml = "[edition]\nschedule = \"*/2 * * *\"\ntz = \"Mars/Olympus\"\n";
    let ran = Home::with(toml).run(&["check"]);
    assert!(
        ran.notes.contains("almanack.toml:3:6") || ran.notes.contains("almanack.toml:2:12"),
        "{ran}"
    );
    let quick = checked(&Home::with("[edition]\nschedule = \"*/2 * * * *\"\n"));
    assert!(first_problem(&quick).contains("every 2m uses up quotas quickly"));
}

/// Variable, value, key, what is shown of the value.
const COMPAT: &[(&str, &str, &str, &str)] = &[
    (
        "LLM_PROVIDER",
        "openrouter",
        "edition.model.provider",
        "\"openrouter\"",
    ),
    (
        "LLM_DEEPSEEK_API_KEY",
        "sk-hush",
        "edition.model.deepseek.key",
        "***",
    ),
    (
        "LLM_DEEPSEEK_MODEL",
        "m1",
        "edition.model.deepseek.name",
        "\"m1\"",
    ),
    (
        "LLM_OPENROUTER_API_KEY",
        "sk-hush",
        "edition.model.openrouter.key",
        "***",
    ),
    (
        "LLM_OPENROUTER_MODEL",
        "m2",
        "edition.model.openrouter.name",
        "\"m2\"",
    ),
    (
        "LLM_OPENROUTER_SITE_URL",
        "https://a.example",
        "edition.model.openrouter.site_url",
        "\"https://a.example\"",
    ),
    (
        "LLM_OPENROUTER_SITE_NAME",
        "A",
        "edition.model.openrouter.site_name",
        "\"A\"",
    ),
    (
        "LLM_ZHIPU_API_KEY",
        "sk-hush",
        "edition.model.zhipu.key",
        "***",
    ),
    (
        "LLM_ZHIPU_MODEL",
        "m3",
        "edition.model.zhipu.name",
        "\"m3\"",
    ),
    ("HN_STORY_LIMIT", "20", "edition.stories", "20"),
    (
        "HN_TIME_WINDOW_HOURS",
        "48",
        "edition.source.window_hours",
        "48",
    ),
    ("SUMMARY_MAX_LENGTH", "200", "edition.summary_length", "200"),
    ("TASK_BATCH_SIZE", "4", "edition.batch_size", "4"),
    ("MAX_RETRY_COUNT", "5", "edition.retries", "5"),
    (
        "CRON_INTERVAL_MINUTES",
        "15",
        "edition.interval_minutes",
        "15",
    ),
    ("ENABLE_CONTENT_FILTER", "true", "edition.filter", "true"),
    (
        "CONTENT_FILTER_SENSITIVITY",
        "high",
        "edition.filter_sensitivity",
        "\"high\"",
    ),
    (
        "CRAWLER_PROVIDER",
        "jina",
        "edition.reader.provider",
        "\"reader\"",
    ),
    (
        "CRAWLER_API_URL",
        "https://c.example/crawl",
        "edition.reader.crawler_url",
        "\"https://c.example/***\"",
    ),
    (
        "CRAWLER_API_TOKEN",
        "sk-hush",
        "edition.reader.crawler_token",
        "***",
    ),
    (
        "JINA_API_KEY",
        "sk-hush",
        "edition.reader.prefix_key",
        "***",
    ),
    (
        "JINA_USE_KEY_ROTATION",
        "true",
        "edition.reader.rotate_key",
        "true",
    ),
    ("GITHUB_ENABLED", "true", "edition.github.enabled", "true"),
    ("GITHUB_TOKEN", "sk-hush", "edition.github.token", "***"),
    (
        "TARGET_REPO",
        "acme/news",
        "edition.github.repository",
        "\"acme/news\"",
    ),
    (
        "TARGET_BRANCH",
        "pages",
        "edition.github.branch",
        "\"pages\"",
    ),
    (
        "TELEGRAM_ENABLED",
        "true",
        "edition.telegram.enabled",
        "true",
    ),
    (
        "TELEGRAM_BOT_TOKEN",
        "42:sk-hush_0123456789abcdefghijklmnopqrs",
        "edition.telegram.token",
        "***",
    ),
    (
        "TELEGRAM_CHANNEL_ID",
        "@daily",
        "edition.telegram.chat",
        "\"@daily\"",
    ),
    (
        "TELEGRAM_BATCH_SIZE",
        "3",
        "edition.telegram.batch_size",
        "3",
    ),
    ("LOCAL_TEST_MODE", "true", "edition.test_mode", "true"),
];

#[test]
fn every_variable_of_the_compat_setup_sets_its_key() {
    let variables: Vec<(&str, &str)> = COMPAT.iter().map(|row| (row.0, row.1)).collect();
    let ran = with(&variables).run(&["check", "--json"]);
    assert!(!ran.to_string().contains("sk-hush"), "{ran}");
    let checked: Value = serde_json::from_str(&ran.data).unwrap();
    for (variable, _, key, shown) in COMPAT {
        let expected = ((*shown).to_owned(), (*variable).to_owned());
        assert_eq!(setting(&checked, key), expected, "{variable}");
    }
    assert_eq!(setting(&checked, "edition.enabled").0, "true");
}

#[test]
fn the_bounds_of_the_compat_setup_hold() {
    for (variable, value) in [
        ("HN_STORY_LIMIT", "0"),
        ("HN_STORY_LIMIT", "101"),
        ("HN_STORY_LIMIT", "all"),
        ("HN_TIME_WINDOW_HOURS", "169"),
        ("SUMMARY_MAX_LENGTH", "49"),
        ("SUMMARY_MAX_LENGTH", "1001"),
        ("CONTENT_FILTER_SENSITIVITY", "extreme"),
        ("TELEGRAM_BATCH_SIZE", "11"),
        ("LLM_PROVIDER", "deepsek"),
        ("TARGET_REPO", "acme"),
    ] {
        let home = with(&[(variable, value), ("TASK_BATCH_SIZE", "6")]);
        let reported = first_problem(&checked(&home));
        assert!(
            reported.starts_with("error: edition."),
            "{variable}: {reported}"
        );
    }
    let home = with(&[("MAX_RETRY_COUNT", "11"), ("TASK_BATCH_SIZE", "6")]);
    assert!(first_problem(&checked(&home)).starts_with("error: edition.retries"));
}

#[test]
fn what_other_programs_call_the_same_turns_nothing_on_and_breaks_nothing() {
    let home = with(&[
        ("GITHUB_TOKEN", "sk-hush"),
        ("MAX_RETRY_COUNT", "500"),
        ("LOCAL_TEST_MODE", "yes please"),
        ("TARGET_BRANCH", "x"),
        ("TELEGRAM_BOT_TOKEN", "not a token"),
        ("JINA_API_KEY", "k"),
        ("GITHUB_ENABLED", "1"),
    ]);
    let checked = checked(&home);
    assert_eq!(checked["problems"], serde_json::json!([]));
    assert_eq!(setting(&checked, "edition.enabled").0, "false");
}

#[test]
fn variables_of_the_compat_setup_without_effect_are_reported() {
    let idle = [
        ("LLM_BATCH_SIZE", "10"),
        ("CACHE_ENABLED", "true"),
        ("CACHE_TTL_MINUTES", "x"),
    ];
    let without = checked(&with(&idle));
    assert_eq!(without["problems"], serde_json::json!([]));
    assert_eq!(setting(&without, "edition.enabled").0, "false");
    let home = with(&[&idle[..], &[("TASK_BATCH_SIZE", "6")]].concat());
    let ran = home.run(&["check"]);
    assert_eq!(ran.code, 0, "{ran}");
    let reported = checked(&home);
    for (variable, _) in idle {
        let what = format!("variable `{variable}` has no effect on editions");
        assert!(
            reported["problems"].to_string().contains(&what),
            "{reported:#}"
        );
    }
    let empty = with(&[("CACHE_ENABLED", ""), ("TASK_BATCH_SIZE", "6")]);
    assert_eq!(checked(&empty)["problems"], serde_json::json!([]));
}

/// What is set, and what is said about the rest.
const HALVES: &[(&[(&str, &str)], &str)] = &[
    (
        &[("TARGET_REPO", "acme/news")],
        "[edition.github] is incomplete: the token is missing",
    ),
    (
        &[("GITHUB_TOKEN", "s"), ("TASK_BATCH_SIZE", "6")],
        "[edition.github] is incomplete: the repository is missing",
    ),
    (
        &[("TELEGRAM_ENABLED", "true"), ("TELEGRAM_CHANNEL_ID", "@d")],
        "[edition.telegram] is incomplete: the bot's token is missing",
    ),
    (
        &[
            ("TELEGRAM_ENABLED", "true"),
            (
                "TELEGRAM_BOT_TOKEN",
                "42:AAhush-hush_0123456789abcdefghijkl",
            ),
        ],
        "[edition.telegram] is incomplete: the chat is missing",
    ),
    (
        &[(
            "ALMANACK_EDITION_WEBHOOK_SECRET",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        )],
        "[edition.webhook] is incomplete: the address is missing",
    ),
    (
        &[("ALMANACK_EDITION_DIRECTORY_FILE", "{date}.md")],
        "[edition.directory] is incomplete: the folder is missing",
    ),
    (
        &[
            ("ALMANACK_ALERTS_TELEGRAM_CHAT", "@d"),
            ("TASK_BATCH_SIZE", "6"),
        ],
        "[alerts.telegram] is incomplete: the bot's token is missing",
    ),
    (
        &[("LLM_PROVIDER", "deepseek")],
        "edition.model.deepseek: a key is missing",
    ),
    (
        &[
            ("LLM_PROVIDER", "openrouter"),
            ("LLM_DEEPSEEK_API_KEY", "s"),
        ],
        "edition.model.openrouter: a key is missing",
    ),
    (
        &[("ALMANACK_EDITION_MODEL_KEY", "s")],
        "edition.model: `key` is set without `provider`",
    ),
    (
        &[("LLM_PROVIDER", "openai-compatible")],
        "edition.model.base_url is missing",
    ),
    (
        &[("CRAWLER_PROVIDER", "crawler")],
        "edition.reader: the crawler's address is missing",
    ),
];

#[test]
fn half_a_destination_is_reported_with_what_is_missing() {
    for (variables, missing) in HALVES {
        let ran = with(variables).run(&["check", "--json"]);
        assert!(!ran.data.contains("hush"), "{ran}");
        assert_eq!(ran.code, 2, "{variables:?} {ran}");
        let checked: Value = serde_json::from_str(&ran.data).unwrap();
        let reported = checked["problems"].to_string();
        assert!(reported.contains(missing), "{variables:?}: {reported}");
    }
}

#[test]
fn the_compat_switches_mean_what_they_meant() {
    let bot = (
        "TELEGRAM_BOT_TOKEN",
        "42:AAhush-hush_0123456789abcdefghijkl",
    );
    let chat = ("TELEGRAM_CHANNEL_ID", "@d");
    for (value, expected) in [
        ("true", "true"),
        ("TRUE", "false"),
        ("1", "false"),
        ("false", "false"),
    ] {
        let checked = checked(&with(&[bot, chat, ("TELEGRAM_ENABLED", value)]));
        assert_eq!(
            setting(&checked, "edition.telegram.enabled").0,
            expected,
            "{value}"
        );
    }
    let (token, repository) = (("GITHUB_TOKEN", "s"), ("TARGET_REPO", "a/b"));
    for (value, expected) in [("false", "false"), ("true", "true"), ("0", "true")] {
        let checked = checked(&with(&[token, repository, ("GITHUB_ENABLED", value)]));
        assert_eq!(
            setting(&checked, "edition.github.enabled").0,
            expected,
            "{value}"
        );
    }
    // Without the switch the original setup does not send; a section of the file does.
    let quiet = checked(&with(&[bot, chat]));
    assert_eq!(setting(&quiet, "edition.telegram.enabled").0, "false");
    let toml = "[edition.telegram]\nchat = \"@d\"\n";
    let own = checked(&Home::with(toml).set(bot.0, bot.1));
    assert_eq!(setting(&own, "edition.telegram.enabled").0, "true");
}

#[test]
fn a_reader_prefix_needs_no_crawler_and_an_unknown_reader_is_the_built_in_one() {
    let jina = checked(&with(&[("CRAWLER_PROVIDER", "jina")]));
    assert_eq!(jina["problems"], serde_json::json!([]));
    let other = checked(&with(&[("CRAWLER_PROVIDER", "firecrawl")]));
    assert_eq!(setting(&other, "edition.reader.provider").0, "\"builtin\"");
    insta::assert_snapshot!(first_problem(&other), @"warning: edition.reader.provider: unknown reader; the built-in one reads pages (write builtin, crawler or reader (also called jina))");
    let slip = checked(&Home::with("[edition.reader]\nprovider = \"crawlr\"\n"));
    assert!(first_problem(&slip).starts_with("error: edition.reader.provider"));
}

#[test]
fn sections_inside_others_are_checked_like_all() {
    let ran = Home::with("[edition.model]\nprovidr = \"none\"\n").run(&["check"]);
    insta::assert_snapshot!(ran.notes, @"
    error: unknown key `providr` in [edition.model]
     --> almanack.toml:2:1
      |
    2 | providr = ***
      | ^^^^^^^
      = hint: did you mean `provider`?

    1 error
    ");
    let ran = Home::with("[edition]\nmodel = \"deepseek\"\n").run(&["check"]);
    assert!(
        ran.notes
            .contains("`edition.model` is a section, not a value"),
        "{ran}"
    );
    let ran = Home::with("[edition.model.deepseek]\nkey = \"sk-hush\"\n").run(&["check"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(!ran.to_string().contains("sk-hush"), "{ran}");
}

#[test]
fn a_template_is_tried_before_anything_starts() {
    let toml = "[edition]\ntemplate = \"own.jinja\"\n";
    let missing = checked(&Home::with(toml));
    assert!(
        first_problem(&missing).contains("cannot read `own.jinja`"),
        "{missing}"
    );
    let broken = Home::with(toml).file(
        "own.jinja",
        "{% for story in stories %}{{ story.titel }}{% endfor %}",
    );
    assert!(first_problem(&checked(&broken)).contains("line 1"));
    let fine = Home::with(toml).file(
        "own.jinja",
        "{% for story in stories %}{{ story.title }}\n{% endfor %}",
    );
    assert_eq!(checked(&fine)["problems"], serde_json::json!([]));
}

#[test]
fn the_name_of_the_ticks_is_taken() {
    let toml = "[edition]\nenabled = true\n\n[[schedule]]\nname = \"edition\"\nexpression = \"@daily\"\ntarget = { type = \"webhook\", url = \"https://example.org\" }\n";
    let reported = checked(&Home::with(toml))["problems"].to_string();
    assert!(
        reported.contains("the name is taken by the ticks of [edition]"),
        "{reported}"
    );
}
