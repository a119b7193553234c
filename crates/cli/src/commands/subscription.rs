//! `almanack subscription list`
//!
//! Subscriptions stand in the configuration; how they fare stands in the table of tasks. No index leads from a subscription to its tasks, and one would cost
//! every task: so the newest rows are searched and no others, and the list says so where that may matter.

use std::collections::BTreeMap;

use almanack_core::{
    happening::{KIND, subscriber},
    store::TaskSearch,
    task::{Kind, Status},
};
use serde::Serialize;

use super::Desk;
use crate::{
    args::SubscriptionCommand,
    config::settings::Subscriber,
    failure::{Exit, Failure},
    output::{Cell, Ink, Output},
};

/// How many of the newest tasks are searched.
const AMONG: usize = 100_000;
/// How many of those are counted.
const COUNTED_MAX: usize = 10_000;

/// Does what was asked with subscriptions.
pub(super) async fn run(
    desk: &Desk,
    command: &SubscriptionCommand,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match command {
        SubscriptionCommand::List => list(desk, output).await,
    }
}

/// A subscription in the list.
#[derive(Debug, Serialize)]
struct Line {
    name: String,
    /// Where to; none for one that is told something and not configured here.
    to: Option<String>,
    events: Vec<&'static str>,
    kinds: Vec<String>,
    subject_prefix: Option<String>,
    waiting: u64,
    failed: u64,
}

impl Line {
    fn of(subscriber: &Subscriber) -> Self {
        let wants = &subscriber.subscription.wants;
        Self {
            name: subscriber.subscription.name.to_string(),
            to: Some(subscriber.way.shown()),
            events: wants.types.iter().map(|it| it.as_str()).collect(),
            kinds: wants.kinds.iter().map(ToString::to_string).collect(),
            subject_prefix: wants.subject_prefix.clone(),
            waiting: 0,
            failed: 0,
        }
    }

    fn forgotten(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            to: None,
            events: Vec::new(),
            kinds: Vec::new(),
            subject_prefix: None,
            waiting: 0,
            failed: 0,
        }
    }

    /// What it wants, in a few words.
    fn wants(&self) -> String {
        let mut words = if self.events.is_empty() {
            "everything".to_owned()
        } else {
            self.events.join(", ")
        };
        if !self.kinds.is_empty() {
            words = format!("{words}; of kinds {}", self.kinds.join(", "));
        }
        if let Some(prefix) = &self.subject_prefix {
            words = format!("{words}; about {prefix}…");
        }
        words
    }

    fn row(&self) -> Vec<Cell> {
        let to = self.to.as_deref().unwrap_or("(not configured here)");
        let wants = self.to.is_some().then(|| self.wants());
        let failed = Cell::new(self.failed.to_string());
        vec![
            Cell::new(&*self.name),
            Cell::new(to),
            Cell::new(wants.unwrap_or_default()),
            Cell::new(self.waiting.to_string()),
            if self.failed > 0 {
                failed.ink(Ink::Bad)
            } else {
                failed
            },
        ]
    }
}

async fn list(desk: &Desk, output: &mut Output) -> Result<Exit, Failure> {
    let configured = desk.settings.happenings.subscribers.iter().map(Line::of);
    let mut lines: BTreeMap<String, Line> =
        configured.map(|line| (line.name.clone(), line)).collect();
    let mut cut = false;
    for status in [Status::Init, Status::Running, Status::Fail] {
        cut |= count(desk, status, &mut lines).await?;
    }
    if output.json {
        for line in lines.values() {
            output.value(line)?;
        }
        return Ok(Exit::Ok);
    }
    if lines.is_empty() {
        output.note("no subscriptions; docs/guide/happenings.md shows how to make one\n");
        return Ok(Exit::Ok);
    }
    let rows: Vec<Vec<Cell>> = lines.values().map(Line::row).collect();
    output.table(&["NAME", "TO", "WANTS", "WAITING", "FAILED"], &rows)?;
    if cut {
        output.note("there are more than could be counted\n");
    }
    Ok(Exit::Ok)
}

/// Counts what stands so; whether some of it was left out.
async fn count(
    desk: &Desk,
    status: Status,
    lines: &mut BTreeMap<String, Line>,
) -> Result<bool, Failure> {
    let search = TaskSearch {
        kind: Kind::parse(KIND).ok(),
        status: Some(status),
        among: AMONG,
        limit: COUNTED_MAX,
        ..TaskSearch::default()
    };
    let found = desk.store.search_tasks(&search).await?;
    for task in &found {
        let Some(name) = subscriber(&task.identity) else {
            continue;
        };
        let line = lines
            .entry(name.to_owned())
            .or_insert_with(|| Line::forgotten(name));
        if task.is_live() {
            line.waiting += 1;
        } else {
            line.failed += 1;
        }
    }
    Ok(found.len() == COUNTED_MAX)
}
