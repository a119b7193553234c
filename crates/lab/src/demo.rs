//! The demo's upstreams: a news site, feeds, a model, GitHub, Telegram and partners with hooks, all
//! on this machine and by the demo's clock.
//!
//! They misbehave a little, always in the same way for the same seed, to show how Almanack handles
//! faults.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, time::Duration};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    article, authors,
    clock::{self, Clock},
    feeds::{
        self,
        fault::{Fault, Rule},
        fleet::Fleet,
    },
    flaky::Faults,
    github::{
        self, setup,
        state::run::{Conclusion, RunEvent},
    },
    hooks::{self, Behaviour, Outcome},
    model::{self, task::Kind},
    news::{self, site::Site},
    rule::When,
    stand::{self, Config, Error, Running, Upstream},
    telegram::{self, state::Chat},
};

/// The key that the simulated model and GitHub accept by default. It protects nothing.
pub const KEY: &str = "world-key";
/// The token that the simulated Telegram accepts by default.
pub const BOT_TOKEN: &str = "123456:almanack-world";
/// Feeds to subscribe to.
pub const FEEDS: usize = 40;
/// All feeds; some are pages that need extraction rules.
const FEEDS_DRAWN: u32 = 60;
/// Half of the catalogue: the editions of two days share no story.
const STORIES_PER_DAY: u32 = 30;
/// The repository with the workflow; editions are written to it, too.
pub const REPOSITORY: (&str, &str) = ("almanack", "site");
/// The workflow that builds the site.
pub const WORKFLOW: &str = "build.yml";
/// The channel that receives editions.
pub const CHANNEL: &str = "@daily";
/// The channel that receives alerts.
pub const ALERTS: &str = "@desk";
/// A hook that takes longer than the interval of its schedule, in real time.
pub const SLOW_HOOK: &str = "archive";
const SLOW: Duration = Duration::from_secs(9);
/// The feed that never answers, by its position among the subscribed ones.
const HANGING: usize = 17;
/// A hook that refuses half of its calls.
pub const FLAKY_HOOK: &str = "partner";
const REFUSE_PERCENT: u8 = 50;
/// How long a workflow runs, in real time.
const BUILD: Duration = Duration::from_secs(2);
/// Time between two actions of the authors, in real time.
const ACT_EVERY: Duration = Duration::from_secs(2);
/// Retries of the article service's tasks.
const MAX_RETRY: u32 = 8;
/// How the article service misbehaves.
const FAULTS: Faults = Faults {
    seed: 0,
    refuse_percent: 8,
    lose_reply_percent: 5,
    delay_percent: 50,
    delay_max: Duration::from_secs(3),
};

/// What all upstreams share.
#[derive(Clone)]
pub struct Setting {
    /// Seed of the random choices.
    pub seed: u64,
    pub clock: Clock,
    /// Stops all of it.
    pub stop: CancellationToken,
}

impl Setting {
    async fn start<S: Upstream>(&self, config: Config<S>) -> Result<Running<S>, Error> {
        let clock = self.clock.clone();
        stand::start(Config { clock, ..config }, self.stop.clone()).await
    }
}

/// A feed to subscribe to.
#[derive(Debug, Clone)]
pub struct Subscription {
    /// Its title.
    pub name: String,
    pub url: String,
    /// When it publishes, in words.
    pub category: String,
}

/// All upstreams but the article service, which must know Almanack's address.
pub struct Outside {
    /// Stories and their pages.
    pub news: news::Running,
    pub feeds: feeds::Running,
    pub model: model::Running,
    /// Runs workflows and receives editions.
    pub github: github::Running,
    /// Receives editions and alerts.
    pub telegram: telegram::Running,
    /// Partners that schedules call.
    pub hooks: hooks::Running,
}

impl Outside {
    /// Starts all of it.
    pub async fn start(setting: &Setting) -> Result<Self, Error> {
        let started = Self {
            news: start_news(setting).await?,
            feeds: start_feeds(setting).await?,
            model: start_model(setting).await?,
            github: start_github(setting).await?,
            telegram: start_telegram(setting).await?,
            hooks: start_hooks(setting).await?,
        };
        run_workflows(&started.github.handle, &setting.stop);
        Ok(started)
    }

    /// The feeds to subscribe to.
    pub fn subscriptions(&self) -> Vec<Subscription> {
        let fleet = self.feeds.handle.fleet();
        let numbers = subscribed(&self.feeds.handle);
        let feeds = numbers.into_iter().filter_map(|number| fleet.feed(number));
        feeds
            .map(|feed| Subscription {
                name: feed.title(),
                url: self.feeds.handle.feed_url(feed.number),
                category: feed.habit.rhythm.name.replace('_', " "),
            })
            .collect()
    }

    /// Injects faults that take real time; not during the warm-up, which runs too fast for them.
    pub fn inject_faults(&self) {
        let slow = Behaviour {
            wait: SLOW,
            ..Behaviour::default()
        };
        self.hooks.handle.set_behaviour(SLOW_HOOK, slow);
        let hanging = subscribed(&self.feeds.handle).into_iter().nth(HANGING);
        if let Some(number) = hanging {
            let hang = Rule::feed(number, When::Always, Fault::Hang);
            self.feeds.handle.add_fault(hang);
        }
    }

    /// Publishes an entry at every other of the first `count` feeds.
    pub fn publish_news(&self, feeds: usize) {
        let numbers = subscribed(&self.feeds.handle).into_iter();
        for number in numbers.take(feeds).step_by(2) {
            self.feeds.handle.publish(number, "The demo has started");
        }
    }

