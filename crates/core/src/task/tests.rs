use super::*;
use crate::fixture::{NOW, Standing, at, row};

#[test]
fn rs_11_a_subject_survives_a_log_line_and_a_url() {
    let longest = "é".repeat(SUBJECT_BYTES_MAX / 2);
    let too_long = "a".repeat(SUBJECT_BYTES_MAX + 1);
    for (text, accepted, why) in [
        ("article:42", true, "the ordinary case"),
        ("文章:四十二", true, "any script"),
        ("a b", true, "a blank inside is harmless"),
        (
            "schedule:nightly@2026-01-05T08:00Z",
            true,
            "a schedule's slot",
        ),
        (longest.as_str(), true, "exactly the limit, in bytes"),
        ("", false, "nothing to be about"),
        (too_long.as_str(), false, "one byte over"),
        (
            " article:42",
            false,
            "would look like another subject without its blank",
        ),
        ("article:42\t", false, "the same at the end"),
        ("a\u{3000}", false, "an ideographic blank is a blank"),
        ("a\nb", false, "would break a log line"),
        ("a\0b", false, "a database text cannot hold it"),
        ("a\u{85}b", false, "control characters beyond ASCII too"),
    ] {
        let parsed = Subject::parse(text);
        assert_eq!(parsed.is_ok(), accepted, "{text:?}: {why}");
        match parsed {
            Ok(subject) => assert_eq!(subject.as_str(), text, "kept as given"),
            Err(error) => assert_eq!(error, Invalid::Subject { bytes: text.len() }),
        }
    }
}

#[test]
fn rs_11_a_kind_is_a_plain_name() {
    let longest = "K".repeat(KIND_BYTES_MAX);
    let too_long = "K".repeat(KIND_BYTES_MAX + 1);
    for (text, accepted, why) in [
        ("ARTICLE_PUBLISH", true, "the founding documents' name"),
        ("report.weekly-v2", true, "all allowed marks"),
        ("k", true, "one letter is a name"),
        (longest.as_str(), true, "exactly the limit"),
        (too_long.as_str(), false, "one byte over"),
        ("", false, "no name"),
        ("1st", false, "starts with a digit"),
        ("_hidden", false, "starts with a mark"),
        ("a b", false, "a blank"),
        ("a/b", false, "would split a URL path"),
        ("发布", false, "letters of ASCII only"),
    ] {
        let parsed = Kind::parse(text);
        assert_eq!(parsed.is_ok(), accepted, "{text:?}: {why}");
        if let Err(Invalid::Kind { given }) = parsed {
            assert!(
                given.len() <= KIND_BYTES_MAX,
                "an over-long name is not echoed in full"
            );
        }
    }
}

#[test]
fn rs_11_a_payload_is_json_within_the_limit() {
    let kept = Payload::parse(" {\"b\":1, \"a\":2} ", 100).unwrap();
    assert_eq!(
        kept.as_str(),
        " {\"b\":1, \"a\":2} ",
        "opaque: not even reformatted"
    );
    for (text, why) in [
        ("", "nothing is not JSON; `null` is"),
        ("{", "cut off"),
        ("{} {}", "two values"),
        ("{'a':1}", "single quotes"),
        ("NaN", "not a JSON number"),
    ] {
        let refused = Payload::parse(text, 100);
        assert!(
            matches!(refused, Err(Invalid::Payload(_))),
            "{text:?}: {why}"
        );
    }
}

#[test]
fn rs_11_the_payload_limit_is_the_smaller_of_setting_and_ceiling() {
    let text = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
    assert!(Payload::parse(&text(64), 64).is_ok(), "exactly the limit");
    assert_eq!(
        Payload::parse(&text(65), 64),
        Err(Invalid::PayloadTooLarge {
            bytes: 65,
            limit: 64
        })
    );
    let over = PAYLOAD_BYTES_MAX + 1;
    assert_eq!(
        Payload::parse(&text(over), usize::MAX),
        Err(Invalid::PayloadTooLarge {
            bytes: over,
            limit: PAYLOAD_BYTES_MAX
        }),
        "no setting lifts the ceiling"
    );
}

