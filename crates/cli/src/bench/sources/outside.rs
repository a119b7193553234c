//! The feeds, in a separate process: this binary as `almanack world feeds`.

use std::{net::Ipv4Addr, process::Stdio, time::Duration};

use almanack_core::{address::IpNet, source::Definition};
use almanack_lab::feeds::fleet::Fleet;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStderr, Command},
    time::timeout,
};
use url::Url;

use super::{Error, Result};

/// The default of `almanack world feeds`.
const SEED: u64 = 1;
/// How long the feeds may take to start.
const START_WITHIN: Duration = Duration::from_secs(30);
/// A few of a hundred addresses of the fleet are pages, which need extraction rules; they are left
/// out.
const SPARE: usize = 4;

/// The networks of the feeds: every address under 127.0.0.0/8 is a host.
pub(super) fn networks() -> Vec<IpNet> {
    IpNet::new(Ipv4Addr::new(127, 0, 0, 0).into(), 8)
        .into_iter()
        .collect()
}

/// Feeds that run until this is dropped.
pub(super) struct Outside {
    fleet: Fleet,
    port: u16,
    process: Child,
}

impl Outside {
    /// Starts enough feeds for `sources`.
    pub(super) async fn start(sources: usize) -> Result<Self> {
        let feeds = u32::try_from(sources + sources / SPARE + 100).unwrap_or(u32::MAX);
        let program = std::env::current_exe().map_err(|error| wrong(&error))?;
        let mut process = Command::new(program)
            .args(["world", "feeds", "--quiet", "--listen", "0.0.0.0:0"])
            .args(["--seed", &SEED.to_string(), "--feeds", &feeds.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| wrong(&error))?;
        let lines = process.stderr.take();
        let lines = lines.ok_or_else(|| wrong(&"no output"))?;
        let mut lines = BufReader::new(lines).lines();
        let port = timeout(START_WITHIN, port(&mut lines)).await;
        let port = port.map_err(|_| wrong(&"no response"))??;
        // Read on: a process that writes into a full pipe blocks.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self {
            fleet: Fleet::new(SEED, feeds),
            port,
            process,
        })
    }

    /// The same error, or that the feeds have ended.
    pub(super) fn explain(&mut self, error: Error) -> Error {
        match self.process.try_wait() {
            Ok(Some(status)) => Error::Wrong(format!("the feeds have ended ({status}): {error}")),
            Ok(None) | Err(_) => error,
        }
    }

    pub(super) fn feeds(&self, count: usize) -> impl Iterator<Item = Definition> {
        let numbers = (0..self.fleet.feeds).filter(|n| self.fleet.document_of(*n).is_feed());
        numbers.take(count).map(|number| Definition {
            name: String::new(),
            address: self.fleet.feed_url(number, self.port),
            ..Definition::default()
        })
    }
}

/// Reads the port from the address of the first feed.
async fn port(lines: &mut Lines<BufReader<ChildStderr>>) -> Result<u16> {
    while let Some(line) = lines.next_line().await.map_err(|error| wrong(&error))? {
        let address = line
            .split_whitespace()
            .find(|word| word.starts_with("http://"));
        let port = address.and_then(|address| Url::parse(address).ok()?.port());
        if let Some(port) = port {
            return Ok(port);
        }
    }
    Err(wrong(&"they ended at once"))
}

fn wrong(what: &dyn std::fmt::Display) -> Error {
    Error::Wrong(format!("start feeds: {what}"))
}
