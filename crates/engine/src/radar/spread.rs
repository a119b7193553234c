//! A spread: what starts in one second starts over many.

use almanack_core::{
    duration,
    plan::{Definition, Origin},
    radar::{
        AppliedSpread, HERD_DEFAULT, HOURS_MAX, Managed, Planned, Refused, SECOND, SPLAYS_S,
        herd_at, offset_of, whole_second,
    },
    reserved::is_reserved,
    task::Identity,
};
use jiff::{SignedDuration, Timestamp};

use super::{Error, Radar, TASKS_MAX, later};
use crate::schedules::{self, Expected, Writer};

/// Longest splay of a schedule.
const SPLAY_MAX_S: u32 = 86_400;
/// Most schedules that one call changes, or names.
const SCHEDULES_CHANGED_MAX: usize = 200;
/// Most tasks that one call moves.
const TASKS_MOVED_MAX: usize = 10_000;
/// Tasks moved in one write.
const BATCH: usize = 500;

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Requested<'a> {
    /// The second to spread.
    pub at: Timestamp,
    /// Over how many seconds; `None` takes what is proposed.
    pub splay_s: Option<u32>,
    pub mode: Mode,
    /// Whom the history of schedules names.
    pub by: &'a str,
    /// Whom the history of tasks names.
    pub origin: &'a str,
}

/// Whether anything is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    DryRun,
    Apply,
}

impl Radar {
    /// Spreads what starts in one second. Called again it changes what is left, and nothing twice.
    pub async fn spread(&self, requested: Requested<'_>) -> Result<AppliedSpread, Error> {
        let (at, now) = (whole_second(requested.at), self.clock.now());
        let reach = later(now, SignedDuration::from_hours(HOURS_MAX.into()));
        if at < whole_second(now) || at > reach {
            return Err(Error::OutOfReach);
        }
        let longest = SPLAYS_S.last().copied().unwrap_or_default();
        let longest = SignedDuration::from_secs(longest.into()) + SECOND;
        let gathered = self.gather(at, later(at, longest)).await?;
        let herd = herd_at(&gathered.known(), at, HERD_DEFAULT);
        let herd = herd.ok_or(Error::NothingThere { at })?;
        let splay_s = match (requested.splay_s, herd.spread) {
            (Some(splay_s), _) if (1..=SPLAY_MAX_S).contains(&splay_s) => splay_s,
            (Some(_), _) => return Err(Error::Splay),
            (None, Some(proposed)) => proposed.splay_s,
            (None, None) => return Err(Error::NoProposal { at }),
        };
        let mut spread = AppliedSpread {
            at,
            splay_s,
            dry_run: requested.mode == Mode::DryRun,
            schedules: Vec::new(),
            managed: Vec::new(),
            refused: Vec::new(),
            schedules_left: 0,
            tasks: 0,
            tasks_refused: 0,
            tasks_left: 0,
        };
        let starting = gathered.planned.into_iter();
        let starting = starting.filter(|it| it.starts_at(at));
        self.spread_schedules(starting.collect(), &requested, &mut spread)
            .await?;
        self.spread_tasks(&requested, &mut spread).await?;
        Ok(spread)
    }

    async fn spread_schedules(
        &self,
        here: Vec<Planned>,
        requested: &Requested<'_>,
        spread: &mut AppliedSpread,
    ) -> Result<(), Error> {
        let splay = SignedDuration::from_secs(spread.splay_s.into());
        // One that has this splay already starts in this second by it.
        let others = here.into_iter();
        let others = others.filter(|it| it.ready.definition.splay != splay);
        let (own, managed): (Vec<Planned>, Vec<Planned>) =
            others.partition(|it| it.origin == Origin::Api);
        let managed = managed.into_iter().take(SCHEDULES_CHANGED_MAX);
        spread.managed = managed.map(|it| by_file(it, splay)).collect();
        spread.schedules_left = own.len().saturating_sub(SCHEDULES_CHANGED_MAX);
        for planned in own.into_iter().take(SCHEDULES_CHANGED_MAX) {
            let name = planned.name.clone();
            match self.give(planned, splay, requested).await {
                Ok(()) => spread.schedules.push(name),
                Err(schedules::Error::Store(error)) => return Err(error.into()),
                Err(error) => spread.refused.push(Refused {
                    schedule: name,
                    why: error.to_string(),
                }),
            }
        }
        Ok(())
    }

    async fn give(
        &self,
        planned: Planned,
        splay: SignedDuration,
        requested: &Requested<'_>,
    ) -> Result<(), schedules::Error> {
        let definition = Definition {
            splay,
            ..planned.ready.definition
        };
        if requested.mode == Mode::DryRun {
            self.schedules.check(&planned.name, definition)?;
            return Ok(());
        }
        let writer = Writer {
            origin: Origin::Api,
            by: requested.by,
        };
        let seen = Expected::Revision(planned.revision);
        self.schedules
            .put_expecting(&planned.name, definition, writer, seen)
            .await?;
        Ok(())
    }

    async fn spread_tasks(
        &self,
        requested: &Requested<'_>,
        spread: &mut AppliedSpread,
    ) -> Result<(), Error> {
        let (from, until) = (spread.at, later(spread.at, SECOND));
        if requested.mode == Mode::DryRun {
            spread.tasks = self.waiting(from, until).await?;
            return Ok(());
        }
        let lines = self
            .store
            .load_upcoming(from, until, TASKS_MOVED_MAX)
            .await?;
        let identities = lines.into_iter().map(|line| line.identity);
        let identities = identities.filter(|it| !is_reserved(&it.kind));
        let identities: Vec<Identity> = identities.take(TASKS_MOVED_MAX).collect();
        for batch in identities.chunks(BATCH) {
            let moved = self
                .rescheduler
                .move_waiting(batch, requested.origin, |task| {
                    let due_at = task.due_at.filter(|due| (from..until).contains(due))?;
                    Some(later(due_at, offset_of(&task.identity, spread.splay_s)))
                });
            let moved = moved.await?;
            spread.tasks += moved.moved;
            spread.tasks_refused += moved.refused;
        }
        let here = self.waiting(from, until).await?;
        spread.tasks_left = here.saturating_sub(spread.tasks_refused);
        Ok(())
    }

    /// How many tasks that may be moved are due in a time.
    async fn waiting(&self, from: Timestamp, until: Timestamp) -> Result<u64, Error> {
        let coming = self.store.load_coming(from, until, TASKS_MAX).await?;
        let movable = coming.tasks.iter().filter(|it| !is_reserved(&it.kind));
        Ok(movable.map(|it| it.tasks).sum())
    }
}

fn by_file(planned: Planned, splay: SignedDuration) -> Managed {
    let line = format!("splay = \"{}\"", duration::show(splay));
    let write = match planned.origin {
        Origin::Dispatch => format!("[[schedule]] with {line} (a line of DISPATCH has no splay)"),
        Origin::File | Origin::Api => line,
    };
    Managed {
        schedule: planned.name,
        origin: planned.origin,
        write,
    }
}
