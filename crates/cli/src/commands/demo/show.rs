//! The show: follows everything at once and tells it in few lines.
//!
//! What happens to articles is heard from the article service; schedules, sources and editions are read from the store
//! every half second. First times are told at once, repetitions are summed up every few seconds.

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
    editions::Editions, line::Line, plan::Plan, schedules::Schedules, sources::Sources,
    story::Story,
};
use crate::{
    failure::Failure,
    output::{Ink, Output},
};

/// The store is looked at this often, in real time.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Looks from one summing-up to the next.
const LOOKS_PER_SUM: u64 = 8;
/// Looks from one interruption of a publication to the next, and before the first.
const LOOKS_PER_SCENE: u64 = 40;
const LOOKS_BEFORE_SCENE: u64 = 6;
/// So much later an interrupted publication is to appear, in real seconds.
const MOVED_BY_S: u64 = 6;

/// What people hear from.
pub(super) struct Heard {
    /// What the article service does.
    pub(super) event_delivery: broadcast::Receiver<Activity>,
    pub(super) acts: mpsc::Receiver<authors::AuthorActivity>,
}

/// Everything that is followed.
pub(super) struct Show {
    store: Arc<dyn Store>,
    clock: Arc<SpedClock>,
    plan: Plan,
    editor: Editor,
    story: Story,
    schedules: Schedules,
    sources: Sources,
    editions: Editions,
    looks: u64,
    next_scene: u64,
}

impl Show {
    /// Nothing has been seen yet.
    pub(super) fn new(
        store: Arc<dyn Store>,
        clock: Arc<SpedClock>,
        plan: Plan,
        editor: Editor,
    ) -> Self {
        Self {
            story: Story::new(Arc::clone(&store)),
            store,
            clock,
            plan,
            editor,
            schedules: Schedules::default(),
            sources: Sources::default(),
            editions: Editions::default(),
            looks: 0,
            next_scene: LOOKS_BEFORE_SCENE,
        }
    }

    /// Takes what is there for the past.
    pub(super) async fn begin(&mut self) -> Result<(), Failure> {
        let (store, now) = (self.store.as_ref(), self.clock.now());
        let mut unreported = Vec::new();
        self.schedules.look(store, now, &mut unreported).await?;
        self.sources.look(store, now, &mut unreported).await?;
        self.editions.look(store, now, &mut unreported).await?;
        self.schedules.begin();
        self.sources.begin();
        Ok(())
    }

    /// Tells what happens until `stop`.
    pub(super) async fn follow(
        &mut self,
        mut heard: Heard,
        stop: &CancellationToken,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let mut waiting = Box::pin(pause(LOOK_EVERY));
        loop {
            let mut lines = Vec::new();
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                () = &mut waiting => {
                    self.look(&mut lines).await?;
                    waiting = Box::pin(pause(LOOK_EVERY));
                }
                Some(act) = heard.acts.recv() => self.story.author(&act, &mut lines),
                activity = heard.event_delivery.recv() => match activity {
                    Ok(activity) => {
                        self.story.service(&activity, self.clock.now(), &mut lines).await?;
                    }
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return Ok(()),
                },
            }
            report(&lines, output)?;
        }
    }

    async fn look(&mut self, lines: &mut Vec<Line>) -> Result<(), Failure> {
        self.looks += 1;
        let (store, now) = (self.store.as_ref(), self.clock.now());
        self.schedules.look(store, now, lines).await?;
        self.sources.look(store, now, lines).await?;
        self.editions.look(store, now, lines).await?;
        if self.looks.is_multiple_of(LOOKS_PER_SUM) {
            self.sources.sum_up(now, lines);
        }
        if self.looks % LOOKS_PER_SUM == LOOKS_PER_SUM / 2 {
            self.schedules.sum_up(now, lines);
        }
        if self.looks >= self.next_scene {
            let later = now.saturating_add(self.plan.shown(MOVED_BY_S));
            let times = (now, later.unwrap_or(now));
            if self.story.interrupt(&self.editor, times, lines).await? {
                self.next_scene = self.looks + LOOKS_PER_SCENE;
            }
        }
        Ok(())
    }

    /// What it all came to.
    pub(super) async fn end(
        &mut self,
        outside: &Outside,
        output: &mut Output,
    ) -> Result<(), Failure> {
        // What happened since the last look counts, too.
        self.look(&mut Vec::new()).await?;
        let faults = self.story.faults + outside.refused();
        let survived = format!(
            "{faults} refused, lost or late answers of services and partners; {} messages on Telegram",
            outside.messages()
        );
        let rows = [
            ("collects", self.sources.summary()),
            ("prepares", self.editions.prepares()),
            ("publishes", self.editions.publishes()),
            ("", self.story.summary()),
            ("decides", self.story.rules()),
            ("fires", self.schedules.summary()),
            ("survives", survived),
        ];
        output.line("\nWhat it came to")?;
        for (part, came_to) in rows {
            let part = output.paint(Ink::Faint, &format!("{part:10}"));
            output.line(&format!("  {part} {came_to}"))?;
        }
        output.flush()
    }
}

fn report(lines: &[Line], output: &mut Output) -> Result<(), Failure> {
    for line in lines {
        line.report(output)?;
    }
    output.flush()
}