#[test]
fn rs_11_numbers_have_their_ranges() {
    for (level, accepted) in [
        (-1, false),
        (0, true),
        (9, true),
        (10, false),
        (i64::MAX, false),
    ] {
        assert_eq!(Priority::new(level).is_ok(), accepted, "priority {level}");
    }
    for (count, accepted) in [
        (-1, false),
        (0, true),
        (100, true),
        (101, false),
        (1 << 32, false),
    ] {
        assert_eq!(
            parse_max_retry(count).is_ok(),
            accepted,
            "max_retry {count}"
        );
    }
    for (number, accepted) in [(i64::MIN, false), (0, false), (1, true), (i64::MAX, true)] {
        assert_eq!(
            parse_revision(number).is_ok(),
            accepted,
            "revision {number}"
        );
    }
}

#[test]
fn rs_11_a_refusal_names_the_rule_and_never_echoes_a_payload() {
    insta::assert_snapshot!(Subject::parse("").unwrap_err(), @"subject must have 1 to 200 bytes, no control characters and no blank at either end; this one has 0 bytes");
    insta::assert_snapshot!(Kind::parse("1st").unwrap_err(), @"kind `1st` must start with a letter and have at most 64 letters, digits, `_`, `-` or `.`");
    insta::assert_snapshot!(Priority::new(10).unwrap_err(), @"priority must be 0 to 9 (9 first), not 10");
    insta::assert_snapshot!(parse_max_retry(101).unwrap_err(), @"max_retry must be 0 to 100, not 101");
    insta::assert_snapshot!(parse_revision(0).unwrap_err(), @"revision must be 1 or more, not 0");
    insta::assert_snapshot!(Status::parse("DONE").unwrap_err(), @"unknown status `DONE`; one of INIT, RUNNING, SUCCESS, FAIL, CANCELLED");
    let secret = Payload::parse("{\"password\":\"hunter2\"", 100)
        .unwrap_err()
        .to_string();
    assert!(!secret.contains("hunter2"), "{secret}");
}

#[test]
fn a_status_is_read_back_from_its_name_in_any_case() {
    for status in Status::ALL {
        assert_eq!(Status::parse(status.as_str()), Ok(status));
        assert_eq!(Status::parse(&status.as_str().to_lowercase()), Ok(status));
    }
}

#[test]
fn rs_01_a_task_is_live_while_it_is_tried_or_will_be() {
    for (standing, live) in [
        (Standing::Init, true),
        (Standing::Running, true),
        (Standing::FailWithTries, true),
        (Standing::FailSpent, false),
        (Standing::Success, false),
        (Standing::Cancelled, false),
    ] {
        assert_eq!(row(standing).is_live(), live, "{standing:?}");
    }
}

#[test]
fn rs_15_a_task_may_be_claimed_from_its_instant_on_and_not_a_microsecond_before() {
    let due = Task {
        due_at: Some(NOW),
        execute_at: NOW,
        ..row(Standing::Init)
    };
    assert!(!due.is_claimable(NOW - jiff::SignedDuration::from_micros(1)));
    assert!(due.is_claimable(NOW));
    for standing in Standing::ALL {
        let claimable = row(standing).is_claimable(at(7200));
        assert_eq!(
            claimable,
            standing.waits(),
            "{standing:?}: only what waits can be claimed"
        );
    }
}

#[test]
fn rs_09_retries_are_the_tries_after_the_first() {
    for (attempt, max_retry, left) in [
        (1, 0, false),
        (1, 1, true),
        (2, 1, false),
        (3, 3, true),
        (4, 3, false),
    ] {
        assert_eq!(
            retries_left(attempt, max_retry),
            left,
            "attempt {attempt} of 1 + {max_retry}"
        );
    }
}

#[test]
fn only_a_task_that_waits_is_due() {
    let row = row(Standing::Init);
    let new = NewTask {
        identity: row.identity,
        status: Status::Init,
        execute_at: NOW,
        payload: row.payload,
        callback_url: None,
        call_options: None,
        share_key: None,
        expiry: Expiry::NEVER,
        priority: Priority::DEFAULT,
        max_retry: 0,
        revision: Revision(1),
        tags: Tags::NONE,
        origin: "author".to_owned(),
        replaces: None,
    };
    assert_eq!(new.due_at(), Some(NOW));
    assert_eq!(
        NewTask {
            status: Status::Cancelled,
            ..new
        }
        .due_at(),
        None,
        "a withdrawal's tombstone"
    );
}
