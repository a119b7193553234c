//! `almanack edition …`
//!
//! An edition is changed only by a process that saw its current state, so a command and a node
//! never undo each other's work. On this machine, `run` and `publish` call the outside services
//! themselves; with `--server`, the node does.

use std::{io, path::PathBuf, sync::Arc};

use almanack_core::edition::{EditionId, EditionName, turn::Chosen};
use almanack_engine::{editions::EditionSet, reloadable::Reloadable, watch::Watch};

use crate::{
    client::EDITIONS_OFF,
    commands::prelude::*,
    wiring::{
        self, Outbound,
        editions::{Purpose, Workshop},
    },
};

mod desk;
mod ledger;
mod progress;
mod prompts;
mod run;
mod show;
mod status;
mod subscriber;
mod usage;

/// Runs a command of `almanack edition`.
pub(super) async fn run(at: &Connector<'_>, command: &EditionCommand, output: &mut Output) -> Done {
    if let EditionCommand::Run(given) = command {
        return run::run(at, given, output).await;
    }
    if let EditionCommand::Subscriber(command) = command {
        let client = at.open(DatabaseNeed::Existing).await?;
        return subscriber::run(&client, command, output).await;
    }
    if let EditionCommand::Bounce { file } = command {
        let client = at.open(DatabaseNeed::Existing).await?;
        return ledger::bounce(&client, file, output).await;
    }
    let (client, watch) = open(at, command, output.json).await?;
    let done = ask(&client, command, output).await;
    if let Some(watch) = watch {
        alert(watch).await;
    }
    done
}

/// A command may be the only process that produces an edition: it evaluates the alerts, too.
async fn alert(mut watch: Watch) {
    if let Err(error) = watch.round_of_editions().await {
        tracing::warn!(error = error.chain(), "could not evaluate the alert rules");
    }
}

async fn ask(client: &Client, command: &EditionCommand, output: &mut Output) -> Done {
    match command {
        EditionCommand::Status(given) => status::run(client, given, output).await,
        EditionCommand::Show(given) => show(client, given, output).await,
        EditionCommand::Publish(given) => publish(client, given, output).await,
        EditionCommand::Retry { edition, max } => retry(client, edition, *max, output).await,
        EditionCommand::Reset { edition, yes } => reset(client, edition, *yes, output).await,
        EditionCommand::Resend(given) => redeliver(client, given, true, output).await,
        EditionCommand::Skip(given) => redeliver(client, given, false, output).await,
        EditionCommand::Approve(given) => desk::decide(client, given, true, output).await,
        EditionCommand::Reject(given) => desk::decide(client, given, false, output).await,
        EditionCommand::Drop(of) => desk::drop_story(client, of, output).await,
        EditionCommand::Move { to, of } => desk::move_story(client, of, *to, output).await,
        EditionCommand::Edit(given) => desk::edit(client, given, output).await,
        EditionCommand::Retract { edition, note, yes } => {
            desk::retract(client, edition, (note.as_deref(), *yes), output).await
        }
        EditionCommand::Restore(given) => desk::restore(client, given, output).await,
        EditionCommand::History(given) => desk::history(client, given, output).await,
        EditionCommand::Preview(given) => {
            let date = day(client, given).await?;
            show::print(client, Call::get(&["editions", &date, "preview"]), output).await
        }
        EditionCommand::Usage { name, month } => {
            let which = (name.as_deref(), month.as_deref());
            usage::run(client, which, output).await
        }
        EditionCommand::Prompts { name } => prompts::run(client, name.as_deref(), output).await,
        EditionCommand::Mailing {
            edition,
            state,
            limit,
        } => ledger::of_mailing(client, edition, (state.as_deref(), *limit), output).await,
        // They open what they need by themselves.
        EditionCommand::Run(_) | EditionCommand::Subscriber(_) | EditionCommand::Bounce { .. } => {
            Ok(Exit::Ok)
        }
        EditionCommand::List { name, limit } => {
            let call = Call::get(&["editions"]).query("name", name.as_deref());
            let list = List::new(call, ("editions", LIST), "no editions").limit(*limit);
            let written = list.write_counted(client, output).await?;
            if let (0, Some(name)) = (written, name)
                && let Some(near) = client.near_edition(name).await
            {
                output.aside(&format!("hint: did you mean `{near}`?\n"));
            }
            Ok(Exit::Ok)
        }
    }
}

