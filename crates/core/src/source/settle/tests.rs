use proptest::prelude::*;

use super::*;
use crate::source::{
    Definition, SourceId,
    check::Validators,
    identity::{Recognised, recognise},
    policy::{History, cadence::Cadence},
};

const HOUR: SignedDuration = SignedDuration::from_hours(1);

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn start() -> Timestamp {
    at("2026-03-02T10:00:00Z")
}

fn source() -> Source {
    let definition = Definition {
        name: "Example".to_owned(),
        address: "https://example.com/feed".to_owned(),
        ..Definition::default()
    };
    Source {
        id: SourceId(17),
        ..Source::new(definition, start())
    }
}

fn terms() -> Terms {
    Terms {
        policy: Policy::Classic,
        fallback: HOUR,
        budget: Budget::default(),
    }
}

fn entry(id: &str, published_at: Option<&str>) -> FoundEntry {
    FoundEntry {
        id: Some(id.to_owned()),
        title: id.to_owned(),
        published_at: published_at.map(at),
        ..FoundEntry::default()
    }
}

fn document(entries: Vec<FoundEntry>) -> Look {
    Look::Document(Box::new(Document {
        entries,
        validators: Validators {
            etag: Some("\"1\"".to_owned()),
            last_modified: None,
        },
        ..Document::default()
    }))
}

fn failed(class: FailureClass, retry_after: Option<SignedDuration>) -> Look {
    Look::Failed(Failure {
        class,
        detail: "it did not work".to_owned(),
        retry_after,
    })
}

fn unchanged(moved_to: Option<&str>) -> Look {
    Look::Unchanged(Unchanged {
        moved_to: moved_to.map(str::to_owned),
        ..Unchanged::default()
    })
}

/// Settles a look whose unfamiliar entries are all new.
fn look(source: &Source, look: &Look, now: Timestamp) -> Settled {
    let recognised = match look {
        Look::Document(document) => recognise(source, document, &[], now),
        _ => Recognised::default(),
    };
    let made = CompletedCheck {
        look,
        fresh: &recognised.fresh,
        remembered: &recognised.remembered,
        took: SignedDuration::from_millis(120),
        moved_onto: None,
    };
    settle(source, made, &terms(), now)
}

#[test]
fn ss_06_a_hit_is_a_new_entry_and_a_first_failure_is_a_failure() {
    let a = || entry("a", Some("2026-03-02T08:00:00Z"));
    let b = || entry("b", Some("2026-03-02T09:00:00Z"));
    let rows = [
        // (look, checks, hits, failures in a row)
        (failed(FailureClass::Server, None), 1, 0, 1),
        (failed(FailureClass::Timeout, None), 2, 0, 2),
        (document(vec![a()]), 3, 1, 0),
        (document(vec![a()]), 4, 1, 0), // the same again is no hit
        (unchanged(None), 5, 1, 0),
        (document(vec![b(), a()]), 6, 2, 0),
        (failed(FailureClass::Dns, None), 7, 2, 1),
        (document(Vec::new()), 8, 2, 0),
    ];
    let mut now = start();
    let mut source = source();
    for (result, checks, hits, fails) in rows {
        now += HOUR;
        source = look(&source, &result, now).source;
        let stats = &source.stats;
        assert_eq!(
            (stats.check_count, stats.hit_count, stats.fail_count),
            (checks, hits, fails),
            "{result:?}"
        );
        assert_eq!(stats.last_check_at, Some(now));
        assert_eq!(stats.backoff_until.is_some(), fails > 0);
        assert_eq!(stats.last_error.is_some(), fails > 0);
    }
    assert_eq!(source.recent.looks().len(), 8);
    assert_eq!(
        source.stats.last_article_at,
        Some(at("2026-03-02T09:00:00Z"))
    );
}

