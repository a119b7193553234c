//! The commands, one file each, and the way to them.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, IsTerminal as _, Read as _},
    path::Path,
    sync::Arc,
};

use almanack_core::{address::Reach, store::Store, time::Clock};
use almanack_engine::{reloadable::Reloadable, reschedule::Rescheduler, sources::Sources};

use jiff::SignedDuration;
use tokio::runtime::{self, Runtime};

use crate::{
    args::{Arguments, Command, SchemaCommand},
    client::Connector,
    config::{self, Inputs, Loaded, Need, Settings, report::Severity},
    failure::{Done, Failure, Result},
    output::Output,
    when, wiring,
};

mod actions;
mod alert;
mod alive;
mod backup;
#[cfg(feature = "lab")]
mod bench;
mod calendar;
mod chain;
#[cfg(feature = "lab")]
mod chaos;
mod check;
mod clock;
mod completions;
#[cfg(feature = "lab")]
mod demo;
mod doctor;
mod edition;
mod guard;
mod health;
mod idle;
mod import;
mod init;
mod kind;
mod migrate;
mod monitor;
mod next;
mod prelude;
mod progress;
mod radar;
mod schedule;
mod schema;
mod search;
mod serve;
mod simulate;
mod source;
mod subscription;
mod task;
mod tick;
mod token;
mod user;
mod work;
#[cfg(feature = "lab")]
mod world;

#[cfg(not(feature = "lab"))]
const WITHOUT_LAB: &str =
    "this build has no lab: demo, world, bench and chaos need the feature `lab`";

/// Does what was asked.
#[expect(clippy::too_many_lines, reason = "a flat list of all commands")]
pub(crate) fn dispatch(
    arguments: &Arguments,
    environment: BTreeMap<String, String>,
    output: &mut Output,
) -> Done {
    let inputs = Inputs {
        environment,
        file: arguments.global.config.clone(),
        flags: arguments.global.settings(),
    };
    let at = Connector {
        server: server(arguments, &inputs.environment)?,
        inputs: &inputs,
    };
    match &arguments.command {
        Command::Completions { shell } => completions::run(*shell, output),
        Command::Manual { folder } => completions::write_manual(folder, output),
        #[cfg(feature = "lab")]
        Command::Bench(command) => {
            let settings = checked(config::load(&inputs, Need::Database))?;
            bench::run(command, &settings, output)
        }
        #[cfg(feature = "lab")]
        Command::Chaos(arguments) => chaos::run(arguments, &inputs, output),
        #[cfg(feature = "lab")]
        Command::Demo(arguments) => demo::run(arguments, output),
        Command::Init(given) => init::run(given, &arguments.global, &inputs, output),
        Command::Next(arguments) => next::run(&at, arguments, output),
        Command::Simulate(arguments) => simulate::run(&at, arguments, output),
        Command::Import(arguments) => import::run(&at, arguments, output),
        Command::Chain(arguments) => chain::run(arguments, &inputs.environment, output),
        Command::Guard(arguments) => guard::run(arguments, &inputs.environment, output),
        #[cfg(feature = "lab")]
        Command::World(command) => world::run(command, &inputs.environment, output),
        #[cfg(not(feature = "lab"))]
        Command::WithoutLab { .. } => Err(Failure::usage(WITHOUT_LAB)),
        Command::Check => check::run(&inputs, output),
        Command::Schema(SchemaCommand::Config) => schema::config(output),
        Command::Backup(arguments) => backup::run(arguments, &inputs, output),
        Command::Restore(arguments) => backup::restore(arguments, &inputs, output),
        Command::Health(arguments) => health::run(arguments, &inputs, output),
        Command::Idle(arguments) => idle::run(arguments, output),
        Command::Doctor(arguments) => doctor::run(arguments, &inputs, output),
        Command::Migrate(arguments) => migrate::run(arguments, &inputs, output),
        Command::Serve(serve) => {
            let mut inputs = inputs.clone();
            inputs.flags.extend(serve.settings());
            let loaded = config::load(&inputs, Need::Everything);
            output.note(&loaded.report.render(Severity::Warning));
            serve::run(&checked(loaded)?, &inputs, output)
        }
        Command::Task(command) => wait_for(task::run(&at, command, output)),
        Command::Kind(command) => wait_for(kind::run(&at, command, output)),
        Command::Schedule(command) => wait_for(schedule::run(&at, command, output)),
        Command::Monitor(command) => wait_for(monitor::run(&at, command, output)),
        Command::Radar(arguments) => wait_for(radar::run(&at, arguments, output)),
        Command::Search(arguments) => wait_for(search::run(&at, arguments, output)),
        Command::Calendar(command) => wait_for(calendar::run(&at, command, output)),
        Command::Source(command) => wait_for(source::run(&at, command, output)),
        Command::Edition(command) => wait_for(edition::run(&at, command, output)),
        Command::Subscription(command) => wait_for(subscription::run(&at, command, output)),
        Command::Alert(command) => wait_for(alert::run(&at, command, output)),
        Command::Clock(command) => wait_for(async {
            let context = CommandContext::open(&inputs, DatabaseNeed::Existing).await?;
            clock::run(&context, command, output).await
        }),
        Command::Why(arguments) => wait_for(async {
            let client = at.open(DatabaseNeed::Existing).await?;
            if arguments.name.starts_with(source::PREFIX) {
                return source::why(&client, arguments, output).await;
            }
            schedule::why(&client, arguments, output).await
        }),
        Command::Tick(arguments) => {
            let loaded = config::load(&inputs, Need::Everything);
            tick::run(&checked(loaded)?, &inputs, arguments, output)
        }
        Command::Work(arguments) => wait_for(work::run(&at, arguments, output)),
        Command::Token(command) => wait_for(token::run(&at, command, output)),
        Command::User(command) => wait_for(user::run(&at, command, output)),
    }
}

