//! Simulates yesterday in a few seconds, so that the demo starts with a day of history.
//!
//! A separate node does it, with timeouts that fit its speed, and stops before the demo's node
//! starts. The clock runs only as fast as the node keeps up: while many tasks are due or an edition
//! is open it slows down, so that the ledgers are realistic. It is excluded from the process's
//! metrics.

use std::{sync::Arc, time::Duration};

use almanack_adapters::clock::{SpedClock, Speed, Stopwatch, pause};
use almanack_core::{
    store::{EditionFilter, Store},
    time::Clock,
};
use almanack_lab::demo::Outside;
use indicatif::ProgressBar;
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use super::{configuration, folder::Folder, plan::Plan, subscriptions};
use crate::{commands::progress::progress, failure::Result, output::Output, process, wiring::Time};

/// How much of the past to simulate.
pub(super) const PAST: SignedDuration = SignedDuration::from_hours(24);
/// Clock speeds while the node is idle and while it is busy.
const FAST: f64 = 7_200.0;
const SLOW: f64 = 600.0;
/// The node is busy with more due tasks than this.
const DUE_MAX: u64 = 8;
/// How often the load is checked, in real time.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long to wait for a slow machine; after that, tasks of yesterday run late.
const WAIT_MAX_S: f64 = 20.0;
/// How long the node may take to stop, in real time.
const LEAVE_WITHIN: Duration = Duration::from_secs(10);

/// The initial speed.
pub(super) fn speed(usual: Speed) -> Speed {
    Speed::new(FAST).unwrap_or(usual)
}

/// What the warm-up needs.
pub(super) struct WarmUp<'a> {
    pub(super) folder: &'a Folder,
    pub(super) plan: &'a Plan,
    pub(super) clock: &'a Arc<SpedClock>,
    pub(super) outside: &'a Outside,
}

impl WarmUp<'_> {
    /// Simulates yesterday until the clock reaches the demo's start; then sets the demo's speed.
    pub(super) async fn run(&self, stop: &CancellationToken, output: &mut Output) -> Result<()> {
        output
            .line("Simulating yesterday first, for a day of history (skip with --no-warm-up).\n")?;
        output.flush()?;
        self.clock.hold_at(Some(self.plan.starts_at));
        configuration::write(self.folder, &self.plan.yesterday(), self.outside)?;
        let guards = self.plan.at(speed(self.plan.speed));
        let (settings, inputs) = configuration::load(self.folder, &guards, "127.0.0.1:0")?;
        let time = Time::Sped {
            clock: Arc::clone(self.clock),
            speed: guards.speed,
            counted: false,
        };
        let process = process::start(&settings, &inputs, &time, None).await?;
        let (store, sources) = (process.store(), process.sources());
        let done = stop.child_token();
        let node = tokio::spawn(process.run(done.clone()));
        sources.add(subscriptions(self.outside), "demo").await?;
        let bar = progress(Some(minutes(PAST)), output);
        bar.set_message("of yesterday");
        let passed = self.pass(store.as_ref(), &bar, &done).await;
        bar.finish_and_clear();
        self.clock.set_speed(self.plan.speed);
        done.cancel();
        tokio::select! {
            _ = node => {}
            () = pause(LEAVE_WITHIN) => {}
        }
        self.clock.hold_at(None);
        passed
    }

    async fn pass(
        &self,
        store: &dyn Store,
        bar: &ProgressBar,
        stop: &CancellationToken,
    ) -> Result<()> {
        let watch = Stopwatch::start();
        let mut now = self.clock.now();
        while now < self.plan.starts_at && !stop.is_cancelled() {
            let left = self.plan.starts_at.duration_since(now);
            bar.set_position(minutes(PAST).saturating_sub(minutes(left)));
            let slow = watch.seconds() < WAIT_MAX_S && is_busy(store, now).await?;
            let wanted = Speed::new(if slow { SLOW } else { FAST });
            if let Some(wanted) = wanted.filter(|it| *it != self.clock.speed()) {
                self.clock.set_speed(wanted);
            }
            pause(LOOK_EVERY).await;
            now = self.clock.now();
        }
        Ok(())
    }
}

/// Whether the clock must slow down for the node.
async fn is_busy(store: &dyn Store, now: Timestamp) -> Result<bool> {
    let due: u64 = store.load_depths(now).await?.iter().map(|it| it.due).sum();
    let newest = EditionFilter {
        limit: 1,
        ..EditionFilter::default()
    };
    let editions = store.list_editions(&newest).await?;
    let open = editions.iter().any(|line| line.edition.state.is_open());
    Ok(open || due > DUE_MAX)
}

fn minutes(span: SignedDuration) -> u64 {
    span.as_mins().unsigned_abs()
}
