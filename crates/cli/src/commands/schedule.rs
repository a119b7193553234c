//! `almanack schedule …`, and `almanack why SCHEDULE TIME`

use almanack_core::plan::ScheduleName;

use crate::commands::prelude::*;

mod log;
mod plan;
mod put;
mod show;

pub(super) use put::warn_of;

/// Runs a command of `almanack schedule`.
pub(super) async fn run(
    at: &Connector<'_>,
    command: &ScheduleCommand,
    output: &mut Output,
) -> Done {
    let writes = matches!(command, ScheduleCommand::Put(_));
    let client = &at.open(DatabaseNeed::new_if(writes)).await?;
    match command {
        ScheduleCommand::List(given) => list(given).write(client, output).await,
        ScheduleCommand::Show(given) => show::run(client, &given.name, output).await,
        ScheduleCommand::Put(given) => put::run(client, given, output).await,
        ScheduleCommand::Pause {
            schedule,
            until,
            note,
        } => pause(client, &schedule.name, (until, note), output).await,
        ScheduleCommand::Resume(given) => {
            let schedule = Named::load(client, &given.name).await?;
            let call = Call::post(&["schedules", &given.name, "resume"]);
            let sentence = |done: &Answer| format!("resumed {}{}", given.name, next_of(done));
            schedule.change(client, call, sentence, output).await
        }
        ScheduleCommand::Rewind { name } => rewind(client, name.as_deref(), output).await,
        ScheduleCommand::Remove(given) => {
            check_name(&given.name)?;
            let answer = client
                .call(Call::delete(&["schedules", &given.name]))
                .await?;
            output.report(&answer, |_| {
                format!("removed {}; its history stays", given.name)
            })
        }
        ScheduleCommand::Fire { schedule, force } => {
            check_name(&schedule.name)?;
            let call = Call::post(&["schedules", &schedule.name, "fire"]);
            let answer = client.call(call.json(&json!({ "force": force }))).await?;
            output.report(&answer, |fired| {
                let (kind, subject) = (text(&fired["kind"]), text(&fired["subject"]));
                format!("fired {}: {kind} {subject}", schedule.name)
            })
        }
        ScheduleCommand::Backfill(given) => backfill(client, given, output).await,
        ScheduleCommand::Slots { schedule, limit } => {
            slots(client, &schedule.name, *limit, output).await
        }
        ScheduleCommand::Log(given) => log::run(client, given, output).await,
        ScheduleCommand::Plan { file, period } => {
            plan::run((at.inputs, client), (file, period), output).await
        }
    }
}

/// `almanack why SCHEDULE TIME`
pub(super) async fn why(client: &Client, given: &WhyArguments, output: &mut Output) -> Done {
    let name = &given.name;
    check_name(name)?;
    let Some(written) = &given.time else {
        let what = format!("pass the time of a slot of {name}");
        let hint = format!("for example almanack why {name} \"2026-01-05 08:00\"");
        return Err(Failure::usage(what).hint(hint));
    };
    let at = Named::load(client, name).await?.time("TIME", written)?;
    let call = Call::get(&["schedules", name, "why"]).query("at", Some(at));
    let answer = client.call(call).await?;
    output.report(&answer, |why| text(&why["sentence"]))
}

const LIST: &[Column] = &[
    column("NAME", "/name", plain),
    column("STATE", "/state", state),
    column("WHEN", "/definition/expression", plain),
    column("ZONE", "/definition/tz", plain),
    column("TARGET", "/definition/target/type", plain),
    column("NEXT", "", |it, _| match time(&it["next_at"]) {
        Some(at) => Cell::new(instant(at)),
        None => Cell::new(no_next(it)),
    }),
    column("", "/next_at", ago),
    column("ORIGIN", "/origin", plain),
    column("FIRING", "/task", outcome),
];

fn list(given: &ScheduleListArguments) -> List {
    let call = Call::get(&["schedules"])
        .query("origin", given.origin.as_deref())
        .query("state", given.state.as_deref())
        .query("tag", given.tag.as_deref())
        .query("owner", given.owner.as_deref());
    List::new(call, ("schedules", LIST), "no schedules").firing("last_firing")
}