    /// Messages that readers received.
    pub fn messages(&self) -> usize {
        self.telegram.handle.sent(CHANNEL)
    }

    /// Calls that partners refused on purpose.
    pub fn refused(&self) -> u64 {
        self.hooks.handle.count(Outcome::Refused)
    }

    /// Waits until all of it has stopped.
    pub async fn stopped(self) {
        let _ = tokio::join!(
            self.news.join,
            self.feeds.join,
            self.model.join,
            self.github.join,
            self.telegram.join,
            self.hooks.join
        );
    }
}

fn here() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

async fn start_news(setting: &Setting) -> Result<news::Running, Error> {
    let mut site = Site::new(setting.seed, STORIES_PER_DAY);
    (site.quiet, site.front_page) = (false, true);
    setting.start(news::Config::new(here(), site)).await
}

/// The first feeds that feed readers understand.
fn subscribed(handle: &feeds::Handle) -> Vec<u32> {
    let understood = handle.feeds_where(|feed| feed.document.is_feed());
    understood.take(FEEDS).collect()
}

async fn start_feeds(setting: &Setting) -> Result<feeds::Running, Error> {
    let mut fleet = Fleet::new(setting.seed, FEEDS_DRAWN);
    fleet.feeds_per_host = 2;
    let started = setting.start(feeds::Config::new(fleet)).await?;
    let numbers = subscribed(&started.handle);
    for (place, when, fault) in faults() {
        if let Some(number) = numbers.get(place) {
            started.handle.add_fault(Rule::feed(*number, when, fault));
        }
    }
    Ok(started)
}

/// The faults of the first feeds, in order: one gone, one forbidden, and so on.
fn faults() -> [(usize, When, Fault); 6] {
    [
        (6, When::Always, Fault::Status(410)),
        (11, When::Always, Fault::Status(403)),
        (22, When::Always, Fault::moved(301)),
        (28, When::Always, Fault::Status(401)),
        (33, When::Always, Fault::CutMidBody),
        (37, When::Next(2), Fault::Status(500)),
    ]
}

async fn start_model(setting: &Setting) -> Result<model::Running, Error> {
    use model::fault::{Effect, Rule};
    let started = setting.start(model::Config::new(here(), KEY)).await?;
    let chatty = Rule::of(Kind::Titles, When::Every(3), Effect::Prose);
    let away = Rule::of(Kind::Summary, When::Every(19), Effect::Status(503));
    for rule in [chatty, away] {
        started.handle.add_fault(rule);
    }
    Ok(started)
}

async fn start_github(setting: &Setting) -> Result<github::Running, Error> {
    let (owner, name) = REPOSITORY;
    let workflows = vec![setup::Workflow::new(WORKFLOW)];
    let full_name = format!("{owner}/{name}");
    let mut config = github::Config::new(here());
    config.setup.repositories = vec![setup::Repository::new(owner, name, workflows)];
    config.setup.tokens = vec![setup::Token::new("demo", KEY, &[&full_name])];
    setting.start(config).await
}

/// Runs what is dispatched.
fn run_workflows(handle: &github::Handle, stop: &CancellationToken) {
    let (handle, mut events) = (handle.clone(), handle.runner());
    let running = async move {
        while let Some(event) = events.recv().await {
            let RunEvent::Queued(run) = event else {
                continue;
            };
            // A run that was cancelled meanwhile has ended as well.
            let _ = handle.begin_run(run.id);
            clock::pause(BUILD).await;
            let _ = handle.finish_run(run.id, Conclusion::Success);
        }
    };
    tokio::spawn(stop.clone().run_until_cancelled_owned(running));
}

async fn start_telegram(setting: &Setting) -> Result<telegram::Running, Error> {
    let chats = vec![
        Chat::channel(-1_001_000_000_001, CHANNEL),
        Chat::channel(-1_001_000_000_002, ALERTS),
    ];
    setting
        .start(telegram::Config::new(here(), BOT_TOKEN, chats))
        .await
}

async fn start_hooks(setting: &Setting) -> Result<hooks::Running, Error> {
    let flaky = Behaviour {
        refuse_percent: REFUSE_PERCENT,
        ..Behaviour::default()
    };
    let setup = hooks::Setup {
        seed: setting.seed,
        behaviour: BTreeMap::from([(FLAKY_HOOK.to_owned(), flaky)]),
    };
    setting.start(Config::of(here(), setup)).await
}

/// Starts the article service, which sends its changes to Almanack.
pub async fn start_service(
    setting: &Setting,
    database: PathBuf,
    almanack_url: String,
) -> Result<article::Running, article::Error> {
    let mut config = article::Config::new(database, here(), almanack_url);
    config.requests.callback_url = true;
    config.requests.max_retry = Some(MAX_RETRY);
    config.faults = Faults {
        seed: setting.seed,
        ..FAULTS
    };
    config.clock = setting.clock.clone();
    article::start(config, setting.stop.clone()).await
}

/// Starts authors who write for it, and reschedule within `habits`.
pub fn start_authors(
    setting: &Setting,
    service: &article::Running,
    habits: authors::Habits,
) -> mpsc::Receiver<authors::AuthorActivity> {
    let (events, acts) = mpsc::channel(64);
    let mut config = authors::Config::new(service.url(), setting.seed);
    config.every = ACT_EVERY;
    config.clock = setting.clock.clone();
    config.habits = habits;
    tokio::spawn(authors::run(config, events, setting.stop.clone()));
    acts
}
