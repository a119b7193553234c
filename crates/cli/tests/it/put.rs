//! `almanack task put`: what is refused, and many at once.

use crate::harness::{Home, Ran};

const AT: &str = "2999-01-05T08:00Z";

fn home() -> Home {
    Home::with("[kinds.ARTICLE_PUBLISH]\nurl = \"http://127.0.0.1:1025/publish\"\n")
}

fn put(home: &Home, more: &[&str]) -> Ran {
    home.run(&[&["task", "put"], more].concat())
}

#[test]
fn a_payload_over_the_limit_names_the_limit() {
    let json = |bytes: usize| format!("\"{}\"", "é".repeat((bytes - 2) / 2));
    let home = home()
        .file("fits.json", &format!("{}\r\n", json(65_536)))
        .file("large.json", &json(65_538));
    let put = |file| {
        let at = ["ARTICLE_PUBLISH", "a", "--at", AT, "--payload", file];
        put(&home, &at)
    };
    assert_eq!(put("@fits.json").code, 0);
    let ran = put("@large.json");
    let reported = "error: payload has 65538 bytes; the limit is 65536\n";
    assert!(ran.notes.starts_with(reported), "{ran}");
    assert!(ran.notes.contains("limits.payload_bytes"), "{ran}");
}

#[test]
fn what_is_refused_says_why_and_stores_nothing() {
    let home = home();
    let refusals: [(&[&str], &str); 10] = [
        (
            &["ARTICLE_PUBLSIH", "article:42", "--at", AT],
            "did you mean `ARTICLE_PUBLISH`?",
        ),
        (&["NEWS", "a", "--at", AT], "add [kinds.NEWS]"),
        (
            &["article:42", "ARTICLE_PUBLISH", "--at", AT],
            "the kind comes first",
        ),
        (
            &["ARTICLE_PUBLISH", "", "--at", AT],
            "subject must have 1 to 200 bytes",
        ),
        (
            &["ARTICLE_PUBLISH", "a", "--at", "2026-01-05 08:00"],
            "has no time zone",
        ),
        (
            &["ARTICLE_PUBLISH", "a", "--at", AT, "--payload", "{x}"],
            "payload is not JSON",
        ),
        (
            &["ARTICLE_PUBLISH", "a", "--at", AT, "--priority", "10"],
            "priority must be 0 to 9",
        ),
        (
            &["NEWS", "a", "--at", AT, "--callback-url", "ftp://x"],
            "callback.url must be an http or https URL",
        ),
        (
            &[
                "NEWS",
                "a",
                "--at",
                AT,
                "--callback-url",
                "http://10.0.0.1/",
            ],
            "callback.url would never be called: 10.0.0.1",
        ),
        (
            &[
                "ARTICLE_PUBLISH",
                "a",
                "--at",
                AT,
                "--payload",
                "@nothing.json",
            ],
            "nothing.json",
        ),
    ];
    for (arguments, expected) in refusals {
        let ran = put(&home, arguments);
        assert_eq!(
            (ran.code, ran.data.as_str()),
            (2, ""),
            "{arguments:?}: {ran}"
        );
        assert!(ran.notes.contains(expected), "{arguments:?}: {ran}");
    }
    assert_eq!(
        home.run(&["task", "list", "--json-lines"]).expect_data(),
        ""
    );
}

#[test]
fn an_unconfigured_kind_is_fine_with_its_own_address() {
    let reported = put(
        &home(),
        &["NEWS", "a", "--at", AT, "--callback-url", "http://a/"],
    );
    assert_eq!(reported.code, 0, "{reported}");
}

#[test]
fn a_payload_comes_from_the_line_a_file_or_standard_input() {
    let home = home().file("payload.json", "{\"from\":\"file\"}\n");
    let payload = |subject: &str, given: &str, input: &str| {
        let arguments = [
            "task",
            "put",
            "ARTICLE_PUBLISH",
            subject,
            "--at",
            AT,
            "--payload",
            given,
        ];
        home.run_with_input(&arguments, input).expect_data();
        let reported = home
            .run(&["task", "get", "ARTICLE_PUBLISH", subject, "--json"])
            .expect_json();
        reported["payload"].clone()
    };
    assert_eq!(payload("a", "{\"from\":\"line\"}", "")["from"], "line");
    assert_eq!(payload("b", "@payload.json", "")["from"], "file");
    assert_eq!(payload("c", "-", "{\"from\":\"input\"}")["from"], "input");
}

#[test]
fn the_same_key_answers_the_same_and_refuses_something_else() {
    let home = home();
    let ask = |at: &str| {
        put(
            &home,
            &[
                "ARTICLE_PUBLISH",
                "a",
                "--at",
                at,
                "--idempotency-key",
                "k1",
                "--json",
            ],
        )
    };
    let first = ask(AT).expect_json();
    put(
        &home,
        &["ARTICLE_PUBLISH", "a", "--at", "2999-02-01T00:00Z"],
    )
    .expect_data();
    assert_eq!(ask(AT).expect_json(), first, "the answer of the first time");
    let other = ask("2999-03-01T00:00Z");
    assert_eq!(other.code, 1, "{other}");
    assert!(
        other.notes.contains("used for a different request"),
        "{other}"
    );
}

