//! The outside of the demo: a news site, feeds, a model, GitHub, Telegram and partners with hooks, all on this machine
//! and all by the demo's clock.
//!
//! They misbehave a little, always in the same way for the same seed: what Almanack is good for is best seen then.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use almanack_adapters::clock::pause;
use almanack_core::source::{Definition, reading::Reading};
use almanack_lab::{
    clock::Clock,
    feeds::{
        self,
        fault::{Fault, Rule},
        fleet::Fleet,
    },
    github::{
        self, setup,
        state::run::{Conclusion, RunEvent},
    },
    hooks::{self, Behaviour, Outcome},
    model::{self, fault as model_fault, task::Kind},
    news::{self, page, site::Site},
    rule::When,
    telegram::{self, fault as telegram_fault, state::Chat},
};
use tokio_util::sync::CancellationToken;

use super::plan::Plan;
use crate::{
    args::{WORLD_BOT_TOKEN, WORLD_KEY},
    commands::world::told,
    failure::Failure,
};

/// Feeds to subscribe to.
pub(super) const FEEDS: usize = 40;
/// Feeds there are; some are pages that need rules of their own.
const FEEDS_DRAWN: u32 = 60;
const STORIES_PER_DAY: u32 = 150;
/// The repository with the workflow, which editions are written to, too.
pub(super) const REPOSITORY: (&str, &str) = ("almanack", "site");
/// What builds the site.
pub(super) const WORKFLOW: &str = "build.yml";
/// The channel that gets editions.
pub(super) const CHANNEL: &str = "@daily";
/// Who hears of alerts.
pub(super) const ALERTS: &str = "@desk";
/// A hook that takes longer than the interval of its schedule, in real time.
pub(super) const SLOW_HOOK: &str = "archive";
const SLOW: Duration = Duration::from_secs(9);
/// The feed that never answers, by its place among the subscribed ones.
const HANGING: usize = 17;
/// A hook that refuses half of its calls.
pub(super) const FLAKY_HOOK: &str = "partner";
const REFUSE_PERCENT: u8 = 50;
/// Telegram refuses every so many-th message and wants to be left alone for so many real seconds.
const LIMITED_EVERY: u32 = 4;
const LIMITED_S: u64 = 2;
const LIMITED_FROM: f64 = 10.0;
/// How long a workflow runs, in real time.
const BUILD: Duration = Duration::from_secs(2);

/// Everything that is not Almanack, but for the article service, which must know where Almanack is.
pub(super) struct Outside {
    pub(super) news: news::Running,
    pub(super) feeds: feeds::Running,
    pub(super) model: model::Running,
    pub(super) github: github::Running,
    pub(super) telegram: telegram::Running,
    pub(super) hooks: hooks::Running,
}

impl Outside {
    /// Starts all of it.
    pub(super) async fn start(
        seed: u64,
        plan: &Plan,
        clock: &Clock,
        stop: &CancellationToken,
    ) -> Result<Self, Failure> {
        let started = Self {
            news: start_news(seed, clock, stop).await?,
            feeds: start_feeds(seed, clock, stop).await?,
            model: start_model(clock, stop).await?,
            github: start_github(clock, stop).await?,
            telegram: start_telegram(plan, clock, stop).await?,
            hooks: start_hooks(seed, stop).await?,
        };
        run_workflows(&started.github.handle, stop);
        Ok(started)
    }

    /// The feeds as sources.
    pub(super) fn subscriptions(&self) -> Vec<Definition> {
        let fleet = self.feeds.handle.fleet();
        let numbers = subscribed(&self.feeds.handle);
        let feeds = numbers.into_iter().filter_map(|number| fleet.feed(number));
        feeds
            .map(|feed| Definition {
                name: feed.title(),
                address: self.feeds.handle.feed_url(feed.number),
                reading: Reading::Feed,
                category: feed.habit.rhythm.name().replace('_', " "),
                policy: None,
                cadence: None,
            })
            .collect()
    }

