//! What starts when, and what a spread makes of it.

use std::sync::Arc;

use super::*;
use crate::{
    plan::{Definition, Origin, Schedule, ScheduleName},
    schedule::Zone,
    target::Target,
    task::Identity,
};

const FROM: &str = "2026-01-05T08:00:00Z";

fn at(text: &str) -> Timestamp {
    format!("2026-01-05T{text}Z").parse().unwrap()
}

fn tasks(kind: &str, due: &str, address: Option<&str>, tasks: u64) -> ComingTasks {
    ComingTasks {
        kind: Kind::parse(kind).unwrap(),
        at: at(due),
        address: address.map(str::to_owned),
        tasks,
    }
}

/// A schedule with the slots it has in the two hours from [`FROM`].
fn scheduled(name: &str, definition: Definition) -> Option<Planned> {
    let name = ScheduleName::parse(name).unwrap();
    let ready = crate::plan::Ready::new(&name, definition.clone(), &Arc::new(Zone::utc())).unwrap();
    let from: Timestamp = FROM.parse().unwrap();
    let first = ready.next_firing_from(from - SignedDuration::from_hours(24 * 400))?;
    let schedule = Schedule::new(name, Origin::Api, definition.into(), Some(first), from);
    let window = Window {
        from,
        until: from + SignedDuration::from_hours(2),
        limit: 500,
    };
    planned(&schedule, ready, first, window)
}

fn hook(expression: &str) -> Definition {
    Definition::new(expression, Target::webhook("https://jobs.example/run?a=b"))
}

fn seen(coming: &Coming, planned: &[Planned], herd_min: u64) -> Radar {
    let addresses = BTreeMap::from([(
        Kind::parse("MAIL_SEND").unwrap(),
        "https://mail.example/send".to_owned(),
    )]);
    let from: Timestamp = FROM.parse().unwrap();
    let known = Known {
        from,
        until: from + SignedDuration::from_hours(2),
        coming,
        planned,
        schedules_cut: 0,
        addresses: &addresses,
    };
    read(&known, herd_min)
}

fn of(tasks: Vec<ComingTasks>) -> Coming {
    let cut = Vec::new();
    Coming { tasks, cut }
}

#[test]
fn wk_09_the_load_is_added_up_per_minute_for_each_kind_and_host() {
    let coming = of(vec![
        tasks("MAIL_SEND", "08:00:59", None, 3),
        tasks("MAIL_SEND", "08:01:00", Some("https://other.example"), 2),
        tasks("MAIL_SEND", "08:01:30", None, 4),
        tasks(
            "SOURCE_CHECK",
            "08:00:10",
            Some("https://feeds.example"),
            90,
        ),
    ]);
    let hourly = scheduled("hourly", hook("30 * * * *")).unwrap();
    let radar = seen(&coming, &[hourly], 1_000);
    let loads = |loads: &[Load]| -> Vec<_> {
        let shown = loads.iter().map(|it| {
            let peak = (it.peak.at, it.peak.count);
            (it.name.clone(), it.total, peak, it.minutes.clone())
        });
        shown.collect()
    };
    let half = vec![(30, 1), (90, 1)];
    let own = |name: &str| name.to_owned();
    assert_eq!(
        loads(&radar.kinds),
        [
            (
                own("MAIL_SEND"),
                9,
                (at("08:01:00"), 6),
                vec![(0, 3), (1, 6)]
            ),
            (own("SOURCE_CHECK"), 90, (at("08:00:00"), 90), vec![(0, 90)]),
            (own("DISPATCH"), 2, (at("08:30:00"), 1), half.clone()),
        ],
        "Almanack's own kinds come last"
    );
    assert_eq!(
        loads(&radar.hosts),
        [
            (
                own("feeds.example"),
                90,
                (at("08:00:00"), 90),
                vec![(0, 90)]
            ),
            (
                own("mail.example"),
                7,
                (at("08:01:00"), 4),
                vec![(0, 3), (1, 4)]
            ),
            (own("jobs.example"), 2, (at("08:30:00"), 1), half),
            (own("other.example"), 2, (at("08:01:00"), 2), vec![(1, 2)]),
        ]
    );
    assert_eq!((radar.herds, radar.missing), (vec![], Missing::default()));
}

#[test]
fn slots_ahead_are_those_that_fire_in_the_window() {
    let with = |change: fn(&mut Definition)| {
        let mut definition = hook("0 * * * *");
        change(&mut definition);
        definition
    };
    let ping = Definition::new("@hourly", Target::Ping { note: None });
    let rows: [(&str, Definition, Option<&[&str]>); 5] = [
        ("every hour", with(|_| {}), Some(&["08:00:00", "09:00:00"])),
        ("runs", with(|it| it.runs = Some(1)), Some(&["08:00:00"])),
        (
            "the splay of a slot before the window",
            with(|it| {
                it.expression = "45 * * * *".to_owned();
                it.splay = SignedDuration::from_secs(3_599);
            }),
            Some(&["08:00:07", "09:00:07"]),
        ),
        (
            "quiet hours",
            with(|it| it.quiet = serde_json::from_str("[\"08:30-09:30\"]").unwrap()),
            Some(&["08:00:00"]),
        ),
        ("a monitor starts nothing", ping, None),
    ];
    for (why, definition, due) in rows {
        let due = due.map(|due| due.iter().map(|due| at(due)).collect::<Vec<_>>());
        let found = scheduled("nightly", definition);
        let found = found.map(|it| it.slots.iter().map(|it| it.due_at).collect::<Vec<_>>());
        assert_eq!(found, due, "{why}");
    }
}

