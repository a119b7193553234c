//! `almanack source …`, and `almanack why source:17`

use std::collections::BTreeMap;

use almanack_core::source::entry::canonical_address;
use url::Url;

use crate::{commands::prelude::*, suggest};

mod add;
mod check;
mod courtesy;
mod opml;
mod options;
mod preview;
mod replay;
mod rules;
mod set;
mod show;
mod week;
mod why;

/// Runs a command of `almanack source`.
pub(super) async fn run(at: &Connector<'_>, command: &SourceCommand, output: &mut Output) -> Done {
    // Recorded times need no database at all.
    if let SourceCommand::Replay(given) = command {
        return replay::run(given, output);
    }
    let client = &at.open(database_need(command)).await?;
    match command {
        SourceCommand::Add(given) => add::run(client, given, output).await,
        SourceCommand::Try(given) => preview::run(client, given, output).await,
        SourceCommand::List(given) => list(given).write(client, output).await,
        SourceCommand::Show(given) => show::run(client, given, output).await,
        SourceCommand::Check {
            source,
            wait,
            timeout,
        } => {
            let timeout = wait.then_some(timeout.as_str());
            check::run(client, source, timeout, output).await
        }
        SourceCommand::Pause { source, note } => {
            let before = load(client, &source.id).await?;
            let call = before.post("pause").json(&json!({ "note": note }));
            let answer = client.call(call).await?;
            output.report(&answer, |it| {
                let name = called(it);
                format!(
                    "paused source {}: {name}; no checks until you resume it",
                    before.id
                )
            })
        }
        SourceCommand::Resume(given) => {
            let before = load(client, &given.id).await?;
            let answer = client.call(before.post("resume")).await?;
            output.report(&answer, |it| {
                let (id, name) = (before.id, called(it));
                if before.now["state"] == "active" {
                    return format!("No change: source {id} is active");
                }
                format!("resumed source {id}: {name}; the next check starts as soon as a node has a free slot")
            })
        }
        SourceCommand::Set(given) => set::run(client, given, output).await,
        SourceCommand::Remove { source, yes } => remove(client, source, *yes, output).await,
        SourceCommand::Entries(given) => entries(client, given, output).await,
        SourceCommand::Stats { source_type } => stats(client, source_type.as_deref(), output).await,
        SourceCommand::Courtesy(given) => courtesy::run(client, given, output).await,
        SourceCommand::Replay(given) => replay::run(given, output),
        SourceCommand::Import { file } => opml::import(client, file, output).await,
        SourceCommand::Export { file } => opml::export(client, file.as_deref(), output).await,
        SourceCommand::Why { source, svg } => {
            why::run(client, &source.id, svg.as_deref(), output).await
        }
    }
}

fn database_need(command: &SourceCommand) -> DatabaseNeed {
    match command {
        // A dry run must not leave a database behind.
        SourceCommand::Add(given) if given.dry_run => DatabaseNeed::Nothing,
        SourceCommand::Try(given) if !preview::is_source(&given.source) => DatabaseNeed::Nothing,
        SourceCommand::Add(_) | SourceCommand::Import { .. } => DatabaseNeed::New,
        _ => DatabaseNeed::Existing,
    }
}

/// `almanack why source:17`
pub(super) async fn why(client: &Client, given: &WhyArguments, output: &mut Output) -> Done {
    if given.time.is_some() {
        let what = "`why` takes no time for a source: it explains the next check";
        let hint = format!("almanack why {}", given.name);
        return Err(Failure::usage(what).hint(hint));
    }
    why::run(client, &given.name, None, output).await
}

/// Sources looked through for one that may have been meant.
const SUGGESTED_OF: usize = 500;

/// What the subjects of sources begin with, on the command line as in tasks.
pub(super) const PREFIX: &str = "source:";

/// A source given by the user.
struct NamedSource {
    id: i64,
    now: Value,
    answer: Answer,
}

impl NamedSource {
    fn new(answer: Answer) -> Self {
        let now = answer.value();
        Self {
            id: now["source_id"].as_i64().unwrap_or_default(),
            now,
            answer,
        }
    }

    fn post(&self, what: &str) -> Call {
        Call::post(&["sources", &self.id.to_string(), what])
    }

