//! Documents do what they say: their `sh` blocks run as a newcomer pastes them, and all other blocks
//! are valid.
//!
//! A block that cannot be run says why after the language of its fence: `sh not-run: builds from
//! source`. Its commands must exist all the same, with their flags. These blocks are counted, so that
//! they do not grow unnoticed.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{harness::Home, process::free_address};

const READMES: [&str; 2] = ["README.md", "README.zh-CN.md"];
/// Folders whose documents are checked, too.
const FOLDERS: [&str; 2] = ["docs/guide", "docs/tutorials"];
/// Begins the reason why a block is not run.
const EXCEPTION: &str = "not-run: ";
/// Blocks that are not run.
const EXCEPTIONS: usize = 49;
/// The ports that blocks name.
const PORTS: [&str; 8] = [
    "8080", "8081", "8090", "8091", "8092", "8093", "8095", "9000",
];
/// How long the blocks of a document may take.
const DEADLINE_S: &str = "240";
/// What the guide's calendar reads.
const HOLIDAYS: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//a//b//EN\r\nBEGIN:VEVENT\r\n\
    UID:1\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;VALUE=DATE:20270101\r\nSUMMARY:New Year\r\n\
    END:VEVENT\r\nEND:VCALENDAR\r\n";
/// What is there before the guide's blocks run: a node, tasks, a schedule.
const NODE: &str = r#"
cat > almanack.toml <<'END'
[outbound]
allow = ["127.0.0.1"]

[sources]
allow = ["127.0.0.0/8"]

[kinds.MAIL_SEND]
url = "http://127.0.0.1:8081/mail"
END
almanack serve &
curl -fsS --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:8080/readyz
almanack task put MAIL_SEND user:9 --at +1h --tag tenant-9
almanack schedule put nightly '0 3 * * *' --target-task MAIL_SEND 'nightly:{slot}'
"#;
/// What is there before the guide's blocks about editions: news to make one of.
const EDITION: &str = r#"
cat > almanack.toml <<'END'
[sources]
allow = ["127.0.0.0/8"]

[edition]
language = "en"
stories = 4

[edition.source]
firebase_url = "http://127.0.0.1:8093"
algolia_url = "http://127.0.0.1:8093"

[edition.directory]
path = "posts"
END
almanack world news --quiet --listen 127.0.0.1:8093 > news.log &
curl -fs --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:8093/v0/beststories.json -o lists.json
"#;
/// Goes on from [`EDITION`]: today's waits for approval, so it is not published, and the run says so.
const WAITING: &str = "almanack edition run --set edition.approve=true || test $? = 1";
/// Stands before the real binary, and asks it for help instead, which names unknown flags.
const ASKS_FOR_HELP: &str = r#"#!/bin/sh
left=$#
asked=
while [ "$left" -gt 0 ]; do
  word=$1
  shift
  left=$((left - 1))
  if [ "$word" = -- ] && [ -z "$asked" ]; then
    asked=1
    set -- "$@" --help
  fi
  set -- "$@" "$word"
done
[ -n "$asked" ] || set -- "$@" --help
"$REAL" "$@" > /dev/null 2>> "$REFUSED" || echo "almanack $*" >> "$REFUSED"
"#;

/// A fenced block.
#[derive(Debug, Clone)]
struct Block {
    /// Its file and line.
    place: String,
    language: String,
    /// What follows the language.
    notes: String,
    code: String,
}

impl Block {
    fn is_exception(&self) -> bool {
        self.notes.starts_with(EXCEPTION)
    }

