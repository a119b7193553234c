//! Decisions of chains and their guard, as tables and laws.

use std::sync::Arc;

use jiff::tz::Offset;
use proptest::prelude::*;

use super::*;
use crate::{
    dispatch,
    lock::{Content, LockKey},
    plan::Ready,
    schedule::Zone,
};

fn at(time: &str) -> Timestamp {
    format!("2026-01-05T{time}Z").parse().unwrap()
}

fn chain(name: &str) -> ChainName {
    ChainName::parse(name).unwrap()
}

fn line(text: &str, now: Timestamp) -> Line {
    let line = dispatch::parse(text).lines.remove(0);
    let zone = Arc::new(Zone::utc());
    let ready = Ready::new(&line.name, line.definition, &zone).unwrap();
    Line::new(line.place.line, line.name, ready, now)
}

#[test]
fn dp_03_the_next_round_is_the_next_multiple_since_the_epoch() {
    for (now, round_ms, next, why) in [
        (
            "08:00:00",
            10_000,
            "08:00:10",
            "a round at this instant has just been",
        ),
        ("08:00:00.000001", 10_000, "08:00:10", ""),
        ("08:00:09.999999", 10_000, "08:00:10", ""),
        (
            "08:00:03",
            7_000,
            "08:00:09",
            "multiples of the epoch, not of the minute",
        ),
        ("08:00:00.3", 500, "08:00:00.5", ""),
    ] {
        let round = SignedDuration::from_millis(round_ms);
        assert_eq!(
            next_round(at(now), round),
            at(next),
            "{now} {round_ms} {why}"
        );
    }
}

proptest! {
    #[test]
    fn dp_03_rounds_come_one_after_the_other(now_us in 0_i64..4_000_000_000_000_000, round_ms in 100_i64..10_000) {
        let now = Timestamp::from_microsecond(now_us).unwrap();
        let round = SignedDuration::from_millis(round_ms);
        let next = next_round(now, round);
        prop_assert!(next > now && next.duration_since(now) <= round);
        prop_assert_eq!(next.as_microsecond() % (round_ms * 1_000), 0);
        prop_assert_eq!(next_round(next, round).duration_since(next), round);
    }

    #[test]
    fn dp_13_looks_never_meet_and_keep_their_pace(rounds in 1_i64..3_000, place in 0_u8..3) {
        let name = chain(&format!("tick-{}", char::from(b'a' + place)));
        let start = at("08:00:00");
        let mut looks = Looks::start(start, ROUND_DEFAULT, &name);
        let mut seen = [0_i64; 2];
        for number in 0..rounds {
            let now = start + ROUND_DEFAULT * i32::try_from(number).unwrap();
            match looks.take(now) {
                Some(Look::Runs) => seen[0] += 1,
                Some(Look::Locks) => seen[1] += 1,
                None => {}
            }
        }
        prop_assert!(seen[0] <= rounds / 6 + 1);
        prop_assert!(seen[1] <= rounds / 60 + 1);
        prop_assert!(seen[0] >= rounds / 6 - 1);
    }
}

#[test]
fn dp_09_runs_last_by_their_chains_letter_and_never_as_long_as_github_lets_them() {
    for (name, minutes) in [
        ("tick-a", 300),
        ("tick-b", 330),
        ("tick-B", 330),
        ("tick-c", 350),
        ("tick-1", 300),
    ] {
        assert_eq!(
            chain(name).length(),
            SignedDuration::from_mins(minutes),
            "{name}"
        );
    }
    assert_eq!(chain("tick-a.yml"), chain("tick-a"));
    for bad in ["", "tick a", "../tick", "tick/a", "ünder"] {
        assert_eq!(ChainName::parse(bad), Err(NotAChain), "{bad}");
    }
}

