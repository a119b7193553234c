//! What became of firings. That a slot has fired says only that its firing was written down;
//! whether anything came of it stands in the firing's task.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Call, Client};
use crate::{
    columns::text,
    failure::Failure,
    output::{Cell, Ink},
};

/// Where the task of a firing is put.
const TASK: &str = "task";

impl Client {
    /// Puts the task of each firing beside its subject, which stands in `field`.
    pub(crate) async fn add_firings(
        &self,
        items: &mut [Value],
        field: &str,
    ) -> Result<(), Failure> {
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

/// What became of a firing, by its task.
pub(crate) fn outcome(task: &Value, _: Timestamp) -> Cell {
    let Some(status) = task["status"].as_str() else {
        return Cell::new(text(task)).ink(Ink::Faint);
    };
    let reported = match task["detail"].as_str() {
        Some(detail) if status == "FAIL" => format!("{status}: {detail}"),
        _ => status.to_owned(),
    };
    let ink = match (status, task["live"] == true) {
        ("SUCCESS", _) => Ink::Good,
        ("FAIL", false) => Ink::Bad,
        ("FAIL" | "RUNNING", _) => Ink::Notable,
        ("CANCELLED", _) => Ink::Faint,
        _ => Ink::Plain,
    };
    Cell::new(reported).ink(ink)
}
