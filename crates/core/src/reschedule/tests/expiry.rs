//! What a change of the time does to a task's expiry (WK-06).

use super::*;

fn asking(execute_at: Timestamp, expires: Option<Expires>) -> Request {
    match put(execute_at, None) {
        Request::Put(put) => Request::Put(Put { expires, ..put }),
        other @ Request::Cancel(_) => other,
    }
}

fn with(standing: Standing, expires: Expires) -> Task {
    let row = row(standing);
    Task {
        expiry: Expiry::of(expires, row.execute_at),
        ..row
    }
}

fn expiry_after(current: Option<&Task>, request: &Request) -> Result<Expiry, Refused> {
    let change = decide(current, request, "someone", NOW)?;
    let amended = change.amend.map(|amend| amend.expiry);
    let inserted = change.insert.map(|new| new.expiry);
    Ok(inserted.or(amended).unwrap())
}

#[test]
fn wk_06_a_change_of_the_time_keeps_an_instant_and_moves_what_is_relative() {
    let (hour, fixed) = (Expires::After(3_600), Expires::At(at(7_200)));
    for standing in [
        Standing::Init,
        Standing::FailWithTries,
        Standing::Running,
        Standing::Cancelled,
        Standing::FailSpent,
    ] {
        for (had, said, expected) in [
            (hour, None, Some(at(60 + 3_600))),
            (fixed, None, Some(at(7_200))),
            (Expires::Never, None, None),
            (hour, Some(fixed), Some(at(7_200))),
            (fixed, Some(Expires::After(10)), Some(at(70))),
            (hour, Some(Expires::Never), None),
        ] {
            let request = asking(at(60), said);
            let after = expiry_after(Some(&with(standing, had)), &request).unwrap();
            assert_eq!(after.at, expected, "{standing:?}: {had:?}, then {said:?}");
        }
    }
    let first = expiry_after(None, &asking(at(-60), Some(hour))).unwrap();
    assert_eq!(first.at, Some(at(3_600)), "a past time means now");
}

#[test]
fn wk_06_a_time_that_is_not_before_its_expiry_is_refused() {
    let refused = |execute_at, expires_at| {
        Err(Refused::Expired {
            execute_at,
            expires_at,
        })
    };
    let fixed = with(Standing::Init, Expires::At(at(7_200)));
    let kept = |seconds| expiry_after(Some(&fixed), &asking(at(seconds), None));
    assert_eq!(kept(7_199).unwrap().at, Some(at(7_200)));
    assert_eq!(kept(7_200), refused(at(7_200), at(7_200)));
    let past = asking(at(-60), Some(Expires::At(at(-1))));
    for current in [None, Some(row(Standing::Running))] {
        let answer = expiry_after(current.as_ref(), &past);
        assert_eq!(answer, refused(NOW, at(-1)), "a past time means now");
    }
    let over = with(Standing::FailSpent, Expires::At(at(-60)));
    let retried = expiry_after(Some(&over), &asking(NOW, None));
    assert_eq!(retried, refused(NOW, at(-60)), "a retry, too");
    let said = retried.unwrap_err().to_string();
    assert!(said.contains("set a later expires_at"), "{said}");
}

/// A redelivery, a stale change and a withdrawal are answered as ever, however late they come.
#[test]
fn wk_06_what_changes_nothing_is_not_refused() {
    let over = with(Standing::Init, Expires::At(at(-60)));
    for request in [
        put(at(60), Some(KNOWN)),
        put(at(60), Some(KNOWN - 1)),
        cancel(None),
    ] {
        assert!(
            decide(Some(&over), &request, "x", NOW).is_ok(),
            "{request:?}"
        );
    }
}

#[test]
fn wk_06_the_same_expiry_again_changes_nothing() {
    for (expires, rule) in [
        (Expires::After(3_600), Rule::Unchanged),
        (Expires::After(3_601), Rule::Updated),
        (Expires::At(at(7_200)), Rule::Updated),
        (Expires::Never, Rule::Updated),
    ] {
        let current = with(Standing::Init, Expires::After(3_600));
        let request = asking(current.execute_at, Some(expires));
        let change = decide(Some(&current), &request, "x", NOW).unwrap();
        assert_eq!(change.rule, rule, "{expires:?}");
    }
}