const BATCH: &str = r#"{"kind":"ARTICLE_PUBLISH","subject":"article:1","execute_at":"2999-01-05T08:00Z","payload":{"n":1}}

{"kind":"ARTICLE_PUBLISH","subject":"article:2","execute_at":"+10m","callback":{"url":"http://a/"},"revision":3}
{"kind":"ARTICLE_PUBLISH","subjct":"article:3","execute_at":"+10m"}
{"kind":"NEWS","subject":"article:4","execute_at":"+10m"}
{"kind":"ARTICLE_PUBLISH","subject":"article:5","execute_at":"tomorrow"}
not json
{"kind":"ARTICLE_PUBLISH","subject":"article:1","execute_at":"2999-01-06T08:00Z"}
"#;

#[test]
fn a_batch_does_what_it_can_and_names_the_lines_it_cannot() {
    let home = home().file("batch.jsonl", BATCH);
    insta::assert_snapshot!(put(&home, &["--batch", "batch.jsonl"]), @r#"
    7 tasks: 2 created, 1 updated, 4 refused
    error: line 4: unknown field `subjct`; known: `subject`, `kind`, `execute_at`, `payload`, `callback`, `max_retry`, `priority`, `expires_at`, `expires_after_s`, `revision`, `tags`
    error: line 5: kind `NEWS` is not configured and the task has no callback.url
    error: line 6: `tomorrow` is not a time; write 2026-01-05T08:00Z, "2026-01-05 08:00 Europe/Berlin", +10m or now
    error: line 7: not JSON: unexpected character (column 2)
    exit 1
    "#);
    let moved = home
        .run(&["task", "get", "ARTICLE_PUBLISH", "article:1", "--json"])
        .expect_json();
    assert_eq!(
        moved["execute_at"], "2999-01-06T08:00:00Z",
        "lines count in their order"
    );
    assert_eq!(moved["payload"]["n"], 1, "what a line leaves out stays");
}

#[test]
fn a_batch_larger_than_a_chunk_from_standard_input() {
    let home = home();
    let line = |number: usize| {
        format!(
            "{{\"kind\":\"ARTICLE_PUBLISH\",\"subject\":\"a:{number}\",\"execute_at\":\"{AT}\"}}\n"
        )
    };
    let batch: String = (0..2_500).map(line).collect();
    let reported = home.run_with_input(&["task", "put", "--batch", "-"], &batch);
    assert_eq!(reported.to_string(), "2500 tasks: 2500 created\nexit 0");
    let again = home.run_with_input(&["task", "put", "--batch", "-"], &batch);
    assert_eq!(
        again.to_string(),
        "2500 tasks: 2500 unchanged\nexit 0",
        "asking again is harmless"
    );
    let all = home
        .run(&["task", "list", "--all", "--json-lines"])
        .expect_data();
    assert_eq!(all.lines().count(), 2_500);
}

#[test]
fn a_batch_for_programs_answers_line_by_line() {
    let home = home().file("batch.jsonl", BATCH);
    let ran = put(&home, &["--batch", "batch.jsonl", "--json-lines"]);
    let answers: Vec<serde_json::Value> = ran
        .data
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 7, "{ran}");
    assert_eq!(answers[0]["rule"], "created");
    assert_eq!(answers[2]["line"], 4, "blank lines count as lines");
    assert_eq!(
        (ran.code, ran.notes.as_str()),
        (1, "7 tasks: 2 created, 1 updated, 4 refused\n")
    );
}

#[test]
fn a_batch_says_what_is_wrong_in_the_words_of_json() {
    let batch = "\
{\"kind\":\"K\",\"subject\":\"s\",\"execute_at\":\"now\",\"callback\":\"x\"}
[\"K\",\"s\",\"now\",null,null,null,null,null]
{\"kind\":\"K\",\"subject\":\"s\",\"execute_at\":\"now\",\"priority\":1.5}
";
    let ran = home().run_with_input(&["task", "put", "--batch", "-"], batch);
    insta::assert_snapshot!(ran, @r#"
    3 tasks: 3 refused
    error: line 1: `callback`: expected a JSON object, found the string "x"
    error: line 2: each line must be a JSON object
    error: line 3: `priority`: expected a whole number, found the number `1.5`
    exit 1
    "#);
}

#[test]
fn a_batch_that_cannot_be_read_is_exit_code_2() {
    assert_eq!(put(&home(), &["--batch", "nothing.jsonl"]).code, 2);
    let endless = "x".repeat(17_000_000);
    let ran = home().run_with_input(&["task", "put", "--batch", "-"], &endless);
    assert_eq!(ran.code, 2, "{}", ran.notes);
    assert!(
        ran.notes.contains("read line 1: longer than"),
        "{}",
        ran.notes
    );
}