/// Why there is no next time.
fn no_next(schedule: &Value) -> &'static str {
    match schedule["state"].as_str().unwrap_or_default() {
        // The time of the resume is unknown.
        "paused" if schedule["paused"]["until"].is_null() => "paused",
        "active" | "paused" => "never",
        _ => "",
    }
}

const SLOTS: &[Column] = &[
    column("SLOT", "", |row, _| {
        let (first, last) = (instant_of(&row["slot_at"]), instant_of(&row["last_at"]));
        match row["slots"].as_u64() {
            Some(many) if many > 1 => Cell::new(format!("{first} … {last} ({many} slots)")),
            _ => Cell::new(first),
        }
    }),
    column("VERDICT", "", verdict),
    column("LATE BY", "", |row, _| {
        let (decided, last) = (time(&row["decided_at"]), time(&row["last_at"]));
        let late = decided
            .zip(last)
            .map(|(decided, last)| decided.duration_since(last));
        let late = millis(&row["run"]["late_ms"]).or(late);
        let late = late.unwrap_or_default().max(SignedDuration::ZERO);
        Cell::new(when::rounded(late))
    }),
    column("STARTED", "/run/started_at", at),
    column("TOOK", "/run/took_ms", |took, _| {
        Cell::new(millis(took).map(when::rounded).unwrap_or_default())
    }),
    column("OUTCOME", "", |row, now| match &row["run"] {
        Value::Null if row["firing"].is_string() => Cell::new("forgotten").ink(Ink::Faint),
        Value::Null => plain(&row["detail"], now),
        run => course(run),
    }),
];

fn millis(value: &Value) -> Option<SignedDuration> {
    value.as_i64().map(SignedDuration::from_millis)
}

/// The outcome of a firing, to the end of its work.
fn course(run: &Value) -> Cell {
    let (word, ink) = match run["outcome"].as_str().unwrap_or_default() {
        "done" => return Cell::new("Done").ink(Ink::Good),
        "failed" => ("Failed", Ink::Bad),
        "retrying" => ("Failed, will retry", Ink::Bad),
        "cancelled" => ("Cancelled", Ink::Bad),
        "running" => ("Running", Ink::Notable),
        _ => ("Waiting", Ink::Notable),
    };
    let detail = run["detail"].as_str();
    let shown = detail.map_or(word.to_owned(), |detail| format!("{word}: {detail}"));
    Cell::new(shown).ink(ink)
}

fn verdict(row: &Value, _: Timestamp) -> Cell {
    let ink = match row["verdict"].as_str().unwrap_or_default() {
        "fired" | "pinged" => Ink::Good,
        "caught_up" | "manual" | "backfilled" => Ink::Notable,
        _ => Ink::Bad,
    };
    let verdict = match row["reason"].as_str() {
        Some(reason) => format!("{} ({reason})", text(&row["verdict"])),
        None => match row["by"].as_str() {
            Some(by) => format!("{} by {by}", text(&row["verdict"])),
            None => text(&row["verdict"]),
        },
    };
    Cell::new(verdict).ink(ink)
}

async fn slots(client: &Client, name: &str, limit: usize, output: &mut Output) -> Done {
    let schedule = Named::load(client, name).await?;
    let removed_at = instant_of(&schedule.now["removed_at"]);
    if !removed_at.is_empty() {
        output.note(&format!("{name} was removed at {removed_at}\n"));
    }
    let call = Call::get(&["schedules", name, "slots"]);
    let list = List::new(call, ("slots", SLOTS), "no slot has been decided yet");
    let list = list.limit(limit);
    list.write(client, output).await
}

async fn pause(
    client: &Client,
    name: &str,
    (until, note): (&Option<String>, &Option<String>),
    output: &mut Output,
) -> Done {
    let schedule = Named::load(client, name).await?;
    let until = until.as_ref().map(|text| schedule.time("--until", text));
    let until = until.transpose()?;
    let call = Call::post(&["schedules", name, "pause"]);
    let call = call.json(&json!({ "until": until, "note": note }));
    let ends = until.map(|until| format!(" until {}", instant(until)));
    let sentence = format!("paused {name}{}", ends.unwrap_or_default());
    schedule.change(client, call, |_| sentence, output).await
}