#[test]
fn dp_10_a_run_leaves_for_a_newer_one_or_when_its_time_is_over() {
    let ends = at("13:00:00");
    for (newest, now, leave) in [
        (None, "12:59:59", None),
        (Some(7), "12:59:59", None),
        (Some(6), "12:59:59", None),
        (Some(8), "08:00:00", Some(Leave::Newer { run_id: 8 })),
        (Some(7), "13:00:00", Some(Leave::Over)),
    ] {
        assert_eq!(leaves(7, newest, ends, at(now)), leave, "{newest:?} {now}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one flat table")]
fn dp_09_a_chain_is_judged_by_its_newest_runs() {
    let run = |id, status: &str, conclusion: Option<&str>, time: &str| RunStatus {
        id,
        status: status.to_owned(),
        conclusion: conclusion.map(str::to_owned),
        started_at: at(time),
    };
    let ended = |id, how, time| run(id, "completed", Some(how), time);
    let now = at("14:00:00");
    for (runs, ended, found, why) in [
        (vec![], None, ChainHealth::Dead, "never started"),
        (
            vec![run(1, "in_progress", None, "10:00:00")],
            None,
            ChainHealth::Alive { run_id: 1 },
            "",
        ),
        (
            vec![run(1, "in_progress", None, "10:00:00")],
            Some(1),
            ChainHealth::Dead,
            "it said it ends",
        ),
        (
            vec![run(1, "in_progress", None, "08:14:59")],
            None,
            ChainHealth::Hung { run_id: 1 },
            "5 h 45 min",
        ),
        (
            vec![run(1, "queued", None, "01:00:00")],
            None,
            ChainHealth::Alive { run_id: 1 },
            "waiting is not hanging",
        ),
        (
            vec![run(1, "pending", None, "13:00:00")],
            None,
            ChainHealth::Alive { run_id: 1 },
            "",
        ),
        (
            vec![run(1, "requested", None, "13:00:00")],
            None,
            ChainHealth::Alive { run_id: 1 },
            "",
        ),
        (
            vec![run(1, "waiting", None, "13:00:00")],
            None,
            ChainHealth::Alive { run_id: 1 },
            "",
        ),
        (
            vec![
                ended(2, "success", "13:00:00"),
                run(1, "queued", None, "12:00:00"),
            ],
            None,
            ChainHealth::Alive { run_id: 1 },
            "an older one may wait",
        ),
        (
            vec![ended(2, "cancelled", "13:59:00")],
            None,
            ChainHealth::Dead,
            "",
        ),
        (
            (1..=3).map(|id| ended(id, "failure", "13:50:00")).collect(),
            None,
            ChainHealth::Failing { run_id: 3 },
            "starting it again would spin",
        ),
        (
            (1..=3).map(|id| ended(id, "failure", "13:40:00")).collect(),
            None,
            ChainHealth::Dead,
            "after a while it gets a chance",
        ),
        (
            (1..=2).map(|id| ended(id, "failure", "13:59:00")).collect(),
            None,
            ChainHealth::Dead,
            "",
        ),
    ] {
        assert_eq!(
            judge(&chain("tick-a"), &runs, ended, now),
            found,
            "{why}: {runs:?}"
        );
    }
}

#[test]
fn dp_08_a_line_continues_after_the_newest_of_its_own_locks() {
    let now = at("08:00:03");
    let mut held = line("@10s o/r poll.yml", now);
    assert_eq!(
        held.next_at(),
        Some(at("08:00:10")),
        "without locks, from now on"
    );
    let key = |content: Content, time| LockKey::new(content, at(time));
    let other = line("@10s o/r other.yml", now).content();
    let locks = [
        key(held.content(), "07:59:40"),
        key(held.content(), "07:59:50"),
        key(other, "08:00:00"),
    ];
    held.resume(&locks);
    assert_eq!(held.next_at(), Some(at("08:00:00")));
    let looked = held.look(now);
    let slots: Vec<Timestamp> = looked.due.iter().map(Due::slot).collect();
    assert_eq!((slots, looked.remember), (vec![at("08:00:00")], None));
    assert_eq!(held.look(now), Looked::default(), "once");
}

#[test]
fn dp_08_what_was_skipped_last_is_remembered_by_a_lock() {
    let mut held = line("0 * * * * o/r check.yml catch_up=none", at("01:00:00"));
    let looked = held.look(at("04:30:00"));
    assert_eq!(looked.due, []);
    let [skipped] = &looked.skipped[..] else {
        panic!("{looked:?}");
    };
    assert_eq!((skipped.slots, skipped.last_at), (3, at("04:00:00")));
    assert_eq!(
        looked.remember,
        Some(LockKey::new(held.content(), at("04:00:00")))
    );
}

#[test]
fn dp_07_an_open_lock_stays_until_it_is_settled() {
    let lines = [line("*/5 * * * * o/r check.yml", at("08:00:00"))];
    let key = |time| LockKey::new(lines[0].content(), at(time));
    let (open, done, newest) = (key("08:00:00"), key("08:05:00"), key("09:00:00"));
    let mut locks = vec![open, done, done.done(), newest, newest.done()];
    let mut lock_history = LockHistory::default();
    assert_eq!(
        lock_history.unsettled(&lines, &locks, at("08:06:00")),
        [],
        "its owner may be trying"
    );
    assert_eq!(lock_history.unsettled(&lines, &locks, at("08:12:59")), []);
    assert_eq!(
        lock_history.unsettled(&lines, &locks, at("08:13:00")),
        [open],
        "5 min of tries and 2 more"
    );
    let gone = lock_history.expired(&lines, &locks, at("12:00:00"));
    assert_eq!(
        gone,
        [done, done.done()],
        "neither the open one nor the newest"
    );
    locks.push(open.done());
    assert_eq!(lock_history.unsettled(&lines, &locks, at("12:00:00")), []);
    assert!(
        lock_history
            .expired(&lines, &locks, at("12:00:00"))
            .contains(&open)
    );
}

#[test]
fn dp_07_an_old_open_lock_is_settled_at_the_first_look() {
    let lines = [line("0 8 * * * o/r daily.yml", at("07:00:00"))];
    let key = LockKey::new(lines[0].content(), at("08:00:00"));
    let later = at("08:00:00") + SignedDuration::from_hours(14);
    assert_eq!(
        LockHistory::default().unsettled(&lines, &[key], later),
        [key]
    );
    let fine = [line("@10s o/r poll.yml", at("07:00:00"))];
    let key = LockKey::new(fine[0].content(), at("08:00:00"));
    assert_eq!(
        LockHistory::default().unsettled(&fine, &[key], later),
        [],
        "too fine to be marked"
    );
}

#[test]
fn dp_15_a_note_shows_times_as_requested_and_names_lines_by_number_and_expression() {
    let fired = ChainEvent::Fired {
        slot: at("20:00:00"),
        caught_up: true,
        attempts: 2,
    };
    let skipped = ChainEvent::Skipped {
        first: at("20:00:00"),
        last: at("21:00:00"),
        slots: 2,
        reason: "too_late",
    };
    let note = |line, expression: &str, said| Note {
        at: at("20:00:01"),
        of: Some(LineRef {
            line,
            expression: expression.to_owned(),
        }),
        said,
    };
    let (fired, skipped) = (note(3, "@10s", fired), note(12, "0 8 * * *", skipped));
    let beijing = Offset::from_hours(8).unwrap();
    let shown = [fired.clone(), skipped]
        .map(|note| note.text(beijing))
        .join("\n");
    insta::assert_snapshot!(shown, @"
    2026-01-06 04:00:01  fired     3  @10s  2026-01-06 04:00:00, caught up, 2 tries
    2026-01-06 04:00:01  skipped  12  0 8 * * *  2 × too_late, 2026-01-06 04:00:00 to 2026-01-06 05:00:00
    ");
    insta::assert_snapshot!(fired.json(), @r#"{"at":"2026-01-05T20:00:01Z","attempts":2,"caught_up":true,"expression":"@10s","line":3,"said":"fired","slot":"2026-01-05T20:00:00Z"}"#);
}

#[test]
fn dp_13_too_much_is_reported_at_the_start() {
    let began = |calls_an_hour| Note {
        at: at("08:00:00"),
        of: None,
        said: ChainEvent::Began {
            lines: 1,
            round: ROUND_DEFAULT,
            ends_at: at("13:00:00"),
            calls_an_hour,
        },
    };
    assert!(!began(1_000).text(Offset::UTC).contains("more than"));
    assert!(
        began(1_001)
            .text(Offset::UTC)
            .contains("more than the 1000 that GitHub grants")
    );
}
