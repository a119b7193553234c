//! Pauses and rates: what claims leave alone, and for how long.

use std::sync::Arc;

use almanack_core::{
    pace::{Bucket, Rate, Starts},
    plan::Pause,
    store::{ClaimRequest, PausedKind, StartRequest, Store},
    task::Status,
    time::Entropy as _,
};
use almanack_testkit::{
    entropy::SeededEntropy,
    fixture::{START, at, claim_request, kind, put},
};
use jiff::{SignedDuration, Timestamp};

use super::{claimed, current, plant, plant_many};

const MAIL: &str = "MAIL_SEND";
const OTHER: &str = "OTHER";

fn paused(kind_name: &str, until: Option<Timestamp>) -> PausedKind {
    PausedKind {
        kind: kind(kind_name),
        pause: Pause {
            since: START,
            until,
            note: Some("the mail server moves".to_owned()),
            by: "ada".to_owned(),
        },
    }
}

fn paced(claim: i64, now: Timestamp, rate: Rate) -> ClaimRequest {
    ClaimRequest {
        rates: vec![(kind(MAIL), rate)],
        ..claim_request(claim, now, 100)
    }
}

pub(crate) async fn wk_04_a_paused_kind_is_not_claimed_and_its_tasks_stay(store: Arc<dyn Store>) {
    plant_many(&*store, "mail", MAIL, 3, START).await;
    plant_many(&*store, "other", OTHER, 1, START).await;
    store.pause_kind(&paused(MAIL, None)).await.unwrap();
    let claim = store.claim(claim_request(1, at(1), 10)).await.unwrap();
    let kinds: Vec<&str> = claim
        .tasks
        .iter()
        .map(|task| task.identity.kind.as_str())
        .collect();
    assert_eq!(kinds, [OTHER]);
    assert_eq!(claim.next_due_at, None, "nothing to wake up for");
    let row = current(&*store, &put("mail:0", MAIL, START).identity).await;
    let row = row.expect("it stays");
    assert_eq!((row.status, row.due_at), (Status::Init, Some(START)));
    assert!(store.resume_kind(&kind(MAIL), at(2)).await.unwrap());
    assert_eq!(
        claimed(&*store, claim_request(2, at(2), 10)).await.len(),
        3,
        "all of them"
    );
}

/// What runs under an earlier claim ends as it would have.
pub(crate) async fn wk_04_a_pause_leaves_what_runs_alone(store: Arc<dyn Store>) {
    plant_many(&*store, "mail", MAIL, 1, START).await;
    let running = super::claim_one(&*store, 1, START).await;
    store.pause_kind(&paused(MAIL, None)).await.unwrap();
    let ended = super::end(&*store, &running, &super::done(), at(3)).await;
    assert_eq!(ended, almanack_core::store::Finished::Applied);
}

pub(crate) async fn wk_04_a_pause_ends_by_itself(store: Arc<dyn Store>) {
    plant_many(&*store, "mail", MAIL, 1, START).await;
    let until = at(60);
    store.pause_kind(&paused(MAIL, Some(until))).await.unwrap();
    let claim = store.claim(claim_request(1, at(1), 10)).await.unwrap();
    assert_eq!((claim.tasks.len(), claim.next_due_at), (0, Some(until)));
    let tiny = SignedDuration::from_micros(1);
    assert_eq!(
        claimed(&*store, claim_request(2, until - tiny, 10)).await,
        []
    );
    assert_eq!(
        store.load_paused_kinds(until - tiny).await.unwrap().len(),
        1
    );
    assert_eq!(store.load_paused_kinds(until).await.unwrap(), []);
    assert!(
        !store.resume_kind(&kind(MAIL), until).await.unwrap(),
        "it is over"
    );
    assert_eq!(claimed(&*store, claim_request(3, until, 10)).await.len(), 1);
}

pub(crate) async fn wk_04_a_pause_is_kept_with_every_field(store: Arc<dyn Store>) {
    let (mail, other) = (paused(MAIL, Some(at(60))), paused(OTHER, None));
    store.pause_kind(&other).await.unwrap();
    store.pause_kind(&mail).await.unwrap();
    let all = store.load_paused_kinds(at(1)).await.unwrap();
    assert_eq!(all, [mail.clone(), other.clone()], "by kind");
    let replaced = paused(MAIL, None);
    store.pause_kind(&replaced).await.unwrap();
    let all = store.load_paused_kinds(at(90)).await.unwrap();
    assert_eq!(all, [replaced, other]);
}

