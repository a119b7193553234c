use FailureClass::{Credentials, RateLimited, Refused as No, Transient, Unusable};
use almanack_core::budget::Spent;

use super::*;

const KEY: &str = "sk-secret";

fn read_at(status: u16, retry_after: Option<&str>, body: &str) -> Result<Completion, Failure> {
    let answer = Answer {
        status,
        retry_after,
        body: body.as_bytes(),
    };
    read(answer, KEY, Timestamp::UNIX_EPOCH)
}

#[test]
fn ed_36_a_reply_is_the_first_choices_text_and_what_it_cost() {
    for (body, text, tokens, why) in [
        (
            r#"{"choices":[{"message":{"content":"好"}}],"usage":{"prompt_tokens":12,"completion_tokens":3}}"#,
            "好",
            (12, 3),
            "as usual",
        ),
        (
            r#"{"choices":[{"message":{"content":"好"}}]}"#,
            "好",
            (0, 0),
            "without usage",
        ),
        (
            r#"{"choices":[{"message":{"content":"好"}}],"usage":null,"error":null}"#,
            "好",
            (0, 0),
            "null usage",
        ),
        (
            r#"{"choices":[{"message":{"content":[{"type":"text","text":"好"},{"type":"text","text":"的"}]}}]}"#,
            "好的",
            (0, 0),
            "in parts",
        ),
        (
            r#"{"choices":[{"message":{"content":null}}]}"#,
            "",
            (0, 0),
            "no text",
        ),
        (
            r#"{"choices":[{"message":null}]}"#,
            "",
            (0, 0),
            "no message",
        ),
        (r#"{"choices":[]}"#, "", (0, 0), "no choice"),
        (r#"{"id":"x"}"#, "", (0, 0), "no choices at all"),
    ] {
        let (tokens_in, tokens_out) = tokens;
        let expected = Completion {
            text: text.to_owned(),
            tokens_in: (tokens_in > 0).then_some(tokens_in),
            tokens_out: (tokens_out > 0).then_some(tokens_out),
        };
        assert_eq!(read_at(200, None, body), Ok(expected), "{why}");
    }
}

#[test]
fn an_answer_without_a_reply_says_what_can_be_done() {
    for (status, body, class, why) in [
        (401, "", Credentials, "no key"),
        (402, "", Credentials, "no money"),
        (403, "", Credentials, "not allowed"),
        (429, "", RateLimited, "too often"),
        (500, "", Transient, "trouble"),
        (503, "<html>", Transient, "trouble in another language"),
        (408, "", Transient, "too slow"),
        (400, "", No, "not understood"),
        (404, "", No, "no such model"),
        (302, "", No, "elsewhere"),
        (200, "<html>", Unusable, "a page"),
        (200, "", Unusable, "nothing"),
        (200, r#"{"choices":"x"}"#, Unusable, "another type"),
        (
            200,
            r#"{"error":{"code":429,"message":"x"}}"#,
            RateLimited,
            "too often, inside",
        ),
        (
            200,
            r#"{"error":{"code":"502","message":"x"}}"#,
            Transient,
            "trouble inside",
        ),
        (
            200,
            r#"{"error":{"code":401,"message":"x"}}"#,
            Credentials,
            "no key, inside",
        ),
        (
            200,
            r#"{"error":{"code":"odd"},"choices":[]}"#,
            Unusable,
            "unknown",
        ),
        (
            200,
            r#"{"error":{"code":null,"type":"server_error"}}"#,
            Transient,
            "trouble by name",
        ),
        (
            200,
            r#"{"error":{"code":"rate_limit_exceeded"}}"#,
            RateLimited,
            "too often by name",
        ),
        (200, r#"{"error":"broken"}"#, Unusable, "only a message"),
    ] {
        assert_eq!(
            read_at(status, None, body).unwrap_err().class,
            class,
            "{status} {body}: {why}"
        );
    }
    let waits = read_at(429, Some("7"), "").unwrap_err().retry_after;
    assert_eq!(waits, Some(jiff::SignedDuration::from_secs(7)));
    let waits = read_at(503, Some("Thu, 01 Jan 1970 00:00:09 GMT"), "")
        .unwrap_err()
        .retry_after;
    assert_eq!(waits, Some(jiff::SignedDuration::from_secs(9)));
}

#[test]
fn no_key_is_in_an_error() {
    for status in [200, 400, 401, 403, 404, 429, 500] {
        let body = format!(
            r#"{{"error":{{"message":"Incorrect key sk-secret (sk-s*****cret)"}},"choices":["{KEY}"]}}"#
        );
        let error = read_at(status, None, &body).unwrap_err().to_string();
        assert!(!error.contains(KEY), "{error}");
        assert!(
            !(401..=403).contains(&status) || !error.contains("cret"),
            "{error}"
        );
    }
    let error = |status, body: &str| read_at(status, None, body).unwrap_err().to_string();
    let body = r#"{"error":{"message":"max_tokens is too large","code":"invalid"}}"#;
    insta::assert_snapshot!(error(400, body), @"the model did not answer (HTTP 400): max_tokens is too large");
    insta::assert_snapshot!(error(401, body), @"the model's key was not accepted (HTTP 401)");
    insta::assert_snapshot!(error(500, ""), @"the model did not answer (HTTP 500)");
    insta::assert_snapshot!(error(200, body), @"the model's service answered with an error (HTTP 200): max_tokens is too large");
}

#[test]
fn no_answer_at_all_is_trouble_unless_it_will_stay_so() {
    use crate::http::Phase;
    let timeout = http::Error::Timeout {
        phase: Phase::Answer,
        after: std::time::Duration::from_secs(30),
    };
    assert_eq!(unanswered(&timeout).class, Transient);
    assert_eq!(
        unanswered(&http::Error::TooLarge { bytes_max: 1 }).class,
        Unusable
    );
    assert!(unanswered(&http::Error::Spent(Spent)).is_spent());
}
