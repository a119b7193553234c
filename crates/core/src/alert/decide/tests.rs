use jiff::{civil::time, tz::TimeZone};
use proptest::prelude::*;

use super::*;
use crate::{
    alert::{About, Rule, port::Outcome},
    plan::ScheduleName,
};

/// As the store sees it: what is to be sent now.
fn is_due(alert: &Alert, now: Timestamp) -> bool {
    alert.notify_at.is_some_and(|at| at <= now) && alert.news().is_some()
}

/// The row of the node that sends now: no other does before the lease has passed.
fn leased(alert: &Alert, now: Timestamp) -> Alert {
    Alert {
        notify_at: now.saturating_add(NOTIFY_LEASE).ok(),
        ..alert.clone()
    }
}

fn key(name: &str) -> Key {
    Key {
        rule: Rule::Failing,
        about: About::Schedule(ScheduleName::parse(name).unwrap()),
    }
}

fn found(names: &[&str]) -> Findings {
    weighing(Severity::Warning, names)
}

fn weighing(severity: Severity, names: &[&str]) -> Findings {
    let finding = |name: &&str| Finding {
        key: key(name),
        severity,
        detail: "HTTP 500".to_owned().into(),
    };
    Findings {
        findings: names.iter().map(finding).collect(),
        ..Findings::default()
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_767_571_200 + second).unwrap()
}

fn answer(channel: &str, outcome: Outcome) -> Answer {
    Answer {
        channel: channel.to_owned(),
        keys: vec![key("a")],
        outcome,
    }
}

fn taken(channel: &str) -> Answer {
    answer(channel, Outcome::Taken(String::new()))
}

/// One alert over time, sent to a channel that always accepts.
struct Story {
    behaviour: Behaviour,
    severity: Severity,
    rows: Vec<Alert>,
    messages: Vec<(News, Timestamp)>,
}

impl Story {
    fn new(behaviour: Behaviour) -> Self {
        Self {
            behaviour,
            severity: Severity::Warning,
            rows: Vec::new(),
            messages: Vec::new(),
        }
    }

    fn write(&mut self, mut changed: Alert) {
        changed.version += 1;
        self.rows.retain(|row| row.key != changed.key);
        self.rows.push(changed);
    }

    /// What the store gives a round.
    fn known(&self, now: Timestamp) -> Vec<Alert> {
        let wanted = |row: &&Alert| {
            row.notify_at.is_some()
                || row
                    .closed_at
                    .is_none_or(|at| now.duration_since(at) <= self.behaviour.known_for())
        };
        self.rows.iter().filter(wanted).cloned().collect()
    }

    fn round(&mut self, names: &[&str], second: i64) {
        let now = at(second);
        let found = weighing(self.severity, names);
        for change in decide(&found, &self.known(now), &self.behaviour, now) {
            self.write(change);
        }
        let again = decide(&found, &self.known(now), &self.behaviour, now);
        assert_eq!(again, [], "decided once, it is decided");
        for row in self.rows.clone() {
            if is_due(&row, now) {
                let news = row.news().unwrap();
                self.messages.push((news, now));
                let row = leased(&row, now);
                assert!(!is_due(&row, now), "no other node sends it meanwhile");
                let row = notified(&row, news, &[taken("chat")], &self.behaviour, now);
                self.write(row);
            }
        }
    }

    fn notified(&self) -> Vec<News> {
        self.messages.iter().map(|(news, _)| *news).collect()
    }
}

#[test]
fn it_is_notified_once_when_it_begins_and_once_when_it_is_over() {
    let mut story = Story::new(Behaviour::default());
    for second in (0..600).step_by(20) {
        story.round(&["a"], second);
    }
    assert_eq!(story.notified(), [News::Opened]);
    for second in (600..1_200).step_by(20) {
        story.round(&[], second);
    }
    assert_eq!(story.notified(), [News::Opened, News::Closed]);
    assert_eq!(
        story.rows[0].closed_at,
        Some(at(600)),
        "when the cool-down began"
    );
    assert_eq!(story.messages[1].1, at(660), "believed a minute later");
}

#[test]
fn what_returns_before_it_is_believed_over_is_the_same_alert() {
    let mut story = Story::new(Behaviour::default());
    story.round(&["a"], 0);
    story.round(&[], 20);
    story.round(&["a"], 40);
    story.round(&[], 60);
    story.round(&[], 120);
    assert_eq!(
        story.notified(),
        [News::Opened],
        "its cool-down is two minutes now"
    );
    assert_eq!(story.rows[0].returns, 1);
    story.round(&[], 180);
    assert_eq!(story.notified(), [News::Opened, News::Closed]);
    story.round(&["a"], 200);
    assert_eq!(
        story.notified().len(),
        3,
        "people believe it is over, and it is not"
    );
    assert_eq!(story.rows[0].returns, 2);
}

/// What comes back after the longest cool-down is known to have been there, and has the
/// same cool-down again.
#[test]
fn a_long_cool_down_does_not_make_it_forgotten() {
    for cool_down in [
        SignedDuration::from_mins(1),
        COOL_DOWN_MAX.saturating_mul(2),
    ] {
        let mut story = Story::new(Behaviour {
            cool_down,
            ..Behaviour::default()
        });
        let longest = COOL_DOWN_MAX.max(cool_down).as_secs();
        let mut second = 0;
        for returned in 0..8 {
            story.round(&["a"], second);
            assert_eq!(story.rows[0].returns, returned, "{cool_down}");
            story.round(&[], second + 1);
            second += longest + 60;
            story.round(&[], second);
            assert!(!story.rows[0].is_open(), "{cool_down}");
            second += longest - 120;
        }
    }
}

