//! Outcomes of firings. A fired slot means only that its firing was stored; its outcome is in the
//! firing's task.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Call, Client};
use crate::{
    columns::{status_ink, status_word, text},
    failure::Result,
    output::{Cell, Ink},
};

/// The field for the task of a firing.
const TASK: &str = "task";

impl Client {
    /// Adds the task of each firing beside its subject, which is in `field`.
    pub(crate) async fn add_firings(&self, items: &mut [Value], field: &str) -> Result<()> {
        let fired = |item: &&mut Value| item[field].is_string();
        let mut fired: Vec<&mut Value> = items.iter_mut().filter(fired).collect();
        if fired.is_empty() {
            return Ok(());
        }
        let wanted = fired.iter();
        let wanted = wanted.map(|item| json!({ "kind": "DISPATCH", "subject": item[field] }));
        let body = json!({ "tasks": wanted.collect::<Vec<Value>>() });
        let answer = self.call(Call::post(&["tasks:lookup"]).json(&body)).await?;
        let found = answer.value();
        let tasks = found["tasks"].as_array().into_iter().flatten();
        for (item, task) in fired.iter_mut().zip(tasks) {
            item[TASK] = match task {
                Value::Null => "forgotten".into(),
                task => task.clone(),
            };
        }
        Ok(())
    }
}

/// The outcome of a firing, by its task.
pub(crate) fn outcome(task: &Value, _: Timestamp) -> Cell {
    let Some(status) = task["status"].as_str() else {
        return Cell::new(text(task)).ink(Ink::Faint);
    };
    let word = status_word(status);
    let shown = match task["detail"].as_str() {
        Some(detail) if status == "FAIL" => format!("{word}: {detail}"),
        _ => word.to_owned(),
    };
    Cell::new(shown).ink(status_ink(task))
}
