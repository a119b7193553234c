//! Follows all parts of the demo and prints what they do in few lines.
//!
//! The article service and its authors report what they do; schedules, sources and editions are
//! read from the store every half second. The story is the first occurrence of each of a dozen
//! scenes. With every event, repetitions are summarized every few seconds. During a tour, the story
//! waits.

use std::{sync::Arc, time::Duration};

use almanack_adapters::clock::{SpedClock, pause};
use almanack_core::{store::Store, time::Clock};
use almanack_lab::{
    article::activity::Activity,
    authors::{self, Editor},
    demo::Outside,
};
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;

use super::{
    editions::Editions,
    line::{Lines, Printer},
    plan::Plan,
    schedules::Schedules,
    sources::Sources,
    story::Story,
    tour::Tour,
};
use crate::{
    failure::Result,
    output::{Ink, Output},
};

/// How often the store is read, in real time.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Looks between two summaries.
const LOOKS_PER_SUM: u64 = 8;
/// Looks between two interrupted publications, and before the first.
const LOOKS_PER_SCENE: u64 = 40;
const LOOKS_BEFORE_SCENE: u64 = 6;
/// How much later an interrupted publication is rescheduled, in real seconds.
const MOVED_BY_S: u64 = 6;

/// What the article service and the authors report.
pub(super) struct Reports {
    pub(super) service: broadcast::Receiver<Activity>,
    pub(super) authors: mpsc::Receiver<authors::AuthorActivity>,
}

/// The state of everything that is followed.
pub(super) struct Show {
    store: Arc<dyn Store>,
    clock: Arc<SpedClock>,
    plan: Plan,
    editor: Editor,
    story: Story,
    schedules: Schedules,
    sources: Sources,
    editions: Editions,
    printer: Printer,
    looks: u64,
    next_scene: u64,
}

impl Show {
    /// Nothing has been seen yet.
    pub(super) fn new(
        store: Arc<dyn Store>,
        clock: Arc<SpedClock>,
        plan: Plan,
        (editor, printer): (Editor, Printer),
    ) -> Self {
        Self {
            store,
            clock,
            plan,
            editor,
            story: Story::default(),
            schedules: Schedules::default(),
            sources: Sources::default(),
            editions: Editions::default(),
            printer,
            looks: 0,
            next_scene: LOOKS_BEFORE_SCENE,
        }
    }

    /// Ignores everything up to now: it belongs to the warm-up.
    pub(super) async fn begin(&mut self) -> Result<()> {
        let mut lines = self.lines();
        self.read(&mut lines).await?;
        self.schedules.begin();
        self.sources.begin();
        Ok(())
    }

    fn lines(&self) -> Lines {
        Lines::at(self.clock.now(), self.plan.language)
    }

    /// Prints what happens until `stop`.
    pub(super) async fn follow(
        &mut self,
        mut reports: Reports,
        mut tour: Option<Tour>,
        stop: &CancellationToken,
        output: &mut Output,
    ) -> Result<()> {
        let mut waiting = Box::pin(pause(LOOK_EVERY));
        if let Some(tour) = &mut tour {
            self.printer.waits = tour.step(output)?;
        }
        loop {
            let mut lines = self.lines();
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                () = &mut waiting => {
                    lines.now = self.clock.now();
                    self.look(&mut lines).await?;
                    waiting = Box::pin(pause(LOOK_EVERY));
                }
                () = pressed(&mut tour) => if let Some(mut walked) = tour.take() {
                    self.printer.waits = walked.step(output)?;
                    tour = self.printer.waits.then_some(walked);
                },
                Some(act) = reports.authors.recv() => self.story.author(&act, &mut lines),
                activity = reports.service.recv() => match activity {
                    Ok(activity) => {
                        lines.now = self.clock.now();
                        self.story.service(&activity, &*self.store, &mut lines).await?;
                    }
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return Ok(()),
                },
            }
            self.printer.print(&lines, output)?;
        }
    }

    /// Reads the store for what has not been printed yet.
    async fn read(&mut self, lines: &mut Lines) -> Result<()> {
        let store = self.store.as_ref();
        self.schedules.look(store, lines).await?;
        self.sources.look(store, lines).await?;
        self.editions.look(store, lines).await
    }

    async fn look(&mut self, lines: &mut Lines) -> Result<()> {
        self.looks += 1;
        self.read(lines).await?;
        if self.looks.is_multiple_of(LOOKS_PER_SUM) {
            self.sources.sum_up(lines);
        }
        if self.looks % LOOKS_PER_SUM == LOOKS_PER_SUM / 2 {
            self.schedules.sum_up(lines);
        }
        if self.looks >= self.next_scene {
            let later = lines.now.saturating_add(self.plan.shown(MOVED_BY_S));
            let (at, later) = ((&*self.store, &self.editor), later.unwrap_or(lines.now));
            if self.story.interrupt(at, later, lines).await? {
                self.next_scene = self.looks + LOOKS_PER_SCENE;
            }
        }
        Ok(())
    }

    /// Prints the summary.
    pub(super) async fn end(&mut self, outside: &Outside, output: &mut Output) -> Result<()> {
        // Include what happened since the last look.
        let mut lines = self.lines();
        self.look(&mut lines).await?;
        let faults = self.story.faults + outside.refused();
        let survived = format!(
            "{faults} refused, lost or late responses of services and partners; \
             {} messages on Telegram",
            outside.messages()
        );
        let pick = |english, chinese| self.plan.language.choose(english, chinese);
        let rows = [
            ("collects", self.sources.summary()),
            ("prepares", self.editions.prepares()),
            ("publishes", self.editions.publishes()),
            ("", self.story.summary()),
            ("decides", self.story.rules()),
            ("fires", self.schedules.summary()),
            ("survives", survived),
        ];
        output.line(pick("\nSummary", "\n小结（英文）"))?;
        for (part, result) in rows {
            let part = output.paint(Ink::Faint, &format!("{part:10}"));
            output.line(&format!("  {part} {result}"))?;
        }
        output.flush()
    }
}

/// Waits for the next step of a tour, if there is one.
async fn pressed(tour: &mut Option<Tour>) {
    match tour {
        Some(tour) => tour.pressed().await,
        None => std::future::pending().await,
    }
}
