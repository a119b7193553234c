use serde::Deserialize;

use super::*;
use crate::lang::Lang;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only whether it can be read matters")]
struct Task {
    kind: String,
    priority: Option<u8>,
    revision: Option<i64>,
    tags: Option<Vec<String>>,
    callback: Option<Callback>,
    method: Option<Method>,
    #[serde(default, deserialize_with = "crate::instant::optional")]
    at: Option<jiff::Timestamp>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only whether it can be read matters")]
struct Callback {
    url: String,
}

#[derive(Debug, Deserialize)]
enum Method {
    Get,
    Post,
}

fn said(json: &str) -> [String; 2] {
    let mut reader = serde_json::Deserializer::from_str(json);
    let sentence = match serde_path_to_error::deserialize::<_, Task>(&mut reader) {
        Ok(_) => of_json(".", &reader.end().unwrap_err()),
        Err(error) => of_json(&error.path().to_string(), error.inner()),
    };
    Lang::ALL.map(|lang| sentence.say(lang))
}

/// What is read, and what is said of it.
const FAULTS: &[(&str, [&str; 2])] = &[
    (r"{}", ["`kind` is missing", "缺少 `kind`"]),
    (
        r#"{"kind":1}"#,
        [
            "`kind`: expected a string, found the number `1`",
            "`kind`：应为字符串，实为数字 `1`",
        ],
    ),
    (
        r#"{"kind":"K","revision":1.5}"#,
        [
            "`revision`: expected a whole number, found the number `1.5`",
            "`revision`：应为整数，实为数字 `1.5`",
        ],
    ),
    (
        r#"{"kind":"K","revision":9223372036854775808}"#,
        [
            "`revision`: expected a whole number up to 9223372036854775807, found the number \
                 `9223372036854775808`",
            "`revision`：应为不大于 9223372036854775807 的整数，实为数字 `9223372036854775808`",
        ],
    ),
    (
        r#"{"kind":"K","tags":"x"}"#,
        [
            "`tags`: expected a JSON array, found the string \"x\"",
            "`tags`：应为 JSON 数组，实为字符串 \"x\"",
        ],
    ),
    (
        r#"{"kind":"K","callback":"x"}"#,
        [
            "`callback`: expected a JSON object, found the string \"x\"",
            "`callback`：应为 JSON 对象，实为字符串 \"x\"",
        ],
    ),
    (
        r#"{"kind":"K","callback":{}}"#,
        ["`callback.url` is missing", "缺少 `callback.url`"],
    ),
    (
        r#"{"kind":"K","callback":{"uri":1}}"#,
        [
            "unknown field `callback.uri`; known: `url`",
            "未知的字段 `callback.uri`；可用：`url`",
        ],
    ),
    (
        r#"{"kind":"K","method":"BREW"}"#,
        [
            "`method`: unknown value `BREW`; known: `Get`, `Post`",
            "`method`：未知的值 `BREW`；可用：`Get`、`Post`",
        ],
    ),
    (
        r#"{"kind":"K","kind":"K"}"#,
        ["duplicate field `kind`", "字段 `kind` 重复"],
    ),
    (
        r#"{"kind":"K","at":"soon"}"#,
        [
            "`at`: `soon` is not an instant; write it like 2026-12-24T18:00:00Z",
            "`at`：`soon` 不是时刻；请写成 2026-12-24T18:00:00Z 的形式",
        ],
    ),
    (
        r#"{"kind":"#,
        [
            "not JSON: it ends too early (column 8)",
            "不是 JSON：内容不完整（第 8 列）",
        ],
    ),
    ("", ["not JSON: it ends too early", "不是 JSON：内容不完整"]),
    (
        r#"{"kind":"K"} x"#,
        [
            "not JSON: more follows after its end (column 14)",
            "不是 JSON：结尾之后还有内容（第 14 列）",
        ],
    ),
];

#[test]
fn a_fault_names_its_field_what_was_expected_and_what_was_found() {
    for (json, expected) in FAULTS {
        assert_eq!(said(json), expected.map(str::to_owned), "{json}");
    }
}

#[test]
fn what_the_caller_wrote_is_left_alone() {
    let [english, chinese] = said(r#"{", expected i64 at line 9":1}"#);
    for said in [english, chinese] {
        assert!(said.contains("`, expected i64 at line 9`"), "{said}");
    }
}

#[test]
fn a_query_has_parameters() {
    for (message, expected) in [
        (
            "colour: unknown field `colour`, expected `limit` or `after`",
            [
                "unknown parameter `colour`; known: `limit`, `after`",
                "未知的参数 `colour`；可用：`limit`、`after`",
            ],
        ),
        (
            "limit: invalid digit found in string",
            ["`limit` must be a whole number", "`limit` 必须是整数"],
        ),
        (
            "limit: number too large to fit in target type",
            ["`limit` is too large a number", "`limit` 数字过大"],
        ),
        (
            "duplicate field `limit`",
            ["parameter given twice: `limit`", "参数重复：`limit`"],
        ),
        ("missing field `at`", ["`at` is missing", "缺少 `at`"]),
        (
            "status: unknown variant `X`, expected one of `INIT`, `FAIL`",
            [
                "`status`: unknown value `X`; known: `INIT`, `FAIL`",
                "`status`：未知的值 `X`；可用：`INIT`、`FAIL`",
            ],
        ),
    ] {
        let sentence = of_query(message);
        let said = Lang::ALL.map(|lang| sentence.say(lang));
        assert_eq!(said, expected.map(str::to_owned), "{message}");
    }
}
