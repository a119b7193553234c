//! The nodes of a chaotic run: real processes of this very program, which are hit and mended.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Stdio,
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

use super::{
    plan::{Fault, Injection},
    wire::Wire,
};
use crate::figures::memory_kb;

/// What a stepped clock is stepped by, as libfaketime reads it.
const FORWARD: &str = "+3600";
const BACK: &str = "-3600";
const RIGHT: &str = "+0";
/// Where Debian and its relatives keep what steps a process's clock.
const FAKETIME: [&str; 3] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
];

/// What steps the clocks of processes, where it is installed.
pub fn faketime() -> Option<PathBuf> {
    let mut places = FAKETIME.iter().map(PathBuf::from);
    places.find(|place| place.exists())
}

fn step(injection: &Injection) -> &'static str {
    if injection.forward { FORWARD } else { BACK }
}

/// How nodes are started.
pub struct Recipe {
    pub program: PathBuf,
    pub folder: PathBuf,
    /// What steps clocks, if clocks are to be stepped.
    pub faketime: Option<PathBuf>,
}

/// One node: a process now, or a dead one that will be started again.
pub struct Member {
    /// What it is called.
    pub name: String,
    pub address: SocketAddr,
    database: String,
    wire: Option<Wire>,
    child: Option<Child>,
    frozen: bool,
}

impl Member {
    /// A node that has not been started; `wire` leads to its database, if it can be cut.
    pub fn new(number: usize, database: String, wire: Option<Wire>) -> io::Result<Self> {
        // Given back at once and taken again by the node; nobody else on this machine is as quick.
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        Ok(Self {
            name: format!("chaos-{number}"),
            address,
            database,
            wire,
            child: None,
            frozen: false,
        })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Starts it, or starts it again, with a clock that is right.
    pub fn start(&mut self, recipe: &Recipe) -> io::Result<()> {
        self.start_at(recipe, RIGHT)
    }

    fn start_at(&mut self, recipe: &Recipe, clock: &str) -> io::Result<()> {
        let log = recipe.folder.join(format!("{}.log", self.name));
        let log = File::options().create(true).append(true).open(log)?;
        let mut command = Command::new(&recipe.program);
        command
            .arg("serve")
            .arg("--config")
            .arg(recipe.folder.join("almanack.toml"))
            .args(["--listen", &self.address.to_string()])
            .args(["--node-name", &self.name])
            .current_dir(&recipe.folder)
            .env_clear()
            // Not as an argument: everybody on the machine may read those.
            .env("ALMANACK_DATABASE_URL", &self.database)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true);
        if let Some(library) = &recipe.faketime {
            fs::write(self.clock_file(&recipe.folder), clock)?;
            command
                .env("LD_PRELOAD", library)
                .env("FAKETIME_TIMESTAMP_FILE", self.clock_file(&recipe.folder))
                .env("FAKETIME_NO_CACHE", "1")
                // A step moves the clock on the wall. No machine's steady clock jumps.
                .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        self.child = Some(command.spawn()?);
        Ok(())
    }

    /// Lets a injection fall.
    pub async fn strike(&mut self, injection: &Injection, recipe: &Recipe) -> io::Result<()> {
        match injection.fault {
            Fault::Kill => self.kill().await,
            Fault::Freeze => {
                self.frozen = true;
                self.signal(Signal::STOP)
            }
            Fault::Cut => {
                if let Some(wire) = &self.wire {
                    wire.cut();
                }
                Ok(())
            }
            Fault::Clock => fs::write(self.clock_file(&recipe.folder), step(injection)),
            Fault::Start => {
                self.kill().await?;
                self.start_at(recipe, step(injection))
            }
        }
    }

    /// Mends what a injection did. A node that ended itself meanwhile is started again, as its keeper would.
    pub fn mend(&mut self, fault: Fault, recipe: &Recipe) -> io::Result<()> {
        match fault {
            Fault::Kill => {}
            Fault::Freeze => {
                self.frozen = false;
                self.signal(Signal::CONT)?;
            }
            Fault::Cut => {
                if let Some(wire) = &self.wire {
                    wire.mend();
                }
            }
            Fault::Clock | Fault::Start => {
                fs::write(self.clock_file(&recipe.folder), RIGHT)?;
            }
        }
        if self.has_ended()? {
            self.start(recipe)?;
        }
        Ok(())
    }

    /// As `kill -9` does.
    pub async fn kill(&mut self) -> io::Result<()> {
        match &mut self.child {
            Some(child) => child.kill().await,
            None => Ok(()),
        }
    }

    /// Asks it to end, and waits until it has.
    pub async fn stop(&mut self) -> io::Result<()> {
        if self.frozen {
            self.signal(Signal::CONT)?;
        }
        self.signal(Signal::TERM)?;
        if let Some(child) = &mut self.child {
            child.wait().await?;
        }
        Ok(())
    }

    /// How much memory it has, in kilobytes, where the system tells.
    pub fn memory_kb(&self) -> Option<u64> {
        let id = self.child.as_ref()?.id()?;
        memory_kb(&id.to_string(), "VmRSS:")
    }

    fn has_ended(&mut self) -> io::Result<bool> {
        match &mut self.child {
            Some(child) => Ok(child.try_wait()?.is_some()),
            None => Ok(true),
        }
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        let id = self.child.as_ref().and_then(Child::id);
        let id = id.and_then(|id| Pid::from_raw(id.cast_signed()));
        match id {
            Some(id) => Ok(kill_process(id, signal)?),
            None => Ok(()),
        }
    }

    fn clock_file(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.clock", self.name))
    }
}

/// The most memory that each node ever had, from samples.
pub fn most_memory(samples: &[Sample]) -> BTreeMap<String, u64> {
    let mut most: BTreeMap<String, u64> = BTreeMap::new();
    for sample in samples {
        let seen = most.entry(sample.node.clone()).or_default();
        *seen = (*seen).max(sample.memory_kb);
    }
    most
}

/// A node's memory at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Seconds since the beginning.
    pub at_s: u64,
    pub node: String,
    /// How much, in kilobytes.
    pub memory_kb: u64,
}