#[test]
fn ss_05_what_failed_decides_how_long_to_wait() {
    let rows = [
        // (class, retry after, failures before, backoff, due at the earliest, wants)
        (FailureClass::Server, None, 0, Some("15m"), "15m", None),
        (FailureClass::NotAFeed, None, 3, Some("2h"), "2h", None),
        (
            FailureClass::Timeout,
            None,
            60,
            Some("24h"),
            "24h",
            Some(Attention::Failing),
        ),
        (FailureClass::RateLimited, None, 0, Some("6h"), "6h", None),
        (
            FailureClass::RateLimited,
            Some("20m"),
            0,
            Some("20m"),
            "20m",
            None,
        ),
        (FailureClass::Forbidden, None, 0, Some("12h"), "12h", None),
        (
            FailureClass::Unauthorised,
            None,
            0,
            None,
            "1h",
            Some(Attention::Credentials),
        ),
    ];
    let duration = |text: &str| text.parse::<SignedDuration>().unwrap();
    for (class, retry_after, before, backoff, due, wants) in rows {
        let mut source = source();
        source.stats.fail_count = before;
        let result = failed(class, retry_after.map(duration));
        let settled = look(&source, &result, start());
        let stats = &settled.source.stats;
        let backoff = backoff.map(|wait| start() + duration(wait));
        assert_eq!(stats.backoff_until, backoff, "{class}");
        let wait = stats.next_due_at.unwrap().duration_since(start());
        assert!(wait >= duration(due), "{class}: {wait}");
        assert!(wait <= duration(due).mul_f64(1.05), "{class}: {wait}");
        assert_eq!(settled.source.attention, wants, "{class}");
        assert_eq!(settled.next_at, stats.next_due_at);
    }
}

#[test]
fn ss_05_a_person_is_notified_once_and_when_it_has_passed() {
    let unauthorised = failed(FailureClass::Unauthorised, None);
    let first = look(&source(), &unauthorised, start());
    assert_eq!(first.notices, [Notice::Wants(Attention::Credentials)]);
    let second = look(&first.source, &unauthorised, start() + HOUR);
    assert_eq!(second.notices, []);
    let back = look(&second.source, &unchanged(None), start() + HOUR * 2);
    assert_eq!(back.notices, [Notice::Recovered(Attention::Credentials)]);
    assert_eq!(back.source.attention, None);
}

#[test]
fn ss_12_gone_ends_the_source_when_it_was_said_twice_a_day_apart() {
    let gone = failed(FailureClass::Gone, None);
    let first = look(&source(), &gone, start());
    assert_eq!(first.source.state, State::Active, "once may be a mistake");
    assert_eq!(first.source.attention, None);
    assert_eq!(first.source.stats.backoff_until, Some(start() + HOUR * 24));
    let reason = first.source.reason.as_ref().unwrap().to_string();
    assert!(reason.contains("gone for good"), "{reason}");
    // Whoever asks again at once learns nothing more.
    let soon = look(&first.source, &gone, start() + HOUR);
    assert_eq!(soon.source.state, State::Active);
    let settled = look(&soon.source, &gone, start() + HOUR * 25);
    assert_eq!(settled.next_at, None);
    assert_eq!(settled.source.stats.next_due_at, None);
    assert_eq!(settled.notices, [Notice::Wants(Attention::Gone)]);
    assert_eq!(settled.source.attention, Some(Attention::Gone));
    let State::Ended { reason, since } = settled.source.state else {
        panic!("still looked at");
    };
    let expected = ("it did not work", start() + HOUR * 25);
    assert_eq!((reason.as_str(), since), expected);
}

#[test]
fn ss_12_gone_is_not_believed_of_a_source_that_came_back_in_between() {
    let gone = failed(FailureClass::Gone, None);
    let mut source = look(&source(), &gone, start()).source;
    source = look(&source, &unchanged(None), start() + HOUR * 24).source;
    source = look(&source, &gone, start() + HOUR * 48).source;
    assert_eq!(source.state, State::Active);
    source = look(
        &source,
        &failed(FailureClass::Server, None),
        start() + HOUR * 72,
    )
    .source;
    source = look(&source, &gone, start() + HOUR * 96).source;
    assert_eq!(
        source.state,
        State::Active,
        "it was something else in between"
    );
}

#[test]
fn a_source_of_the_file_stays_at_the_address_that_the_file_names() {
    let mut source = source();
    source.definition.options.from_file = true;
    for _ in 0..5 {
        let moved = unchanged(Some("https://example.org/feed"));
        source = look(&source, &moved, start()).source;
    }
    assert_eq!(source.definition.address, "https://example.com/feed");
    assert_eq!(source.memory.moving.map(|moving| moving.times), Some(5));
}