    fn get(&self, what: &str) -> Call {
        Call::get(&["sources", &self.id.to_string(), what])
    }
}

/// How far a publisher's clock is off, in words.
fn clock_off(ahead_s: i64) -> String {
    let off = when::rounded(SignedDuration::from_secs(ahead_s.abs()));
    let side = if ahead_s > 0 { "ahead" } else { "behind" };
    format!("{off} {side}")
}

/// The given source: by id, as a task's subject, or by address.
async fn load(client: &Client, given: &str) -> Result<NamedSource> {
    let number = given.strip_prefix(PREFIX).unwrap_or(given);
    let number = match number.parse::<i64>() {
        Ok(number) => number.to_string(),
        Err(_) if given.contains("://") => find(client, given).await?,
        Err(_) => {
            let what = format!("`{given}` is not a source");
            let failure = Failure::usage(what).hint(
                "write its number or its address; `almanack source list --containing TEXT` \
                 finds it",
            );
            return Err(suggested(client, given, failure).await);
        }
    };
    let found = client.find(Call::get(&["sources", &number])).await?;
    let found = found.ok_or_else(|| unknown(&format!("there is no source {number}")))?;
    Ok(NamedSource::new(found))
}

/// The number of the source at an address: of those on its host, the one that is written the same
/// way.
async fn find(client: &Client, given: &str) -> Result<String> {
    let wanted = canonical_address(given);
    let host = Url::parse(&wanted).ok();
    let host = host.as_ref().and_then(Url::host_str).unwrap_or(given);
    let on_host = client
        .all(Call::get(&["sources"]).query("q", Some(host)), "sources")
        .await?;
    let there = |it: &&Value| canonical_address(&text(&it["address"])) == wanted;
    let found = on_host.iter().find(there).map(|it| text(&it["source_id"]));
    if let Some(number) = found {
        return Ok(number);
    }
    let failure = unknown(&format!("there is no source at {given}"));
    Err(suggested(client, given, failure).await)
}

/// The failure with the source whose address or name is nearest to what was written, of the first
/// page of sources.
async fn suggested(client: &Client, given: &str, failure: Failure) -> Failure {
    let call = Call::get(&["sources"]).query("limit", Some(SUGGESTED_OF));
    let Ok(page) = client.call(call).await else {
        return failure;
    };
    let page = page.value();
    let sources = items(&page["sources"]).iter();
    let sources = sources.flat_map(|source| {
        let of = |field: &str| source[field].as_str().unwrap_or_default();
        [of("address"), of("name")].map(|written| (written, of("address")))
    });
    let known: BTreeMap<&str, &str> = sources.filter(|(name, _)| !name.is_empty()).collect();
    let near = suggest::nearest(given, known.keys().copied());
    // A source is named by its address, whatever it is called.
    match near.and_then(|near| known.get(near)) {
        Some(address) => failure.suggesting(address),
        None => failure,
    }
}

fn unknown(what: &str) -> Failure {
    Failure::not_found(what)
        .hint("`almanack source list --containing TEXT` finds sources by name or address")
}

/// The name of a source for people.
fn called(source: &Value) -> String {
    match text(&source["name"]) {
        name if name.is_empty() => text(&source["address"]),
        name => name,
    }
}

const LIST: &[Column] = &[
    column("SOURCE", "/source_id", plain),
    column("STATE", "/state", state),
    column("NAME", "", |it, _| called(it).into()),
    column("TYPE", "/source_type", plain),
    column("CADENCE", "/cadence", plain),
    column("NEXT", "/next_due_at", ago),
    column("LAST", "/last_check_at", ago).or("never"),
    column("HITS", "/hit_rate", |rate, _| {
        format!("{:.0} %", rate.as_f64().unwrap_or_default()).into()
    }),
    column("NEEDS", "/attention", bad),
];

fn list(given: &SourceListArguments) -> List {
    let (path, none) = if given.due {
        (&["sources", "due"][..], "no source is due")
    } else {
        (&["sources"][..], "no sources")
    };
    let call = Call::get(path)
        .query("type", given.source_type.as_deref())
        .query("state", given.state.as_deref())
        .query("cadence", given.cadence.as_deref())
        .query("attention", given.attention.as_deref())
        .query("category", given.category.as_deref())
        .query("q", given.containing.as_deref());
    List::new(call, ("sources", LIST), none).limit_or_all(given.many.limit())
}

