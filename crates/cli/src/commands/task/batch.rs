//! `almanack task put --batch FILE`: many tasks, one JSON object per line.
//!
//! Lines are sent in chunks, so a file of any size needs little memory. A bad line is reported with
//! its number and stops no other. You can safely send the same file again.

use std::collections::{BTreeMap, VecDeque};

use almanack_core::lang::reader::of_json;
use serde_json::value::RawValue;

use self::lines::{Line, Lines, open};
use super::super::progress::progress;
use crate::commands::prelude::*;

mod lines;

/// A line of the file as the API takes it, times as people write them made instants; or what is
/// wrong with it.
type Item = Result<BTreeMap<String, Box<RawValue>>, String>;

/// Puts every line of `file`; `-` is standard input.
pub(super) async fn run(client: &Client, file: &str, output: &mut Output) -> Done {
    let (input, bytes) = open(file)?;
    let progress = progress(bytes, output);
    let mut lines = Lines::new(input);
    let mut counters = Counters::default();
    loop {
        let chunk = lines.next_chunk()?;
        let (Some(first), Some(last)) = (chunk.first(), chunk.last()) else {
            break;
        };
        let between = format!("send lines {} to {}", first.number, last.number);
        let done = put_chunk(client, &chunk, &mut counters, output).await;
        done.map_err(|failure| interrupted(failure, &between))?;
        progress.inc(chunk.iter().map(|line| line.text.len() as u64 + 1).sum());
        progress.set_message(format!("{} tasks", counters.total));
    }
    progress.finish_and_clear();
    counters.report(output)
}

fn interrupted(failure: Failure, between: &str) -> Failure {
    match failure {
        Failure::OutputClosed => Failure::OutputClosed,
        other => other
            .during(between)
            .hint("earlier lines are stored; you can safely send the same file again"),
    }
}

async fn put_chunk(
    client: &Client,
    chunk: &[Line],
    counters: &mut Counters,
    output: &mut Output,
) -> Result<()> {
    let read = |line: &Line| read(&line.text, client);
    let items: Vec<Item> = chunk.iter().map(read).collect();
    let mut receipts = put_all(client, items.iter().flatten().collect())
        .await?
        .into_iter();
    for (line, item) in chunk.iter().zip(&items) {
        let answer = match item {
            Ok(_) => receipts.next().unwrap_or_default(),
            Err(what) => json!({ "error": { "detail": what } }),
        };
        report(line, &answer, counters, output)?;
    }
    Ok(())
}

/// The result of each item. A node may accept fewer items or bytes at a time than a chunk has.
async fn put_all(
    client: &Client,
    items: Vec<&BTreeMap<String, Box<RawValue>>>,
) -> Result<Vec<Value>> {
    let mut receipts = Vec::with_capacity(items.len());
    let mut parts = VecDeque::from([items.as_slice()]);
    while let Some(part) = parts.pop_front() {
        if part.is_empty() {
            continue;
        }
        let call = Call::post(&["tasks:batch"]).json(&BTreeMap::from([("tasks", part)]));
        match client.try_call(call).await? {
            Ok(answer) => {
                let mut body = answer.value();
                let taken = body["receipts"].as_array_mut().map(std::mem::take);
                receipts.extend(taken.unwrap_or_default());
            }
            Err(refusal) if refusal.is_too_much() && part.len() > 1 => {
                let (first, second) = part.split_at(part.len() / 2);
                parts.push_front(second);
                parts.push_front(first);
            }
            Err(refusal) => return Err(refusal.failure()),
        }
    }
    Ok(receipts)
}

/// Counts the result of a line, and prints it if requested.
fn report(line: &Line, answer: &Value, counters: &mut Counters, output: &mut Output) -> Result<()> {
    counters.total += 1;
    if let Some(rule) = answer["rule"].as_str() {
        *counters.rules.entry(rule.to_owned()).or_default() += 1;
        if output.json {
            counters.put(answer, output)?;
        }
        return Ok(());
    }
    counters.refused += 1;
    if output.json {
        let mut numbered = answer.clone();
        numbered["line"] = line.number.into();
        return counters.put(&numbered, output);
    }
    let what = text(&answer["error"]["detail"]);
    output.note(&format!("error: line {}: {what}\n", line.number));
    Ok(())
}

fn read(text: &str, client: &Client) -> Item {
    // serde would take an array too; who sends one is mistaken.
    if text.trim_ascii_start().starts_with('[') {
        return Err("each line must be a JSON object".to_owned());
    }
    let mut item: BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(text).map_err(|error| of_json(".", &error).to_string())?;
    let at = item
        .get("execute_at")
        .map(|raw| serde_json::from_str::<String>(raw.get()));
    if let Some(Ok(at)) = at {
        let unclear = |unclear: when::Unclear| format!("{}; {}", unclear.what, unclear.hint);
        let at = when::parse_at(&at, client.now()).map_err(unclear)?;
        let raw = serde_json::value::to_raw_value(&at).map_err(|error| error.to_string())?;
        item.insert("execute_at".to_owned(), raw);
    }
    Ok(item)
}

#[derive(Default)]
struct Counters {
    total: usize,
    rules: BTreeMap<String, usize>,
    refused: usize,
}

impl Counters {
    /// Writes one item for programs: the body of the API for all lines is one document, or a line
    /// for each.
    fn put(&self, item: &Value, output: &mut Output) -> Result<()> {
        if output.lines {
            return output.value(item);
        }
        let before = if self.total == 1 {
            "{\"receipts\":["
        } else {
            ","
        };
        output.raw(&format!("{before}{item}"))
    }

    fn report(&self, output: &mut Output) -> Done {
        let rules = self.rules.iter();
        let mut parts: Vec<String> = rules
            .map(|(rule, count)| format!("{count} {rule}"))
            .collect();
        if self.refused > 0 {
            parts.push(format!("{} refused", self.refused));
        }
        let tasks = counted(self.total as u64, "task", "tasks");
        let sum = if parts.is_empty() {
            tasks
        } else {
            format!("{tasks}: {}", parts.join(", "))
        };
        match (output.json, output.lines) {
            (false, _) => output.line(&sum)?,
            (true, false) if self.total == 0 => output.line("{\"receipts\":[]}")?,
            (true, false) => output.line("]}")?,
            (true, true) => output.note(&format!("{sum}\n")),
        }
        Ok(Exit::failed_if(self.refused > 0))
    }
}