pub(crate) async fn wk_05_a_claim_takes_no_more_than_the_rate_allows(store: Arc<dyn Store>) {
    plant_many(&*store, "mail", MAIL, 10, START).await;
    let rate = Rate::parse("60/min").unwrap().with_burst(3);
    let first = store.claim(paced(1, at(10), rate)).await.unwrap();
    assert_eq!(first.tasks.len(), 3);
    assert_eq!(first.next_due_at, Some(at(11)), "when the next may start");
    let none = store.claim(paced(2, at(10), rate)).await.unwrap();
    assert_eq!((none.tasks.len(), none.next_due_at), (0, Some(at(11))));
    assert_eq!(claimed(&*store, paced(3, at(11), rate)).await.len(), 1);
    assert_eq!(claimed(&*store, paced(4, at(13), rate)).await.len(), 2);
    let rest = store.claim(paced(5, at(60), rate)).await.unwrap();
    assert_eq!(rest.tasks.len(), 3, "a bucket holds no more than its burst");
}

pub(crate) async fn wk_05_a_rate_bounds_its_kind_over_all_priorities(store: Arc<dyn Store>) {
    for level in [1, 5, 9] {
        let request = almanack_core::reschedule::Put {
            priority: Some(almanack_core::task::Priority::new(level).unwrap()),
            ..put(&format!("mail:{level}"), MAIL, START)
        };
        plant(&*store, request, START).await;
    }
    plant_many(&*store, "other", OTHER, 20, START).await;
    let rate = Rate::parse("1/min").unwrap();
    let taken = claimed(&*store, paced(1, at(1), rate)).await;
    let mail: Vec<&str> = taken
        .iter()
        .filter(|task| task.identity.kind.as_str() == MAIL)
        .map(|task| task.identity.subject.as_str())
        .collect();
    assert_eq!(mail, ["mail:9"], "the most urgent of them");
    assert_eq!(taken.len(), 21, "another kind is not slowed down");
}

/// Truly at once: whoever comes second sees what the first has used up.
/// What workers take keeps to the rate, and to the kinds they ask for.
pub(crate) async fn wk_05_pulled_kinds_keep_to_their_rate(store: Arc<dyn Store>) {
    plant_many(&*store, "mail", MAIL, 10, START).await;
    plant_many(&*store, "other", OTHER, 10, START).await;
    let rate = Rate::parse("60/min").unwrap().with_burst(3);
    let pulled = |claim, now| ClaimRequest {
        kinds: vec![kind(MAIL)],
        ..paced(claim, now, rate)
    };
    let first = store.claim(pulled(1, at(10))).await.unwrap();
    let kinds = first.tasks.iter().map(|task| task.identity.kind.as_str());
    assert_eq!(kinds.collect::<Vec<_>>(), [MAIL; 3]);
    assert_eq!(first.next_due_at, Some(at(11)), "when the next may start");
    assert_eq!(claimed(&*store, pulled(2, at(10))).await, []);
    assert_eq!(claimed(&*store, pulled(3, at(12))).await.len(), 2);
    // A claim of all kinds uses the same bucket.
    let all = claimed(&*store, paced(4, at(13), rate)).await;
    let mail = all.iter().filter(|it| it.identity.kind.as_str() == MAIL);
    assert_eq!((mail.count(), all.len()), (1, 11));
}

/// However many slots there are: a large claim may be taken in two parts.
pub(crate) async fn wk_05_a_large_claim_keeps_to_the_rate(store: Arc<dyn Store>) {
    plant_many(&*store, "mail", MAIL, 700, START).await;
    plant_many(&*store, "other", OTHER, 700, START).await;
    let rate = Rate::parse("60/min").unwrap().with_burst(30);
    let large = |claim, now| ClaimRequest {
        slots: 1_200,
        ..paced(claim, now, rate)
    };
    let first = claimed(&*store, large(1, at(10))).await;
    let mail = first.iter().filter(|it| it.identity.kind.as_str() == MAIL);
    assert_eq!(mail.count(), 30, "its burst");
    let second = claimed(&*store, large(2, at(15))).await;
    let mail = second.iter().filter(|it| it.identity.kind.as_str() == MAIL);
    assert_eq!(mail.count(), 5, "one a second");
}

pub(crate) async fn wk_05_claimers_at_once_stay_within_the_rate(store: Arc<dyn Store>) {
    plant_many(&*store, "mail", MAIL, 400, START).await;
    let rate = Rate::parse("60/min").unwrap().with_burst(20);
    let claimers = (0..8).map(|claimer| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let mut taken = 0;
            for second in 0..10 {
                let request = paced(claimer * 100 + second + 1, at(second), rate);
                taken += claimed(&*store, request).await.len();
            }
            taken
        })
    });
    let mut taken = 0;
    for claimer in claimers.collect::<Vec<_>>() {
        taken += claimer.await.expect("a claimer");
    }
    assert_eq!(taken, 29, "the burst, and one for each of nine seconds");
}

