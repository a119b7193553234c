use super::*;

fn check(status: u16, body: &str, count: usize) -> Sent {
    interpret(StatusCode::from_u16(status).unwrap(), body, count)
}

#[test]
fn a_success_settles_each_event_for_itself() {
    let rejected = |reason: &str| Item::Rejected(reason.to_owned());
    let later = |reason: &str| Item::Later(reason.to_owned());
    let rows = [
        (
            r#"{"receipts":[{"rule":"created"},{"rule":"updated"}]}"#,
            vec![Item::Taken, Item::Taken],
        ),
        (
            r#"{"receipts":[{"error":"bad kind"},{}]}"#,
            vec![rejected("bad kind"), Item::Taken],
        ),
        (
            r#"{"receipts":[{"error":{"status":422,"detail":"no"}},{"error":{"status":409}}]}"#,
            vec![rejected("no"), later(r#"{"status":409}"#)],
        ),
        (
            r#"{"receipts":[{}]}"#,
            vec![
                Item::Taken,
                later("Almanack answered for fewer events than it received"),
            ],
        ),
        ("", vec![Item::Taken, Item::Taken]),
    ];
    for (body, expected) in rows {
        assert_eq!(check(200, body, 2), Ok(expected), "{body}");
    }
}

#[test]
fn only_an_answer_about_the_events_blames_the_events() {
    for status in [400, 410, 413, 422] {
        assert!(check(status, "why", 1).is_err(), "{status}");
    }
    for status in [302, 401, 403, 404, 408, 409, 425, 429, 500, 503] {
        let items = check(status, "why", 1).unwrap();
        assert!(matches!(items[..], [Item::Later(_)]), "{status}");
    }
}

#[test]
fn a_long_answer_is_kept_short() {
    let reason = check(400, &"x".repeat(10_000), 1).unwrap_err();
    assert_eq!(reason.chars().count(), REASON_CHARS_MAX);
}

#[test]
fn waits_double_up_to_the_longest_and_never_vanish() {
    let pace = Pace {
        first: Duration::from_millis(100),
        max: Duration::from_secs(1),
        seed: 1,
    };
    let mut chance = Chance::new(1);
    for (failures, full_ms) in [(1, 100), (2, 200), (3, 400), (5, 1000), (u32::MAX, 1000)] {
        for _ in 0..100 {
            let wait = pace.wait(failures, &mut chance);
            let full = Duration::from_millis(full_ms);
            assert!(full / 2 <= wait && wait <= full, "{failures}: {wait:?}");
        }
    }
}

#[test]
fn the_same_trouble_is_reported_once_and_so_is_its_end() {
    let mut trouble = Trouble::default();
    assert!(!trouble.ends(), "it had not begun");
    assert!(trouble.is_news("connection refused"));
    assert!(!trouble.is_news("connection refused"));
    assert!(trouble.is_news("401 Unauthorized"));
    assert!(trouble.ends());
    assert!(!trouble.ends());
    assert!(trouble.is_news("401 Unauthorized"), "it came back");
}
