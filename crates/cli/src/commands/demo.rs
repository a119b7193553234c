//! `almanack demo`: runs everything on this machine and prints what happens.
//!
//! A real node on a SQLite file in a temporary folder, and a simulated world around it: a news
//! site, feeds, a language model, GitHub, Telegram, partners with webhooks, an article service and
//! its authors. Only the node's clock is special: it runs faster. The node starts as with `serve`,
//! the world as with `world`.

mod configuration;
mod door;
mod editions;
mod folder;
mod line;
mod plan;
mod schedules;
mod show;
mod sources;
mod story;
mod tour;
mod warm_up;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use almanack_adapters::clock::{SpedClock, Speed, SystemClock, pause};
use almanack_core::{
    source::Definition,
    store::{SourceFilter, Store},
    time::Clock,
};
use almanack_engine::sources::{Error as SourceError, Sources};
use almanack_lab::{
    article,
    authors::{Editor, Habits},
    clock::Clock as WorldClock,
    demo::{self, Outside, Setting},
};
use jiff::{SignedDuration, Timestamp};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{
    args::DemoArguments,
    commands::runtime,
    failure::{Done, Exit, Failure, Result},
    output::Output,
    process::{self, Process},
    wiring::Time,
};
use door::Door;
use folder::Folder;
use line::Printer;
use plan::Plan;
use show::{Reports, Show};
use tour::Tour;
use warm_up::WarmUp;

/// Sources to check at the start of a slow demo.
const ASKED: usize = 12;
/// How far ahead authors plan, in real seconds.
const AHEAD_S: (u64, u64) = (4, 15);
/// How long to wait for the node to stop; after that it ends with the process.
const LEAVE_WITHIN: Duration = Duration::from_secs(15);

/// Runs until Ctrl-C, or for the given period.
pub(super) fn run(arguments: &DemoArguments, output: &mut Output) -> Done {
    let period = arguments.period.as_deref().map(parse_period).transpose()?;
    let folder = Folder::create(arguments.keep.as_deref())?;
    runtime()?.block_on(async {
        let stop = process::stop_signal()?;
        let stage = Box::pin(Stage::set(arguments, &folder, &stop, output)).await?;
        if let Some(period) = period {
            stop_after(period, &stop);
        }
        stage.play(&stop, output).await?;
        folder.part(output)?;
        Ok(Exit::Ok)
    })
}

struct Stage {
    plan: Plan,
    clock: Arc<SpedClock>,
    outside: Outside,
    service: article::Running,
    node: JoinHandle<Result<()>>,
    show: Show,
    reports: Reports,
    tour: Option<Tour>,
}

impl Stage {
    /// Starts the world, the node, the article service and its authors, in this order. The address
    /// is printed before anything takes long.
    async fn set(
        arguments: &DemoArguments,
        folder: &Folder,
        stop: &CancellationToken,
        output: &mut Output,
    ) -> Result<Self> {
        let plan = Plan::new(SystemClock.now(), arguments.speed, arguments.lang);
        let clock = Arc::new(start_clock(&plan, arguments.no_warm_up));
        let setting = Setting {
            seed: arguments.seed,
            clock: world_clock(&clock),
            stop: stop.clone(),
        };
        let outside = Outside::start(&setting).await;
        let outside = outside.map_err(|error| Failure::caused("demo", &error))?;
        let door = take_address(arguments, folder, &plan, &outside).await?;
        greet(door.address, folder, &plan, output)?;
        if !arguments.no_warm_up {
            let yesterday = WarmUp {
                folder,
                plan: &plan,
                clock: &clock,
                outside: &outside,
                door: &door,
            };
            Box::pin(yesterday.run(stop, output)).await?;
        }
        outside.inject_faults();
        let process = start_node(folder, (&plan, &clock), &outside, &door).await?;
        let (store, sources) = (process.store(), process.sources());
        let node = tokio::spawn(process.run(stop.clone()));
        // Only once: a source that has moved since would return at its old address.
        if arguments.no_warm_up {
            sources.add(subscriptions(&outside), "demo").await?;
        }
        let articles = folder.path().join("articles.db");
        let service =
            demo::start_service(&setting, articles, format!("http://{}", door.address)).await;
        let service = service.map_err(|error| Failure::caused("article service", &error))?;
        let activity = service.watch();
        let acts = demo::start_authors(&setting, &service, habits(&plan));
        let editor = Editor::new(&service.url());
        let editor = editor.map_err(|error| Failure::caused("editor", &error))?;
        let printer = Printer::new(arguments.verbose);
        let mut show = Show::new(store.clone(), Arc::clone(&clock), plan, (editor, printer));
        if !arguments.no_warm_up {
            show.begin().await?;
            if plan.is_slow() {
                ask_for_checks(store.as_ref(), &sources, &outside).await?;
            }
        }
        Ok(Self {
            show,
            plan,
            clock,
            outside,
            service,
            node,
            reports: Reports {
                service: activity,
                authors: acts,
            },
            tour: arguments
                .tour
                .then(|| Tour::start(door.address, plan.language)),
        })
    }

