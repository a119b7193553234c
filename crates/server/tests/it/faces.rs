//! The faces that people and programs rely on, kept as files in `tests/faces/`: what every endpoint
//! answers, what the API says about itself, and what every page says in both languages. All of them
//! on the stage of the browser tests, where no time passes.
//!
//! A change of a file is a change that users will notice. `ALMANACK_FACES=accept` writes down what
//! is answered now; to see another endpoint, write its request into `api.http` first.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::PathBuf};

use almanack_testkit::{fixture::START, golden};
use axum::{Router, http::Method};
use serde_json::Value;

use crate::{
    api_reference,
    harness::{Answer, send, with},
    reports,
    stage::{Day, PAGES, Stage},
    ui::reading::check_ids,
};

/// Headers of an answer that clients act on.
const HEADERS: [&str; 6] = [
    "content-type",
    "location",
    "retry-after",
    "allow",
    "www-authenticate",
    "link",
];

#[tokio::test]
async fn every_endpoint_answers_as_it_did() {
    let app = stage().await;
    let known = fs::read_to_string(path("api.http")).unwrap();
    let mut now = String::new();
    for exchange in known.split("### ").skip(1) {
        let request = exchange.split(">>>").next().unwrap();
        let answer = ask(&app, request).await;
        let _ = write!(
            now,
            "### {}\n>>> {}\n\n",
            request.trim_end(),
            shown(&answer)
        );
    }
    compare("api.http", &now);
}

#[tokio::test]
async fn every_operation_is_shown_at_work() {
    let document = document(&stage().await).await;
    let known = fs::read_to_string(path("api.http")).unwrap();
    let asked: BTreeSet<&str> = known
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .collect();
    for (path, item) in document["paths"].as_object().unwrap() {
        if path == "/api/v1/openapi.json" {
            continue; // A separate file.
        }
        for method in item.as_object().unwrap().keys() {
            let operation = format!("{} {path}", method.to_uppercase());
            let shown = asked.iter().any(|request| is_one_of(request, &operation));
            assert!(shown, "{operation} is not in api.http");
        }
    }
}

#[tokio::test]
async fn the_api_describes_itself_as_it_did() {
    let document = document(&stage().await).await;
    let text = serde_json::to_string_pretty(&document).unwrap();
    compare("openapi.json", &(text + "\n"));
    compare(
        "../../../../docs/reference/api.md",
        &api_reference::page(&document),
    );
}

#[tokio::test]
async fn every_page_says_what_it_said() {
    let app = stage().await;
    for language in ["en", "zh"] {
        let mut now = String::new();
        for page in PAGES {
            let request = with(Method::GET, page, "", &[("accept-language", language)]);
            let answer = send(&app, request).await;
            check_ids(&answer);
            let text = text(&answer.body);
            let _ = write!(now, "### {page}\n>>> {}\n{text}\n", answer.status);
        }
        compare(&format!("pages.{language}.txt"), &now);
    }
}

/// What is stored in English only: a mail server's answer, the reason of a parked schedule, what a
/// monitor heard, why a story failed. A further one needs a Chinese text, not a line here.
const STORED: [&str; 5] = [
    "550 5.1.1 no such user",
    "last ping at 2026-01-04T19:00:00Z",
    "no ping since 2026-01-04T19:00:00Z; one was due at 2026-01-05T01:00:00Z",
    "the translation of its title is missing",
    "unknown time zone `Europe/Atlantis`; write an IANA name such as Europe/Berlin",
];

#[test]
fn no_sentence_of_a_chinese_page_is_english() {
    let pages = fs::read_to_string(path("pages.zh.txt")).unwrap();
    // Descriptions of the API are in the OpenAPI document, which is English, and marked so.
    let pages = pages
        .split("### ")
        .filter(|page| !page.starts_with("/ui/api"));
    let english: BTreeSet<&str> = pages.flat_map(str::lines).filter(is_english).collect();
    assert_eq!(english, BTreeSet::from(STORED));
}

/// Whether a line reads as a sentence: three words of a language with spaces, and nothing Chinese.
/// Commands to copy are no sentences, and prompts are for models.
fn is_english(line: &&str) -> bool {
    let is_command = ["almanack ", "curl "].iter().any(|it| line.starts_with(it));
    let is_word = |word: &&str| {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
        word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase())
    };
    let words = line.split(' ').filter(is_word).count();
    line.is_ascii() && !is_command && !line.contains("{data}") && words >= 3
}

async fn stage() -> Router {
    let stage = Stage::build();
    Day::of(&stage).play().await;
    stage.clock_stands_at(START);
    reports::awaiting(&stage.world, "schedule:import@2026-01-05T08:00:00Z").await;
    stage.world.app
}

async fn document(app: &Router) -> Value {
    let request = with(Method::GET, "/api/v1/openapi.json", "", &[]);
    let mut document = send(app, request).await.json();
    document["info"]["version"] = "VERSION".into();
    document
}

/// Sends `METHOD PATH`, lines of headers, an empty line, a body.
async fn ask(app: &Router, text: &str) -> Answer {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut lines = head.trim_end().lines();
    let (method, path) = lines.next().unwrap().split_once(' ').unwrap();
    let mut headers: Vec<(&str, &str)> = lines.map(|it| it.split_once(": ").unwrap()).collect();
    if !headers.iter().any(|(name, _)| *name == "content-type") {
        headers.push(("content-type", "application/json"));
    }
    let method = method.parse().unwrap();
    send(app, with(method, path, body.trim_end(), &headers)).await
}

fn shown(answer: &Answer) -> String {
    let mut text = answer.status.to_string();
    for name in HEADERS {
        if let Some(value) = answer.header(name) {
            let _ = write!(text, "\n{name}: {value}");
        }
    }
    let body = match serde_json::from_str::<Value>(&answer.body) {
        Ok(value) => serde_json::to_string_pretty(&value).unwrap(),
        Err(_) => answer.body.trim_end().to_owned(),
    };
    if body.is_empty() {
        text
    } else {
        text + "\n\n" + &body
    }
}

/// Whether a request is of an operation like `GET /a/{b}/c`.
fn is_one_of(request: &str, operation: &str) -> bool {
    let request = request.split('?').next().unwrap_or(request);
    let (asked, wanted) = (request.split('/'), operation.split('/'));
    let alike = |(a, b): (&str, &str)| a == b || (b.starts_with('{') && b.ends_with('}'));
    asked.clone().count() == wanted.clone().count() && asked.zip(wanted).all(alike)
}

/// What a page says, a line for each piece of text.
fn text(page: &str) -> String {
    let body = page.split_once("<body").map_or(page, |(_, body)| body);
    let mut text = String::new();
    let mut hidden = None;
    for piece in body.split('<').skip(1) {
        let (tag, said) = piece.split_once('>').unwrap_or((piece, ""));
        let name = tag.split([' ', '\n']).next().unwrap();
        match hidden {
            Some(closing) if name == closing => hidden = None,
            Some(_) => continue,
            None if name == "script" => hidden = Some("/script"),
            None if name == "style" => hidden = Some("/style"),
            None => {}
        }
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        if hidden.is_none() && !said.is_empty() {
            text += &said;
            text.push('\n');
        }
    }
    text
}

fn path(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/faces");
    folder.join(name)
}

fn compare(name: &str, now: &str) {
    golden::compare(&path(name), now);
}