async fn rewind(client: &Client, name: Option<&str>, output: &mut Output) -> Done {
    if let Some(name) = name {
        let schedule = Named::load(client, name).await?;
        let call = Call::post(&["schedules", name, "rewind"]);
        let sentence = |done: &Answer| format!("rewound {name}{}", next_of(done));
        return schedule.change(client, call, sentence, output).await;
    }
    let answer = client.call(Call::post(&["schedules:rewind"])).await?;
    output.report(&answer, |done| match text(&done["rewound"]) {
        names if names.is_empty() => "no schedule needs a rewind".to_owned(),
        names => format!("rewound {names}"),
    })
}

/// Slots shown one by one; all are counted.
const SHOWN_MAX: usize = 50;

const BACKFILL: &[Column] = &[
    column("SLOT", "/slot_at", at),
    column("", "", |slot, _| {
        match (time(&slot["execute_at"]), slot["found"].as_str()) {
            (Some(at), _) => Cell::new(format!("fires at {}", instant(at))).ink(Ink::Notable),
            (None, Some(status)) => {
                Cell::new(format!("no change: fired, {}", status_word(status))).ink(Ink::Faint)
            }
            (None, None) => Cell::new("no change").ink(Ink::Faint),
        }
    }),
];

async fn backfill(client: &Client, given: &BackfillArguments, output: &mut Output) -> Done {
    let schedule = Named::load(client, &given.schedule.name).await?;
    let body = json!({
        "from": schedule.time("--from", &given.from)?,
        "to": schedule.time("--to", &given.to)?,
        "pace": when::show_duration(duration("--pace", &given.pace)?),
        "dry_run": given.dry_run,
    });
    let call = Call::post(&["schedules", &given.schedule.name, "backfill"]).json(&body);
    let answer = client.call(call).await?;
    output.show(&answer, |output, done| {
        let slots = items(&done["slots"]);
        let shown = &slots[..slots.len().min(SHOWN_MAX)];
        if !shown.is_empty() {
            output.columns(BACKFILL, shown, answer.now, true)?;
        }
        if slots.len() > shown.len() {
            let more = slots.len() - shown.len();
            output.note(&format!("and {more} more; --json shows all\n"));
        }
        let (fires, all) = (&done["fires"], slots.len());
        output.line(&match (given.dry_run, all) {
            (_, 0) => "no slots in this range".to_owned(),
            (true, _) => format!("{fires} of {all} slots would fire"),
            (false, _) => format!("{fires} of {all} slots fire"),
        })
    })
}

/// A schedule before a change; removed ones are included.
struct Named {
    name: String,
    now: Value,
    seen_at: Timestamp,
}

impl Named {
    async fn load(client: &Client, name: &str) -> Result<Self> {
        check_name(name)?;
        let answer = client.call(Call::get(&["schedules", name])).await?;
        Ok(Self {
            name: name.to_owned(),
            now: answer.value(),
            seen_at: answer.now,
        })
    }

    /// A time as people type it; without a zone, in the schedule's.
    fn time(&self, what: &str, text: &str) -> Result<Timestamp> {
        let zone = self.now["definition"]["tz"].as_str().unwrap_or("UTC");
        when::parse_at_in(text, self.seen_at, zone).map_err(|unclear| unclear.of(what))
    }

    /// Changes it, and reports the result.
    async fn change(
        &self,
        client: &Client,
        call: Call,
        sentence: impl FnOnce(&Answer) -> String,
        output: &mut Output,
    ) -> Done {
        let answer = client.call(call).await?;
        output.report(&answer, |done| {
            if done["revision"] == self.now["revision"] {
                format!("No change: {} is already in that state", self.name)
            } else {
                sentence(&answer)
            }
        })
    }
}

/// When it fires next, as the end of a sentence.
fn next_of(done: &Answer) -> String {
    let schedule = done.value();
    match (schedule["state"].as_str(), time(&schedule["next_at"])) {
        (Some("active"), Some(at)) => format!("; next at {}", moment_of(at, done.now)),
        (Some("active"), None) => "; it will not fire again".to_owned(),
        (state, _) => format!("; it is {}", state.unwrap_or("unknown")),
    }
}

fn check_name(given: &str) -> Result<ScheduleName> {
    ScheduleName::parse(given).map_err(Failure::usage)
}
