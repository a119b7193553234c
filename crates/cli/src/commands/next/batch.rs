//! `almanack next --batch`: a question per line, an answer per line, in the same order.
//!
//! A refusal is an answer. Only a line that is no question at all makes the whole run count as
//! failed, and even it stops no other.

use std::io::{BufRead, BufReader, Read};

use serde::{Deserialize, Serialize};

use super::question::{Question, Refusal, Stage, Zones};
use crate::commands::prelude::*;

const LINE_BYTES_MAX: u64 = 64 * 1024;
const COUNT: usize = 5;

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    expr: String,
    tz: Option<String>,
    from: Option<String>,
    count: Option<usize>,
    #[serde(default)]
    lenient: bool,
    prev: Option<Previous>,
    #[serde(default)]
    name: String,
}

/// How many previous occurrences: a number, or as many as next ones.
#[derive(Deserialize)]
#[serde(untagged)]
enum Previous {
    AsMany(bool),
    Count(usize),
}

/// A line of the answer.
#[derive(Default, Serialize)]
struct Reply {
    id: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Vec<Timestamp>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev: Option<Vec<Timestamp>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    exhausted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Refusal>,
}

pub(super) fn run<R: Read>(mut input: BufReader<R>, now: Timestamp, output: &mut Output) -> Done {
    let mut zones = Zones::default();
    let mut exit = Exit::Ok;
    while let Some(line) = next_line(&mut input)? {
        if line.trim().is_empty() {
            continue;
        }
        let answer = match serde_json::from_str::<Line>(&line) {
            Ok(line) => line.answer(now, &mut zones),
            Err(error) => {
                exit = Exit::Failed;
                Reply {
                    error: Some(Refusal::at(Stage::Question, error.to_string())),
                    ..Reply::default()
                }
            }
        };
        output.value(&answer)?;
        // A program may wait for this answer before it asks again.
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
    Ok(exit)
}

fn next_line(input: &mut impl BufRead) -> Result<Option<String>> {
    let mut line = String::new();
    let read = input.take(LINE_BYTES_MAX).read_line(&mut line);
    match read {
        Ok(0) => Ok(None),
        Ok(_) if line.len() as u64 == LINE_BYTES_MAX && !line.ends_with('\n') => {
            let what = format!("read questions: a line has more than {LINE_BYTES_MAX} bytes");
            Err(Failure::failed(what))
        }
        Ok(_) => Ok(Some(line)),
        Err(error) => Err(Failure::failed(format!("read questions: {error}"))),
    }
}

impl Line {
    fn answer(&self, now: Timestamp, zones: &mut Zones) -> Reply {
        let count = self.count.unwrap_or(COUNT);
        let previous = match self.prev {
            Some(Previous::Count(previous)) => previous,
            Some(Previous::AsMany(true)) => count,
            Some(Previous::AsMany(false)) | None => 0,
        };
        let from = when::parse_at(self.from.as_deref().unwrap_or("now"), now);
        let asked = from.map_err(|unclear| Refusal {
            hint: Some(unclear.hint),
            ..Refusal::at(Stage::Question, format!("from: {}", unclear.what))
        });
        let asked = asked.and_then(|from| {
            let question = Question {
                expression: &self.expr,
                zone: self.tz.as_deref().unwrap_or("UTC"),
                name: &self.name,
                lenient: self.lenient,
                from,
                count,
                previous,
            };
            question.ask(zones)
        });
        let reply = Reply {
            id: self.id.clone(),
            ..Reply::default()
        };
        let with_previous = |found: &Vec<Timestamp>| (previous > 0).then(|| found.clone());
        match asked {
            Ok(answer) => Reply {
                prev: with_previous(&answer.previous),
                next: Some(answer.next),
                exhausted: answer.exhausted,
                ..reply
            },
            Err(refusal) => Reply {
                prev: refusal.previous.as_ref().and_then(with_previous),
                error: Some(refusal),
                ..reply
            },
        }
    }
}