#[test]
fn wk_09_many_starts_in_one_second_are_a_herd_with_a_spread() {
    let named = |n: u32| scheduled(&format!("job-{n}"), hook("0 * * * *")).unwrap();
    let schedules: Vec<Planned> = (0..30).map(named).collect();
    let radar = seen(&Coming::default(), &schedules, 20);
    let [herd] = &radar.herds[..] else {
        panic!("one herd, twice: {:?}", radar.herds);
    };
    assert_eq!((herd.at, herd.count, herd.times), (at("08:00:00"), 30, 2));
    let [member] = &herd.members[..] else {
        panic!("{:?}", herd.members);
    };
    assert_eq!(
        (member.tasks, member.schedules, member.names.len()),
        (0, 30, 20)
    );
    let spread = herd.spread.unwrap();
    assert!(spread.peak <= 5, "{spread:?}");
    // What it says is what comes of it, and no shorter splay would do.
    for (splay_s, is_enough) in SPLAYS_S.map(|it| (it, it >= spread.splay_s)) {
        let spread_out: Vec<Planned> = (0..30)
            .map(|n| {
                let splay = SignedDuration::from_secs(i64::from(splay_s));
                let definition = Definition {
                    splay,
                    ..hook("0 * * * *")
                };
                scheduled(&format!("job-{n}"), definition).unwrap()
            })
            .collect();
        let after = seen(&Coming::default(), &spread_out, 2);
        let most = after.herds.iter().map(|herd| herd.count).max().unwrap_or(1);
        assert!(splay_s != spread.splay_s || most == spread.peak, "{most}");
        assert!(is_enough || most > 5, "{splay_s} s would be enough");
    }
}

#[test]
fn wk_09_the_spread_of_waiting_tasks_holds_for_their_names() {
    // Tasks, most that may start in one second: a herd of so many.
    for (count, herd_min) in [(20, 20), (200, 20), (5_000, 100), (60_000, 200)] {
        let radar = seen(
            &of(vec![tasks("MAIL_SEND", "08:30:00", None, count)]),
            &[],
            herd_min,
        );
        let spread = radar.herds[0].spread.unwrap();
        assert!(spread.peak <= herd_min / 4, "{count}: {spread:?}");
        let mut seconds: BTreeMap<i64, u64> = BTreeMap::new();
        for n in 0..count {
            let identity = Identity::parse(&format!("user:{n}"), "MAIL_SEND").unwrap();
            let offset = offset_of(&identity, spread.splay_s).as_secs();
            assert!((1..=i64::from(spread.splay_s)).contains(&offset));
            *seconds.entry(offset).or_default() += 1;
        }
        let most = seconds.values().max().unwrap();
        assert!(*most <= spread.peak, "{count}: {most} of {spread:?}");
    }
}

#[test]
fn what_cannot_be_moved_is_no_reason_for_a_spread() {
    let own = of(vec![tasks("SOURCE_CHECK", "08:30:00", None, 50)]);
    assert_eq!(seen(&own, &[], 20).herds[0].spread, None);
    // Every ten seconds: the last second before the next slot is as far as it goes.
    let named = |n: u32| scheduled(&format!("job-{n}"), hook("@10s")).unwrap();
    let often: Vec<Planned> = (0..200).map(named).collect();
    let herd = &seen(&Coming::default(), &often, 20).herds[0];
    let spread = herd.spread.unwrap();
    assert_eq!(spread.splay_s, 10, "a longer one crowds the ninth second");
    assert!(
        spread.peak >= 20,
        "and it says that a herd is left: {spread:?}"
    );
}

#[test]
fn a_spread_avoids_what_starts_around_it() {
    let herd = tasks("MAIL_SEND", "08:30:00", None, 30);
    let alone = seen(&of(vec![herd.clone()]), &[], 20).herds[0]
        .spread
        .unwrap();
    let busy = (1..=50).map(|s| tasks("OTHER", &format!("08:30:{s:02}"), None, 4));
    let beside = seen(&of(busy.chain([herd.clone()]).collect()), &[], 20);
    let beside = beside.herds[0].spread.unwrap();
    assert!(beside.peak >= alone.peak, "{beside:?} and {alone:?}");
    assert_ne!(beside, alone);
    // Another herd is dissolved for itself.
    let other = tasks("OTHER", "08:30:05", None, 500);
    let both = seen(&of(vec![herd, other]), &[], 20);
    assert_eq!(both.herds[0].spread, Some(alone));
}

#[test]
fn what_is_not_shown_is_counted() {
    let many = (0..60).map(|n| {
        let host = format!("https://h{n}.example");
        tasks(&format!("KIND_{n}"), "08:00:10", Some(&host), 1)
    });
    let mut coming = of(many.collect());
    coming.cut = vec![(Kind::parse("KIND_0").unwrap(), at("08:00:10"))];
    let radar = seen(&coming, &[], 20);
    assert_eq!((radar.kinds.len(), radar.hosts.len()), (50, 50));
    assert_eq!((radar.missing.kinds, radar.missing.hosts), (10, 10));
    assert_eq!(radar.missing.tasks[0].from, at("08:00:10"));
    assert_eq!(radar.herds[0].count, 60);
    assert_eq!(radar.herds[0].members.len(), 20);
}
