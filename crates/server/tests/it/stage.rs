//! The stage of the browser tests: a store with half a day behind it, at an instant that stands
//! still, served on loopback twice.
//!
//! The tests themselves are in `e2e/` and drive a real browser; this starts them and fails with
//! what they say. What must stay true: the day is played by the product's own planner, handlers and
//! API, so that pages show what a node would have left behind, and the same run after run.

mod day;
mod edition_fixture;
mod people;
mod served;
mod timetable;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use almanack_testkit::fixture::START;
use serde_json::{Value, json};

pub(crate) use self::{day::Day, served::Stage};

/// Every page there is; signing in has separate tests.
pub(crate) const PAGES: &[&str] = &[
    "/ui",
    "/ui/tasks",
    "/ui/tasks?status=FAIL",
    "/ui/tasks?q=nothing-is-called-this",
    "/ui/tasks/new",
    "/ui/tasks/ARTICLE_PUBLISH/article:moved",
    "/ui/tasks/ARTICLE_PUBLISH/article:refused",
    "/ui/tasks/ARTICLE_PUBLISH/article:waits?at=2026-03-29T02:30:00&zone=Europe/Berlin",
    "/ui/tasks/ARTICLE_PUBLISH/article:runs",
    "/ui/tasks/NEWSLETTER_SEND/%E6%99%A8%E6%8A%A5:2026-01-05",
    "/ui/schedules",
    "/ui/schedules/new",
    "/ui/schedules/try?expression=30+2+*+*+*&tz=Europe/Berlin",
    "/ui/schedules/heartbeat",
    "/ui/schedules/nightly-export",
    "/ui/schedules/holiday-greetings",
    "/ui/schedules/lost-zone",
    "/ui/schedules/slow-import",
    "/ui/schedules/slow-import/log",
    "/ui/monitors",
    "/ui/schedules/db-backup",
    "/ui/schedules/new?target=ping",
    "/ui/sources",
    "/ui/sources?attention=any",
    "/ui/sources/add",
    "/ui/sources/opml",
    "/ui/sources/courtesy",
    "/about-requests",
    "/status",
    "/ui/sources/1",
    "/ui/sources/2",
    "/ui/sources/1/entries",
    "/ui/entries?q=wire",
    "/ui/sources/3",
    "/ui/editions",
    "/ui/editions/2026-01-05",
    "/ui/editions/2026-01-04",
    "/ui/editions/2026-01-04/document",
    "/ui/editions/2026-01-04/reset",
    "/ui/editions/subscribers",
    "/ui/editions/subscribers/2",
    "/ui/editions/subscribers/2/remove",
    "/ui/editions/subscribers/mailings/2026-01-04",
    "/ui/tasks/bulk?act=cancel&all=1&status=INIT",
    "/ui/tasks/bulk?act=move&all=1&status=INIT",
    "/ui/radar?herd=2",
    "/ui/kinds",
    "/ui/nodes",
    "/ui/activity",
    "/ui/settings",
    "/ui/api?q=receipt",
    "/ui/api/kinds",
    "/ui/search?q=import",
    "/problems",
    "/problems/unknown_kind",
];

/// What a new user sees of a node on which nothing has happened yet.
const FIRST_PAGES: &[&str] = &[
    "/ui",
    "/ui/tasks",
    "/ui/tasks/changes",
    "/ui/schedules",
    "/ui/monitors",
    "/ui/sources",
    "/ui/entries",
    "/ui/editions",
    "/ui/editions/subscribers",
    "/ui/kinds",
    "/ui/activity",
    "/status",
];

#[tokio::test(flavor = "multi_thread")]
async fn every_page_works_for_everybody_in_a_real_browser() {
    let stage = Stage::build();
    Day::of(&stage).play().await;
    stage.clock_stands_at(START);
    let empty = Stage::build();
    empty.clock_stands_at(START);
    let settings = settings(&stage.serve(&empty).await);
    let run = tokio::task::spawn_blocking(move || in_browser(&settings));
    let (said, passed) = run.await.unwrap();
    assert!(passed, "{}", failures(&said));
}

/// The settings of the browser tests.
fn settings(served: &served::Served) -> Value {
    json!({
        "open": served.open,
        "guarded": served.guarded,
        "empty": served.empty,
        "token": people::TOKEN,
        "admin": people::ADMIN.settings(),
        "reader": people::READER.settings(),
        "pages": PAGES,
        "firstPages": FIRST_PAGES,
        "shots": shots(),
        "chromium": chromium(),
    })
}

/// Runs the tests; what they said, and whether they passed.
fn in_browser(settings: &Value) -> (String, bool) {
    let run = Command::new("node")
        .args(["--test", "--test-reporter=spec"])
        .args(tests())
        .env("ALMANACK_STAGE", settings.to_string())
        .output();
    let run =
        run.unwrap_or_else(|why| panic!("node does not start ({why}); dev/browser installs it"));
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = said(&run.stdout) + &said(&run.stderr);
    (said, run.status.success())
}

/// What went wrong, without what went well.
fn failures(said: &str) -> &str {
    said.split_once("failing tests:")
        .map_or(said, |(_, failures)| failures)
}

/// The files of the tests, by name.
fn tests() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e");
    let installed = folder.join("node_modules/playwright-core").exists();
    assert!(
        installed,
        "e2e/node_modules is missing; dev/browser installs what it needs"
    );
    let names = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut tests: Vec<PathBuf> = names
        .filter(|path| path.to_string_lossy().ends_with(".test.mjs"))
        .collect();
    tests.sort();
    assert!(!tests.is_empty(), "no tests in {}", folder.display());
    tests
}

/// Where pictures of the pages are kept.
fn shots() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    target.join("e2e")
}

fn chromium() -> String {
    let found = Command::new("sh")
        .args(["-c", "command -v chromium"])
        .output();
    let found = String::from_utf8(found.unwrap().stdout).unwrap();
    let path = found.trim().to_owned();
    assert!(
        !path.is_empty(),
        "there is no chromium; dev/browser installs it"
    );
    path
}
