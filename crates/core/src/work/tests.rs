use super::*;

fn claim(kinds: &[&str]) -> WorkClaim {
    WorkClaim {
        kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
        ..WorkClaim::default()
    }
}

#[test]
fn wk_01_a_request_has_defaults_and_names_each_kind_once() {
    let wanted = claim(&["B", "A", "B"]).read().unwrap();
    assert_eq!(
        wanted,
        Wanted {
            kinds: ["A", "B"].map(|kind| Kind::parse(kind).unwrap()).to_vec(),
            max: 1,
            wait: SignedDuration::ZERO,
            lease: SignedDuration::from_secs(30),
            worker: None,
        }
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn wk_01_a_request_out_of_bounds_names_the_value() {
    let many: Vec<String> = (0..=KINDS_MAX).map(|n| format!("K{n}")).collect();
    let usual = || claim(&["A"]);
    let named = |worker: &str| WorkClaim {
        worker: Some(worker.to_owned()),
        ..usual()
    };
    for (request, path) in [
        (claim(&[]), "kinds"),
        (
            WorkClaim {
                kinds: many,
                ..WorkClaim::default()
            },
            "kinds",
        ),
        (claim(&["A", "1"]), "kinds[1]"),
        (
            WorkClaim {
                max: Some(0),
                ..usual()
            },
            "max",
        ),
        (
            WorkClaim {
                max: Some(1_001),
                ..usual()
            },
            "max",
        ),
        (
            WorkClaim {
                wait_s: Some(-1),
                ..usual()
            },
            "wait_s",
        ),
        (
            WorkClaim {
                wait_s: Some(31),
                ..usual()
            },
            "wait_s",
        ),
        (
            WorkClaim {
                lease_s: Some(4),
                ..usual()
            },
            "lease_s",
        ),
        (
            WorkClaim {
                lease_s: Some(3_601),
                ..usual()
            },
            "lease_s",
        ),
        (named(""), "worker"),
        (named("two words"), "worker"),
        (named(&"x".repeat(101)), "worker"),
    ] {
        let refused = request.read().expect_err(path);
        assert_eq!(refused.path, path, "{refused}");
    }
    for fits in [
        WorkClaim {
            max: Some(1_000),
            wait_s: Some(30),
            lease_s: Some(3_600),
            ..usual()
        },
        WorkClaim {
            lease_s: Some(5),
            ..named("mail-1")
        },
    ] {
        assert!(fits.read().is_ok(), "{fits:?}");
    }
}

fn report(outcome: WorkOutcome) -> WorkReport {
    WorkReport {
        task_id: TaskId(7),
        term: Term(1),
        outcome,
        at: None,
        retry_after_s: None,
        detail: None,
    }
}

#[test]
fn wk_01_every_report_means_one_outcome() {
    let at: Timestamp = "2026-01-05T08:00:00Z".parse().unwrap();
    let detailed = |outcome| WorkReport {
        detail: Some("250 OK".to_owned()),
        ..report(outcome)
    };
    for (report, outcome) in [
        (report(WorkOutcome::Done), Outcome::Done { detail: None }),
        (detailed(WorkOutcome::Done), Outcome::done("250 OK")),
        (
            WorkReport {
                at: Some("2026-01-05T09:00:00+01:00".to_owned()),
                ..report(WorkOutcome::Again)
            },
            Outcome::Again {
                at,
                on_record: true,
            },
        ),
        (
            report(WorkOutcome::Retry),
            Outcome::retry("the worker asked for another attempt"),
        ),
        (
            WorkReport {
                retry_after_s: Some(90),
                ..detailed(WorkOutcome::Retry)
            },
            Outcome::retry_after(SignedDuration::from_secs(90), "250 OK"),
        ),
        (
            report(WorkOutcome::GiveUp),
            Outcome::give_up("the worker gave up"),
        ),
        (detailed(WorkOutcome::GiveUp), Outcome::give_up("250 OK")),
    ] {
        assert_eq!(report.outcome(), Ok(outcome), "{report:?}");
    }
}

#[test]
fn wk_01_a_report_that_contradicts_itself_is_refused_with_its_place() {
    let at = |outcome| WorkReport {
        at: Some("2026-01-05T08:00:00Z".to_owned()),
        ..report(outcome)
    };
    let after = |outcome, seconds| WorkReport {
        retry_after_s: Some(seconds),
        ..report(outcome)
    };
    let vague = WorkReport {
        at: Some("tomorrow".to_owned()),
        ..report(WorkOutcome::Again)
    };
    for (wrong, path) in [
        (report(WorkOutcome::Again), "tasks[1].at"),
        (vague, "tasks[1].at"),
        (at(WorkOutcome::Done), "tasks[1].at"),
        (after(WorkOutcome::GiveUp, 1), "tasks[1].retry_after_s"),
        (after(WorkOutcome::Retry, -1), "tasks[1].retry_after_s"),
        (
            after(WorkOutcome::Retry, i64::MAX),
            "tasks[1].retry_after_s",
        ),
    ] {
        let first = WorkReport {
            task_id: TaskId(1),
            ..report(WorkOutcome::Done)
        };
        let tasks = vec![first, wrong];
        let refused = WorkFinish { tasks }.read().expect_err(path);
        assert_eq!(refused.path, path, "{refused}");
    }
}

#[test]
fn wk_01_tasks_are_bounded_and_named_once() {
    let held = |id| HeldTask {
        task_id: TaskId(id),
        term: Term(1),
    };
    let release = |tasks| WorkRelease { tasks }.read().map(|it| it.len());
    assert_eq!(release(vec![]).unwrap_err().path, "tasks");
    assert_eq!(
        release((0..1_001).map(held).collect()).unwrap_err().path,
        "tasks"
    );
    assert_eq!(release((0..1_000).map(held).collect()), Ok(1_000));
    let twice = vec![
        held(1),
        held(2),
        HeldTask {
            term: Term(9),
            ..held(1)
        },
    ];
    assert_eq!(release(twice).unwrap_err().path, "tasks[2].task_id");
}

#[test]
fn wk_02_exit_codes_are_outcomes() {
    for (code, outcome) in [
        (Some(0), WorkOutcome::Done),
        (Some(1), WorkOutcome::Retry),
        (Some(64), WorkOutcome::GiveUp),
        (Some(65), WorkOutcome::GiveUp),
        (Some(75), WorkOutcome::Retry),
        (Some(127), WorkOutcome::Retry),
        (Some(255), WorkOutcome::Retry),
        (None, WorkOutcome::Retry),
    ] {
        assert_eq!(outcome_of_exit(code), outcome, "{code:?}");
    }
}
