//! `almanack demo`: everything at work on this machine alone, told as it happens.
//!
//! A real node on a SQLite file in a temporary folder, the article service on another, and authors
//! who write, move and withdraw. Nothing here is special to the demo but the telling: the node is
//! started as `serve` starts it, the service as `world article-service` does.

mod story;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use almanack_adapters::clock::pause;
use almanack_world::{article, authors, flaky::Faults};
use jiff::SignedDuration;
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;

use crate::{
    args::DemoArguments,
    commands::{checked, runtime, world},
    config::{self, Inputs, Need},
    failure::{Exit, Failure},
    output::Output,
    process::{self, Process},
    wiring,
};
use story::Story;

/// Authors act this often.
const EVERY: Duration = Duration::from_millis(1_200);
/// Authors plan so far ahead: soon enough to watch.
const HABITS: authors::Habits = authors::Habits {
    ahead_min: Duration::from_secs(3),
    ahead_max: Duration::from_secs(15),
};
/// Retries, so that a fault is seen and survived within the demo.
const MAX_RETRY: u32 = 8;
/// The article service misbehaves now and then, in percent of calls.
const REFUSE_PERCENT: u8 = 8;
const LOSE_REPLY_PERCENT: u8 = 5;
/// Waits between retries stay short enough to watch.
const CONFIGURATION: &str = "\
# Written by `almanack demo`; `almanack serve --config FILE` runs the same node without the show.
[outbound]
allow = [\"127.0.0.1\"]        # the article service tells with every task where to call, and it runs on this machine

[retry]
base = \"1s\"
cap = \"4s\"

[log]
level = \"error\"
";

/// Shows it until Ctrl-C, or for as long as asked.
pub(super) fn run(arguments: &DemoArguments, output: &mut Output) -> Result<Exit, Failure> {
    let period = arguments.period.as_deref().map(parse_period).transpose()?;
    let folder = Folder::create(arguments.keep.as_deref())?;
    runtime()?.block_on(show(arguments, period, &folder, output))
}

async fn show(
    arguments: &DemoArguments,
    period: Option<Duration>,
    folder: &Folder,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let stop = process::stop_signal()?;
    let process = start_node(arguments, folder).await?;
    let address = process.address;
    let store = process.store.clone();
    let node = tokio::spawn(process.run(stop.clone()));
    let service = start_service(folder, address, arguments.seed, &stop).await?;
    let happenings = service.watch();
    let (told, acts) = mpsc::channel(64);
    let mut config = authors::Config::new(service.url(), arguments.seed);
    (config.every, config.habits) = (EVERY, HABITS);
    let writing = tokio::spawn(authors::run(config, told, stop.clone()));
    let mut tale = Story::begin(store, address, &service.url(), folder.path(), output)?;
    if let Some(period) = period {
        let stop = stop.clone();
        tokio::spawn(async move {
            pause(period).await;
            stop.cancel();
        });
    }
    follow(&mut tale, happenings, acts, &stop, output).await?;
    let _ = tokio::join!(writing, service.join);
    node.await
        .map_err(|error| Failure::new(Exit::Failed, error.to_string()))??;
    tale.end(output)?;
    Ok(Exit::Ok)
}

async fn start_node(arguments: &DemoArguments, folder: &Folder) -> Result<Process, Failure> {
    let file = folder.path().join("almanack.toml");
    std::fs::write(&file, CONFIGURATION).map_err(|error| folder.failed(&error))?;
    let database = format!("sqlite:{}", folder.path().join("almanack.db").display());
    let flag = |key: &str, value: &str| ("demo".to_owned(), key.to_owned(), value.to_owned());
    let inputs = Inputs {
        environment: BTreeMap::new(),
        file: Some(file),
        flags: vec![
            flag("database.url", &database),
            flag("server.listen", &arguments.listen),
        ],
    };
    let settings = checked(config::load(&inputs, Need::Everything))?;
    process::start(&settings, &inputs, &wiring::Time::Machine).await
}

async fn start_service(
    folder: &Folder,
    almanack: std::net::SocketAddr,
    seed: u64,
    stop: &CancellationToken,
) -> Result<article::Running, Failure> {
    let listen = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let database = folder.path().join("articles.db");
    let mut config = article::Config::new(database, listen, format!("http://{almanack}"));
    config.wishes.callback_url = true;
    config.wishes.max_retry = Some(MAX_RETRY);
    config.faults = Faults {
        seed,
        refuse_percent: REFUSE_PERCENT,
        lose_reply_percent: LOSE_REPLY_PERCENT,
        ..Faults::default()
    };
    article::start(config, stop.clone())
        .await
        .map_err(|error| world::failed(&error))
}

async fn follow(
    story: &mut Story,
    mut happenings: broadcast::Receiver<article::happening::Happening>,
    mut acts: mpsc::Receiver<authors::Happening>,
    stop: &CancellationToken,
    output: &mut Output,
) -> Result<(), Failure> {
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(()),
            Some(act) = acts.recv() => story.author(&act, output)?,
            heard = happenings.recv() => match heard {
                Ok(happening) => story.service(&happening, output).await?,
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            },
        }
        output.flush()?;
    }
}

/// Where the demo keeps its files.
struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Folder {
    fn create(keep: Option<&Path>) -> Result<Self, Failure> {
        let path = keep.map_or_else(
            || {
                std::env::temp_dir().join(format!(
                    "almanack-demo-{:08x}",
                    wiring::entropy().next_u64() >> 32
                ))
            },
            Path::to_path_buf,
        );
        let folder = Self {
            path,
            keep: keep.is_some(),
        };
        std::fs::create_dir_all(&folder.path).map_err(|error| folder.failed(&error))?;
        Ok(folder)
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn failed(&self, error: &std::io::Error) -> Failure {
        Failure::new(
            Exit::Failed,
            format!("use folder `{}`: {error}", self.path.display()),
        )
        .hint("choose another with --keep FOLDER")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep {
            // What cannot be removed is in the machine's temporary folder and goes with it.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

fn parse_period(text: &str) -> Result<Duration, Failure> {
    let period: Option<SignedDuration> = text.parse().ok();
    period
        .and_then(|period| Duration::try_from(period).ok())
        .ok_or_else(|| {
            Failure::new(Exit::Usage, format!("`{text}` is not a period"))
                .hint("write it like 30s or 2m")
        })
}
