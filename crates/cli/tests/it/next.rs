//! `almanack next`: what people see, what programs see, and every case through `--batch`.

use serde_json::{Value, json};

use crate::harness::Home;

const CASES: &str = include_str!("../../../core/tests/cases/cron.jsonl");

fn next(arguments: &[&str]) -> String {
    let from = ["next", "--from", "2024-03-29T00:00Z"];
    let line: Vec<&str> = from.iter().chain(arguments).copied().collect();
    Home::new().run(&line).to_string()
}

#[test]
fn times_are_shown_in_the_zone_and_in_utc_with_words_and_warnings() {
    insta::assert_snapshot!(next(&["30 2 * * *", "--tz", "Europe/Berlin", "--count", "3"]), @"
    at 02:30 every day (Europe/Berlin)
    LOCAL                           UTC
    Fri 2024-03-29 02:30:00 +01:00  2024-03-29 01:30:00Z
    Sat 2024-03-30 02:30:00 +01:00  2024-03-30 01:30:00Z
    Sun 2024-03-31 03:00:00 +02:00  2024-03-31 01:00:00Z
    warning: the clocks skip this time once and it moves to the end of the gap, 2024-03-31T01:00:00Z
    exit 0
    ");
    insta::assert_snapshot!(next(&["0 8 * * 1-5", "--count", "2", "--lang", "zh"]), @"
    周一至周五 08:00 (UTC)
    LOCAL                           UTC
    Fri 2024-03-29 08:00:00 +00:00  2024-03-29 08:00:00Z
    Mon 2024-04-01 08:00:00 +00:00  2024-04-01 08:00:00Z
    exit 0
    ");
    insta::assert_snapshot!(next(&["0 0 0 1 1 * 2025"]), @"
    at 00:00 on day 1 of the month in January in 2025 (UTC)
    LOCAL                           UTC
    Wed 2025-01-01 00:00:00 +00:00  2025-01-01 00:00:00Z
    no more times before the year 2200
    exit 0
    ");
    insta::assert_snapshot!(next(&["@10s", "--count", "1", "--json"]), @r#"
    {"exhausted":false,"expression":"@10s","next":[{"at":"2024-03-29T00:00:10Z","local":"2024-03-29T00:00:10+00:00"}],"tz":"UTC","warnings":[],"words":{"en":"every 10 seconds","zh":"每 10 秒"}}
    exit 0
    "#);
    insta::assert_snapshot!(next(&["*/7 * 13 * 5", "--count", "1", "--json"]), @r#"
    {"exhausted":false,"expression":"*/7 * 13 * 5","next":[{"at":"2024-03-29T00:07:00Z","local":"2024-03-29T00:07:00+00:00"}],"tz":"UTC","warnings":[{"code":"either_day","message":"both day fields are restricted: a day that fits either one counts (`+` before the weekday asks for both)","span":[11,12]},{"code":"uneven_step","message":"minute: 7 does not divide the field evenly, so the last step is shorter","span":[0,3]}],"words":{"en":"at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour on day 13 of the month or on Friday","zh":"每月 13 日或周五 每小时第 0、7、14、21、28、35、42、49、56 分钟"}}
    exit 0
    "#);
}

#[test]
fn a_refusal_points_into_the_expression() {
    insta::assert_snapshot!(next(&["0/15 * * * *"]), @"
    error: minute: a step needs `*` or a range before it; `0/15` means different things elsewhere
      0/15 * * * *
      ^^^^
    hint: write `0-59/15`
    exit 2
    ");
    insta::assert_snapshot!(next(&["0 9 * * FRI-MON", "--json"]), @r#"
    {"error":{"code":"usage","hint":"write `5-6,0-1`","message":"day of week: the range `FRI-MON` runs backwards"}}
    exit 2
    "#);
    insta::assert_snapshot!(next(&["0 9 * * *", "--tz", "Europe/Berln"]), @"
    error: there is no time zone `Europe/Berln`
    hint: did you mean `Europe/Berlin`?
    exit 2
    ");
    insta::assert_snapshot!(next(&["0 0 30 2 *"]), @"
    error: `0 0 30 2 *` never fires: no date matches
    exit 1
    ");
    insta::assert_snapshot!(next(&["0 0 0 1 1 * 2020"]), @"
    error: `0 0 0 1 1 * 2020` does not fire after 2024-03-29T00:00:00Z
    exit 1
    ");
    insta::assert_snapshot!(next(&["0 9 * * *", "--count", "99999"]), @"
    error: 99999 times are more than 10000
    exit 2
    ");
}

#[test]
fn imports_are_read_when_asked_for() {
    insta::assert_snapshot!(next(&["--lenient", "CRON_TZ=Asia/Tokyo 0 9/6 * * FRI-MON", "--count", "2"]), @"
    at 09:00, 15:00 and 21:00 on Sunday, Monday, Friday and Saturday (Asia/Tokyo)
    LOCAL                           UTC
    Fri 2024-03-29 15:00:00 +09:00  2024-03-29 06:00:00Z
    Fri 2024-03-29 21:00:00 +09:00  2024-03-29 12:00:00Z
    exit 0
    ");
}

#[test]
fn a_batch_answers_every_line_in_order() {
    let questions = concat!(
        r#"{"id":1,"expr":"0 8 * * *","tz":"Asia/Shanghai","from":"2024-01-01T00:00:00Z","count":2,"prev":1}"#,
        "\n\n",
        r#"{"id":"b","expr":"5/20 * * * *","from":"2024-01-01T00:00:00Z","count":1}"#,
        "\n",
        r#"{"id":"c","expr":"5/20 * * * *","from":"2024-01-01T00:00:00Z","count":1,"lenient":true}"#,
        "\n",
        r#"{"id":4,"expr":"0 0 0 1 1 * 2025","from":"2024-01-01T00:00:00Z","prev":true}"#,
        "\n",
        r#"{"id":5,"expr":"0 9 * * *","tz":"Mars/Olympus","from":"2024-01-01T00:00:00Z"}"#,
        "\n",
        r#"{"id":6,"expr":"0 9 * * *","from":"yesterday"}"#,
        "\n",
        "nonsense\n",
    );
    let ran = Home::new().run_with_input(&["next", "--batch"], questions);
    insta::assert_snapshot!(ran, @r#"
    {"id":1,"next":["2024-01-02T00:00:00Z","2024-01-03T00:00:00Z"],"prev":["2023-12-31T00:00:00Z"]}
    {"id":"b","error":{"stage":"parse","message":"minute: a step needs `*` or a range before it; `5/20` means different things elsewhere","span":[0,4],"hint":"write `5-59/20`"}}
    {"id":"c","next":["2024-01-01T00:05:00Z"]}
    {"id":4,"next":["2025-01-01T00:00:00Z"],"prev":[],"exhausted":true}
    {"id":5,"error":{"stage":"tz","message":"there is no time zone `Mars/Olympus`","hint":"zones look like Europe/Berlin"}}
    {"id":6,"error":{"stage":"question","message":"from: `yesterday` is not a time","hint":"write 2026-01-05T08:00Z, \"2026-01-05 08:00 Europe/Berlin\", +10m or now"}}
    {"id":null,"error":{"stage":"question","message":"expected ident at line 1 column 2"}}
    exit 1
    "#);
}

/// What must be asked so that the answer can be compared with the case.
fn question(case: &Value, lenient: bool) -> Value {
    let listed = |key: &str| case[key].as_array().map_or(0, Vec::len);
    json!({
        "id": case["id"],
        "expr": case["expr"].as_str().unwrap_or_default(),
        "tz": case["tz"],
        "from": case["from"],
        "count": listed("next").max(1) + usize::from(case["exhausted"] == true),
        "prev": listed("prev"),
        "lenient": lenient,
    })
}

fn check(case: &Value, answer: &Value, lenient: bool) {
    let about = format!("{case} (lenient: {lenient}): {answer}");
    assert_eq!(answer["id"], case["id"], "{about}");
    assert_eq!(answer["error"]["stage"], case["stage"], "{about}");
    assert_eq!(answer["next"], case["next"], "{about}");
    if case["prev"].is_array() {
        assert_eq!(answer["prev"], case["prev"], "{about}");
    }
    if case["exhausted"] == true {
        assert_eq!(answer["exhausted"], true, "{about}");
    }
}

#[test]
fn dp_02_every_case_holds_through_the_batch() {
    let mut asked = Vec::new();
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let modes: &[bool] = match case["profile"].as_str().unwrap() {
            "core" => &[false, true],
            "lenient" => &[true],
            _ => &[false],
        };
        asked.extend(modes.iter().map(|lenient| (case.clone(), *lenient)));
    }
    let lines: Vec<String> = asked
        .iter()
        .map(|(case, lenient)| question(case, *lenient).to_string())
        .collect();
    let input = lines.join(
        "
",
    );
    let data = Home::new()
        .run_with_input(&["next", "--batch"], &input)
        .expect_data();
    let answers: Vec<&str> = data.lines().collect();
    assert_eq!(answers.len(), asked.len());
    for ((case, lenient), answer) in asked.iter().zip(answers) {
        check(case, &serde_json::from_str(answer).unwrap(), *lenient);
    }
}
