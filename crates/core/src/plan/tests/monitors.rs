//! Monitors as stories: what came when, what became of each slot, and the status in between (DP-23).

use super::*;

const RUN: &str = "0b4f0e2e-2f9b-4f6c-9a51-6f3d2c1b0a99";
const OTHER: &str = "77777777-2f9b-4f6c-9a51-6f3d2c1b0a99";

struct Story {
    ready: Ready,
    schedule: Schedule,
    monitor: Monitor,
    rows: Vec<String>,
}

impl Story {
    /// Created at midnight.
    fn new(expression: &str, grace: &str) -> Self {
        let policies = format!(r#"{{"target":{{"type":"ping"}},"grace":"{grace}"}}"#);
        let ready = ready(expression, &policies);
        let first = ready.next_after(at("00:00:00")).unwrap();
        Self {
            schedule: schedule(&ready, first),
            ready,
            monitor: Monitor::default(),
            rows: Vec::new(),
        }
    }

    fn look<'a>(&'a self, clock: &str) -> Look<'a> {
        Look {
            schedule: &self.schedule,
            ready: &self.ready,
            running: None,
            monitor: Some(&self.monitor),
            now: at(clock),
        }
    }

    fn take(&mut self, plan: Plan) {
        let short = report(&plan);
        let rows = short.split(", ").filter(|part| part.contains('='));
        self.rows.extend(rows.map(str::to_owned));
        self.schedule.next_at = plan.next_at;
        self.schedule.look_at = plan.look_at;
        if let Some(write) = plan.monitor {
            self.monitor = write.monitor;
        }
    }

    /// `08:00 ping`, `08:00 start RUN`, `08:00 3` (an exit status), `08:00 look`.
    fn step(&mut self, step: &str) -> MonitorStatus {
        let mut words = step.split(' ');
        let clock = format!("{}:00", words.next().unwrap());
        let (what, rid) = (words.next().unwrap(), words.next());
        let status: Option<u8> = what.parse().ok();
        let kind = match (what, status) {
            ("look", _) => {
                let planned = plan(self.look(&clock));
                self.take(planned);
                return self.status(&clock);
            }
            ("ping", _) | (_, Some(0)) => PingKind::Success,
            ("start", _) => PingKind::Start,
            ("log", _) => PingKind::Log,
            _ => PingKind::Fail,
        };
        let arrival = Arrival {
            kind,
            exit_status: status,
            rid: rid.map(str::to_owned),
            method: "GET".to_owned(),
            body: None,
        };
        let heard = hear(self.look(&clock), &arrival);
        assert!(!heard.is_partial);
        self.take(heard.plan);
        self.status(&clock)
    }

    fn status(&self, clock: &str) -> MonitorStatus {
        self.monitor.status(&self.schedule, &self.ready, at(clock))
    }
}

/// Plays `steps`, each with the status after it, and compares the ledger.
#[track_caller]
fn check(expression: &str, grace: &str, steps: &[(&str, &str)], ledger: &[&str]) -> Story {
    let mut story = Story::new(expression, grace);
    for (step, status) in steps {
        assert_eq!(story.step(step).as_str(), *status, "after {step}");
    }
    assert_eq!(story.rows, ledger);
    story
}

#[test]
fn dp_23_by_period_the_next_ping_is_expected_a_period_after_the_last() {
    let steps = [
        ("00:10 look", "new"),
        ("09:00 look", "new"),
        ("09:30 ping", "up"),
        ("10:00 ping", "up"),
        ("10:59 look", "up"),
        ("11:05 look", "late"),
        ("11:05 ping", "up"),
        ("12:20 look", "down"),
        ("13:30 look", "down"),
        ("14:00 ping", "up"),
        ("14:59 look", "up"),
    ];
    let ledger = [
        "01:00:00..09:00:00x9=never_pinged",
        "09:30:00=pinged",
        "10:00:00=pinged",
        "11:00:00=pinged",
        "12:05:00=no_ping",
        "13:05:00=no_ping",
        "14:00:00=pinged",
    ];
    check("@every 1h", "10m", &steps, &ledger);
}

#[test]
fn dp_23_by_expression_every_slot_has_one_verdict() {
    let steps = [
        ("05:00 look", "new"),
        ("06:10 ping", "up"),
        // Early: the slot at 08:00 still wants its own.
        ("07:59 ping", "up"),
        ("08:05 look", "late"),
        ("08:19 ping", "up"),
        ("10:20 look", "down"),
        ("12:20 look", "down"),
        ("12:30 ping", "up"),
        ("14:00 ping", "up"),
    ];
    let ledger = [
        "02:00:00..04:00:00x2=never_pinged",
        "06:00:00=pinged",
        "08:00:00=pinged",
        "10:00:00=no_ping",
        "12:00:00=no_ping",
        "14:00:00=pinged",
    ];
    check("0 */2 * * *", "20m", &steps, &ledger);
}

#[test]
fn dp_23_a_ping_that_comes_when_its_grace_has_passed_is_too_late_whether_or_not_a_node_looked() {
    for looks in [&["02:20 look"][..], &[]] {
        let mut story = Story::new("0 */2 * * *", "20m");
        story.step("00:30 ping");
        for look in looks {
            story.step(look);
        }
        assert_eq!(story.step("02:20 ping").as_str(), "up");
        assert_eq!(story.rows, ["02:00:00=no_ping"], "{looks:?}");
    }
}

#[test]
fn dp_23_a_grace_longer_than_the_gap_lets_one_ping_meet_several_slots() {
    let steps = [("00:30 ping", "up"), ("03:30 ping", "up")];
    let ledger = ["01:00:00..03:00:00x3=pinged"];
    check("@hourly", "4h", &steps, &ledger);
}

