//! Simulates yesterday in a few seconds, so that the demo starts with a day of history.
//!
//! A separate node does it, with timeouts that fit its speed, and stops before the demo's node
//! starts. It answers at the demo's address, so that the day can be watched as it grows. The clock
//! runs only as fast as the node keeps up: while many tasks are due or an edition
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

use super::{configuration, door::Door, folder::Folder, plan::Plan, subscriptions};
use crate::{commands::progress::progress, failure::Result, output::Output, process, wiring::Time};

/// How much of the past to simulate.
pub(super) const PAST: SignedDuration = SignedDuration::from_hours(24);
/// Clock speeds while the node is idle and while it is busy.
const FAST: f64 = 20_000.0;
const SLOW: f64 = 600.0;
/// The node is busy with more due tasks than this.
const DUE_MAX: u64 = 8;
/// How often the load is checked, in real time.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Looks between two updates of what is shown.
const LOOKS_PER_MESSAGE: u64 = 5;
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
    pub(super) door: &'a Door,
}

impl WarmUp<'_> {
    /// Simulates yesterday until the clock reaches the demo's start; then sets the demo's speed.
    pub(super) async fn run(&self, stop: &CancellationToken, output: &mut Output) -> Result<()> {
        output.line(self.plan.language.choose(
            "Making yesterday first; watch the day grow on the dashboard (skip with --no-warm-up).",
            "先生成昨天的历史，可在控制台看着它增长（用 --no-warm-up 跳过）。",
        ))?;
        output.flush()?;
        self.clock.hold_at(Some(self.plan.starts_at));
        configuration::write(self.folder, &self.plan.yesterday(), self.outside)?;
        let guards = self.plan.at(speed(self.plan.speed));
        let listen = self.door.address.to_string();
        let (mut settings, inputs) = configuration::load(self.folder, &guards, &listen)?;
        // At this speed a slot comes while the watch reads, and looks as if it was decided early.
        settings.alerts.every = PAST + PAST;
        let time = Time::Sped {
            clock: Arc::clone(self.clock),
            speed: guards.speed,
            counted: false,
        };
        let taken = Some(self.door.listener()?);
        let process = process::start_on(taken, &settings, &inputs, &time, None).await?;
        let (store, sources) = (process.store(), process.sources());
        let done = stop.child_token();
        let node = tokio::spawn(process.run(done.clone()));
        sources.add(subscriptions(self.outside), "demo").await?;
        let bar = progress(None, output);
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
        let (mut now, mut looks) = (self.clock.now(), 0);
        while now < self.plan.starts_at && !stop.is_cancelled() {
            let work = Work::look(store, now).await?;
            if looks % LOOKS_PER_MESSAGE == 0 {
                bar.set_message(work.shown(now, self.plan));
                bar.tick();
            }
            looks += 1;
            let slow = watch.seconds() < WAIT_MAX_S && work.is_much();
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

/// What the node is doing.
struct Work {
    /// Due tasks.
    due: u64,
    /// Stories of the edition that is being made, done and all.
    stories: Option<(u32, u32)>,
}

impl Work {
    async fn look(store: &dyn Store, now: Timestamp) -> Result<Self> {
        let due = store.load_depths(now).await?.iter().map(|it| it.due).sum();
        let newest = EditionFilter {
            limit: 1,
            ..EditionFilter::default()
        };
        let editions = store.list_editions(&newest).await?;
        let open = editions.iter().find(|line| line.edition.state.is_open());
        let stories = open.map(|line| (line.counts.completed, line.counts.total));
        Ok(Self { due, stories })
    }

    /// Whether the clock must slow down for the node.
    fn is_much(&self) -> bool {
        self.stories.is_some() || self.due > DUE_MAX
    }

    fn shown(&self, now: Timestamp, plan: &Plan) -> String {
        let time = now.strftime("%H:%M");
        let doing = match self.stories {
            None => plan.language.choose(
                "schedules fire, sources are checked".to_owned(),
                "日程触发，检查信源".to_owned(),
            ),
            Some((done, all)) => plan.language.choose(
                format!("the edition is built, {done} of {all} stories done"),
                format!("正在生成日报，已完成 {done}/{all} 篇"),
            ),
        };
        let yesterday = plan.language.choose("yesterday", "昨天");
        format!("{yesterday} {time}: {doing}")
    }
}