#[test]
fn ss_12_a_permanent_move_is_believed_when_it_was_reported_three_times_in_a_row() {
    let to = "https://example.org/feed";
    let mut source = source();
    for (round, moved_to) in [Some(to), Some(to), None, Some(to), Some(to)]
        .into_iter()
        .enumerate()
    {
        source = look(&source, &unchanged(moved_to), start()).source;
        assert_eq!(
            source.definition.address, "https://example.com/feed",
            "{round}"
        );
    }
    let settled = look(&source, &unchanged(Some(to)), start());
    assert_eq!(settled.source.definition.address, to);
    assert_eq!(settled.notices, [Notice::Moved(to.to_owned())]);
    assert_eq!(settled.source.memory.moving, None);
}

#[test]
fn ss_12_a_move_onto_another_source_is_not_made_and_wants_a_person() {
    let moved = unchanged(Some("https://example.org/feed"));
    let mut source = source();
    source.memory.moving = Some(Moving {
        address: "https://example.org/feed".to_owned(),
        times: 2,
    });
    let made = CompletedCheck {
        look: &moved,
        fresh: &[],
        remembered: &Remembered::default(),
        took: SignedDuration::ZERO,
        moved_onto: Some(SourceId(3)),
    };
    let settled = settle(&source, made, &terms(), start());
    assert_eq!(
        settled.source.definition.address,
        "https://example.com/feed"
    );
    assert_eq!(settled.source.attention, Some(Attention::Duplicate));
}

#[test]
fn ss_13_what_was_shown_or_pruned_before_is_not_new() {
    let mut source = source();
    source.memory.pruned_before = Some(at("2026-01-01T00:00:00Z"));
    let entries = vec![
        entry("old", Some("2025-12-31T23:59:59Z")),
        entry("new", Some("2026-01-01T00:00:00Z")),
        entry("undated", None),
        entry("new", Some("2026-02-01T00:00:00Z")), // twice in one document
        FoundEntry::default(),                      // nothing to know it by
    ];
    let shown = document(entries);
    let Look::Document(read) = &shown else {
        unreachable!()
    };
    let keys = |source: &Source| -> Vec<String> {
        recognise(source, read, &[], start())
            .fresh
            .into_iter()
            .map(|(key, _)| key)
            .collect()
    };
    assert_eq!(keys(&source), ["id:new", "id:undated"]);
    let settled = look(&source, &shown, start());
    assert_eq!(keys(&settled.source), [""; 0]);
}

#[test]
fn ss_25_the_past_of_an_undated_source_is_no_rhythm_but_what_comes_is() {
    let shown = |count: i32| -> Look {
        let entries = (0..count).map(|n| entry(&n.to_string(), None));
        document(entries.collect())
    };
    let history = |settled: &Settled| History::decode(&settled.source.learned).unwrap();
    let adaptive = Terms {
        policy: Policy::Adaptive,
        ..terms()
    };
    let reason = |settled: &Settled| {
        let planned = replan(&settled.source, &adaptive, start());
        planned.reason.unwrap().to_string()
    };
    let first = look(&source(), &shown(20), start());
    assert_eq!(history(&first).newest_at(), None, "twenty of unknown times");
    assert_eq!(first.source.stats.cadence, Some(Cadence::P2));
    assert_eq!(first.source.stats.last_article_at, Some(start()));
    let why = reason(&first);
    assert!(why.starts_with("no new entry to learn from yet; "), "{why}");
    let failed = failed(FailureClass::Server, None);
    let failed = look(&first.source, &failed, start() + HOUR);
    let second = look(&failed.source, &shown(21), start() + HOUR * 2);
    let middle = start() + HOUR;
    assert_eq!(
        history(&second).newest_at(),
        Some(middle),
        "between the checks that did not fail"
    );
    let why = reason(&second);
    assert!(
        why.contains(" without times, by when they were first seen"),
        "{why}"
    );
}

#[test]
fn nothing_is_believed_of_a_source_that_was_never_checked() {
    let known = believed(&source(), &terms(), start());
    assert_eq!(known.entries_per_day, None);
    assert!(known.week.iter().all(|expected| *expected <= 0.0));
    let unseen = replan(&source(), &terms(), start());
    assert_eq!(unseen.reason, None);
}

