use almanack_core::store::EntryRetention;
use jiff::Timestamp;

use super::{Kept, doomed};
use almanack_core::source::entry::key_hash;

fn kept(id: i64, seen_at_us: i64, published_at_us: Option<i64>) -> Kept {
    Kept {
        id,
        key: format!("k{id}"),
        seen_at_us,
        published_at_us,
    }
}

/// Newest first: seen and published at these times.
fn three() -> [Kept; 3] {
    [
        kept(3, 30, Some(29)),
        kept(2, 20, None),
        kept(1, 10, Some(9)),
    ]
}

fn check(
    seen_before: Option<i64>,
    per_source: usize,
    shown: &[&str],
    gone: &[i64],
    until: Option<i64>,
) {
    let seen_before = seen_before.map(|us| Timestamp::from_microsecond(us).unwrap());
    let retention = EntryRetention {
        seen_before,
        per_source,
    };
    let shown: Vec<u64> = shown.iter().map(|key| key_hash(key)).collect();
    let doomed = doomed(&three(), &shown, retention);
    assert_eq!(
        (doomed.ids.as_slice(), doomed.pruned_before_us),
        (gone, until)
    );
}

#[test]
fn what_goes_and_until_when() {
    check(None, 3, &["k0"], &[], None);
    check(None, 2, &["k0"], &[1], Some(10));
    check(None, 0, &["k0"], &[3, 2, 1], Some(30));
    check(Some(20), 9, &["k0"], &[1], Some(10));
    check(Some(21), 9, &["k0"], &[2, 1], Some(10));
    check(Some(99), 0, &[], &[], None); // nothing is shown: all of it may be back tomorrow
    check(Some(21), 2, &["k1"], &[2], None); // without a time nothing is known
    check(Some(99), 0, &["k3", "k2", "k1", "k0"], &[], None);
}
