//! The workflows in `deploy/github-actions/`, read as GitHub reads them: what must be in them is
//! (DP-09).

use std::{fs, path::PathBuf};

use almanack_core::chain::ChainName;
use saphyr_parser::{Event, Parser};
use serde_json::{Map, Value};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../deploy/github-actions")
}

/// A workflow as a tree. All its scalars are texts.
fn read(file: &str) -> Value {
    let text = fs::read_to_string(folder().join(file)).unwrap();
    let events: Vec<Event<'_>> = Parser::new_from_str(&text)
        .map(|event| event.unwrap().0)
        .collect();
    let mut events = events.into_iter().filter(|event| {
        !matches!(
            event,
            Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd
        )
    });
    let first = events.next().unwrap();
    value(&first, &mut events)
}

fn value<'a>(event: &Event<'a>, events: &mut impl Iterator<Item = Event<'a>>) -> Value {
    match event {
        Event::Scalar(text, ..) => Value::String(text.to_string()),
        Event::SequenceStart(..) => {
            let mut list = Vec::new();
            while let Some(event) = events.next().filter(|it| !matches!(it, Event::SequenceEnd)) {
                list.push(value(&event, events));
            }
            Value::Array(list)
        }
        Event::MappingStart(..) => {
            let mut map = Map::new();
            while let Some(key) = events.next().filter(|it| !matches!(it, Event::MappingEnd)) {
                let Value::String(key) = value(&key, events) else {
                    panic!("a key that is no text");
                };
                let event = events.next().unwrap();
                map.insert(key, value(&event, events));
            }
            Value::Object(map)
        }
        other => panic!("{other:?}"),
    }
}

fn steps<'a>(workflow: &'a Value, job: &str) -> Vec<&'a Value> {
    workflow["jobs"][job]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .collect()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

#[test]
fn dp_09_each_chain_may_what_it_must_replaces_itself_and_ends_with_the_guard() {
    for chain in ["tick-a", "tick-b"] {
        let name = ChainName::parse(chain).unwrap();
        let workflow = read(&name.workflow());
        assert_eq!(text(&workflow, "name"), chain);
        for event in ["push", "workflow_dispatch"] {
            assert!(workflow["on"].get(event).is_some(), "{chain}: {event}");
        }
        for area in ["actions", "contents"] {
            assert_eq!(workflow["permissions"][area], "write", "{chain}: {area}");
        }
        assert_eq!(workflow["concurrency"]["group"], chain);
        assert_eq!(workflow["concurrency"]["cancel-in-progress"], "true");
        let minutes: i64 = text(&workflow["jobs"]["tick"], "timeout-minutes")
            .parse()
            .unwrap();
        assert!(
            minutes <= 360 && minutes > name.length().as_mins(),
            "{chain}"
        );
        let steps = steps(&workflow, "tick");
        let runs = steps
            .iter()
            .find(|step| text(step, "run").contains("almanack chain"));
        let runs = runs.unwrap();
        assert!(
            text(runs, "run").starts_with("exec "),
            "signals must arrive"
        );
        assert!(text(runs, "run").ends_with(&format!("--self {chain}")));
        for secret in ["DISPATCH", "PAT"] {
            assert_eq!(runs["env"][secret], format!("${{{{ secrets.{secret} }}}}"));
        }
        let last = steps.last().unwrap();
        assert_eq!(last["if"], "always()", "{chain}: whatever happened");
        assert!(text(last, "run").contains("guard.yml") && text(last, "run").contains("ended="));
    }
}

#[test]
fn dp_09_the_guard_knows_both_chains_and_comes_by_itself() {
    let workflow = read("guard.yml");
    let cron = &workflow["on"]["schedule"][0]["cron"];
    assert_eq!(cron, "*/20 * * * *", "even the death of everything heals");
    let inputs = &workflow["on"]["workflow_dispatch"]["inputs"];
    assert!(inputs.get("ended").is_some());
    assert_eq!(workflow["permissions"]["actions"], "write");
    assert_eq!(workflow["concurrency"]["cancel-in-progress"], "false");
    let steps = steps(&workflow, "guard");
    let run = text(steps.last().unwrap(), "run");
    for chain in ["--chain tick-a", "--chain tick-b", "--ended"] {
        assert!(run.contains(chain), "{chain}");
    }
}

#[test]
fn dp_15_no_workflow_writes_a_secret_into_a_command() {
    for file in ["tick-a.yml", "tick-b.yml", "guard.yml"] {
        let workflow = read(file);
        let job = workflow["jobs"]
            .as_object()
            .unwrap()
            .keys()
            .next()
            .unwrap()
            .clone();
        for step in steps(&workflow, &job) {
            assert!(
                !text(step, "run").contains("${{"),
                "{file}: take it from the environment"
            );
        }
    }
}