/// The node to ask, for commands that can ask one. A flag that would do nothing is refused; a
/// variable is for those that it is for.
fn server(arguments: &Arguments, environment: &BTreeMap<String, String>) -> Result<Option<String>> {
    let asks = matches!(
        &arguments.command,
        Command::Task(_)
            | Command::Kind(_)
            | Command::Schedule(_)
            | Command::Monitor(_)
            | Command::Source(_)
            | Command::Edition(_)
            | Command::Calendar(_)
            | Command::Subscription(_)
            | Command::Alert(_)
            | Command::Token(_)
            | Command::User(_)
            | Command::Why(_)
            | Command::Work(_)
            | Command::Radar(_)
            | Command::Simulate(_)
            | Command::Search(_)
    ) || match &arguments.command {
        Command::Next(given) => given.names_calendars(),
        Command::Import(given) => given.apply,
        _ => false,
    };
    let flag = arguments.global.server.clone();
    if !asks && flag.is_some() {
        let what = "--server: this command works on this machine only";
        return Err(Failure::usage(what).hint(
            "these commands take --server: task, kind, schedule, monitor, calendar, source, edition, subscription, alert, token, user, why, work, radar, search, simulate, import --apply, next --except",
        ));
    }
    let variable = environment.get(SERVER_VARIABLE).cloned();
    // A named database takes precedence over a server.
    let variable = variable.filter(|_| asks && arguments.global.database.is_none());
    Ok(flag.or(variable).filter(|server| !server.is_empty()))
}

/// A file that a flag names, or standard input for `-`. The phrase says what is being done, like
/// `read payload from`.
fn read_text(path: &str, phrase: &str, bytes_max: u64) -> Result<String> {
    let bytes = read_bytes(path, phrase, bytes_max)?;
    String::from_utf8(bytes)
        .map_err(|_| Failure::usage(format!("{phrase} {}: it is not UTF-8", place(path))))
}

/// What an argument that names a file is called in a message.
fn place(path: &str) -> &str {
    if path == "-" { "standard input" } else { path }
}

/// Reads a file, or standard input if it is `-`, up to a size.
fn read_bytes(path: &str, phrase: &str, bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = if path == "-" {
        let mut input = std::io::stdin().take(bytes_max + 1);
        input.read_to_end(&mut bytes)
    } else {
        let file = std::fs::File::open(path);
        file.and_then(|it| it.take(bytes_max + 1).read_to_end(&mut bytes))
    };
    let failed =
        |why: &dyn std::fmt::Display| Failure::usage(format!("{phrase} {}: {why}", place(path)));
    let length = read.map_err(|error| failed(&error))?;
    if u64::try_from(length).is_ok_and(|length| length > bytes_max) {
        return Err(failed(&format!("it has more than {bytes_max} bytes")));
    }
    Ok(bytes)
}

/// The duration that a flag gives.
fn duration(flag: &str, text: &str) -> Result<SignedDuration> {
    when::parse_duration(text).map_err(|unclear| unclear.of(flag))
}

