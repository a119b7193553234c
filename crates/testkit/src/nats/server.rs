//! A private NATS server: a process that encrypts and authenticates its clients, with a
//! configuration and a separate store.
//!
//! It chooses its port itself, so no process can take it away in between; where that is appears in
//! its log.

use std::{
    fmt::Write as _,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, Stdio},
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use async_nats::{Client, ConnectOptions};

use crate::authority::{Authority, Clients, Identity};

/// Where Debian puts it: not every PATH has it.
const PROGRAM: &str = "/usr/sbin/nats-server";
/// How long it may take for something that must come.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Who is let in.
pub enum Access {
    Token(String),
    Password {
        username: String,
        password: String,
    },
    /// One user who may not do everything.
    Confined {
        username: String,
        password: String,
        /// Subjects that they may not publish to.
        not_to: String,
    },
    /// Users of an operator; see [`Operator::access`](super::Operator::access).
    Credentials {
        /// What the server knows.
        known: String,
        /// What a user has: the text of a credentials file.
        text: String,
    },
}

/// A server that runs. It ends when it goes.
pub struct Server {
    process: Process,
    folder: tempfile::TempDir,
    log: Arc<Log>,
    authority: PathBuf,
    /// By which the server, and who goes in and out here, is recognised.
    identity: Identity,
    /// The part of its configuration that does not change.
    fixed: String,
    name: String,
    port: u16,
}

impl Server {
    /// Starts one whose certificate is made out to this name of `127.0.0.1`.
    pub fn start(authority: &Authority, name: &str, clients: Clients, access: &Access) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let identity = authority.vouch(name);
        let fixed = configuration(folder.path(), &authority.certificate(), &identity, clients);
        let file = write(folder.path(), &fixed, access);
        let mut command = Command::new(program());
        let command = command.arg("-c").arg(file).stderr(Stdio::piped());
        let process = command.spawn();
        let mut process =
            Process(process.expect("nats-server is there: `dev/nats start` installs it"));
        let log = Log::keep(process.0.stderr.take().unwrap());
        log.wait_for("Server is ready", 1);
        let port = log.port();
        Self {
            process,
            folder,
            log,
            authority: authority.certificate(),
            identity,
            fixed,
            name: name.to_owned(),
            port,
        }
    }

    /// Where it is, by the name in its certificate.
    pub fn url(&self) -> String {
        self.url_by(&self.name)
    }

    /// Where it is, by another name.
    pub fn url_by(&self, name: &str) -> String {
        format!("nats://{name}:{}", self.port)
    }

    /// An authorised connection.
    pub async fn connect(&self, access: &Access) -> Client {
        let options = ConnectOptions::new().require_tls(true);
        let options = options.add_root_certificates(self.authority.clone());
        let Identity { certificate, key } = self.identity.clone();
        let options = options.add_client_certificate(certificate, key);
        let options = match access {
            Access::Token(token) => options.token(token.clone()),
            Access::Password { username, password }
            | Access::Confined {
                username, password, ..
            } => options.user_and_password(username.clone(), password.clone()),
            Access::Credentials { text, .. } => options.credentials(text).unwrap(),
        };
        options.connect(self.url()).await.unwrap()
    }

    /// From now on these are let in. Who is in already and would not be let in again is put out.
    pub fn set_access(&self, access: &Access) {
        write(self.folder.path(), &self.fixed, access);
        let line = "Reloaded server configuration";
        let before = self.log.count(line);
        let signal = format!("reload={}", self.process.0.id());
        let mut command = Command::new(program());
        let signalled = command.arg("--signal").arg(signal).status().unwrap();
        assert!(signalled.success());
        self.log.wait_for(line, before + 1);
    }

    /// How many connections there were.
    pub fn came(&self) -> usize {
        self.log.count("Client connection created")
    }
}

/// Ends when it goes, even if it never became a server.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn program() -> &'static str {
    let there = Path::new(PROGRAM).exists();
    if there { PROGRAM } else { "nats-server" }
}

fn configuration(folder: &Path, authority: &Path, identity: &Identity, clients: Clients) -> String {
    format!(
        "host: \"127.0.0.1\"
port: -1
debug: true
jetstream {{ store_dir: \"{}\" }}
tls {{
  cert_file: \"{}\"
  key_file: \"{}\"
  ca_file: \"{}\"
  verify: {}
}}
",
        folder.join("store").display(),
        identity.certificate.display(),
        identity.key.display(),
        authority.display(),
        clients == Clients::Vouched
    )
}

/// Writes the file that the server reads.
fn write(folder: &Path, fixed: &str, access: &Access) -> PathBuf {
    let mut text = fixed.to_owned();
    match access {
        Access::Token(token) => writeln!(text, "authorization {{ token: {token:?} }}").unwrap(),
        Access::Password { username, password } => writeln!(
            text,
            "authorization {{ user: {username:?}, password: {password:?} }}"
        )
        .unwrap(),
        Access::Confined {
            username,
            password,
            not_to,
        } => writeln!(
            text,
            "authorization {{ users: [{{ user: {username:?}, password: {password:?}, permissions: {{ publish: {{ deny: {not_to:?} }} }} }}] }}"
        )
        .unwrap(),
        Access::Credentials { known, .. } => text.push_str(known),
    }
    let file = folder.join("nats.conf");
    std::fs::write(&file, text).unwrap();
    file
}

/// What the server has said so far.
#[derive(Default)]
struct Log {
    text: Mutex<String>,
    grown: Condvar,
}

impl Log {
    /// Keeps its output, on a separate thread until the server is gone.
    fn keep(stderr: ChildStderr) -> Arc<Self> {
        let log = Arc::new(Self::default());
        let kept = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut text = kept.text.lock().unwrap();
                text.push_str(&line);
                text.push('\n');
                kept.grown.notify_all();
            }
        });
        log
    }

    fn count(&self, words: &str) -> usize {
        self.text.lock().unwrap().matches(words).count()
    }

    fn wait_for(&self, words: &str, times: usize) {
        let text = self.text.lock().unwrap();
        let lacks = |text: &mut String| text.matches(words).count() < times;
        let waited = self.grown.wait_timeout_while(text, WAIT_MAX, lacks);
        let (text, waited) = waited.unwrap();
        assert!(
            !waited.timed_out(),
            "nats-server did not say {words}: {text}"
        );
    }

    fn port(&self) -> u16 {
        let text = self.text.lock().unwrap();
        let said = text.split_once("Listening for client connections on 127.0.0.1:");
        let rest = said.expect("it says where it listens").1;
        let port = rest.lines().next().unwrap_or_default();
        port.parse().unwrap()
    }
}
