//! A light runner: claims firings and ends them through the store, after as long as the dice say.

use std::{sync::Arc, time::Duration};

use almanack_core::{
    backoff::Backoff,
    finish::{Outcome, finish},
    store::{ClaimId, ClaimRequest, Finished, Store},
    task::ClaimedTask,
    time::LATEST,
};
use almanack_engine::dispatch;
use jiff::{SignedDuration, Timestamp};

use super::{
    super::{
        dice::Dice,
        time::{TrueClock, is_set_back, pass},
    },
    chronicle::Chronicle,
    planners::World,
    works::{self, WORK},
};

const BACKOFF: Backoff = Backoff {
    base: SignedDuration::from_secs(20),
    cap: SignedDuration::from_mins(10),
    retry_after_cap: SignedDuration::from_hours(1),
};
/// Longest wait without a look, for when all nodes are gone.
const LOOK_EVERY: Duration = Duration::from_mins(30);
/// Longer than the gap of the densest schedule; each ten seconds of it are a look.
const WORK_TAKES_MAX: Duration = Duration::from_mins(15);
/// While the machine's clock is behind nothing is started; then it is soon.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_secs(1);

/// Runs firings for as long as it is polled.
pub(super) async fn run(world: World, dice: Dice) {
    let mut hints = world.store.nudges();
    let mut claims = 0;
    loop {
        let now = world.truth.now();
        let mut next = now + SignedDuration::try_from(LOOK_EVERY).unwrap_or_default();
        // What runs nodes runs attempts: when all nodes are gone, nothing is claimed.
        if world.chronicle.pages().covered(now, now) {
            claims += 1;
            let claimed = world.store.claim(request(claims, now)).await;
            let claimed = claimed.unwrap_or_default();
            next = claimed.next_due_at.map_or(next, |at| at.min(next));
            for task in claimed.tasks {
                tokio::spawn(attempt(world.clone(), dice.fork(), task));
            }
        } else if is_set_back(now, now) {
            next = now + LOOK_AGAIN;
        }
        let wait = next.duration_since(world.truth.now());
        let wait = Duration::try_from(wait).unwrap_or_default();
        let due = pass(wait.max(Duration::from_millis(1)));
        tokio::pin!(due);
        loop {
            tokio::select! {
                biased;
                () = &mut due => break,
                hint = hints.next() => if hint < next { break },
            }
        }
        // Hints come in crowds.
        pass(Duration::from_millis(20)).await;
    }
}

fn request(claim: i64, now: Timestamp) -> ClaimRequest {
    ClaimRequest {
        claim_id: ClaimId(claim),
        session: "runner".to_owned(),
        node: "runner".to_owned(),
        now,
        lease_until: LATEST,
        slots: 100,
        limits: Vec::new(),
        kinds: Vec::new(),
        rates: Vec::new(),
        turns: Vec::new(),
    }
}

async fn attempt(world: World, dice: Dice, task: ClaimedTask) {
    let healed = world.healed.load(std::sync::atomic::Ordering::Relaxed);
    let outcome = if works::is_followed(&task) {
        works::attempt(&world, &dice, &task, healed).await
    } else {
        let (mut takes, outcome) = if healed {
            (dice.millis(10, 2_000), done())
        } else {
            injected_fault(&dice)
        };
        if task.identity.kind.as_str() == WORK {
            takes = takes.min(WORK_TAKES_MAX);
        }
        pass(takes).await;
        outcome
    };
    end(
        &world.store,
        &world.chronicle,
        world.truth,
        &task,
        &outcome,
        &dice,
    )
    .await;
}

fn done() -> Outcome {
    Outcome::Done { detail: None }
}

/// Mostly quick and well; sometimes longer than the gap to the next slot.
pub(super) fn injected_fault(dice: &Dice) -> (Duration, Outcome) {
    let takes = match dice.below(100) {
        0..85 => dice.millis(10, 20_000),
        85..97 => dice.millis(20_000, 600_000),
        97..99 => dice.millis(600_000, 2_400_000),
        _ => dice.millis(2_400_000, 9_000_000),
    };
    let error = "simulated".to_owned();
    let outcome = match dice.below(100) {
        0..92 => done(),
        92..97 => Outcome::Retry {
            error,
            retry_after: None,
        },
        _ => Outcome::GiveUp { error },
    };
    (takes, outcome)
}

async fn end(
    store: &Arc<dyn Store>,
    chronicle: &Chronicle,
    truth: TrueClock,
    task: &ClaimedTask,
    outcome: &Outcome,
    dice: &Dice,
) {
    let backoff = if works::is_followed(task) {
        dispatch::BACKOFF
    } else {
        BACKOFF
    };
    let ending = finish(task, outcome, &backoff, truth.now(), dice.below(u64::MAX));
    let waits = ending.waits;
    let finished = store.finish(vec![ending]).await.unwrap_or_default();
    if waits || finished != [Finished::Applied] {
        return;
    }
    let subject = task.identity.subject.as_str();
    if task.identity.kind.as_str() == WORK {
        for firing in works::firings_of(subject) {
            chronicle.work_ended(&firing);
        }
        // A firing that follows it ends now, whenever it is looked at.
        for firing in works::followers(store, subject).await {
            chronicle.ended(&firing);
        }
    } else {
        chronicle.ended(subject);
    }
}
