//! The request budget, counted at GitHub over one virtual hour (DP-13).
//!
//! The chains and the adapters are the real ones; only time is not: each round is a step of one
//! clock that both chains and GitHub share.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use almanack_adapters::{
    clock::ClockSleeper,
    github::{
        Github, GithubSettings, OwnWorkflow, Repository, TargetWorkflows, Token, WorkflowLauncher,
    },
    http,
    lock::github::GithubLock,
};
use almanack_core::{
    address::{Guard, parse_net},
    chain::{ChainEvent, ChainName, Note, ROUND_DEFAULT, calls_an_hour},
    dispatch,
    target::Launcher,
    time::Clock,
};
use almanack_engine::chain::{Chain, Ports, Settings};
use almanack_lab::github::{Config, Handle, Running, setup::REQUESTS_PER_HOUR, start};
use almanack_testkit::{clock::ManualClock, entropy::SeededEntropy};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::stage::setup;

/// The examples of the original README, and a few more.
const USUAL: &str = "\
*/5 * * * *  octarine/library  check.yml     # 每 5 分鐘
0   8 * * *  octarine/library  daily.yml     # 每天 08:00
0   9 * * 1  octarine/library  weekly.yml    # 每週一 09:00
@10s         octarine/library  poll.yml      # 每 10 秒
*/15 * * * * octarine/library  poll-2.yml
30 * * * *   octarine/library  poll-3.yml";
/// Nothing of this is due in the hour.
const QUIET: &str = "0 20 * * * octarine/library daily.yml\n0 9 * * 1 octarine/library weekly.yml";
/// A Tuesday, 08:00 UTC less ten seconds.
const START: &str = "2026-01-06T07:59:50Z";

struct Hour {
    clock: Arc<ManualClock>,
    github: Running,
    chains: Vec<(Chain, UnboundedReceiver<Note>)>,
    _stop: DropGuard,
}

impl Hour {
    async fn of(dispatch: &str) -> Self {
        let clock = Arc::new(ManualClock::at(START.parse().unwrap()));
        let stop = CancellationToken::new();
        let mut setup = setup();
        // What GitHub really grants.
        setup.tokens[0].requests_per_hour = REQUESTS_PER_HOUR;
        let shared = Arc::clone(&clock);
        let config = Config {
            setup,
            clock: Arc::new(move || shared.now()),
            ..Config::new(([127, 0, 0, 1], 0).into())
        };
        let github = start(config, stop.clone()).await.unwrap();
        let chains = ["tick-a", "tick-b"].map(|name| chain(&github, &clock, name, dispatch));
        Self {
            clock,
            github,
            chains: chains.into(),
            _stop: stop.drop_guard(),
        }
    }

    async fn pass(&mut self) -> Vec<Note> {
        let rounds = SignedDuration::from_hours(1).as_secs() / ROUND_DEFAULT.as_secs();
        for _ in 0..=rounds {
            for (chain, _) in &mut self.chains {
                chain.round();
            }
            for (chain, _) in &mut self.chains {
                chain.settle_down().await;
                assert_eq!(chain.leaves(), None);
            }
            self.clock.advance(ROUND_DEFAULT);
        }
        let mut notes = Vec::new();
        for (_, reported) in &mut self.chains {
            while let Ok(note) = reported.try_recv() {
                notes.push(note);
            }
        }
        notes
    }
}

fn chain(
    github: &Running,
    clock: &Arc<ManualClock>,
    name: &str,
    dispatch: &str,
) -> (Chain, UnboundedReceiver<Note>) {
    let name = ChainName::parse(name).unwrap();
    let run = github
        .handle
        .start_run("octo", "clock", &name.workflow())
        .unwrap();
    github.handle.begin_run(run.id).unwrap();
    let clock: Arc<dyn Clock> = Arc::clone(clock) as _;
    let client = |token: &str| {
        let settings = GithubSettings {
            base_url: github.url(),
            token: Token::new(token),
            timeout: Duration::from_secs(30),
        };
        let home = parse_net("127.0.0.1").unwrap();
        let guard = Guard::new(vec![home], "outbound.allow");
        let http = http::Client::new(&http::Settings::new(guard));
        let github = Github::new(http.unwrap(), Arc::clone(&clock), &settings);
        Arc::new(github.unwrap())
    };
    let (own, pat) = (client("s-chain"), client("s-pat"));
    let repository = Repository::parse("octo/clock").unwrap();
    let head = github.handle.refs("octo", "clock")["refs/heads/main"].clone();
    let entropy = Arc::new(SeededEntropy::new(run.id));
    let launcher: Arc<dyn Launcher> = Arc::new(WorkflowLauncher::new(Arc::clone(&pat)));
    let (notes, reported) = mpsc::unbounded_channel();
    let ports = Ports {
        sleeper: Arc::new(ClockSleeper::new(Arc::clone(&clock))),
        clock,
        lock: Arc::new(GithubLock::new(
            Arc::clone(&own),
            repository.clone(),
            head,
            entropy.clone(),
        )),
        entropy,
        launchers: BTreeMap::from([("workflow", launcher)]),
        own_runs: Arc::new(OwnWorkflow::new(own, repository, &name)),
        target_runs: Arc::new(TargetWorkflows::new(pat)),
        notes,
    };
    let settings = Settings {
        length: name.length(),
        name,
        run_id: run.id,
        round: ROUND_DEFAULT,
    };
    (
        Chain::new(ports, settings, dispatch::parse(dispatch)),
        reported,
    )
}