    /// Its code without comments, which differ between languages.
    fn bare(&self) -> String {
        let lines = self.code.lines().map(|line| match line.split_once(" # ") {
            Some((code, _)) => code.trim_end(),
            None => line.trim_end(),
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn blocks_of(path: &Path) -> Vec<Block> {
    let text = fs::read_to_string(path).unwrap();
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    for (index, line) in text.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(info) if !is_open => {
                let (language, notes) = info.split_once(' ').unwrap_or((info, ""));
                blocks.push(Block {
                    place: format!("{}:{}", path.display(), index + 1),
                    language: language.to_owned(),
                    notes: notes.trim().to_owned(),
                    code: String::new(),
                });
                is_open = true;
            }
            Some(_) => is_open = false,
            None if is_open => {
                let block = blocks.last_mut().unwrap();
                block.code.push_str(line);
                block.code.push('\n');
            }
            None => {}
        }
    }
    assert!(!is_open, "{}: a block does not end", path.display());
    blocks
}

/// Every document whose blocks are checked, by its path.
fn documents() -> Vec<String> {
    let in_folder = |folder: &str| {
        let files = fs::read_dir(root().join(folder)).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names
            .map(|name| format!("{folder}/{name}"))
            .collect::<Vec<_>>()
    };
    let mut all: Vec<String> = FOLDERS.into_iter().flat_map(in_folder).collect();
    all.extend(READMES.map(str::to_owned));
    all.sort();
    all
}

/// All blocks of all documents in a language.
fn blocks_in(language: &str) -> Vec<Block> {
    let blocks = documents()
        .into_iter()
        .flat_map(|it| blocks_of(&root().join(it)));
    blocks.filter(|it| it.language == language).collect()
}

/// The blocks of a document that are run.
fn runnable(document: &str) -> Vec<Block> {
    let blocks = blocks_of(&root().join(document)).into_iter();
    let shell = blocks.filter(|it| it.language == "sh" && !it.is_exception());
    shell.collect()
}

#[test]
fn both_readmes_have_the_same_blocks() {
    let [english, chinese] = READMES.map(|name| {
        let blocks = blocks_of(&root().join(name)).into_iter();
        let bare = blocks.map(|it| (it.language.clone(), it.notes.clone(), it.bare()));
        bare.collect::<Vec<_>>()
    });
    assert_eq!(english, chinese);
    let languages: BTreeSet<&str> = english.iter().map(|it| it.0.as_str()).collect();
    assert!(
        languages.contains("sh") && languages.contains("toml"),
        "{languages:?}"
    );
}

#[test]
fn exceptions_do_not_grow() {
    let excepted: Vec<String> = documents()
        .iter()
        .flat_map(|it| blocks_of(&root().join(it)))
        .filter(Block::is_exception)
        .map(|it| format!("{}: {}", it.place, it.notes))
        .collect();
    assert_eq!(excepted.len(), EXCEPTIONS, "{excepted:#?}");
}

#[test]
fn every_document_with_commands_is_run() {
    for document in documents() {
        let is_run = RUN.contains(&document.as_str());
        assert_eq!(is_run, !runnable(&document).is_empty(), "{document}");
    }
}

/// Ends all processes of a group when the test ends.
struct Group(u32);

impl Drop for Group {
    fn drop(&mut self) {
        let group = format!("-{}", self.0);
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
    }
}

/// Runs all blocks of a document one after the other in one folder, as a reader would, and looks
/// whether they printed this.
fn run(document: &str, before: &[&str], results: &[&str]) {
    let shell: String = runnable(document).into_iter().map(|it| it.code).collect();
    let mut script = format!("{}\n{shell}", before.join("\n"));
    let mut listen = String::new();
    for port in PORTS {
        let address = free_address();
        script = script.replace(port, &address.port().to_string());
        if port == "8080" {
            listen = address.to_string();
        }
    }
    let home = Home::new()
        .set("ALMANACK_SERVER_LISTEN", &listen)
        .file("holidays.ics", HOLIDAYS)
        .file("blocks.sh", &script);
    let line = format!("timeout --foreground {DEADLINE_S} sh -e -x blocks.sh > blocks.log 2>&1");
    let mut command = home.shell_command(&line);
    let mut child = command
        .process_group(0)
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let _group = Group(child.id());
    let ended = child.wait().unwrap();
    let log = fs::read_to_string(home.path().join("blocks.log")).unwrap();
    assert!(ended.success(), "{document}: {ended}\n{log}");
    for result in results {
        assert!(log.contains(result), "{document}: no {result}\n{log}");
    }
}

const README: &[&str] = &[
    "\"rule\":\"updated\"",
    "\"kept\":\"stands\"",
    "\"kept\":\"superseded\"",
    "does not fire: the schedule is paused",
    "is still to come",
    "added source 1",
    "0 refused",
    "published",
    "identical: revision 1",
    "title:",
];
const PUBLISH: &[&str] = &["published article:42", "HTTP 503", "401"];

macro_rules! documents {
    ($($name:ident $path:literal $before:expr, $results:expr;)+) => {
        const RUN: &[&str] = &[$($path),+];
        $(
            #[test]
            fn $name() {
                run($path, $before, $results);
            }
        )+
    };
}

documents! {
    every_block_of_the_english_readme_runs "README.md" &[], README;
    every_block_of_the_chinese_readme_runs "README.zh-CN.md" &[], README;
    the_tutorial_in_python_runs "docs/tutorials/publish-python.md" &[], PUBLISH;
    the_tutorial_in_node_runs "docs/tutorials/publish-node.md" &[], PUBLISH;
    the_tutorial_about_feeds_runs "docs/tutorials/hundred-feeds.md" &[], &["100 sources added"];
    the_tutorial_about_github_runs "docs/tutorials/github-workflow.md" &[], &["daily.yml"];
    the_tutorial_about_telegram_runs "docs/tutorials/telegram-digest.md" &[], &["published"];
    the_guide_to_alerts_runs "docs/guide/alerts.md" &[NODE], &[];
    the_guide_to_calendars_runs "docs/guide/calendars.md" &[NODE], &["New Year"];
    the_guide_to_editions_runs "docs/guide/editions.md" &[EDITION], &["title:"];
    the_guide_to_reviews_runs "docs/guide/editions-review.md" &[EDITION, WAITING], &["published"];
    the_guide_to_event_subscriptions_runs "docs/guide/event-subscriptions.md" &[], &["204"];
    the_guide_to_events_runs "docs/guide/events.md" &[NODE], &[];
    the_guide_to_the_api_runs "docs/guide/http-api.md" &[NODE], &["\"rule\":\"created\""];
    the_guide_to_monitors_runs "docs/guide/monitors.md" &[NODE], &["/ping/"];
    the_guide_to_operations_runs "docs/guide/operations.md" &[NODE], &[];
    the_guide_to_pacing_runs "docs/guide/pacing.md" &[NODE], &["the mail server moves"];
    the_guide_to_the_radar_runs "docs/guide/radar.md" &[NODE], &[];
    the_guide_to_schedules_runs "docs/guide/schedules.md" &[NODE], &["nightly"];
    the_guide_to_sources_runs "docs/guide/sources.md" &[NODE], &[];
    the_guide_to_tasks_runs "docs/guide/tasks.md" &[NODE], &["tenant-9"];
    the_guide_to_workers_runs "docs/guide/workers.md" &[NODE], &["alm_"];
}

/// A value that a secret of this name may have.
fn secret(name: &str) -> String {
    let key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    match name {
        _ if name.ends_with("_SECRET") => format!("whsec_{key}"),
        _ if name.contains("BOT_TOKEN") => "123456:abc".to_owned(),
        _ if name.ends_with("_URL") || name.ends_with("_WEBHOOK") => {
            "https://hooks.example.org/x".to_owned()
        }
        _ if name.ends_with("_HEADERS") => "a=b".to_owned(),
        _ => key.to_owned(),
    }
}

/// The names after each `env:` of a configuration.
fn secrets_of(toml: &str) -> BTreeSet<String> {
    let is_name = |c: &char| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '_';
    let named = toml.split("\"env:").skip(1);
    named
        .map(|rest| rest.chars().take_while(is_name).collect())
        .collect()
}

#[test]
fn every_toml_block_is_a_valid_configuration() {
    let blocks = blocks_in("toml");
    assert!(blocks.len() > 30, "{} blocks", blocks.len());
    for block in blocks {
        if block.code.contains("[events.kafka") && !cfg!(feature = "kafka") {
            // This build refuses it whatever it says.
            continue;
        }
        let mut home = Home::with(&block.code).file("holidays.ics", HOLIDAYS);
        home = home.set("LLM_DEEPSEEK_API_KEY", &secret("LLM_DEEPSEEK_API_KEY"));
        for name in secrets_of(&block.code) {
            home = home.set(&name, &secret(&name));
        }
        if block.code.contains("env:TELEGRAM_BOT_TOKEN") {
            // This name is a setting of the only edition, too.
            home = home.set("TELEGRAM_CHANNEL_ID", "@daily");
        }
        let ran = home.run(&["check"]);
        assert_eq!(ran.code, 0, "{}: {ran}", block.place);
    }
}

#[test]
fn every_json_block_is_json() {
    for block in blocks_in("json") {
        let read: Result<serde_json::Value, _> = serde_json::from_str(&block.code);
        assert!(read.is_ok(), "{}: {read:?}", block.place);
    }
    for block in blocks_in("jsonl") {
        for line in block.code.lines() {
            let read: Result<serde_json::Value, _> = serde_json::from_str(line);
            assert!(read.is_ok(), "{}: {read:?}", block.place);
        }
    }
}

/// What the binary refuses of the commands in a script: of each, only its flags are read.
fn refused(script: &str) -> String {
    let home = Home::new()
        .file("almanack", ASKS_FOR_HELP)
        .file("refused", "");
    let stand_in = home.path().join("almanack");
    fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).unwrap();
    // No other command is found, so nothing else happens.
    let ran = Command::new("/bin/sh")
        .args(["-c", script])
        .current_dir(home.path())
        .env_clear()
        .env("PATH", home.path())
        .env("REAL", env!("CARGO_BIN_EXE_almanack"))
        .env("REFUSED", home.path().join("refused"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let notes = String::from_utf8_lossy(&ran.stderr);
    let refused = fs::read_to_string(home.path().join("refused")).unwrap();
    let unread = notes.lines().filter(|line| line.contains("yntax error"));
    unread.fold(refused, |all, line| all + line)
}

#[test]
fn every_command_that_is_not_run_exists_with_its_flags() {
    let blocks = blocks_in("sh").into_iter().filter(Block::is_exception);
    for block in blocks {
        let refused = refused(&block.code);
        assert_eq!(refused, "", "{}", block.place);
    }
}

#[test]
fn an_unknown_command_or_flag_is_found() {
    assert_eq!(
        refused("almanack schedule list --json\nalmanack work A -- cat --no-flag"),
        ""
    );
    for script in [
        "almanack schedule list --jsn",
        "almanack lst | grep x",
        "almanack ( ",
    ] {
        assert_ne!(refused(script), "", "{script}");
    }
}
