//! Running git: without a terminal, without traces, within its time, and without addresses in
//! errors.

use std::{io, process::Stdio};

use almanack_core::lock::Error;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::Command,
    time::timeout,
};

use super::GitSettings;
use crate::{process, redact::redact};

/// Most that is read of what git prints. A list of 10,000 locks has about 1 MiB.
const OUTPUT_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Variables that git must not see: those that would lead it to another repository, and traces,
/// which show credentials.
const HIDDEN: [&str; 10] = [
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_TRACE",
    "GIT_TRACE_CURL",
    "GIT_TRACE_PACKET",
    "GIT_TRACE2",
    "GIT_CURL_VERBOSE",
];
/// What git says where asking again does not help.
const HOPELESS: [&str; 6] = [
    "authentication failed",
    "could not read username",
    "could not read password",
    "permission denied",
    "does not appear to be a git repository",
    "repository not found",
];

/// What a command printed.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) success: bool,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Git, in the scratch repository.
pub(super) struct Git {
    settings: GitSettings,
}

impl Git {
    pub(super) fn new(settings: GitSettings) -> Self {
        Self { settings }
    }

    /// Makes the scratch repository; making it again does no harm.
    pub(super) async fn init(&self) -> Result<(), Error> {
        let init = ["init", "--quiet", "--bare", "--template="];
        self.local(self.command().args(init), Vec::new()).await?;
        Ok(())
    }

    /// Writes an object and returns its id.
    pub(super) async fn write(&self, what: &str, content: Vec<u8>) -> Result<String, Error> {
        let write = ["hash-object", "-w", "-t", what, "--stdin"];
        let output = self.local(self.command().args(write), content).await?;
        Ok(output.stdout.trim().to_owned())
    }

    pub(super) async fn push(&self, leases: &[String], refs: &[String]) -> Result<Output, Error> {
        let mut command = self.command();
        command
            .args(["push", "--porcelain", "--no-verify"])
            .args(leases);
        command.args(["--", &self.settings.url]).args(refs);
        self.run(&mut command, Vec::new()).await
    }

    pub(super) async fn ls_remote(&self, pattern: &str) -> Result<Output, Error> {
        let mut command = self.command();
        command.args(["ls-remote", "--", &self.settings.url, pattern]);
        self.run(&mut command, Vec::new()).await
    }

    pub(super) async fn prune(&self, expire: &str) -> Result<Output, Error> {
        self.run(self.command().args(["prune", expire]), Vec::new())
            .await
    }

    fn command(&self) -> Command {
        let mut command = process::command("git");
        for name in HIDDEN {
            command.env_remove(name);
        }
        command
            .env("GIT_DIR", &self.settings.scratch)
            .env("GIT_TERMINAL_PROMPT", "0")
            // Its output is parsed, so it must be in English.
            .env("LC_ALL", "C")
            .envs(&self.settings.environment);
        command
    }

    /// Runs a local command that must succeed.
    async fn local(&self, command: &mut Command, input: Vec<u8>) -> Result<Output, Error> {
        let output = self.run(command, input).await?;
        if output.success {
            return Ok(output);
        }
        Err(Error::Refused {
            why: format!(
                "the scratch repository is not usable: {}",
                self.reason(&output.stderr)
            ),
        })
    }

    async fn run(&self, command: &mut Command, input: Vec<u8>) -> Result<Output, Error> {
        match timeout(self.settings.timeout, talk(command, input)).await {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => Err(Error::Refused {
                why: "git is not installed".to_owned(),
            }),
            Ok(Err(error)) => Err(Error::unavailable(format!("git was not run: {error}"))),
            Err(_) => Err(Error::unavailable("git did not end in time")),
        }
    }

    /// What a command that got no answer from the server means.
    pub(super) fn failure(&self, output: &Output) -> Error {
        let text = output.stderr.to_ascii_lowercase();
        if HOPELESS.iter().any(|words| text.contains(words)) {
            self.refusal(output)
        } else {
            Error::unavailable(self.reason(&output.stderr))
        }
    }

    pub(super) fn refusal(&self, output: &Output) -> Error {
        Error::Refused {
            why: self.reason(&output.stderr),
        }
    }

    /// The line that says what went wrong, without the address.
    fn reason(&self, stderr: &str) -> String {
        let reason = |line: &&str| {
            ["fatal: ", "error: ", "remote: "]
                .iter()
                .any(|start| line.starts_with(start))
        };
        let line = stderr.lines().find(reason).unwrap_or("git gave no reason");
        let line = line.replace(&self.settings.url, "***");
        let scratch = self.settings.scratch.display().to_string();
        let line = line.replace(&scratch, "the scratch repository");
        redact(&line, &names_in(&self.settings.url))
    }
}

/// What an address names: its host and the parts of its path.
fn names_in(address: &str) -> Vec<&str> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let parts = rest.split(['/', ':', '@']);
    parts
        .flat_map(|part| [part, part.trim_end_matches(".git")])
        .filter(|part| !part.is_empty())
        .collect()
}

/// Starts it, gives it `input`, and takes what it prints until it ends. Dropped halfway, it and
/// everything it started is killed.
async fn talk(command: &mut Command, input: Vec<u8>) -> io::Result<Output> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let (mut child, _group) = process::spawn(command)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let give = async {
        if let Some(mut stdin) = stdin {
            // A command that closes its input early has printed why.
            let _ = stdin.write_all(&input).await;
        }
    };
    let ((), stdout, stderr, status) = tokio::join!(give, read(stdout), read(stderr), child.wait());
    Ok(Output {
        success: status?.success(),
        stdout: stdout?,
        stderr: stderr?,
    })
}

async fn read(output: Option<impl AsyncRead + Unpin>) -> io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(output) = output {
        output
            .take(OUTPUT_BYTES_MAX)
            .read_to_end(&mut bytes)
            .await?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
