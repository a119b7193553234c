//! The radar, and the spreads that dissolve its herds.
//!
//! Reading gathers what waits and what will fire, in bounded parts, and leaves the rest to
//! `core::radar`. A spread is made of ordinary changes: schedules that the API owns get another
//! splay, by their revision, and waiting tasks are moved by the rules of any request. Each of them
//! stands for itself: a call that ends halfway has spread a part, and the same call again spreads
//! the rest. What a file owns is only named; the file would win again.

mod spread;

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    lang::{Lang, Say},
    plan::{Schedule, ScheduleName, Unfit},
    radar::{self, HOURS_MAX, Known, Planned, Window, planned, whole_minute},
    say,
    store::{self, Coming, ScheduleFilter, Store},
    task::Kind,
    time::Clock,
};
use jiff::{SignedDuration, Timestamp};

use crate::{
    reschedule::{self, Rescheduler},
    schedules::{self, Schedules},
};

pub use spread::{Mode, Requested};

/// Most waiting tasks that are counted.
const TASKS_MAX: usize = 50_000;
/// Most schedules that are computed.
const SCHEDULES_MAX: usize = 10_000;
/// Most slots of one schedule: every ten seconds for a day.
const SLOTS_MAX: usize = 9_000;
/// Most slots of all schedules.
const SLOTS_IN_ALL_MAX: usize = 200_000;
/// Schedules read at once.
const PAGE: usize = 1_000;

/// Why there is no radar, or no spread. Of a spread, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Error {
    /// Only the next hours are known.
    OutOfReach,
    /// Longer than a splay may be, or none.
    Splay,
    NothingThere {
        at: Timestamp,
    },
    NoProposal {
        at: Timestamp,
    },
    #[error(transparent)]
    Schedules(#[from] Box<schedules::Error>),
    #[error(transparent)]
    Reschedule(#[from] Box<reschedule::Error>),
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Say for Error {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::OutOfReach => say!(lang;
                "at must be in the next {HOURS_MAX} hours",
                "at 必须在今后 {HOURS_MAX} 小时之内"),
            Self::Splay => say!(lang;
                "splay_s must be from 1 to 86400",
                "splay_s 必须为 1 到 86400"),
            Self::NothingThere { at } => say!(lang; "nothing starts at {at}", "{at} 没有任何启动"),
            Self::NoProposal { at } => say!(lang;
                "no splay would spread what starts at {at}",
                "没有错峰能分散在 {at} 启动的工作"),
            Self::Schedules(it) => it.say(lang),
            Self::Reschedule(it) => it.say(lang),
            Self::Store(it) => it.to_string(),
        }
    }
}

impl From<schedules::Error> for Error {
    fn from(error: schedules::Error) -> Self {
        Self::Schedules(Box::new(error))
    }
}

impl From<reschedule::Error> for Error {
    fn from(error: reschedule::Error) -> Self {
        Self::Reschedule(Box::new(error))
    }
}

/// Shows what is coming, and spreads it.
pub struct Radar {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    schedules: Arc<Schedules>,
    rescheduler: Arc<Rescheduler>,
}

/// What was gathered of some hours.
struct Gathered {
    from: Timestamp,
    until: Timestamp,
    coming: Coming,
    planned: Vec<Planned>,
    schedules_cut: u64,
    addresses: BTreeMap<Kind, String>,
}

impl Gathered {
    fn known(&self) -> Known<'_> {
        Known {
            from: self.from,
            until: self.until,
            coming: &self.coming,
            planned: &self.planned,
            schedules_cut: self.schedules_cut,
            addresses: &self.addresses,
        }
    }
}

impl Radar {
    /// Reads `store` by `clock`; changes go through `schedules` and `rescheduler`.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        schedules: Arc<Schedules>,
        rescheduler: Arc<Rescheduler>,
    ) -> Self {
        Self {
            store,
            clock,
            schedules,
            rescheduler,
        }
    }

    /// The load of the next `hours`; at least `herd_min` starts in one second are a herd.
    pub async fn read(&self, hours: u32, herd_min: u64) -> Result<radar::Radar, Error> {
        let now = self.clock.now();
        let until = later(now, SignedDuration::from_hours(hours.min(HOURS_MAX).into()));
        let mut gathered = self.gather(now, until).await?;
        // Minutes are counted from a whole one; what was due earlier in it is overdue.
        gathered.from = whole_minute(now);
        Ok(radar::read(&gathered.known(), herd_min))
    }

    async fn gather(&self, from: Timestamp, until: Timestamp) -> Result<Gathered, Error> {
        let coming = self.store.load_coming(from, until, TASKS_MAX).await?;
        self.schedules.refresh().await?;
        let mut gathered = Gathered {
            from,
            until,
            coming,
            planned: Vec::new(),
            schedules_cut: 0,
            addresses: self.rescheduler.addresses(),
        };
        let (mut filter, mut read) = (page_after(None), 0);
        while read < SCHEDULES_MAX {
            let page = self.store.list_schedules(&filter).await?;
            read += page.rows.len();
            let mut slots: usize = gathered.planned.iter().map(|it| it.slots.len()).sum();
            for schedule in &page.rows {
                let window = Window {
                    from,
                    until,
                    limit: SLOTS_MAX.min(SLOTS_IN_ALL_MAX.saturating_sub(slots)),
                };
                let Ok(Some(planned)) = self.planned(schedule, window) else {
                    continue;
                };
                slots += planned.slots.len();
                gathered.schedules_cut += u64::from(is_cut(&planned, window));
                gathered.planned.push(planned);
            }
            filter = page_after(page.next);
            if filter.after.is_none() {
                return Ok(gathered);
            }
        }
        // How many more there are is not known without reading them.
        gathered.schedules_cut += 1;
        Ok(gathered)
    }

    /// What a schedule has ahead; nothing if it is paused for longer, parked or done.
    fn planned(&self, schedule: &Schedule, window: Window) -> Result<Option<Planned>, Unfit> {
        let Some(first) = self.schedules.next_firing(schedule) else {
            return Ok(None);
        };
        let ready = self.schedules.ready(schedule)?;
        Ok(planned(schedule, ready, first, window))
    }
}

/// Whether it has slots in the window that were not taken.
fn is_cut(planned: &Planned, window: Window) -> bool {
    let ready = &planned.ready;
    let next = match planned.slots.last() {
        _ if planned.slots.len() < window.limit => None,
        Some(last) => ready.next_firing_after(last.slot),
        None => ready.next_firing_from(window.from),
    };
    next.is_some_and(|next| ready.due_at(next) < window.until)
}

fn page_after(after: Option<ScheduleName>) -> ScheduleFilter {
    ScheduleFilter {
        after,
        limit: PAGE,
        ..ScheduleFilter::default()
    }
}

fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_add(by).unwrap_or(at)
}