    /// Makes trouble that takes real time, which nobody has while yesterday is run through.
    pub(super) fn make_trouble(&self) {
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

    /// Something new at every other of the first so many feeds.
    pub(super) fn publish_news(&self, feeds: usize) {
        let numbers = subscribed(&self.feeds.handle).into_iter();
        for number in numbers.take(feeds).step_by(2) {
            self.feeds.handle.publish(number, "The demo has begun");
        }
    }

    /// Messages that readers got.
    pub(super) fn messages(&self) -> usize {
        self.telegram.handle.sent(CHANNEL)
    }

    /// Calls that partners refused on purpose.
    pub(super) fn refused(&self) -> u64 {
        self.hooks.handle.count(Outcome::Refused)
    }

    /// Waits until all of it has stopped.
    pub(super) async fn stopped(self) {
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

async fn start_news(
    seed: u64,
    clock: &Clock,
    stop: &CancellationToken,
) -> Result<news::Running, Failure> {
    let mut site = Site::new(seed, STORIES_PER_DAY);
    site.shares = page::Shares::usual();
    let mut config = news::Config::new(here(), site);
    config.clock = clock.clone();
    let started = news::start(config, stop.clone()).await;
    started.map_err(|error| told("news", &error))
}

/// The first so many that feed readers understand.
fn subscribed(handle: &feeds::Handle) -> Vec<u32> {
    let understood = handle.feeds_where(|feed| feed.document.is_feed());
    understood.take(FEEDS).collect()
}

async fn start_feeds(
    seed: u64,
    clock: &Clock,
    stop: &CancellationToken,
) -> Result<feeds::Running, Failure> {
    let mut fleet = Fleet::new(seed, FEEDS_DRAWN);
    fleet.feeds_per_host = 2;
    let config = feeds::Config {
        clock: clock.clone(),
        ..feeds::Config::new(fleet)
    };
    let started = feeds::start(config, stop.clone()).await;
    let started = started.map_err(|error| told("feeds", &error))?;
    let numbers = subscribed(&started.handle);
    for (place, when, fault) in faults() {
        if let Some(number) = numbers.get(place) {
            started.handle.add_fault(Rule::feed(*number, when, fault));
        }
    }
    Ok(started)
}

/// What is wrong with which feed, by their order: one that is gone, one that is forbidden, and so on.
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

async fn start_model(clock: &Clock, stop: &CancellationToken) -> Result<model::Running, Failure> {
    let mut config = model::Config::new(here(), WORLD_KEY);
    config.clock = clock.clone();
    let started = model::start(config, stop.clone()).await;
    let started = started.map_err(|error| told("model", &error))?;
    let chatty = (Kind::Titles, When::Every(3), model_fault::Effect::Prose);
    let away = (
        Kind::Summary,
        When::Every(19),
        model_fault::Effect::Status(503),
    );
    for (kind, when, effect) in [chatty, away] {
        let rule = model_fault::Rule::of(kind, when, effect);
        started.handle.add_fault(rule);
    }
    Ok(started)
}

async fn start_github(clock: &Clock, stop: &CancellationToken) -> Result<github::Running, Failure> {
    let (owner, name) = REPOSITORY;
    let workflows = vec![setup::Workflow::new(WORKFLOW)];
    let full_name = format!("{owner}/{name}");
    let mut config = github::Config::new(here());
    config.clock = clock.clone();
    config.setup.repositories = vec![setup::Repository::new(owner, name, workflows)];
    config.setup.tokens = vec![setup::Token::new("demo", WORLD_KEY, &[&full_name])];
    let started = github::start(config, stop.clone()).await;
    started.map_err(|error| told("GitHub", &error))
}

/// Somebody has to run what is dispatched.
fn run_workflows(handle: &github::Handle, stop: &CancellationToken) {
    let (handle, mut events) = (handle.clone(), handle.runner());
    let running = async move {
        while let Some(event) = events.recv().await {
            let RunEvent::Queued(run) = event else {
                continue;
            };
            // A run that somebody cancelled meanwhile has ended as well.
            let _ = handle.begin_run(run.id);
            pause(BUILD).await;
            let _ = handle.finish_run(run.id, Conclusion::Success);
        }
    };
    tokio::spawn(stop.clone().run_until_cancelled_owned(running));
}

async fn start_telegram(
    plan: &Plan,
    clock: &Clock,
    stop: &CancellationToken,
) -> Result<telegram::Running, Failure> {
    let chats = vec![
        Chat::channel(-1_001_000_000_001, CHANNEL.trim_start_matches('@')),
        Chat::channel(-1_001_000_000_002, ALERTS.trim_start_matches('@')),
    ];
    let mut config = telegram::Config::new(here(), WORLD_BOT_TOKEN, chats);
    config.clock = clock.clone();
    let started = telegram::start(config, stop.clone()).await;
    let started = started.map_err(|error| told("Telegram", &error))?;
    // Who is refused once waits for half a minute by the clock; that must not be half of what people see.
    if plan.speed.times() < LIMITED_FROM {
        return Ok(started);
    }
    let retry_after_s = plan.shown(LIMITED_S).as_secs();
    let retry_after_s = u32::try_from(retry_after_s).unwrap_or(u32::MAX);
    started.handle.add_fault(telegram_fault::Rule {
        matching: telegram_fault::Matching::default(),
        when: When::Every(LIMITED_EVERY),
        effect: telegram_fault::Effect::Limited { retry_after_s },
    });
    Ok(started)
}

async fn start_hooks(seed: u64, stop: &CancellationToken) -> Result<hooks::Running, Failure> {
    let flaky = Behaviour {
        refuse_percent: REFUSE_PERCENT,
        ..Behaviour::default()
    };
    let mut config = hooks::Config::new(here());
    config.seed = seed;
    config.behaviour = BTreeMap::from([(FLAKY_HOOK.to_owned(), flaky)]);
    let started = hooks::start(config, stop.clone()).await;
    started.map_err(|error| told("hooks", &error))
}