/// Asks for a confirmation, unless it was given; without a terminal, nothing is done. The hint says
/// what else there is.
fn confirmed(
    given: bool,
    (question, why): (&str, &str),
    hint: &str,
    output: &mut Output,
) -> Result<bool> {
    let input = std::io::stdin();
    if given {
        return Ok(true);
    }
    if !input.is_terminal() || !output.watched {
        let hint = format!("confirm with --yes; {hint}");
        return Err(Failure::usage(question).hint(hint));
    }
    output.note(&format!("{question} {why} [y/N] "));
    let mut answer = String::new();
    let read = input.lock().read_line(&mut answer);
    read.map_err(|error| Failure::failed(format!("read the answer: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Names the node to ask.
const SERVER_VARIABLE: &str = "ALMANACK_SERVER";
/// Largest file that a flag may name: what a body of the API holds.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The settings, or everything that is wrong with them.
fn checked(loaded: Loaded) -> Result<Settings> {
    let report = loaded.report;
    loaded
        .settings
        .ok_or_else(|| Failure::Configuration(Box::new(report)))
}

/// What a process that works for a while runs on.
fn runtime() -> Result<Runtime> {
    started(runtime::Builder::new_multi_thread())
}

/// Commands that ask a few questions need no more than the calling thread.
fn wait_for<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    started(runtime::Builder::new_current_thread())?.block_on(work)
}

fn started(mut builder: runtime::Builder) -> Result<Runtime> {
    let runtime = builder.enable_all().build();
    runtime.map_err(|error| Failure::failed(format!("start: {error}")))
}

/// What a command that works on the database works with.
pub(crate) struct CommandContext {
    pub(crate) settings: Settings,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Who may be called from here.
    pub(crate) reach: Reloadable<Reach>,
    /// The requester, as the history will show it.
    pub(crate) origin: String,
    /// What programs that are started may see some of.
    environment: BTreeMap<String, String>,
}

/// Whether a command can do anything on a database that does not exist yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DatabaseNeed {
    /// It is about what is there already.
    Existing,
    /// It may be the first to write.
    New,
    /// It keeps nothing and needs nothing that is kept.
    Nothing,
}

impl DatabaseNeed {
    /// What a command needs that may be the first to write, or not.
    fn new_if(first: bool) -> Self {
        if first { Self::New } else { Self::Existing }
    }
}

impl CommandContext {
    pub(crate) async fn open(inputs: &Inputs, database_need: DatabaseNeed) -> Result<Self> {
        Self::open_for(inputs, database_need, Need::Database).await
    }

    pub(crate) async fn open_for(
        inputs: &Inputs,
        database_need: DatabaseNeed,
        need: Need,
    ) -> Result<Self> {
        let loaded = config::load(inputs, need);
        let hooks = loaded.schedules.wanted.clone();
        let settings = checked(loaded)?;
        let missing = wiring::missing_file(&settings.database);
        if let Some(file) = missing.filter(|_| database_need == DatabaseNeed::Existing) {
            return Err(no_database(&file));
        }
        let store = match database_need {
            DatabaseNeed::Nothing => wiring::scratch_store()?,
            DatabaseNeed::Existing | DatabaseNeed::New => {
                wiring::open_store(&settings.database).await?
            }
        };
        let origin = format!("cli:{}", user(&inputs.environment));
        let clock = wiring::clock(store.as_ref()).await?;
        Ok(Self {
            reach: Reloadable::new(wiring::reach(&settings, &hooks)),
            settings,
            store,
            clock,
            origin,
            environment: inputs.environment.clone(),
        })
    }

    /// The way in for what people want of sources, by the price that all nodes share.
    pub(crate) async fn sources(&self) -> Result<Sources> {
        let fleet = wiring::fleet(&self.settings);
        fleet.hear(self.store.as_ref()).await?;
        let kept = wiring::Kept {
            environment: &self.environment,
            fleet: &fleet,
        };
        let checker = wiring::checker(&self.settings, kept, Arc::clone(&self.clock))?;
        let rescheduler = Arc::new(self.rescheduler());
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&self.clock));
        Ok(Sources {
            store,
            clock,
            rescheduler,
            checker: Arc::new(checker),
            fleet,
        })
    }

    pub(crate) fn rescheduler(&self) -> Rescheduler {
        let (store, clock) = (self.store.clone(), self.clock.clone());
        wiring::rescheduler(&self.settings, store, clock).reaching(self.reach.clone())
    }
}

fn no_database(file: &Path) -> Failure {
    let what = format!("no database at {}", file.display());
    Failure::not_found(what).hint(
        "run this where the node runs, or name its database: --database, --config or \
         ALMANACK_DATABASE_URL; `almanack check` shows what is in force",
    )
}

fn user(environment: &BTreeMap<String, String>) -> &str {
    let names = ["USER", "LOGNAME", "USERNAME"].into_iter();
    let found = names
        .filter_map(|name| environment.get(name))
        .find(|name| !name.is_empty());
    found.map_or("unknown", String::as_str)
}
