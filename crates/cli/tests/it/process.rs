//! Processes of the binary as an operator has them: started, asked over HTTP, told to stop, killed.
//!
//! INVARIANT: no process outlives its test, and no test waits for a span of time to pass: it waits
//! for something to be true, within [`DEADLINE`]. What a process wrote is shown when its test fails.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a harness that fails fails its test"
)]

use std::{
    fs::{self, File},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use almanack_adapters::clock::{SystemClock, pause};
use almanack_core::time::Clock;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::Home;

/// Far more than anything here takes on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);
/// How often a condition is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The longest answer is that of a node whose database is gone.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// A time in the past means now (RS-11).
pub(crate) const NOW: &str = "2020-01-01T00:00:00Z";

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

/// An address nobody listens at, for processes that must come back where they were.
pub(crate) fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap()
}

/// A process of the binary.
pub(crate) struct Process {
    child: tokio::process::Child,
    log: PathBuf,
    /// Where it was told to listen.
    pub(crate) address: SocketAddr,
}

/// How nodes here are run: quick to notice that another one died, quick to try again.
const NODE: [&str; 7] = [
    "serve",
    "--set",
    "node.lease=3s",
    "--set",
    "retry.base=100ms",
    "--set",
    "retry.cap=1s",
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

    /// Asks it things.
    pub(crate) fn api(&self) -> Api {
        Api::at(self.address)
    }

    /// What it wrote about itself.
    pub(crate) fn notes(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// As `kill -9` does.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.unwrap();
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

/// Somebody's HTTP API.
#[derive(Clone)]
pub(crate) struct Api {
    client: reqwest::Client,
    base: String,
    token: Option<String>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) json: Value,
}

impl Answer {
    /// Status and problem code, for those that name one.
    pub(crate) fn problem(&self) -> (u16, &str) {
        (self.status, self.json["code"].as_str().unwrap_or(""))
    }
}

impl Api {
    pub(crate) fn at(address: SocketAddr) -> Self {
        // The provider may be there already, from another test of this process.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().timeout(ANSWER_WITHIN);
        Self {
            // A connection kept open would tie a request to a process that was killed since.
            client: client.pool_max_idle_per_host(0).build().unwrap(),
            base: format!("http://{address}"),
            token: None,
        }
    }

    /// The same, showing a token.
    pub(crate) fn with_token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// Asks once. The error is that nobody answered.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> reqwest::Result<Answer> {
        let mut request = self.client.request(method, format!("{}{path}", self.base));
        if let Some(body) = body {
            request = request.json(body);
        }
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await?;
        let status = response.status().as_u16();
        let text = response.text().await?;
        let json = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok(Answer { status, json })
    }

    /// Asks until somebody answers, whatever the answer.
    pub(crate) async fn insist(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let what = format!("{method} {}{path} is answered", self.base);
        eventually(&what, async || {
            self.ask(method.clone(), path, body).await.ok()
        })
        .await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, None).await.unwrap()
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Answer {
        self.ask(Method::PUT, path, Some(body)).await.unwrap()
    }

    /// Puts a task that is due now; it must be taken.
    pub(crate) async fn put_due(&self, kind: &str, subject: &str, callback: &str) {
        let body = json!({ "execute_at": NOW, "callback": { "url": callback }, "max_retry": 100 });
        let answer = self.put(&task(kind, subject), &body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
    }

    /// Waits until the task has this status; answers the task.
    pub(crate) async fn until_status(&self, kind: &str, subject: &str, status: &str) -> Value {
        let what = format!("{kind} {subject} is {status}");
        eventually(&what, async || {
            let answer = self.ask(Method::GET, &task(kind, subject), None).await;
            let task = answer.ok()?.json;
            (task["status"] == status).then_some(task)
        })
        .await
    }

    /// The attempts of an identity, in order.
    pub(crate) async fn attempts(&self, kind: &str, subject: &str) -> Vec<Value> {
        let answer = self.get(&format!("{}/history", task(kind, subject))).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let happenings = answer.json["happenings"].as_array().unwrap();
        let attempts = happenings.iter().filter(|it| it["what"] == "attempt");
        attempts.cloned().collect()
    }

    /// How the attempts of an identity ended, in order.
    pub(crate) async fn outcomes(&self, kind: &str, subject: &str) -> Vec<String> {
        let attempts = self.attempts(kind, subject).await;
        let outcomes = attempts.iter().map(|it| it["outcome"].as_str().unwrap());
        outcomes.map(str::to_owned).collect()
    }

    /// All tasks that will still be tried, or are being tried.
    pub(crate) async fn live_tasks(&self) -> Vec<Value> {
        let mut live = Vec::new();
        for status in ["INIT", "RUNNING", "FAIL"] {
            let answer = self
                .get(&format!("/api/v1/tasks?limit=500&status={status}"))
                .await;
            assert!(
                answer.json["next_cursor"].is_null(),
                "more than a page of {status}"
            );
            let tasks = answer.json["tasks"].as_array().unwrap();
            live.extend(tasks.iter().filter(|task| task["live"] == true).cloned());
        }
        live
    }
}

/// Where a task is.
pub(crate) fn task(kind: &str, subject: &str) -> String {
    format!("/api/v1/tasks/{kind}/{subject}")
}
