//! Help: the commands by job, lines of at most [`COLUMNS_MAX`] columns, examples for each.
//!
//! The derived command line knows arguments and descriptions. What concerns all commands alike is
//! added here by walking it, so that no command can be without it.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};

use super::{Arguments, examples};
use crate::output::broken;

/// How wide help may be: what fits every terminal, and half of a wide one.
const COLUMNS_MAX: usize = 80;

/// The commands by what somebody wants to do, in the order people come to need them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Start", &["init", "demo", "serve", "check", "doctor"]),
    (
        "Plan",
        &[
            "task", "kind", "schedule", "monitor", "calendar", "source", "edition", "import",
        ],
    ),
    (
        "Understand",
        &[
            "search",
            "why",
            "next",
            "simulate",
            "radar",
            "alert",
            "subscription",
        ],
    ),
    (
        "Operate",
        &[
            "user",
            "token",
            "backup",
            "restore",
            "migrate",
            "health",
            "clock",
            "schema",
            "completions",
            "idle",
        ],
    ),
    ("Run elsewhere", &["work", "tick", "chain", "guard"]),
    ("Measure and simulate", &["bench", "chaos", "world"]),
];

/// The whole command line.
pub(crate) fn command() -> Command {
    let command = Arguments::command().max_term_width(COLUMNS_MAX);
    let template = overview(&command);
    illustrated(command.help_template(template), "")
}

/// The command and those below it, each with its examples behind everything else.
fn illustrated(command: Command, words: &str) -> Command {
    let heading = *command.get_styles().get_header();
    let mut text = command
        .get_after_help()
        .map_or_else(String::new, |text| format!("{text}\n\n"));
    let _ = write!(text, "{heading}Examples:{heading:#}");
    for line in examples::of(words) {
        let _ = write!(text, "\n  {line}");
    }
    command.after_help(text).mut_subcommands(|below| {
        let words = format!("{words} {}", below.get_name());
        illustrated(below, words.trim_start())
    })
}

/// The page of the whole program: commands by job, where a flat list would hide the ten that
/// matter among forty.
fn overview(command: &Command) -> String {
    let (heading, literal) = (
        *command.get_styles().get_header(),
        *command.get_styles().get_literal(),
    );
    let mut page = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (job, names) in GROUPS {
        let _ = writeln!(page, "\n{heading}{job}:{heading:#}");
        // Without the lab, its commands are not there.
        for found in names
            .iter()
            .filter_map(|name| command.find_subcommand(name))
        {
            let about = found.get_about().map(ToString::to_string);
            let about = broken(&about.unwrap_or_default(), COLUMNS_MAX - INDENT);
            let about = about.join(&format!("\n{:INDENT$}", ""));
            let name = found.get_name();
            let _ = writeln!(page, "  {literal}{name:NAME$}{literal:#}  {about}");
        }
    }
    let _ = write!(
        page,
        "\n`almanack COMMAND --help` shows the options of a command, and examples.\n\n\
         {heading}Options:{heading:#}\n{{options}}{{after-help}}"
    );
    page
}

/// Columns for the longest name of a command, and where its description begins.
const NAME: usize = 12;
const INDENT: usize = NAME + 4;

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path};

    use almanack_testkit::golden;
    use unicode_width::UnicodeWidthStr as _;

    use super::*;

    const REFERENCE: &str = "# Commands

<!-- Generated from the command line (crates/cli/src/args/). To write it anew:
     ALMANACK_FACES=accept cargo nextest run -p almanack the_reference_has_the_help -->

What `almanack COMMAND --help` prints. The global options stand at the first command and work with all.
";

    /// Every command that people see, by its words.
    fn commands() -> Vec<(String, Command)> {
        fn walk(words: &str, command: &Command, into: &mut Vec<(String, Command)>) {
            into.push((words.to_owned(), command.clone()));
            let below = command.get_subcommands();
            for below in below.filter(|it| it.get_name() != "help" && !it.is_hide_set()) {
                walk(
                    format!("{words} {}", below.get_name()).trim_start(),
                    below,
                    into,
                );
            }
        }
        let mut command = command();
        command.build();
        let mut all = Vec::new();
        walk("", &command, &mut all);
        all
    }

    #[test]
    fn every_help_fits_its_columns_and_shows_whole_examples() {
        let all = commands();
        assert!(all.len() > 100, "{} commands", all.len());
        for (words, mut command) in all {
            let help = command.render_long_help().to_string();
            for line in help.lines() {
                assert!(line.width() <= COLUMNS_MAX, "almanack {words}: {line}");
            }
            let (_, examples) = help
                .rsplit_once("\nExamples:\n")
                .unwrap_or_else(|| panic!("almanack {words} has no examples"));
            let shown: Vec<&str> = examples.trim_end().lines().map(|it| &it[2..]).collect();
            assert_eq!(
                shown,
                examples::of(&words),
                "almanack {words}: one line each"
            );
            assert!(!shown.is_empty(), "almanack {words}");
        }
    }

    /// The manual as one page. Options that every command has are with the first one only.
    #[cfg(feature = "lab")]
    fn reference() -> String {
        let mut page = REFERENCE.to_owned();
        for (words, command) in commands() {
            let name = format!("almanack {words}");
            let help = command.term_width(COLUMNS_MAX).render_long_help();
            let help = help.to_string();
            let parts = help.split("\n\n").filter(|part| {
                words.is_empty() || !part.trim_start().starts_with("Global options:")
            });
            let help = parts.collect::<Vec<_>>().join("\n\n");
            let _ = write!(
                page,
                "\n## `{}`\n\n```text\n{}\n```\n",
                name.trim_end(),
                help.trim_end()
            );
        }
        page
    }

    #[test]
    #[cfg(feature = "lab")]
    fn the_reference_has_the_help_of_every_command() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/reference/commands.md"
        );
        golden::compare(Path::new(path), &reference());
    }

    #[test]
    fn every_command_is_in_one_group_of_the_overview() {
        let grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let once: BTreeSet<&str> = grouped.iter().copied().collect();
        assert_eq!(grouped.len(), once.len(), "none twice");
        let top: BTreeSet<String> = commands()
            .into_iter()
            .map(|(words, _)| words)
            .filter(|words| !words.is_empty() && !words.contains(' '))
            .collect();
        for name in &top {
            assert!(once.contains(name.as_str()), "{name} is in no group");
            assert!(name.len() <= NAME, "{name} is wider than its column");
        }
        #[cfg(feature = "lab")]
        assert_eq!(top.len(), once.len(), "groups name commands that there are");
    }
}