    /// Prints what happens until `stop`, then waits for all parts and prints a summary.
    async fn play(mut self, stop: &CancellationToken, output: &mut Output) -> Result<()> {
        begin(self.clock.now(), &self.plan, output)?;
        let following = self.show.follow(self.reports, self.tour, stop, output);
        let followed = following.await;
        // The world must stay until the node has finished what it started.
        stop.cancel();
        let left = tokio::select! {
            ended = self.node => ended.map_err(Failure::failed)?,
            () = pause(LEAVE_WITHIN) => Ok(()),
        };
        self.show.end(&self.outside, output).await?;
        let _ = self.service.join.await;
        self.outside.stopped().await;
        followed.and(left)
    }
}

/// Prints the addresses.
fn greet(address: SocketAddr, folder: &Folder, plan: &Plan, output: &mut Output) -> Result<()> {
    let pick = |english, chinese| plan.language.choose(english, chinese);
    output.line(pick(
        "Almanack decides when to try; your services decide whether it takes effect.\n",
        "Almanack 决定何时尝试，你的服务决定是否生效。\n",
    ))?;
    for (name, place) in [
        ("dashboard", format!("http://{address}/ui")),
        ("editions", format!("http://{address}/editions")),
        ("API", format!("http://{address}/api/docs")),
        ("files", folder.path().display().to_string()),
    ] {
        output.line(&format!("  {name:10} {place}"))?;
    }
    output.line("")?;
    output.flush()
}

/// Prints how fast the clock runs from now on.
fn begin(now: Timestamp, plan: &Plan, output: &mut Output) -> Result<()> {
    let (time, pace) = (now.strftime("%Y-%m-%d %H:%M:%SZ"), pace(plan.speed));
    output.line(&plan.language.choose(
        format!(
            "It is {time}, {pace}. The first of everything is printed here, every event with \
             --verbose. Press Ctrl-C to stop.\n"
        ),
        format!(
            "现在是 {time}，时钟以 {} 倍速运行。这里只显示各类事件的第一次，全部事件用 --verbose。\
             按 Ctrl-C 停止。\n",
            plan.speed
        ),
    ))?;
    output.flush()
}

fn pace(speed: Speed) -> String {
    match speed.times() {
        1.0 => "real time (--speed 60: an hour takes a minute)".to_owned(),
        times => {
            let hour = crate::when::took(SignedDuration::from_secs_f64(3_600.0 / times));
            format!("{times} times real time: an hour takes {hour}")
        }
    }
}

/// With a slow clock the next checks may be far off: publishes news and requests checks.
async fn ask_for_checks(store: &dyn Store, sources: &Sources, outside: &Outside) -> Result<()> {
    outside.publish_news(ASKED);
    let filter = SourceFilter {
        limit: ASKED,
        ..SourceFilter::default()
    };
    for source in store.list_sources(&filter).await?.rows {
        match sources.check_now(source.id, "demo").await {
            // One of the demo's feeds is gone for good.
            Ok(_) | Err(SourceError::NotActive { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn start_clock(plan: &Plan, at_once: bool) -> SpedClock {
    if at_once {
        return SpedClock::start(plan.starts_at, plan.speed);
    }
    let from = plan.starts_at.saturating_sub(warm_up::PAST);
    SpedClock::start(from.unwrap_or(plan.starts_at), warm_up::speed(plan.speed))
}

/// Fails early if the address is taken, before anything is printed.
async fn take_address(
    arguments: &DemoArguments,
    folder: &Folder,
    plan: &Plan,
    outside: &Outside,
) -> Result<Door> {
    configuration::write(folder, plan, outside)?;
    let (settings, _) = configuration::load(folder, plan, &arguments.listen)?;
    Door::open(settings.server.listen).await
}

fn world_clock(clock: &Arc<SpedClock>) -> WorldClock {
    let clock = Arc::clone(clock);
    Arc::new(move || clock.now())
}

async fn start_node(
    folder: &Folder,
    (plan, clock): (&Plan, &Arc<SpedClock>),
    outside: &Outside,
    door: &Door,
) -> Result<Process> {
    configuration::write(folder, plan, outside)?;
    let (settings, inputs) = configuration::load(folder, plan, &door.address.to_string())?;
    let time = Time::Sped {
        clock: Arc::clone(clock),
        speed: plan.speed,
        counted: true,
    };
    process::start_on(Some(door.listener()?), &settings, &inputs, &time, None).await
}

/// The feeds as sources.
fn subscriptions(outside: &Outside) -> Vec<Definition> {
    let feeds = outside.subscriptions().into_iter();
    feeds
        .map(|feed| Definition {
            name: feed.name,
            address: feed.url,
            category: feed.category,
            ..Definition::default()
        })
        .collect()
}

/// How far ahead authors plan: a few real seconds.
fn habits(plan: &Plan) -> Habits {
    let ahead = |real_s| plan.shown(real_s).unsigned_abs();
    Habits {
        ahead_min: ahead(AHEAD_S.0),
        ahead_max: ahead(AHEAD_S.1),
    }
}

fn stop_after(period: Duration, stop: &CancellationToken) {
    let stop = stop.clone();
    tokio::spawn(async move {
        pause(period).await;
        stop.cancel();
    });
}

fn parse_period(text: &str) -> Result<Duration> {
    let period: Option<SignedDuration> = text.parse().ok();
    let period = period.and_then(|period| Duration::try_from(period).ok());
    period.ok_or_else(|| {
        Failure::usage(format!("`{text}` is not a period")).hint("write it like 30s or 2m")
    })
}