/// On this machine, with what the command needs of the configuration, and with a watch where it may
/// make an edition.
async fn open(
    at: &Connector<'_>,
    command: &EditionCommand,
    json: bool,
) -> Result<(Client, Option<Watch>)> {
    if at.server.is_some() {
        return Ok((at.open(DatabaseNeed::Existing).await?, None));
    }
    let (need, purpose) = match command {
        EditionCommand::Publish(_) => (Need::Everything, Purpose::Make),
        // A corrected document is rendered, with the template of the configuration.
        EditionCommand::Preview(_)
        | EditionCommand::Drop(_)
        | EditionCommand::Move { .. }
        | EditionCommand::Edit(_)
        | EditionCommand::Restore(_) => (Need::Database, Purpose::Make),
        _ => (Need::Database, Purpose::Keep),
    };
    let context = CommandContext::open_for(at.inputs, DatabaseNeed::Existing, need).await?;
    let editions = context.editions(purpose, json)?;
    let makes = matches!(command, EditionCommand::Publish(_));
    let watch = makes.then(|| context.watch()).transpose()?;
    Ok((Client::on(context, editions).await?, watch))
}

impl CommandContext {
    /// Evaluates the alert rules.
    fn watch(&self) -> Result<Watch> {
        let outbound = Outbound::new(&self.settings)?;
        let (settings, environment) = (&self.settings, &self.environment);
        let watching = wiring::alerts::watching(settings, environment, &outbound, &self.clock)?;
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&self.clock));
        Ok(Watch::new(store, clock, Reloadable::new(watching)))
    }

    /// Who makes editions. What is printed instead of published must not stand between the lines of
    /// JSON.
    fn editions(&self, purpose: Purpose, json: bool) -> Result<EditionSet> {
        let outbound = Outbound::new(&self.settings)?;
        let rescheduler = Arc::new(self.rescheduler());
        let subscriptions = Reloadable::new(self.settings.event_delivery.subscriptions());
        let workshop = Workshop {
            settings: &self.settings,
            rescheduler: &rescheduler,
            subscriptions: &subscriptions,
            outbound: &outbound,
            store: &self.store,
            pages: &self.store,
            clock: Arc::clone(&self.clock),
            sleeper: wiring::sleeper(Arc::clone(&self.clock)),
            node: &self.origin,
        };
        let paper: Box<dyn io::Write + Send> = if json {
            Box::new(io::stderr())
        } else {
            Box::new(io::stdout())
        };
        let editions = workshop.editions(purpose, paper)?;
        if editions.is_empty() {
            return Err(Failure::usage("editions are off").hint(EDITIONS_OFF));
        }
        Ok(editions)
    }
}

/// The given edition; of a name alone, or of nothing, that of today in its time zone.
async fn day(client: &Client, given: &EditionArguments) -> Result<String> {
    let name = match given.date.as_deref().map(meant).transpose()? {
        Some(Meant::Day(id)) => return Ok(id.to_string()),
        Some(Meant::Today(name)) => Some(name.to_string()),
        None => None,
    };
    let today = Call::get(&["editions", "today"]).query("name", name);
    Ok(text(&client.call(today).await?.value()["edition"]))
}

/// Which edition an argument means.
enum Meant {
    /// That of a day.
    Day(EditionId),
    /// Today's of a name.
    Today(EditionName),
}

fn meant(text: &str) -> Result<Meant> {
    if let Ok(name) = EditionName::parse(text) {
        return Ok(Meant::Today(name));
    }
    text.parse().map(Meant::Day).map_err(|_| {
        Failure::usage(format!("`{text}` is not a date"))
            .hint("write year, month and day, like 2026-01-31, or NAME@2026-01-31 for an edition with a name")
    })
}

const LIST: &[Column] = &[
    column("DATE", "/date", plain),
    column("NAME", "/name", plain),
    column("STATE", "/state", state),
    column("STORIES", "/counts", |counts, _| {
        format!("{} of {}", counts["completed"], counts["total"]).into()
    }),
    column("FAILED", "/counts/failed", plain),
    column("BATCHES", "/batches_ended", plain),
    column("REVISION", "/revision", plain),
    column("PUBLISHED", "/published_at", ago),
    column("WAITS", "", desk::waits),
];

/// Prints a stored document, or what differs from it.
async fn show(client: &Client, given: &EditionShowArguments, output: &mut Output) -> Done {
    let date = day(client, &given.edition).await?;
    let read = |file: &PathBuf| {
        std::fs::read_to_string(file)
            .map_err(|error| Failure::usage(format!("cannot read `{}`: {error}", file.display())))
    };
    let template = given.template.as_ref().map(read).transpose()?;
    let page_template = given.page_template.as_ref().map(read).transpose()?;
    let compares = template.is_some() || page_template.is_some();
    if !compares && !given.rebuild {
        let call = Call::get(&["editions", &date, "document"]);
        return show::print(client, call.query("revision", given.revision), output).await;
    }
    let body =
        json!({ "revision": given.revision, "template": template, "page_template": page_template });
    let call = Call::post(&["editions", &date, "rebuild"]).json(&body);
    let rebuilt = client.call(call).await?;
    if compares {
        return show::compare(&rebuilt, output);
    }
    show::prove(&rebuilt, output)
}

