//! Documents do what they say: blocks of the READMEs run as a newcomer pastes them, and blocks of
//! the guide are valid.
//!
//! A block that cannot be checked says why after the language of its fence: `sh not-run: builds from
//! source`. These are counted, so that they do not grow unnoticed.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{harness::Home, process::free_address};

const READMES: [&str; 2] = ["README.md", "README.zh-CN.md"];
/// Begins the reason why a block is not checked.
const EXCEPTION: &str = "not-run: ";
/// Blocks of each README that are not run: both build from source.
const EXCEPTIONS: usize = 2;
/// The ports that blocks of the READMEs name.
const PORTS: [&str; 4] = ["8080", "8081", "8092", "8093"];
/// What the guide's calendar reads.
const HOLIDAYS: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//a//b//EN\r\nBEGIN:VEVENT\r\n\
    UID:1\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;VALUE=DATE:20270101\r\nSUMMARY:New Year\r\n\
    END:VEVENT\r\nEND:VCALENDAR\r\n";
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

/// All blocks of the READMEs and of the guide in a language, without exceptions.
fn checked(language: &str) -> Vec<Block> {
    let guide = fs::read_dir(root().join("docs/guide")).unwrap();
    let mut files: Vec<PathBuf> = guide.map(|entry| entry.unwrap().path()).collect();
    files.extend(READMES.map(|name| root().join(name)));
    files.sort();
    let blocks = files.iter().flat_map(|file| blocks_of(file));
    let chosen = blocks.filter(|it| it.language == language && !it.is_exception());
    chosen.collect()
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
    let guide = fs::read_dir(root().join("docs/guide")).unwrap();
    let guide = guide.flat_map(|entry| blocks_of(&entry.unwrap().path()));
    let excepted: Vec<Block> = guide.filter(Block::is_exception).collect();
    assert!(excepted.is_empty(), "{excepted:?}");
    for readme in READMES {
        let blocks = blocks_of(&root().join(readme));
        let excepted = blocks.iter().filter(|it| it.is_exception());
        assert_eq!(excepted.count(), EXCEPTIONS, "{readme}");
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

/// Runs all blocks of a README one after the other in one folder, as a reader would.
fn run_readme(name: &str) {
    let blocks = blocks_of(&root().join(name)).into_iter();
    let shell = blocks.filter(|it| it.language == "sh" && !it.is_exception());
    let mut script: String = shell.map(|it| it.code).collect();
    assert!(script.contains("almanack edition run"), "{script}");
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
        .file("readme.sh", &script);
    let mut command = home.shell_command("sh -e -x readme.sh > readme.log 2>&1");
    let mut child = command
        .process_group(0)
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let _group = Group(child.id());
    let ended = child.wait().unwrap();
    let log = fs::read_to_string(home.path().join("readme.log")).unwrap();
    assert!(ended.success(), "{name}: {ended}\n{log}");
    for result in [
        "\"rule\":\"updated\"",
        "\"kept\":\"stands\"",
        "\"kept\":\"superseded\"",
        "does not fire: the schedule is paused",
        "is still to come",
        "added source 1",
        "0 refused",
        "published",
        "identical: revision 1",
    ] {
        assert!(log.contains(result), "{name}: no {result}\n{log}");
    }
    let posts = fs::read_dir(home.path().join("posts")).unwrap();
    assert_eq!(posts.count(), 1, "{name}: {log}");
}

#[test]
fn every_shell_block_of_the_english_readme_runs() {
    run_readme(READMES[0]);
}

#[test]
fn every_shell_block_of_the_chinese_readme_runs() {
    run_readme(READMES[1]);
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
    let blocks = checked("toml");
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
    for block in checked("json") {
        let read: Result<serde_json::Value, _> = serde_json::from_str(&block.code);
        assert!(read.is_ok(), "{}: {read:?}", block.place);
    }
    for block in checked("jsonl") {
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
fn every_command_of_the_guide_exists_with_its_flags() {
    let blocks = checked("sh");
    assert!(blocks.len() > 50, "{} blocks", blocks.len());
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
