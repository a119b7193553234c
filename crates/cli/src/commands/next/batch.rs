//! `almanack next --batch`: a question per line, an answer per line, in the same order.
//!
//! A refusal is an answer. Only a line that is no question at all makes the whole run count as
//! failed, and even it stops no other.

use std::io::{BufRead, BufReader, Read};

use almanack_core::schedule::Mode;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    question::{Answer, Question, Refusal, Stage, Zones},
    span_of,
};
use crate::{
    failure::{Exit, Failure},
    output::Output,
    when,
};

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

/// Answers every line.
pub(super) fn run<R: Read>(
    mut input: BufReader<R>,
    now: Timestamp,
    output: &mut Output,
) -> Result<Exit, Failure> {
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
                let refusal = Refusal::at(Stage::Question, error.to_string());
                refused(&Value::Null, &refusal, false)
            }
        };
        output.value(&answer)?;
        // Whoever waits for this answer before asking on must get it now.
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
    Ok(exit)
}

fn next_line(input: &mut impl BufRead) -> Result<Option<String>, Failure> {
    let mut line = String::new();
    let read = input.take(LINE_BYTES_MAX).read_line(&mut line);
    match read {
        Ok(0) => Ok(None),
        Ok(_) if line.len() as u64 == LINE_BYTES_MAX && !line.ends_with('\n') => {
            let what = format!("read questions: a line has more than {LINE_BYTES_MAX} bytes");
            Err(Failure::new(Exit::Failed, what))
        }
        Ok(_) => Ok(Some(line)),
        Err(error) => Err(Failure::new(
            Exit::Failed,
            format!("read questions: {error}"),
        )),
    }
}

impl Line {
    fn answer(&self, now: Timestamp, zones: &mut Zones) -> Value {
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
        let mode = if self.lenient {
            Mode::Import
        } else {
            Mode::Strict
        };
        let asked = asked.and_then(|from| {
            let question = Question {
                expression: &self.expr,
                zone: self.tz.as_deref().unwrap_or("UTC"),
                name: &self.name,
                mode,
                from,
                count,
                previous,
            };
            question.ask(zones)
        });
        match asked {
            Ok(answer) => answered(&self.id, &answer, previous > 0),
            Err(refusal) => refused(&self.id, &refusal, previous > 0),
        }
    }
}

fn answered(id: &Value, answer: &Answer, with_previous: bool) -> Value {
    let mut object = Map::new();
    object.insert("id".to_owned(), id.clone());
    object.insert("next".to_owned(), json!(answer.next));
    if with_previous {
        object.insert("prev".to_owned(), json!(answer.previous));
    }
    if answer.exhausted {
        object.insert("exhausted".to_owned(), json!(true));
    }
    Value::Object(object)
}

fn refused(id: &Value, refusal: &Refusal, with_previous: bool) -> Value {
    let mut error = Map::new();
    error.insert("stage".to_owned(), json!(refusal.stage.as_str()));
    error.insert("message".to_owned(), json!(refusal.message));
    if let Some(span) = refusal.span {
        error.insert("span".to_owned(), json!(span_of(span)));
    }
    if let Some(hint) = &refusal.hint {
        error.insert("hint".to_owned(), json!(hint));
    }
    let mut object = Map::new();
    object.insert("id".to_owned(), id.clone());
    object.insert("error".to_owned(), Value::Object(error));
    if with_previous && refusal.stage == Stage::Next {
        object.insert("prev".to_owned(), json!(refusal.previous));
    }
    Value::Object(object)
}
