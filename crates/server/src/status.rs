//! The public status page: the uptime of chosen schedules, monitors and editions, for everybody.
//!
//! There is no such page unless it is configured. What it shows is chosen by name or tag, and a
//! [`Board`] contains nothing else: no target, no error, no other name. What is not on the board is
//! unknown, whether it exists or not, so whoever asks for names learns nothing.
//!
//! Requests cannot load the database: a board is kept for a minute, all who ask meanwhile get the
//! same one, and each count reads a bounded number of rows. Days that are over are counted once an
//! hour, today and yesterday every time.

mod count;

use almanack_core::both;
use almanack_core::edition::EditionName;
use almanack_core::plan::{Schedule, ScheduleName, State as Standing};
use almanack_core::store::ScheduleFilter;
use axum::Router;
use axum::extract::{Extension, Path};
use axum::routing::get;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use tokio::sync::Mutex;

use self::count::Counted;
use crate::badge::{self, Colour};
use crate::prelude::*;

/// Days on the page.
pub(crate) const DAYS: i32 = 90;
/// Most items on the page, and most schedules of one tag.
const ITEMS_MAX: usize = 50;
/// How long a board is kept, and how long its days before yesterday are.
const KEPT_FOR: SignedDuration = SignedDuration::from_secs(60);
const WHOLE_FOR: SignedDuration = SignedDuration::from_hours(1);

/// What everybody may see.
#[derive(Debug, Clone, Default)]
pub struct StatusPage {
    /// Its heading, where that is not "Status".
    pub title: Option<String>,
    /// Schedules and monitors by name.
    pub schedules: Vec<ScheduleName>,
    /// Schedules and monitors by tag.
    pub tags: Vec<String>,
    pub editions: Vec<EditionName>,
}

/// The page as it is shown.
#[derive(Serialize)]
pub(crate) struct Board {
    pub(crate) title: Option<String>,
    pub(crate) counted_at: Timestamp,
    pub(crate) items: Vec<Item>,
}

/// One schedule, monitor or edition.
#[derive(Clone, Serialize)]
pub(crate) struct Item {
    #[serde(rename = "type")]
    pub(crate) what: What,
    pub(crate) name: String,
    pub(crate) state: Health,
    /// Rounded down, so that 100 means that nothing failed; null if nothing was counted.
    pub(crate) uptime_percent: Option<f64>,
    /// The last ninety days of UTC, oldest first.
    pub(crate) days: Vec<Day>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    Schedule,
    Monitor,
    Edition,
}

/// What the last result was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Health {
    Up,
    Down,
    Paused,
    /// Nothing was counted yet.
    Unknown,
}

/// What was counted of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Day {
    pub(crate) on: Date,
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
}

/// The newest board.
pub(crate) struct Boards {
    page: StatusPage,
    kept: Mutex<Option<Kept>>,
}

struct Kept {
    board: Arc<Board>,
    /// When all of its days were counted last.
    whole_at: Timestamp,
}

impl Boards {
    pub(crate) fn new(page: StatusPage) -> Self {
        let kept = Mutex::default();
        Self { page, kept }
    }

    /// The board, counted again if it is too old. Whoever comes meanwhile waits for the same one.
    pub(crate) async fn newest(&self, state: &AppState) -> Result<Arc<Board>> {
        let mut kept = self.kept.lock().await;
        let now = state.clock.now();
        let is_fresh = |at: Timestamp, length| {
            (SignedDuration::ZERO..length).contains(&now.duration_since(at))
        };
        if let Some(kept) = &*kept
            && is_fresh(kept.board.counted_at, KEPT_FOR)
        {
            return Ok(Arc::clone(&kept.board));
        }
        let before = kept.as_ref().filter(|it| is_fresh(it.whole_at, WHOLE_FOR));
        let whole_at = before.map_or(now, |before| before.whole_at);
        let board = self.count(state, now, before.map(|it| &*it.board)).await?;
        let board = Arc::new(board);
        *kept = Some(Kept {
            board: Arc::clone(&board),
            whole_at,
        });
        Ok(board)
    }

    async fn count(
        &self,
        state: &AppState,
        now: Timestamp,
        before: Option<&Board>,
    ) -> Result<Board> {
        let days = Days::until(now);
        let mut items = Vec::new();
        for schedule in self.schedules(state).await? {
            let known = before.and_then(|board| board.schedule(schedule.name.as_str()));
            items.push(scheduled(state, &schedule, &days, known).await?);
        }
        for name in self.page.editions.iter().take(ITEMS_MAX) {
            let counted = count::edition(state, *name, &days).await?;
            items.push(item(What::Edition, name.as_str(), &counted, &days, None));
        }
        Ok(Board {
            title: self.page.title.clone(),
            counted_at: now,
            items,
        })
    }

    /// Those chosen by name, then those chosen by tag; each once.
    async fn schedules(&self, state: &AppState) -> Result<Vec<Schedule>> {
        let named = state.store.load_schedules(&self.page.schedules).await?;
        let mut found: Vec<Schedule> = named.into_iter().flatten().collect();
        for tag in &self.page.tags {
            let filter = ScheduleFilter {
                tag: Some(tag.clone()),
                limit: ITEMS_MAX,
                ..ScheduleFilter::default()
            };
            found.extend(state.store.list_schedules(&filter).await?.rows);
        }
        let mut chosen: Vec<Schedule> = Vec::new();
        for schedule in found {
            let is_new = chosen.iter().all(|it| it.id != schedule.id);
            if is_new && !matches!(schedule.state, Standing::Removed { .. }) {
                chosen.push(schedule);
            }
        }
        chosen.truncate(ITEMS_MAX);
        Ok(chosen)
    }
}