/// A few hundred drawn claims, held against the pure decision; clocks that go back included.
pub(crate) async fn wk_05_claims_are_paced_as_the_rules_say(store: Arc<dyn Store>) {
    plant_many(&*store, "mail", MAIL, 600, START).await;
    let entropy = SeededEntropy::new(5);
    let below = |bound: u64| entropy.next_u64() % bound;
    let (mut second, mut full_at, mut left) = (1_000, Timestamp::UNIX_EPOCH, 600);
    for number in 1..200 {
        second += i64::try_from(below(6)).unwrap();
        let burst = u32::try_from(below(4) + 1).unwrap();
        let text = ["60/min", "7/min", "2/s", "1/day"][usize::try_from(below(4)).unwrap()];
        let rate = Rate::parse(text).unwrap().with_burst(burst);
        let now = at(second - i64::from(below(9) == 0) * 30);
        let request = ClaimRequest {
            slots: usize::try_from(below(4)).unwrap(),
            ..paced(number, now, rate)
        };
        let room = usize::try_from(rate.room(full_at, now)).unwrap();
        let expected = room.min(request.slots).min(left);
        let claim = store.claim(request).await.unwrap();
        assert_eq!(claim.tasks.len(), expected, "claim {number} at {second}");
        if expected > 0 {
            full_at = rate.after(full_at, now, u32::try_from(expected).unwrap());
        }
        left -= expected;
        let next = match rate.room(full_at, now) {
            0 => rate.look_at(full_at, now),
            _ => START,
        };
        assert_eq!(claim.next_due_at, Some(next), "claim {number} at {second}");
    }
}

fn starts(bucket: &str, wanted: u32, rate: Rate) -> StartRequest {
    StartRequest {
        bucket: bucket.to_owned(),
        wanted,
        rate,
    }
}

/// A few hundred drawn asks for starts of keys, held against the pure decision.
pub(crate) async fn wk_05_keys_are_paced_as_the_rules_say(store: Arc<dyn Store>) {
    let entropy = SeededEntropy::new(6);
    let below = |bound: u64| entropy.next_u64() % bound;
    let small = |bound: u64| u32::try_from(below(bound)).unwrap();
    let names = ["MAIL_SEND 1", "MAIL_SEND 2", "OTHER "];
    let (mut second, mut expected) = (0, [Bucket::default(); 3]);
    for number in 0..200 {
        second += i64::from(small(9));
        let text = ["60/min", "7/min", "2/s", "1/day"][usize::try_from(below(4)).unwrap()];
        let rate = Rate::parse(text).unwrap().with_burst(small(4) + 1);
        let now = at(second - i64::from(small(9) == 0) * 30);
        let asks = names.map(|name| starts(name, small(6), rate));
        let pairs = asks.iter().zip(&mut expected);
        let wanted: Vec<Starts> = pairs
            .map(|(ask, bucket)| rate.settle(bucket, ask.wanted, now))
            .collect();
        let mut reversed = asks.to_vec();
        reversed.reverse();
        let mut answers = store.take_starts(&reversed, now).await.unwrap();
        answers.reverse();
        assert_eq!(answers, wanted, "ask {number} at {second}: {asks:?}");
    }
}

/// A node that died after it asked has used up its starts; nodes that ask at once share them.
pub(crate) async fn wk_05_nodes_at_once_share_the_starts_of_a_key(store: Arc<dyn Store>) {
    let rate = Rate::parse("60/min").unwrap().with_burst(10);
    let asking = (0..8).map(|node| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let mut names = ["MAIL_SEND 1", "MAIL_SEND 2"];
            names.rotate_left(node % 2);
            let asks = names.map(|name| starts(name, 4, rate));
            store.take_starts(&asks, START).await.unwrap()
        })
    });
    let mut granted = 0;
    for asked in asking.collect::<Vec<_>>() {
        let answers = asked.await.expect("a node");
        granted += answers.iter().map(|it| it.granted).sum::<u32>();
    }
    assert_eq!(granted, 20, "ten of each key");
}

pub(crate) async fn buckets_that_are_full_again_are_forgotten(store: Arc<dyn Store>) {
    let rate = Rate::parse("60/min").unwrap();
    let asks = [starts("K a", 1, rate), starts("K b", 5, rate)];
    store.take_starts(&asks, START).await.unwrap();
    assert_eq!(store.prune_buckets(START).await.unwrap(), 0);
    assert_eq!(store.prune_buckets(at(1)).await.unwrap(), 1);
    assert_eq!(store.prune_buckets(at(4)).await.unwrap(), 0, "others wait");
    assert_eq!(store.prune_buckets(at(5)).await.unwrap(), 1);
}