/// Deletes a source and its entries, after a confirmation.
async fn remove(client: &Client, given: &SourceArguments, yes: bool, output: &mut Output) -> Done {
    let source = load(client, &given.id).await?;
    let (id, name) = (source.id, called(&source.now));
    let question = format!("remove source {id} and its entries?");
    let why = format!("Its name is {name}. This cannot be undone.");
    let hint = "`almanack source pause` keeps the entries";
    if !confirmed(yes, (&question, &why), hint, output)? {
        output.note("nothing was removed\n");
        return Ok(Exit::Failed);
    }
    let call = Call::delete(&["sources", &id.to_string()]);
    client.call(call).await?;
    let message = format!("removed source {id} and its entries: {name}");
    output.say(&json!({ "removed": id }), &message)
}

const ENTRIES: &[Column] = &[
    column("ENTRY", "/entry_id", plain),
    column("SOURCE", "/source_id", plain),
    column("SEEN", "/seen_at", at),
    PUBLISHED,
    column("TITLE", "", |it, _| {
        let shown = format!("{} {}", text(&it["title"]), text(&it["link"]));
        Cell::new(shown.trim())
    }),
];

const PUBLISHED: Column = column("PUBLISHED", "/published_at", at).or("no time");

async fn entries(client: &Client, given: &EntriesArguments, output: &mut Output) -> Done {
    if let Some(id) = given.full_text {
        return read_full_text(client, id, output).await;
    }
    let since = given.since.as_deref();
    let since = since.map(|text| since_of(text, client.now())).transpose()?;
    let call = match &given.id {
        Some(id) => load(client, id).await?.get("entries"),
        None => Call::get(&["entries"]),
    };
    let call = call
        .query("q", given.search.as_deref())
        .query("category", given.category.as_deref())
        .query("since", since);
    let list = List::new(call, ("entries", ENTRIES), "no entries").limit_or_all(given.many.limit());
    list.write(client, output).await
}

/// Has an entry's page read, and its text stored.
async fn read_full_text(client: &Client, id: i64, output: &mut Output) -> Done {
    let call = Call::post(&["entries", &id.to_string(), "full-text"]);
    let answer = client.call(call).await?;
    output.report(&answer, |it| {
        let (title, bytes) = (text(&it["title"]), text(&it["content"]).len());
        format!("stored the full text of entry {id}, {bytes} bytes: {title}")
    })
}

/// A distance back from now, or a time.
fn since_of(text: &str, now: Timestamp) -> Result<Timestamp> {
    let back = text.trim_start_matches('-');
    if back.starts_with(|c: char| c.is_ascii_digit()) && when::parse_duration(back).is_ok() {
        let back = duration("--since", back)?;
        return Ok(now.saturating_sub(back).unwrap_or(Timestamp::MIN));
    }
    when::parse_at_in(text, now, "UTC").map_err(|unclear| {
        let hint = "write an age, like 2h or 7d, or a time, like 2026-01-05T08:00Z";
        unclear.of("--since").hint(hint)
    })
}

const STATS: &[Column] = &[
    column("sources", "/total_sources", plain),
    column("", "/states", counts),
    column("checked so far", "/total_with_stats", plain),
    column("by cadence", "/cadence_distribution", counts),
    column("due now", "/due_now", plain),
    column("waiting after failures", "/in_backoff", plain),
    column("need attention", "/attention", counts),
    column("checks with new entries", "/avg_hit_rate", |rate, _| {
        format!("{:.1} %", rate.as_f64().unwrap_or_default()).into()
    }),
];

async fn stats(client: &Client, source_type: Option<&str>, output: &mut Output) -> Done {
    let call = Call::get(&["sources", "stats"]).query("type", source_type);
    let answer = client.call(call).await?;
    output.show(&answer, |output, stats| {
        output.page(STATS, &stats, answer.now)
    })
}

/// `3 active, 1 paused`
fn counts(counted: &Value, _: Timestamp) -> Cell {
    let counted = counted.as_object().into_iter().flatten();
    let some = counted.filter(|(_, count)| count.as_u64() > Some(0));
    joined(some.map(|(name, count)| format!("{count} {name}"))).into()
}