#[test]
fn ss_10_damaged_learning_falls_back_to_the_fixed_interval_with_one_warning() {
    let mut source = source();
    source.learned = b"not what was written".to_vec();
    let shown = document(vec![entry("a", Some("2026-03-02T08:00:00Z"))]);
    let settled = look(&source, &shown, start());
    assert_eq!(settled.notices, [Notice::LearningLost]);
    assert_eq!(settled.next_at, Some(start() + HOUR));
    let history = History::decode(&settled.source.learned).unwrap();
    assert_eq!(
        history.newest_at(),
        Some(at("2026-03-02T08:00:00Z")),
        "relearned"
    );
    let again = look(&settled.source, &unchanged(None), start() + HOUR);
    assert_eq!(again.notices, []);
}

#[test]
fn ss_10_a_policy_that_cannot_be_read_gives_way_to_the_nodes() {
    let mut source = source();
    source.definition.policy = Some("whenever".to_owned());
    let settled = look(&source, &unchanged(None), start());
    assert!(
        matches!(settled.notices.as_slice(), [Notice::PolicyUnreadable(_)]),
        "{:?}",
        settled.notices
    );
    assert!(settled.next_at.is_some());
    let again = look(&settled.source, &unchanged(None), start() + HOUR);
    assert_eq!(again.notices, [], "notified once");
}

#[test]
fn ss_12_a_move_to_where_no_row_could_follow_is_none() {
    let to = format!("https://example.org/{}", "a".repeat(2000));
    let mut source = source();
    for _ in 0..4 {
        source = look(&source, &unchanged(Some(&to)), start()).source;
    }
    assert_eq!(source.definition.address, "https://example.com/feed");
}

#[test]
fn what_ends_has_not_recovered() {
    let gone = failed(FailureClass::Gone, None);
    let mut failing = look(&source(), &gone, start()).source;
    failing.attention = Some(Attention::Failing);
    let settled = look(&failing, &gone, start() + HOUR * 24);
    assert_eq!(settled.notices, [Notice::Wants(Attention::Gone)]);
}

#[test]
fn ss_12_a_publishers_request_puts_the_next_check_off_and_says_so() {
    let mut source = source();
    source.definition.policy = Some("fixed:15m".to_owned());
    source.memory.hints.every = Some(7200);
    let settled = look(&source, &unchanged(None), start());
    assert_eq!(settled.next_at, Some(start() + HOUR * 2));
    assert_eq!(
        settled.source.reason,
        Some(both!(
            "every 15 minutes; its publisher asks for no earlier check",
            "每 15 分钟一次；发布者要求不要更早检查"
        ))
    );
}

#[test]
fn a_cadence_by_hand_is_kept_and_changes_the_next_time() {
    let checked = look(&source(), &unchanged(None), start()).source;
    let mut by_hand = checked.clone();
    by_hand.definition.cadence = Some(Cadence::P5);
    let planned = replan(&by_hand, &terms(), start() + HOUR);
    assert_eq!(planned.stats.next_due_at, Some(start() + HOUR * 8));
    assert_eq!(planned.stats.cadence, Some(Cadence::P5));
    let sooner = Source {
        definition: Definition {
            cadence: Some(Cadence::P0),
            ..by_hand.definition.clone()
        },
        ..checked
    };
    let now = start() + HOUR;
    let overdue = replan(&sooner, &terms(), now).stats.next_due_at;
    assert_eq!(overdue, Some(now), "due since 45 minutes is due now");
}

#[test]
fn a_source_quiet_beyond_its_habit_is_silent_until_it_speaks_again() {
    let daily: Vec<FoundEntry> = (1..=28)
        .map(|day| {
            entry(
                &day.to_string(),
                Some(&format!("2026-02-{day:02}T08:00:00Z")),
            )
        })
        .collect();
    let now = at("2026-02-28T09:00:00Z");
    let known = look(&source(), &document(daily), now);
    assert_eq!(known.source.attention, None);
    let later = look(&known.source, &unchanged(None), at("2026-03-01T12:00:00Z"));
    assert_eq!(
        later.source.attention, None,
        "28 hours are within its habit"
    );
    let silent = look(&later.source, &unchanged(None), at("2026-04-10T12:00:00Z"));
    assert_eq!(silent.notices, [Notice::Wants(Attention::Silent)]);
    let speaks = document(vec![entry("back", Some("2026-04-10T12:30:00Z"))]);
    let back = look(&silent.source, &speaks, at("2026-04-10T13:00:00Z"));
    assert_eq!(back.notices, [Notice::Recovered(Attention::Silent)]);
}