#[test]
fn an_unsure_rule_closes_nothing() {
    let mut story = Story::new(Behaviour::default());
    story.round(&["a"], 0);
    let blind = Findings {
        unsure: [Rule::Failing].into(),
        ..Findings::default()
    };
    assert_eq!(decide(&blind, &story.rows, &story.behaviour, at(9_999)), []);
}

/// With quiet hours at night, in which only what is critical is sent.
fn nightly() -> Behaviour {
    Behaviour {
        quiet: Some(Quiet {
            from: time(22, 0, 0, 0),
            until: time(7, 0, 0, 0),
            zone: TimeZone::UTC,
            except: Some(Severity::Critical),
        }),
        ..Behaviour::default()
    }
}

#[test]
fn quiet_hours_are_summed_up_when_they_end() {
    // The story begins at midnight.
    let mut story = Story::new(nightly());
    story.round(&["a", "b"], 60);
    for second in [120, 180, 240, 300] {
        story.round(&["b"], second);
    }
    assert_eq!(story.notified(), []);
    story.round(&["b"], 7 * 3_600);
    assert_eq!(
        story.notified(),
        [News::Opened, News::Passed],
        "b lasts, a came and went"
    );
}

/// Neither that it began nor that it is over waits for the morning.
#[test]
fn what_cannot_wait_is_sent_in_quiet_hours() {
    for (severity, heard) in [
        (Severity::Warning, &[][..]),
        (Severity::Critical, &[News::Opened, News::Closed]),
    ] {
        let mut story = Story::new(nightly());
        story.severity = severity;
        story.round(&["a"], 60);
        for second in (120..1_200).step_by(60) {
            story.round(&[], second);
        }
        assert_eq!(story.notified(), heard, "{severity:?}, while it is night");
    }
}

#[test]
fn a_channel_that_fails_is_asked_again_and_the_others_are_not() {
    let behaviour = Behaviour::default();
    let mut row = decide(&found(&["a"]), &[], &behaviour, at(0)).remove(0);
    let failed = answer("mail", Outcome::Failed("no route".to_owned()));
    let gone = answer("pager", Outcome::Refused("HTTP 404".to_owned()));
    row = notified(
        &row,
        News::Opened,
        &[taken("chat"), failed.clone(), gone],
        &behaviour,
        at(1),
    );
    assert_eq!(row.taken_by, ["chat", "pager"]);
    assert_eq!((row.notify_at, row.open_notified_at), (Some(at(61)), None));
    // It is over meanwhile: who heard that it began hears that it is over.
    let row = closed(&row, at(30), &behaviour, at(60));
    assert_eq!((row.news(), row.taken_by.len()), (Some(News::Closed), 0));
    let row = notified(
        &row,
        News::Closed,
        &[failed],
        &behaviour,
        at(30) + NOTIFY_FOR,
    );
    assert_eq!(
        (row.news(), row.notify_at),
        (None, None),
        "given up after a day"
    );
}

#[test]
fn what_moved_on_while_it_was_sent_is_sent_as_it_is() {
    let behaviour = Behaviour::default();
    let open = decide(&found(&["a"]), &[], &behaviour, at(0)).remove(0);
    let over = closed(&leased(&open, at(0)), at(5), &behaviour, at(6));
    assert_eq!(over.news(), Some(News::Passed));
    let row = notified(&over, News::Opened, &[taken("chat")], &behaviour, at(7));
    assert_eq!(
        (row.news(), row.notify_at),
        (Some(News::Closed), Some(at(7)))
    );
    // It came back while people heard that it is over.
    let back = lasts(&row, &found(&["a"]).findings[0], &behaviour, at(8)).unwrap();
    assert_eq!((back.news(), back.notify_at), (None, None));
    let row = notified(&back, News::Closed, &[taken("chat")], &behaviour, at(9));
    assert_eq!(
        (row.news(), row.notify_at),
        (Some(News::Opened), Some(at(9)))
    );
}

#[test]
fn past_its_bound_nothing_more_is_opened() {
    let names: Vec<String> = (0..=ALERTS_MAX).map(|n| n.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let opened = decide(&found(&names), &[], &Behaviour::default(), at(0));
    assert_eq!(opened.len(), ALERTS_MAX);
}

proptest! {
    /// Whatever comes and goes: messages alternate, the last one is true after the cool-down, and
    /// they are few.
    #[test]
    fn people_hear_the_truth_and_not_too_often(wrong in prop::collection::vec(any::<bool>(), 1..400)) {
        let mut story = Story::new(Behaviour::default());
        let mut second = 0;
        for is_wrong in &wrong {
            story.round(if *is_wrong { &["a"] } else { &[] }, second);
            second += 20;
        }
        let ever = wrong.contains(&true);
        for _ in 0..60 {
            story.round(&[], second);
            second += 20;
        }
        let heard = story.notified();
        for (number, news) in heard.iter().enumerate() {
            let expected = if number % 2 == 0 { News::Opened } else { News::Closed };
            prop_assert_eq!(*news, expected);
        }
        prop_assert_eq!(heard.last().copied(), ever.then_some(News::Closed));
        // The cool-down doubles with every return: 1, 2, 4, 8, 15 minutes.
        let minutes = usize::try_from(second / 60).unwrap();
        prop_assert!(heard.len() <= 2 * (5 + minutes / 15));
    }
}
