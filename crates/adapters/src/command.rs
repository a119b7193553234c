//! The command launcher: a schedule fires by running a local program (DP-11).
//!
//! Anyone who may write a schedule could run anything on the node. So commands are off until the
//! node's own configuration allows all or some of them ([`Allowed`]). A command is an argument
//! vector, never a line for a shell; it gets a clean environment, a directory, nothing to read, and
//! a time after which it and everything it started is stopped. A [supervisor](supervise()) stops it
//! when the node dies, too, so that the next attempt never runs beside it (DP-25).
//!
//! What it prints goes into its run's log as it is printed, without the secrets that the node knows,
//! and as much of its end as fits into the attempt's detail: enough to see why it failed. Exit code 0 is done; any other end may pass, so it is tried again inside the firing's window.

mod output;
mod permission;
mod program;
mod supervise;

use std::{
    collections::BTreeMap,
    io,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use almanack_core::{
    finish::Outcome,
    plan::{Firing, Trigger},
    run_log::{NoRunLogs, RunLog, RunLogs},
    store::RunId,
    target::{ELSEWHERE_AFTER, Launcher, Target},
    task::ClaimedTask,
};
use async_trait::async_trait;
use jiff::SignedDuration;
use rustix::io::Errno;
use tokio::{
    io::AsyncWriteExt,
    net::unix::pipe::Receiver,
    process::{Child, ChildStdin, Command},
    sync::Semaphore,
    time::timeout,
};

use crate::{
    launcher::wrong_target,
    process::{self, Leash},
};
use output::{Output, Tail};

pub use permission::Allowed;
pub use program::{Program, ProgramEnd};
pub use supervise::{SUPERVISE, SUPERVISE_FED, supervise, supervise_fed};

/// What every command gets of the node's environment: where programs are, whose files, time zone
/// and language.
const PASSED_THROUGH: [&str; 4] = ["PATH", "HOME", "TZ", "LANG"];
/// How long output is still read once the command has ended. Its group is dead by then; only a
/// process that left the group can still hold the pipe.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The wait before a command is tried again when all permits are taken.
const FULL_AGAIN: SignedDuration = SignedDuration::from_secs(1);

#[derive(Debug, Clone)]
pub struct CommandSettings {
    pub allowed: Allowed,
    pub directory: PathBuf,
    /// What they find in their environment, besides the firing; see [`environment`].
    pub environment: BTreeMap<String, String>,
    /// How long a command that ran out of time may take to end by itself before it is killed.
    pub stop_grace: Duration,
    /// The program that is called with [`SUPERVISE`] and the command, and ends it when this process
    /// ends; without one, a command outlives a node that is killed.
    pub supervisor: Option<PathBuf>,
    /// How many may run at once.
    pub at_once_max: usize,
}

/// What commands may see of the node's own environment: a few names that every program needs, and
/// those in `names`. `lookup` reads one variable.
pub fn environment(
    names: &[String],
    lookup: impl Fn(&str) -> Option<String>,
) -> BTreeMap<String, String> {
    let wanted = PASSED_THROUGH
        .into_iter()
        .chain(names.iter().map(String::as_str));
    wanted
        .filter_map(|name| Some((name.to_owned(), lookup(name)?)))
        .collect()
}

/// Fires at [`Target::Command`].
pub struct CommandLauncher {
    settings: CommandSettings,
    places: Semaphore,
    logs: Arc<dyn RunLogs>,
}

impl CommandLauncher {
    /// Runs commands as `settings` allow.
    pub fn new(settings: CommandSettings) -> Self {
        let places = Semaphore::new(settings.at_once_max.max(1));
        let logs = Arc::new(NoRunLogs);
        Self {
            settings,
            places,
            logs,
        }
    }

    /// Keeps what they print in these logs.
    #[must_use]
    pub fn logging(mut self, logs: Arc<dyn RunLogs>) -> Self {
        self.logs = logs;
        self
    }

    fn prepare(&self, program: &str, arguments: &[String]) -> Command {
        let mut command = match &self.settings.supervisor {
            Some(supervisor) => {
                let mut command = Command::new(supervisor);
                command.arg(SUPERVISE).arg(program);
                command
            }
            None => process::command(program),
        };
        command
            .args(arguments)
            .env_clear()
            .envs(&self.settings.environment)
            .current_dir(&self.settings.directory);
        command
    }
}

/// Runs a command with this to read, and everything it starts, for so long at most; one that ran
/// out of time has `grace` to end by itself.
pub(crate) async fn run(
    command: Command,
    input: Option<Vec<u8>>,
    time: Duration,
    grace: Duration,
) -> Outcome {
    run_logged(command, input, (time, grace), Box::new(NoRunLogs)).await
}

async fn run_logged(
    mut command: Command,
    input: Option<Vec<u8>>,
    (time, grace): (Duration, Duration),
    log: Box<dyn RunLog>,
) -> Outcome {
    if input.is_some() {
        command.stdin(Stdio::piped());
    }
    let started = Running::start(command, log, |command| {
        let (child, group) = process::spawn(command)?;
        Ok((child, Leash::Group(group)))
    });
    match started {
        Ok(running) => watch(running, input, time, grace).await,
        Err(error) => not_started(&error),
    }
}

/// As [`run_logged`], by a supervisor.
async fn run_supervised(
    command: Command,
    (time, grace): (Duration, Duration),
    log: Box<dyn RunLog>,
) -> Outcome {
    let started = Running::start(command, log, |command| {
        let (child, lifeline) = process::spawn_supervisor(command)?;
        Ok((child, Leash::Lifeline(lifeline)))
    });
    match started {
        Ok(running) => watch(running, None, time, grace).await,
        Err(error) => not_started(&error),
    }
}

async fn watch(
    mut running: Running,
    input: Option<Vec<u8>>,
    time: Duration,
    grace: Duration,
) -> Outcome {
    let feeding = feed(running.child.stdin.take(), input.unwrap_or_default());
    let ended = timeout(time, async { tokio::join!(feeding, running.end()).1 }).await;
    if ended.is_err() {
        running.leash.ask_to_end();
        // However it ends now, it ran out of time.
        let _ = timeout(grace, running.end()).await;
    }
    let tail = running.finish().await;
    match ended {
        Ok(Ok(status)) => outcome_of(status, &tail),
        Ok(Err(error)) => {
            Outcome::retry(tail.after(&format!("its exit status is unknown: {error}")))
        }
        Err(_) => Outcome::retry(tail.after(&format!("did not end within {time:?}, stopped"))),
    }
}

/// A command may leave its input unread: its exit status decides.
async fn feed(pipe: Option<ChildStdin>, input: Vec<u8>) {
    if let Some(mut pipe) = pipe {
        let _ = pipe.write_all(&input).await;
        let _ = pipe.shutdown().await;
    }
}

#[async_trait]
impl Launcher for CommandLauncher {
    async fn fire(&self, firing: &Firing, task: &ClaimedTask) -> Outcome {
        let Target::Command { argv, timeout } = &firing.target else {
            return wrong_target("commands", &firing.target);
        };
        let Some((program, arguments)) = argv.split_first() else {
            return Outcome::give_up("the command is empty");
        };
        if let Err(refused) = self.settings.allowed.check(program) {
            // Another node may allow it; the window ends the waiting.
            return Outcome::retry_after(ELSEWHERE_AFTER, refused.to_string());
        }
        let Ok(_place) = self.places.try_acquire() else {
            let at = task.started_at.saturating_add(FULL_AGAIN);
            return Outcome::NotNow {
                at: at.unwrap_or(task.started_at),
                why: "waits: the node runs as many commands as it may",
            };
        };
        let mut command = self.prepare(program, arguments);
        command.envs(facts(firing, task));
        let time = Duration::try_from(*timeout).unwrap_or_default();
        let grace = self.settings.stop_grace;
        let log = self.logs.begin(RunId::of(task));
        match self.settings.supervisor {
            Some(_) => run_supervised(command, (time, grace), log).await,
            None => run_logged(command, None, (time, grace), log).await,
        }
    }
}

/// The firing, as variables in the command's environment.
fn facts(firing: &Firing, task: &ClaimedTask) -> [(&'static str, String); 5] {
    let trigger = match firing.trigger {
        Trigger::Schedule => "schedule",
        Trigger::Manual => "manual",
        Trigger::Backfill => "backfill",
    };
    [
        ("ALMANACK_SCHEDULE", firing.schedule.clone()),
        ("ALMANACK_NOMINAL_AT", firing.nominal_at.to_string()),
        ("ALMANACK_TRIGGER", trigger.to_owned()),
        ("ALMANACK_ATTEMPT", task.attempt.to_string()),
        ("ALMANACK_TASK_ID", task.id.to_string()),
    ]
}

/// A command under way.
struct Running {
    child: Child,
    leash: Leash,
    pipe: Receiver,
    is_open: bool,
    output: Output,
}

impl Running {
    /// Both of its outputs go into one pipe, so that the order of its output is kept.
    fn start(
        mut command: Command,
        log: Box<dyn RunLog>,
        spawn: impl FnOnce(&mut Command) -> io::Result<(Child, Leash)>,
    ) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        command.stdout(writer.try_clone()?).stderr(writer);
        let pipe = Receiver::from_owned_fd(reader.into())?;
        let (child, leash) = spawn(&mut command)?;
        Ok(Self {
            child,
            leash,
            pipe,
            is_open: true,
            output: Output::into_log(log),
        })
    }

    /// Waits for its end and reads its output meanwhile: a full pipe would stall the command.
    async fn end(&mut self) -> io::Result<ExitStatus> {
        loop {
            tokio::select! {
                status = self.child.wait() => return status,
                more = self.output.listen(&mut self.pipe), if self.is_open => self.is_open = more,
            }
        }
    }

    /// Kills what is left of it and reads the rest of its output, which is then kept.
    async fn finish(mut self) -> Tail {
        drop(self.leash);
        let _ = timeout(LAST_WORDS, async {
            let _ = self.child.wait().await;
            while self.output.listen(&mut self.pipe).await {}
        })
        .await;
        self.output.end().await
    }
}

fn outcome_of(status: ExitStatus, tail: &Tail) -> Outcome {
    if status.success() {
        return Outcome::done(tail.after("exit code 0"));
    }
    let unstarted = status.code().and_then(|code| tail.not_started(code));
    if let Some(error) = unstarted {
        return not_started(&error);
    }
    // `ExitStatus` says "exit status: 3" or "signal: 9 (SIGKILL)".
    let what = match status.code() {
        Some(code) => format!("exit code {code}"),
        None => format!("ended by {status}"),
    };
    Outcome::retry(tail.after(&what))
}

/// A program that is missing or not executable stays so; a machine that is out of memory may
/// recover.
fn not_started(error: &io::Error) -> Outcome {
    let hopeless = matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::InvalidInput
    );
    match error.kind() {
        io::ErrorKind::NotFound => {
            Outcome::give_up("the program or the directory it should run in does not exist")
        }
        _ if hopeless || Errno::from_io_error(error) == Some(Errno::NOEXEC) => {
            Outcome::give_up(format!("the program cannot be run: {error}"))
        }
        _ => Outcome::retry(format!("the program was not started: {error}")),
    }
}