#[test]
fn ss_17_a_document_that_is_cut_needs_attention_until_it_fits() {
    let cut = |left_out: usize| {
        let mut read = Document {
            entries: vec![entry("a", None)],
            left_out,
            ..Document::default()
        };
        read.validators.etag = Some("\"1\"".to_owned());
        Look::Document(Box::new(read))
    };
    let first = look(&source(), &cut(7), start());
    assert_eq!(first.notices, [Notice::Wants(Attention::Truncated)]);
    let still = look(&first.source, &unchanged(None), start() + HOUR);
    assert_eq!(still.notices, [], "nothing has changed about it");
    assert_eq!(still.source.attention, Some(Attention::Truncated));
    // A failure in between is more urgent, and does not make it forgotten.
    let denied = failed(FailureClass::Unauthorised, None);
    let denied = look(&still.source, &denied, start() + HOUR);
    assert_eq!(denied.source.attention, Some(Attention::Credentials));
    let back = look(&denied.source, &unchanged(None), start() + HOUR);
    assert_eq!(back.source.attention, Some(Attention::Truncated));
    let fits = look(&back.source, &cut(0), start() + HOUR);
    assert_eq!(fits.notices, [Notice::Recovered(Attention::Truncated)]);
}

#[test]
fn ss_18_useless_ids_need_attention_and_are_remembered() {
    let shared = Look::Document(Box::new(Document {
        entries: vec![entry("a", None)],
        ids_shared: true,
        left_out: 1,
        ..Document::default()
    }));
    let first = look(&source(), &shared, start());
    assert_eq!(first.source.attention, Some(Attention::Identity));
    assert!(first.source.memory.publisher.ids_useless);
    let still = look(&first.source, &unchanged(None), start() + HOUR);
    assert_eq!(
        (still.source.attention, still.notices),
        (Some(Attention::Identity), vec![])
    );
}

fn any_look() -> impl Strategy<Value = Look> {
    let class = proptest::sample::select(FailureClass::ALL.to_vec());
    prop_oneof![
        Just(unchanged(None)),
        Just(unchanged(Some("https://example.org/"))),
        proptest::collection::vec((0_u32..50, proptest::option::of(0_i32..40_000)), 0..8).prop_map(
            |shown| {
                let entries = shown.into_iter().map(|(id, hours)| FoundEntry {
                    id: Some(id.to_string()),
                    published_at: hours.map(|hours| start() - HOUR * hours),
                    ..FoundEntry::default()
                });
                document(entries.collect())
            }
        ),
        (class, proptest::option::of(-100_i64..1_000_000))
            .prop_map(|(class, wait)| failed(class, wait.map(SignedDuration::from_secs))),
    ]
}

proptest! {
    /// Properties 3, 4, 8, 11 and 12 of the founding design, over any life of a source.
    #[test]
    fn ss_11_counters_resets_and_times_hold_over_any_life(looks in proptest::collection::vec(any_look(), 1..30)) {
        let mut now = start();
        let mut source = source();
        for result in looks {
            now += HOUR;
            let settled = look(&source, &result, now);
            let (before, after) = (&source.stats, &settled.source.stats);
            prop_assert_eq!(after.check_count, before.check_count + 1);
            prop_assert!(after.hit_count - before.hit_count <= 1);
            prop_assert!(after.hit_count <= after.check_count);
            let number = |count: u64| f64::from(u32::try_from(count).unwrap());
            let hits = settled.source.hit_rate().unwrap() * number(after.check_count);
            prop_assert!((hits - number(after.hit_count)).abs() < 1e-9);
            let failed = matches!(result, Look::Failed(_));
            prop_assert_eq!(after.fail_count, if failed { before.fail_count + 1 } else { 0 });
            prop_assert!(failed || after.backoff_until.is_none());
            prop_assert!(after.next_due_at >= after.backoff_until, "SS-08");
            prop_assert_eq!(settled.source.updated_at, now);
            prop_assert_eq!(settled.source.created_at, source.created_at);
            prop_assert!(after.last_article_at >= before.last_article_at);
            if settled.source.state == State::Active {
                let next = settled.next_at.unwrap();
                prop_assert!(next > now, "never in the past");
                prop_assert!(next <= now + HOUR * 24 * 8, "nothing dies silently: {}", next);
            } else {
                prop_assert_eq!(settled.next_at, None);
                break;
            }
            source = settled.source;
        }
    }
}
