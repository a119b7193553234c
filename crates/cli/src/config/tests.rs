//! `docs/reference/configuration.md`, made from the table of settings. A test says when it is
//! stale.

use std::{fmt::Write as _, path::Path};

use almanack_testkit::golden;

use super::{
    calendar::{CALENDAR, CALENDARS},
    key::{self, KINDS, Key, SUBSCRIPTIONS},
    schedule::{
        SCHEDULES,
        shape::{Field, SCHEDULE, TARGETS},
    },
    settings,
    sources::{
        SOURCES,
        shape::{READINGS, SOURCE},
    },
    table::{Listed, Shape, Usual, Words},
};
use crate::when::show_duration;

const HEAD: &str = "# Configuration

<!-- Generated from the table of settings (crates/cli/src/config/settings/). To write it anew:
     ALMANACK_FACES=accept cargo nextest run -p almanack the_reference_says -->

Flags override the environment, the environment overrides the file, the file overrides the defaults. The file is `almanack.toml`, or what
`--config` or `ALMANACK_CONFIG` names. `almanack check` shows every value in force and where it comes from; `almanack schema config` prints a
JSON Schema, with which editors check and complete the file.

- Every key has an environment variable: `node.lease` is `ALMANACK_NODE_LEASE`, `url` of `[kinds.PUBLISH]` is `ALMANACK_KINDS_PUBLISH_URL`.
  Any key can be set by `--set node.lease=10s`.
- Durations are written `30s`, `10m`, `1h30m` or `7d`. Lists are written `[\"a\", \"b\"]` in the file and `a,b` elsewhere.
- A secret is never written into the file. Write where it is kept: `\"env:NAME\"` or `\"file:/path\"`.
- ↻ marks keys that a running node adopts on SIGHUP. Changes of all others take effect at the next start.
";

fn document() -> String {
    let mut text = HEAD.to_owned();
    for Listed { name, about, .. } in settings::sections() {
        let title = match name {
            KINDS => "[kinds.NAME]".to_owned(),
            SUBSCRIPTIONS => "[[subscription]]".to_owned(),
            name => format!("[{name}]"),
        };
        heading(&mut text, &title, about);
        for key in key::keys_of(name) {
            row(
                &mut text,
                &name_of(key),
                &key.shape,
                (&usual(key), &meaning(key)),
            );
        }
    }
    let about = "When to fire what. Adopted as soon as the file changes.";
    heading(&mut text, &format!("[[{SCHEDULES}]]"), about);
    fields(&mut text, "", SCHEDULE);
    for (type_name, of_target) in TARGETS {
        let own = of_target.iter().filter(|field| field.name != "type");
        fields(&mut text, &format!("target.type = \"{type_name}\": "), own);
    }
    let about = "Named sets of days, which schedules leave out or keep to. Adopted as soon as the file changes.";
    heading(&mut text, &format!("[[{CALENDARS}]]"), about);
    fields(&mut text, "", CALENDAR);
    let about = "Sources that the file defines. Adopted as soon as the file changes.";
    heading(&mut text, &format!("[[{SOURCES}]]"), about);
    fields(&mut text, "", SOURCE);
    for (how, of_reading) in READINGS {
        let own = of_reading.iter().filter(|field| field.name != "how");
        fields(&mut text, &format!("reading.how = \"{how}\": "), own);
    }
    text
}

fn heading(text: &mut String, title: &str, about: &str) {
    let _ = write!(
        text,
        "\n## `{title}`\n\n{about}\n\n| key | value | default | |\n| --- | --- | --- | --- |\n"
    );
}

fn row(text: &mut String, name: &str, shape: &Shape, (usual, meaning): (&str, &str)) {
    let cells = [name, &value(shape), usual, meaning];
    let cells = cells.map(|cell| cell.replace('|', "\\|"));
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

fn fields<'a>(text: &mut String, of: &str, fields: impl IntoIterator<Item = &'a Field>) {
    for field in fields {
        let needed = if field.needed.is_some() {
            "required"
        } else {
            ""
        };
        let name = format!("{of}`{}`", field.name);
        row(text, &name, &field.shape, (needed, field.words[0].trim()));
    }
}

fn name_of(key: &Key) -> String {
    let mark = if key.reloadable { " ↻" } else { "" };
    format!("`{}`{mark}", key.name)
}

fn usual(key: &Key) -> String {
    match &key.usual {
        Usual::Value(written) => format!("`{written}`"),
        Usual::Unset(text) => text.trim_matches(['(', ')']).to_owned(),
        Usual::Depends(how) => (*how).to_owned(),
    }
}

fn meaning(key: &Key) -> String {
    let aliases = key.aliases.iter().map(|alias| format!("`{alias}`"));
    let aliases: Vec<String> = aliases.collect();
    match aliases.as_slice() {
        [] => key.words[0].to_owned(),
        _ => format!("{} Also set by {}.", key.words[0], aliases.join(" or ")),
    }
}

fn value(shape: &Shape) -> String {
    let words = |words: &Words, between: &str| {
        let words: Vec<String> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
        words.join(between)
    };
    match shape {
        Shape::Text => "text".to_owned(),
        Shape::Address => "address".to_owned(),
        Shape::Secret => "secret".to_owned(),
        Shape::Duration(_, most) if *most == jiff::SignedDuration::MAX => "duration".to_owned(),
        Shape::Duration(least, most) => {
            format!(
                "duration, {} to {}",
                show_duration(*least),
                show_duration(*most)
            )
        }
        Shape::Count(least, most) => format!("number, {least} to {most}"),
        Shape::Share => "number from 0 to 1, in quotes".to_owned(),
        Shape::Truth => "`true` or `false`".to_owned(),
        Shape::Choice(list) => words(list, ", "),
        Shape::TruthOrChoice(list) => format!("`true`, `false`, {}", words(list, ", ")),
        Shape::Texts(list) if list.is_empty() => "list".to_owned(),
        Shape::Texts(list) => format!("list of {}", words(list, ", ")),
        Shape::TextByName | Shape::Headers | Shape::Target | Shape::Retry | Shape::Reading => {
            "table".to_owned()
        }
        Shape::Instant => "a time with its offset".to_owned(),
        Shape::Anything => "anything".to_owned(),
    }
}

#[test]
fn the_reference_says_what_the_table_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    golden::compare(&root.join("docs/reference/configuration.md"), &document());
}

#[test]
fn every_key_is_described_in_both_languages() {
    let keys = key::KEYS.iter().map(|key| (key.name, key.words));
    let fields = TARGETS.iter().flat_map(|(_, fields)| fields.iter());
    let fields = SCHEDULE
        .iter()
        .chain(fields)
        .map(|it| (it.name, it.words.map(str::trim)));
    let plain = |c: char| c.is_ascii() || c == '…';
    for (name, [english, chinese]) in keys.chain(fields) {
        assert!(
            english.chars().all(plain) && english.ends_with('.'),
            "{name}: {english}"
        );
        assert!(
            !chinese.is_ascii() && chinese.ends_with('。'),
            "{name}: {chinese}"
        );
    }
}
