//! `almanack task put --batch FILE`: many tasks, one JSON object per line.
//!
//! Lines are put a chunk at a time, so a file of any size needs little memory. What is wrong with
//! one line is said with its number and stops no other; putting the same file again is harmless.

use std::collections::BTreeMap;

use almanack_core::{
    reschedule::{Put, Receipt, Request},
    task::{Identity, Payload, Priority, parse_max_retry, parse_revision},
};
use almanack_engine::reschedule::Rescheduler;
use almanack_server::words;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{json, value::RawValue};

use self::lines::{Line, Lines, open};
use super::{
    super::{parse_identity, progress::progress},
    Desk,
    put::callback_url,
};
use crate::{
    failure::{Exit, Failure},
    output::Output,
    view::ReceiptView,
    when,
};

mod lines;

/// What a line may have besides its payload.
const LINE_BYTES_SPARE: usize = 16 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    kind: String,
    subject: String,
    execute_at: String,
    payload: Option<Box<RawValue>>,
    callback: Option<Callback>,
    max_retry: Option<i64>,
    priority: Option<i64>,
    revision: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Callback {
    url: String,
}

/// Puts every line of `file`; `-` is standard input.
pub(super) async fn run(desk: &Desk, file: &str, output: &mut Output) -> Result<Exit, Failure> {
    let (input, bytes) = open(file)?;
    let progress = progress(bytes, output);
    let longest = desk
        .settings
        .limits
        .payload_bytes
        .saturating_add(LINE_BYTES_SPARE);
    let mut lines = Lines::new(input, longest);
    let mut tally = Tally::default();
    let rescheduler = desk.rescheduler();
    loop {
        let chunk = lines.next_chunk()?;
        let (Some(first), Some(last)) = (chunk.first(), chunk.last()) else {
            break;
        };
        let between = format!("put lines {} to {}", first.number, last.number);
        let done = put_chunk(desk, &rescheduler, &chunk, &mut tally, output).await;
        done.map_err(|failure| interrupted(failure, &between))?;
        progress.inc(chunk.iter().map(|line| line.text.len() as u64 + 1).sum());
        progress.set_message(format!("{} tasks", tally.total));
    }
    progress.finish_and_clear();
    tally.tell(output)
}

fn interrupted(failure: Failure, between: &str) -> Failure {
    match failure {
        Failure::NobodyReads => Failure::NobodyReads,
        other => other
            .during(between)
            .hint("earlier lines are stored; putting the same file again is harmless"),
    }
}

async fn put_chunk(
    desk: &Desk,
    rescheduler: &Rescheduler,
    chunk: &[Line],
    tally: &mut Tally,
    output: &mut Output,
) -> Result<(), Failure> {
    let now = desk.clock.now();
    let limit = desk.settings.limits.payload_bytes;
    let wishes: Vec<Result<Put, String>> = chunk
        .iter()
        .map(|line| read(&line.text, now, limit))
        .collect();
    let requests = wishes.iter().flatten().cloned().map(Request::Put).collect();
    let mut answers = rescheduler
        .ask_all(requests, &desk.origin)
        .await?
        .into_iter();
    for (line, wish) in chunk.iter().zip(wishes) {
        let answer = wish.and_then(|put| match answers.next() {
            Some(Ok(receipt)) => Ok((put.identity, receipt)),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("the store gave no answer".to_owned()),
        });
        tell(line, answer, tally, output)?;
    }
    Ok(())
}

/// Counts what became of a line and says so, where somebody wants to know.
fn tell(
    line: &Line,
    answer: Result<(Identity, Receipt), String>,
    tally: &mut Tally,
    output: &mut Output,
) -> Result<(), Failure> {
    match answer {
        Ok((identity, receipt)) => {
            tally.count(receipt.rule.as_str());
            if output.json {
                output.value(&ReceiptView::of(&identity, &receipt))?;
            }
        }
        Err(what) => {
            tally.refuse();
            if output.json {
                let error = json!({ "line": line.number, "error": { "message": what } });
                output.value(&error)?;
            } else {
                output.note(&format!("error: line {}: {what}\n", line.number));
            }
        }
    }
    Ok(())
}

fn read(text: &str, now: Timestamp, limit: usize) -> Result<Put, String> {
    // serde would take an array too, field by field in order; who sends one is mistaken.
    if text.trim_ascii_start().starts_with('[') {
        return Err("each line must be a JSON object".to_owned());
    }
    let item: Item = serde_json::from_str(text).map_err(|error| {
        let told = words::of_json(&error.to_string());
        let what = told
            .rsplit_once(" at line ")
            .map_or(told.as_str(), |(what, _)| what);
        format!("column {}: {what}", error.column())
    })?;
    let say = |invalid: almanack_core::task::Invalid| invalid.to_string();
    let unclear = |unclear: when::Unclear| format!("{}; {}", unclear.what, unclear.hint);
    let payload = item
        .payload
        .map(|raw| Payload::parse(raw.get(), limit))
        .transpose();
    let callback = item
        .callback
        .map(|callback| callback_url(&callback.url))
        .transpose();
    Ok(Put {
        identity: parse_identity(&item.kind, &item.subject).map_err(say)?,
        execute_at: when::parse_at(&item.execute_at, now).map_err(unclear)?,
        payload: payload.map_err(say)?,
        callback_url: callback.map_err(|(what, hint)| format!("callback.url: {what}; {hint}"))?,
        max_retry: item
            .max_retry
            .map(parse_max_retry)
            .transpose()
            .map_err(say)?,
        priority: item.priority.map(Priority::new).transpose().map_err(say)?,
        revision: item.revision.map(parse_revision).transpose().map_err(say)?,
    })
}

#[derive(Default)]
struct Tally {
    total: usize,
    rules: BTreeMap<&'static str, usize>,
    refused: usize,
}

impl Tally {
    fn count(&mut self, rule: &'static str) {
        self.total += 1;
        *self.rules.entry(rule).or_default() += 1;
    }

    fn refuse(&mut self) {
        self.total += 1;
        self.refused += 1;
    }

    fn tell(&self, output: &mut Output) -> Result<Exit, Failure> {
        let mut parts: Vec<String> = self
            .rules
            .iter()
            .map(|(rule, count)| format!("{count} {rule}"))
            .collect();
        if self.refused > 0 {
            parts.push(format!("{} refused", self.refused));
        }
        let sum = match (self.total, parts.is_empty()) {
            (total, true) => format!("{total} tasks"),
            (1, false) => format!("1 task: {}", parts.join(", ")),
            (total, false) => format!("{total} tasks: {}", parts.join(", ")),
        };
        // With --json every line of data is an item.
        if output.json {
            output.note(&format!("{sum}\n"));
        } else {
            output.line(&sum)?;
        }
        Ok(if self.refused > 0 {
            Exit::Failed
        } else {
            Exit::Ok
        })
    }
}