impl Board {
    fn schedule(&self, name: &str) -> Option<&Item> {
        let of_schedule = |item: &&Item| item.what != What::Edition && item.name == name;
        self.items.iter().find(of_schedule)
    }

    fn edition(&self, name: &str) -> Option<&Item> {
        let of_edition = |item: &&Item| item.what == What::Edition && item.name == name;
        self.items.iter().find(of_edition)
    }
}

/// The days on the page.
struct Days {
    first: Date,
    yesterday: Date,
    today: Date,
}

impl Days {
    fn until(now: Timestamp) -> Self {
        let today = day_of(now);
        let before = |days: i32| today.saturating_sub(jiff::Span::new().days(days));
        Self {
            first: before(DAYS - 1),
            yesterday: before(1),
            today,
        }
    }
}

fn day_of(at: Timestamp) -> Date {
    at.to_zoned(TimeZone::UTC).date()
}

async fn scheduled(
    state: &AppState,
    schedule: &Schedule,
    days: &Days,
    known: Option<&Item>,
) -> Result<Item> {
    let from = known.map_or(days.first, |_| days.yesterday);
    let mut counted = count::schedule(state, schedule, from).await?;
    let earlier = known.iter().flat_map(|known| &known.days);
    for day in earlier.filter(|day| day.on < from) {
        counted.add(day.on, true, day.succeeded);
        counted.add(day.on, false, day.failed);
    }
    // What passed before yesterday has not been looked at this time.
    let latest = known.and_then(|known| match known.state {
        Health::Up => Some(true),
        Health::Down => Some(false),
        Health::Paused | Health::Unknown => None,
    });
    counted.latest = counted.latest.or(latest);
    let is_monitor = schedule
        .definition
        .read()
        .is_ok_and(almanack_core::plan::Definition::is_monitor);
    let what = if is_monitor {
        What::Monitor
    } else {
        What::Schedule
    };
    let rests = matches!(schedule.state, Standing::Paused(_)).then_some(Health::Paused);
    Ok(item(what, schedule.name.as_str(), &counted, days, rests))
}

fn item(what: What, name: &str, counted: &Counted, days: &Days, rests: Option<Health>) -> Item {
    let state = rests.unwrap_or(match counted.latest {
        Some(true) => Health::Up,
        Some(false) => Health::Down,
        None => Health::Unknown,
    });
    let days: Vec<Day> = days
        .first
        .series(jiff::Span::new().days(1))
        .take_while(|on| *on <= days.today)
        .map(|on| counted.day(on))
        .collect();
    Item {
        what,
        name: name.to_owned(),
        state,
        uptime_percent: uptime(&days),
        days,
    }
}

/// Hundredths of a percent are enough; more would only be noise.
#[expect(
    clippy::cast_precision_loss,
    reason = "hundredths of a percent, at most 10,000"
)]
fn uptime(days: &[Day]) -> Option<f64> {
    let succeeded: u64 = days.iter().map(|day| day.succeeded).sum();
    let failed: u64 = days.iter().map(|day| day.failed).sum();
    let hundredths = (succeeded * 10_000).checked_div(succeeded + failed)?;
    Some(hundredths as f64 / 100.0)
}

/// What programs read: the same in JSON, and badges. Without authentication; like the badges of
/// monitors, they are not part of the API.
pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/status.json", get(json))
        .route("/status/badge/{file}", get(schedule_badge))
        .route("/status/badge/edition/{file}", get(edition_badge))
}

/// How long others may keep what they got.
const MAX_AGE: [(header::HeaderName, &str); 1] = [(header::CACHE_CONTROL, "public, max-age=60")];

type Shown = Extension<Arc<Boards>>;

async fn json(State(state): App, Extension(boards): Shown) -> Answer {
    let board = boards.newest(&state).await?;
    Ok((MAX_AGE, Json(&*board)).into_response())
}

async fn schedule_badge(
    State(state): App,
    Extension(boards): Shown,
    Path(file): Path<String>,
) -> Answer {
    let board = boards.newest(&state).await?;
    drawn(&file, |name| board.schedule(name))
}

async fn edition_badge(
    State(state): App,
    Extension(boards): Shown,
    Path(file): Path<String>,
) -> Answer {
    let board = boards.newest(&state).await?;
    drawn(&file, |name| board.edition(name))
}

fn drawn<'a>(file: &str, find: impl Fn(&str) -> Option<&'a Item>) -> Answer {
    let unknown = || {
        Problem::new(
            Code::NoSuchPath,
            both!("no badge has this address", "没有徽章使用此地址"),
        )
    };
    let (name, form) = badge::parse(file).ok_or_else(unknown)?;
    let item = find(name).ok_or_else(unknown)?;
    let colour = match item.state {
        Health::Up => Colour::Good,
        Health::Down => Colour::Bad,
        Health::Paused | Health::Unknown => Colour::Idle,
    };
    let uptime = item.uptime_percent;
    let message = uptime.map_or_else(|| "no data".to_owned(), |percent| format!("{percent} %"));
    let badge = badge::answer(form, &item.name, &message, colour);
    Ok((MAX_AGE, badge).into_response())
}