/// Publishes what is completed (ED-23).
async fn publish(client: &Client, given: &EditionArguments, output: &mut Output) -> Done {
    let date = day(client, given).await?;
    let answer = client
        .call(Call::post(&["editions", &date, "publish"]).long())
        .await?;
    let done = answer.value();
    let edition = status::load(client, &date).await?.value();
    if output.json {
        output.line(answer.text())?;
    } else if is_published(&edition) {
        let stories = stories(&edition["counts"]["completed"]);
        output.line(&format!("published the edition of {date}: {stories}"))?;
    }
    if done["left_out"].as_u64() > Some(0) {
        let left_out = stories(&done["left_out"]);
        output.note(&format!("left out: {left_out}, not completed\n"));
    }
    Ok(status::ending(&edition, output))
}

/// Retries failed stories (ED-24).
async fn retry(
    client: &Client,
    given: &EditionArguments,
    max: Option<u32>,
    output: &mut Output,
) -> Done {
    let date = day(client, given).await?;
    let call = Call::post(&["editions", &date, "retry"]).json(&json!({ "retries_max": max }));
    let answer = client.call(call).await?;
    output.report(&answer, |done| match done["stories"].as_u64() {
        Some(0) => format!("No change: no failed story of {date} has retries left"),
        _ => format!(
            "retrying {} of {date}; {GOES_ON}",
            stories(&done["stories"])
        ),
    })
}

/// What continues an edition.
const GOES_ON: &str = "a node continues, or run `almanack edition run`";

/// Restarts an edition. The model writes, and costs, again, so this asks for confirmation.
async fn reset(client: &Client, given: &EditionArguments, yes: bool, output: &mut Output) -> Done {
    let date = day(client, given).await?;
    let question = format!("restart the edition of {date}?");
    let why = "All stories are read and written again.";
    let hint = "`almanack edition retry` retries only failed stories";
    if !confirmed(yes, (&question, why), hint, output)? {
        output.note("nothing was reset\n");
        return Ok(Exit::Failed);
    }
    let answer = client
        .call(Call::post(&["editions", &date, "reset"]))
        .await?;
    output.report(&answer, |edition| {
        let stories = stories(&edition["counts"]["total"]);
        format!("reset the edition of {date}: {stories}; {GOES_ON}")
    })
}

/// Sends again what a destination lacks, or skips it (ED-41).
async fn redeliver(
    client: &Client,
    given: &RedeliveryArguments,
    again: bool,
    output: &mut Output,
) -> Done {
    let date = day(client, &given.edition).await?;
    let chosen = Chosen {
        destination: given.destination.clone(),
        part: given.part,
    };
    let body = json!({ "destination": chosen.destination, "part": chosen.part });
    let call = Call::post(&["editions", &date, if again { "resend" } else { "skip" }]);
    let answer = client.call(call.json(&body)).await?;
    output.report(&answer, |done| {
        let parts = match items(&done["parts"]).len() {
            0 => String::new(),
            1 => format!("part {}", text(&done["parts"])),
            _ => format!("parts {}", text(&done["parts"])),
        };
        match (again, parts.is_empty()) {
            (true, true) => {
                format!("No change: what {chosen} lacks is about to be sent; {GOES_ON}")
            }
            (true, false) => format!("Sending {parts} to {chosen} again; {GOES_ON}"),
            (false, true) => format!("No change: what {chosen} lacks was skipped before"),
            (false, false) => format!("Skipped {parts} of {chosen}"),
        }
    })
}

/// What identifies an edition, by an answer about it.
fn identified(answer: &Value) -> String {
    let (name, date) = (text(&answer["name"]), text(&answer["date"]));
    let prefix = EditionName::parse(&name).map(|name| name.prefix());
    format!("{}{date}", prefix.unwrap_or_default())
}

fn is_published(edition: &Value) -> bool {
    edition["state"] == "published" || edition["archived_from"] == "published"
}

/// `1 story`, `2 stories`.
fn stories(count: &Value) -> String {
    counted(count.as_u64().unwrap_or_default(), "story", "stories")
}
