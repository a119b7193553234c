//! The people of the demo: an article service that is no better than others, and its authors.

use std::{net::SocketAddr, time::Duration};

use almanack_lab::{article, authors, clock::Clock as WorldClock, flaky::Faults};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{folder::Folder, plan::Plan};
use crate::{commands::world, failure::Failure};

/// Authors act this often, in real time.
const EVERY: Duration = Duration::from_secs(2);
/// Authors plan so far ahead, in real seconds: soon enough to watch.
const AHEAD_S: (u64, u64) = (4, 15);
/// Retries, so that a fault is seen and survived within the demo.
const MAX_RETRY: u32 = 8;
/// The article service misbehaves now and then, in percent of calls; the wait is real time, and long enough for
/// somebody to change their mind meanwhile.
const FAULTS: Faults = Faults {
    seed: 0,
    refuse_percent: 8,
    lose_reply_percent: 5,
    delay_percent: 50,
    delay_max: Duration::from_secs(3),
};

/// Starts the article service.
pub(super) async fn start_service(
    folder: &Folder,
    almanack: SocketAddr,
    (seed, clock): (u64, WorldClock),
    stop: &CancellationToken,
) -> Result<article::Running, Failure> {
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let database = folder.path().join("articles.db");
    let mut config = article::Config::new(database, listen, format!("http://{almanack}"));
    config.wishes.callback_url = true;
    config.wishes.max_retry = Some(MAX_RETRY);
    config.faults = Faults { seed, ..FAULTS };
    config.clock = clock;
    let started = article::start(config, stop.clone()).await;
    started.map_err(|error| world::failed(&error))
}

/// Starts the authors, and tells what they do.
pub(super) fn start_authors(
    service: &article::Running,
    seed: u64,
    (plan, clock): (&Plan, WorldClock),
    stop: &CancellationToken,
) -> mpsc::Receiver<authors::Happening> {
    let (told, acts) = mpsc::channel(64);
    let ahead = |real_s| plan.shown(real_s).unsigned_abs();
    let mut config = authors::Config::new(service.url(), seed);
    config.every = EVERY;
    config.clock = clock;
    config.habits = authors::Habits {
        ahead_min: ahead(AHEAD_S.0),
        ahead_max: ahead(AHEAD_S.1),
    };
    tokio::spawn(authors::run(config, told, stop.clone()));
    acts
}