#[test]
fn dp_23_a_failure_is_down_at_once_and_the_next_success_is_up() {
    let steps = [
        ("08:00 ping", "up"),
        ("09:00 fail", "down"),
        ("09:01 log", "down"),
        ("09:02 3", "down"),
        ("09:03 0", "up"),
    ];
    let ledger = [
        "01:00:00..07:00:00x7=never_pinged",
        "08:00:00=pinged",
        "09:00:00=pinged",
    ];
    let story = check("@hourly", "10m", &steps, &ledger);
    assert_eq!(story.monitor.pings, 5, "all are counted, a log too");
}

#[test]
fn dp_23_a_start_without_an_end_is_down_after_the_grace() {
    let steps = [
        ("08:00 ping", "up"),
        ("08:50 start", "started"),
        ("08:59 look", "started"),
        ("09:00 look", "down"),
        ("09:30 ping", "up"),
        // Of a job that was never heard of, too.
    ];
    check(
        "@every 1d",
        "10m",
        &steps,
        &["08:00:00=pinged", "09:30:00=pinged"],
    );
    let steps = [("08:00 start", "started"), ("08:10 look", "down")];
    let story = check("@every 1d", "10m", &steps, &[]);
    let down = story.monitor.down.unwrap();
    assert_eq!(down.cause, DownCause::Overran);
    assert_eq!(down.since, at("08:10:00"), "when the grace had passed");
}

#[test]
fn dp_23_runs_are_distinguished_by_their_id() {
    let minutes = |story: &Story| story.monitor.last_took.map(|took| took.as_mins());
    let mut story = Story::new("@every 1d", "1h");
    story.step("08:00 start");
    story.step("08:05 ping");
    assert_eq!(minutes(&story), Some(5), "a start and an end without one");
    story.step(&format!("09:00 start {RUN}"));
    let other = story.step(&format!("09:05 ping {OTHER}"));
    assert_eq!(minutes(&story), None, "another run ended");
    assert_eq!(other, MonitorStatus::Started, "the first one still runs");
    story.step(&format!("09:20 ping {RUN}"));
    assert_eq!(minutes(&story), Some(20));
    story.step(&format!("10:00 start {RUN}"));
    assert_eq!(story.step("10:10 fail"), MonitorStatus::Down);
    assert_eq!(story.monitor.started, None, "a failure ends any run");
}

#[test]
fn dp_23_a_paused_monitor_keeps_pings_and_stays_paused() {
    let mut story = Story::new("@hourly", "10m");
    story.step("00:30 ping");
    story.schedule = paused(story.schedule.clone(), "00:40:00", None);
    assert_eq!(story.step("02:00 ping"), MonitorStatus::Paused);
    assert_eq!(story.step("05:00 look"), MonitorStatus::Paused);
    assert_eq!((story.monitor.pings, story.rows.len()), (2, 0));
    let mut ended = Story {
        schedule: paused(story.schedule.clone(), "00:40:00", Some("03:00:00")),
        ready: story.ready.clone(),
        monitor: story.monitor.clone(),
        rows: Vec::new(),
    };
    let arrival = Arrival {
        kind: PingKind::Success,
        exit_status: None,
        rid: None,
        method: "GET".to_owned(),
        body: None,
    };
    let first = hear(ended.look("03:05:00"), &arrival);
    assert!(
        first.is_partial && first.plan.resumes,
        "the pause has ended"
    );
    ended.take(first.plan);
    ended.schedule.state = State::Active;
    assert_eq!(ended.step("03:05 ping"), MonitorStatus::Up);
    assert_eq!(
        ended.rows,
        ["01:00:00..02:00:00x2=paused", "03:00:00=pinged"]
    );
    let State::Paused(pause) = story.schedule.state.clone() else {
        panic!("paused");
    };
    let lifted = resume(story.look("05:30:00"), &pause);
    assert_eq!(
        report(&lifted),
        "01:00:00..05:00:00x5=paused, resumes, next 06:00:00"
    );
}

#[test]
fn dp_23_a_clock_that_is_a_moment_behind_takes_nothing_back() {
    let mut story = Story::new("@every 1h", "10m");
    story.step("08:00 ping");
    let next_at = story.schedule.next_at;
    story.step("07:59 ping");
    assert_eq!(story.schedule.next_at, next_at);
    assert_eq!(story.monitor.last_ping_at, Some(at("08:00:00")));
}

#[test]
fn dp_23_what_is_about_firings_is_refused_for_a_monitor() {
    for (key, value) in [
        ("catch_up", r#""all""#),
        ("max_catch_up", "3"),
        ("catch_up_pace", r#""3s""#),
        ("overlap", r#""allow""#),
        ("splay", r#""1m""#),
        ("on_resume", r#""latest""#),
        ("retry_for", r#""1m""#),
        ("priority", "9"),
        ("pings", r#"{"start":"https://x.example/"}"#),
    ] {
        let policies = format!(r#"{{"target":{{"type":"ping"}},"{key}":{value}}}"#);
        let definition = define("@hourly", &policies);
        let refused = Ready::new(&name(), definition, &Arc::new(Zone::utc())).unwrap_err();
        assert_eq!(refused, Unfit::NotForMonitors(key));
        assert_eq!(refused.path(), key);
    }
}

#[test]
fn dp_23_a_monitor_that_was_never_heard_of_costs_no_look() {
    let story = Story::new("@every 10s", "10s");
    let planned = plan(story.look("23:00:00"));
    assert_eq!(report(&planned), "next 00:00:10");
    assert_eq!((planned.look_at, planned.monitor), (None, None));
}