/// What was asked with the repository's token, one line each.
fn bill(handle: &Handle) -> String {
    let counts = handle.counts();
    let own = counts.iter().filter(|count| count.kind.token == "chain");
    let lines = own.map(|it| {
        let free = if it.kind.charged { "" } else { " (free)" };
        format!(
            "{:>5} × {} → {}{free}",
            it.requests, it.kind.route, it.kind.status
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Everything that was asked with a token, whether it was charged or not.
fn asked(handle: &Handle, token: &str) -> u64 {
    let counts = handle.counts();
    let own = counts.iter().filter(|count| count.kind.token == token);
    own.map(|count| count.requests).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_13_two_chains_at_ten_seconds_stay_under_a_thousand_requests_an_hour() {
    let mut hour = Hour::of(USUAL).await;
    let notes = hour.pass().await;
    let handle = &hour.github.handle;
    let (charged, asked) = (handle.charged("chain"), asked(handle, "chain"));
    let bill = bill(handle);
    assert!(
        charged < u64::from(REQUESTS_PER_HOUR),
        "{charged} charged of {asked}:\n{bill}"
    );
    // Even if GitHub charged for every unchanged list.
    assert!(
        asked < u64::from(REQUESTS_PER_HOUR),
        "{asked} asked:\n{bill}"
    );
    let fired = notes
        .iter()
        .filter(|note| note.said.name() == "fired")
        .count();
    // From 08:00:00 to 08:59:50.
    let expected = 360 + 12 + 4 + 1 + 1;
    assert_eq!(handle.dispatches().len(), expected, "{bill}");
    assert_eq!(fired, expected);
    let bad = ["missed", "failed", "skipped", "trouble"];
    let bad: Vec<&Note> = notes
        .iter()
        .filter(|note| bad.contains(&note.said.name()))
        .collect();
    assert!(bad.is_empty(), "{bad:?}");
    // What the chain said it would cost is what it did cost, and no less.
    let Some(ChainEvent::Began { calls_an_hour, .. }) = notes.first().map(|note| &note.said) else {
        panic!("{:?}", notes.first());
    };
    assert!(
        (asked..asked + 200).contains(calls_an_hour),
        "{calls_an_hour} announced, {asked} made"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dp_13_an_hour_with_nothing_due_costs_next_to_nothing() {
    let mut hour = Hour::of(QUIET).await;
    hour.pass().await;
    let handle = &hour.github.handle;
    let bill = bill(handle);
    assert!(handle.charged("chain") <= 6, "{bill}");
    assert!(asked(handle, "chain") <= 2 * (61 + 7), "{bill}");
    assert_eq!(asked(handle, "pat"), 0);
}

#[test]
fn dp_13_the_cost_is_known_before_it_is_paid() {
    let now: Timestamp = START.parse().unwrap();
    for (text, calls) in [
        ("0 20 * * * o/r d.yml", 168),
        // Each chain tries each of 360 slots.
        ("@10s o/r d.yml", 168 + 720),
        // And each of these is marked.
        ("*/5 * * * * o/r d.yml", 168 + 24 + 12),
    ] {
        let zones = almanack_engine::zones::Zones::default();
        let parsed = dispatch::parse(text).lines.remove(0);
        let ready = zones.ready(&parsed.name, parsed.definition).unwrap();
        let line = almanack_core::chain::Line::new(1, parsed.name, ready, now);
        assert_eq!(calls_an_hour(&[line], 2, now), calls, "{text}");
    }
}
