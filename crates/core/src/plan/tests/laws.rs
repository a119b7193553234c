//! What holds for every look, whatever the policies.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
struct Given {
    expression: &'static str,
    policies: String,
    next_at: Timestamp,
    asleep_s: i64,
    running: bool,
    pause: Option<(i64, Option<i64>)>,
}

fn given() -> impl Strategy<Value = Given> {
    let expression = prop::sample::select(vec![
        "@10s",
        "@7s",
        "*/5 * * * *",
        "0 8 * * 1-5",
        "30 2 * * *",
    ]);
    let catch_up = prop::sample::select(vec!["none", "latest", "all"]);
    let overlap = prop::sample::select(vec!["skip", "queue_one", "allow", "cancel_running"]);
    let policies = (
        catch_up,
        overlap,
        prop::sample::select(vec!["skip", "latest"]),
        0..4_u32,
        prop::option::of(1..7_200_i64),
        1..20_u32,
    )
        .prop_map(|(catch_up, overlap, on_resume, splay, grace, cap)| {
            let overlap = if (catch_up, overlap) == ("all", "cancel_running") {
                "allow"
            } else {
                overlap
            };
            let grace = grace.map_or(String::new(), |s| format!(r#","grace":"{s}s""#));
            format!(
                r#"{{"catch_up":"{catch_up}","overlap":"{overlap}","on_resume":"{on_resume}","splay":"{splay}s","max_catch_up":{cap}{grace}}}"#
            )
        });
    let days = prop::sample::select(vec![
        "",
        r#","except":["weekend"]"#,
        r#","only":["market"]"#,
        r#","quiet":["01:00-05:00"],"jitter":"3s""#,
        r#","also":[{"expression":"17 */3 * * *"}]"#,
    ]);
    let policies = (policies, days).prop_map(|(policies, days)| {
        let policies = policies.trim_end_matches('}');
        format!("{policies}{days}}}")
    });
    let pause = prop::option::of((0..7_200_i64, prop::option::of(0..90_000_i64)));
    (
        expression,
        policies,
        0..86_400_i64,
        0..200_000_i64,
        any::<bool>(),
        pause,
    )
        .prop_map(
            |(expression, policies, from, asleep_s, running, pause)| Given {
                expression,
                policies,
                next_at: at(CREATED) + SignedDuration::from_secs(from),
                asleep_s,
                running,
                pause,
            },
        )
}

fn slots_between(ready: &Ready, from: Timestamp, until: Timestamp) -> Vec<Timestamp> {
    std::iter::successors(ready.next_from(from), |slot| ready.next_after(*slot))
        .take_while(|slot| *slot < until)
        .collect()
}

proptest! {
    /// A plan's rows cover exactly the slots from the old cursor to the new one (DP-16), nothing is
    /// decided before it is due, and the next look always has a time.
    #[test]
    fn dp_16_a_look_decides_every_slot_once_and_in_order(given in given()) {
        let ready = calendars::ready_in(given.expression, &given.policies).unwrap();
        let next_at = ready.next_from(given.next_at).unwrap();
        let mut seen = schedule(&ready, next_at);
        let now = next_at + SignedDuration::from_secs(given.asleep_s);
        if let Some((since, until)) = given.pause {
            let after = |s| next_at + SignedDuration::from_secs(s);
            seen.state = State::Paused(Pause {
                since: after(since),
                until: until.map(after),
                note: None,
                by: "ada".to_owned(),
            });
        }
        let look = Look { schedule: &seen, ready: &ready, running: given.running.then_some("x"), monitor: None, now };
        for plan in [plan(look), settle(look)] {
            let covered: Vec<Timestamp> = plan
                .slots
                .iter()
                .flat_map(|row| {
                    let end = row.last_at + SignedDuration::from_micros(1);
                    let slots = slots_between(&ready, row.slot_at, end);
                    assert_eq!(slots.len() as u64, row.slots, "the row counts its slots");
                    slots
                })
                .collect();
            let cursor = plan.next_at.unwrap();
            prop_assert_eq!(covered, slots_between(&ready, next_at, cursor));
            for row in &plan.slots {
                let excluded = ready.exclusion(row.slot_at).is_some();
                prop_assert_eq!(row.verdict == Verdict::Skipped(Reason::Excluded), excluded);
            }
            for fire in &plan.fires {
                prop_assert_eq!(ready.exclusion(fire.slot), None);
                prop_assert!(ready.due_at(fire.slot) <= now, "never early");
                prop_assert!(fire.execute_at >= now);
            }
            let open_pause = given.pause.is_some_and(|(_, until)| until.is_none());
            prop_assert!(plan.look_at.is_some() || open_pause);
        }
        let settled = settle(look);
        let undecided = slots_between(&ready, settled.next_at.unwrap(), now).into_iter();
        let undecided = undecided.filter(|slot| ready.due_at(*slot) <= now).count();
        prop_assert!(undecided == 0 || settled.is_partial(now) || settled.resumes);
    }
}
