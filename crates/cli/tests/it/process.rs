//! Processes of the binary as an operator has them: started, called over HTTP, stopped, killed.
//!
//! INVARIANT: no process outlives its test, and no test waits for a span of time to pass: it waits
//! for something to be true, within [`DEADLINE`]. What a process wrote is shown when its test
//! fails.

use std::{
    fs::{self, File},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    ops::Range,
    path::PathBuf,
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use almanack_adapters::clock::{SystemClock, pause};
use almanack_core::time::Clock;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;

use crate::{api::Api, harness::Home};

/// Far more than anything here takes on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);
/// How often a condition is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Waits until `look` finds something.
pub(crate) async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            pause(LOOK_EVERY).await;
        }
    };
    let found = tokio::time::timeout(DEADLINE, looking).await;
    found.unwrap_or_else(|_| panic!("did not happen within {DEADLINE:?}: {what}"))
}

/// The machine's time, so many milliseconds on.
pub(crate) fn from_now(after_ms: i64) -> Timestamp {
    SystemClock.now() + SignedDuration::from_millis(after_ms)
}

/// A free address, for processes that must come back where they were. Its port lies
/// below those that the system gives to outgoing connections: one of these could take it while its
/// owner is dead. And it lies between the well-known ports, which are never called.
///
/// Test processes run side by side. A port belongs to the one that holds the lock of its file,
/// until that process ends: a bind alone would leave it to others whenever nobody listens.
pub(crate) fn free_address() -> SocketAddr {
    static DRAWN: AtomicU32 = AtomicU32::new(0);
    const PORTS: Range<u32> = 11_300..20_000;
    let locks = std::env::temp_dir().join("almanack-test-ports");
    fs::create_dir_all(&locks).unwrap();
    // Each process begins elsewhere, so that no port is used again soon.
    let first = std::process::id().wrapping_mul(40);
    let mut drawn = PORTS.map(|_| {
        let port = first.wrapping_add(DRAWN.fetch_add(1, Ordering::Relaxed));
        let port = PORTS.start + port % (PORTS.end - PORTS.start);
        SocketAddr::from((Ipv4Addr::LOCALHOST, u16::try_from(port).unwrap()))
    });
    let mine = drawn.find_map(|address| {
        let lock = File::create(locks.join(address.port().to_string())).unwrap();
        (lock.try_lock().is_ok() && TcpListener::bind(address).is_ok()).then_some((lock, address))
    });
    let (lock, address) = mine.expect("a free port");
    // Held until this process ends.
    std::mem::forget(lock);
    address
}

/// A process of the binary.
pub(crate) struct Process {
    child: tokio::process::Child,
    log: PathBuf,
    /// The address it was given.
    pub(crate) address: SocketAddr,
}

/// How nodes here are run: quick to notice that another one died, quick to try again, and allowed
/// to call what runs on this machine.
const NODE: [&str; 11] = [
    "serve",
    "--set",
    "outbound.allow=127.0.0.1",
    "--set",
    "node.lease=3s",
    "--set",
    "retry.base=100ms",
    "--set",
    "retry.cap=1s",
    "--set",
    "server.shutdown_delay=0s",
];

impl Process {
    /// Starts a node; it may not answer yet.
    pub(crate) fn node(home: &Home, address: SocketAddr, further: &[&str]) -> Self {
        let listen = address.to_string();
        let arguments = [&NODE[..], &["--listen", &listen], further].concat();
        Self::start(home, address, home.command(&arguments))
    }

    /// Starts any command that will listen at `address`.
    pub(crate) fn start(home: &Home, address: SocketAddr, mut command: Command) -> Self {
        let log = home.path().join(format!("{}.log", address.port()));
        let notes = File::options()
            .create(true)
            .append(true)
            .open(&log)
            .unwrap();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(notes);
        let mut command = tokio::process::Command::from(command);
        let child = command.kill_on_drop(true).spawn().unwrap();
        Self {
            child,
            log,
            address,
        }
    }

    /// Waits until it answers.
    pub(crate) async fn ready(mut self) -> Self {
        let api = self.api();
        eventually("the process answers", async || {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended: {ended:?}\n{}", self.notes());
            let answer = api.ask(Method::GET, "/healthz", None).await.ok()?;
            (answer.status == 200).then_some(())
        })
        .await;
        self
    }

    pub(crate) fn api(&self) -> Api {
        Api::at(self.address)
    }

    /// What it wrote about itself.
    pub(crate) fn notes(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// As `kill -9` does. A process that had ended by itself before fails the test.
    pub(crate) async fn kill(&mut self) {
        let ended = self.child.try_wait().unwrap();
        assert!(ended.is_none(), "it ended: {ended:?}\n{}", self.notes());
        self.child.kill().await.unwrap();
    }

    /// Which process it is.
    pub(crate) fn id(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// As `systemctl stop` does first.
    pub(crate) fn terminate(&self) {
        self.tool("kill", &["-TERM"]);
    }

    /// Runs `program arguments… PID`.
    pub(crate) fn tool(&self, program: &str, arguments: &[&str]) {
        let pid = self.child.id().unwrap().to_string();
        let done = Command::new(program).args(arguments).arg(pid).status();
        assert!(done.unwrap().success(), "{program} {arguments:?}");
    }

    /// Waits until its address no longer answers.
    pub(crate) async fn until_refused(&self) {
        let api = self.api();
        eventually("the node stops answering", async || {
            let answer = api.ask(Method::GET, "/healthz", None).await;
            answer.is_err().then_some(())
        })
        .await;
    }

    /// Waits for its end; `None` if a signal ended it.
    pub(crate) async fn exit_code(&mut self) -> Option<i32> {
        let ended = tokio::time::timeout(DEADLINE, self.child.wait()).await;
        let ended = ended.unwrap_or_else(|_| panic!("it does not end:\n{}", self.notes()));
        ended.unwrap().code()
    }
}

impl Drop for Process {
    #[expect(
        clippy::print_stderr,
        reason = "a failed test is explained by what its processes wrote"
    )]
    fn drop(&mut self) {
        const SHOWN_MAX: usize = 4_000;
        if std::thread::panicking() {
            let notes = self.notes();
            let from = notes.ceil_char_boundary(notes.len().saturating_sub(SHOWN_MAX));
            eprintln!("--- {} wrote:\n{}", self.address, &notes[from..]);
        }
    }
}
