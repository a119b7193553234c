//! Retention at the worst moments: while the machine's clock is set, and right after it is right
//! again (DP-24).
//!
//! Nothing in a story is as old as what is forgotten here, so the checks miss every row that it
//! takes.

use std::{sync::Arc, time::Duration};

use almanack_core::{finish::Outcome, handler::Handler, task::ClaimedTask};
use almanack_engine::{
    handlers::Handlers,
    node::Ports,
    reloadable::Reloadable,
    retention::{self, Keep, Retention},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use super::{
    super::{
        dice::Dice,
        time::{Barrier, NodeSleeper, Setting, pass},
    },
    planners::World,
};

/// Older than any story, and younger than some clocks are ahead.
const FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_hours(24 * 120);
const AFTER: SignedDuration = SignedDuration::from_secs(1);
/// How long a walk may take; it begins another one ten minutes later.
const WALK: Duration = Duration::from_mins(1);

/// Forgets for as long as it is polled.
pub(super) async fn run(world: World, dice: Dice) {
    let ports = ports(&world, &dice);
    loop {
        let setting = Setting::at(world.truth.now());
        for at in [setting.from + AFTER, setting.until + AFTER] {
            pass_until(&world, at).await;
            let ahead = Setting::ahead(world.truth.now()).as_mins();
            world
                .record
                .note("machine", format_args!("its clock is {ahead} min ahead"));
            walk(&ports).await;
        }
    }
}

async fn pass_until(world: &World, at: Timestamp) {
    let wait = at.duration_since(world.truth.now());
    pass(Duration::try_from(wait).unwrap_or_default()).await;
}

async fn walk(ports: &Ports) {
    let keep = Keep {
        tasks: Retention::After(FORGOTTEN_AFTER),
        stories: Retention::Keep,
        run_logs: Retention::Keep,
    };
    let stop = CancellationToken::new();
    tokio::select! {
        biased;
        () = retention::run(ports, keep, &stop) => {}
        () = pass(WALK) => {}
    }
}

fn ports(world: &World, dice: &Dice) -> Ports {
    let barrier = Arc::new(Barrier::new(world.truth));
    let clock = world.clock(dice);
    let sleeper = NodeSleeper {
        clock: Arc::clone(&clock),
        barrier: Arc::clone(&barrier),
    };
    Ports {
        store: world.way("retention", &barrier, dice),
        clock,
        sleeper: Arc::new(sleeper),
        entropy: Arc::new(dice.entropy()),
        handlers: Handlers::new(Arc::new(NoHandler)).into(),
        subscriptions: Reloadable::default(),
    }
}

/// Tries nothing: firings have a runner of their own here.
struct NoHandler;

#[async_trait]
impl Handler for NoHandler {
    async fn attempt(&self, _: &ClaimedTask) -> Outcome {
        Outcome::Done { detail: None }
    }
}
