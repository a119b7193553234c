//! The nodes of a chaos run: real processes of this program, with faults injected and repaired.

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

/// Clock offsets for libfaketime.
const FORWARD: &str = "+3600";
const BACK: &str = "-3600";
const RIGHT: &str = "+0";
/// Paths of libfaketime on Debian and its derivatives.
const FAKETIME: [&str; 3] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
];

/// The path of libfaketime, if installed.
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
    /// The path of libfaketime, if a fault sets clocks.
    pub faketime: Option<PathBuf>,
}

/// One node: a running process, or a dead one that will be restarted.
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
    /// A node that has not been started; `wire` is the connection to its database, if it can be
    /// cut.
    pub fn new(number: usize, database: String, wire: Option<Wire>) -> io::Result<Self> {
        // Released at once and bound again by the node; another process rarely takes it in between.
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

    /// Starts or restarts it with a correct clock.
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
            // Not as an argument: every user of the machine can read those.
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
                // A step changes the wall clock only. A monotonic clock never jumps.
                .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        self.child = Some(command.spawn()?);
        Ok(())
    }

    /// Injects a fault.
    pub async fn strike(&mut self, injection: &Injection, recipe: &Recipe) -> io::Result<()> {
        match injection.fault {
            Fault::Kill => self.kill().await,
            Fault::Freeze => {
                self.frozen = true;
                self.signal(Signal::STOP)
            }
            Fault::Cut => {
                self.set_wire(false);
                Ok(())
            }
            Fault::Clock => fs::write(self.clock_file(&recipe.folder), step(injection)),
            Fault::Start => {
                self.kill().await?;
                self.start_at(recipe, step(injection))
            }
        }
    }

    /// Repairs a fault. Restarts a node that ended meanwhile, as a supervisor would.
    pub fn mend(&mut self, fault: Fault, recipe: &Recipe) -> io::Result<()> {
        match fault {
            Fault::Kill => {}
            Fault::Freeze => {
                self.frozen = false;
                self.signal(Signal::CONT)?;
            }
            Fault::Cut => self.set_wire(true),
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

    /// Sends SIGTERM and waits until it has stopped.
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

    /// Its resident memory in kilobytes, where the system reports it.
    pub fn memory_kb(&self) -> Option<u64> {
        let id = self.child.as_ref()?.id()?;
        memory_kb(&id.to_string(), "VmRSS:")
    }

    fn set_wire(&self, whole: bool) {
        if let Some(wire) = &self.wire {
            wire.set_whole(whole);
        }
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

/// The peak memory of each node, from samples.
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
    /// Seconds since the start.
    pub at_s: u64,
    pub node: String,
    /// Resident memory.
    pub memory_kb: u64,
}
