//! What to type: at least one line for every command, shown at the end of its help.
//!
//! All of them stand in one table, by the words of the command. A test parses each line and looks
//! which command it is, so a flag that changes its name changes here, too.

#[cfg(feature = "lab")]
use self::lab::LAB;
use self::plan::PLAN;

#[cfg(feature = "lab")]
mod lab;
mod plan;

/// The lines for a command, by its words behind `almanack`.
pub(super) fn of(words: &str) -> &'static [&'static str] {
    let mut all = all();
    all.find(|(command, _)| *command == words)
        .map_or(&[], |(_, lines)| lines)
}

/// A command, and what to type.
type Example = (&'static str, &'static [&'static str]);

fn all() -> impl Iterator<Item = Example> {
    #[cfg(not(feature = "lab"))]
    const LAB: &[Example] = &[];
    EXAMPLES.iter().chain(PLAN).chain(LAB).copied()
}

/// All other commands.
const EXAMPLES: &[Example] = &[
    (
        "",
        &[
            "almanack init                        # answer five questions",
            "almanack serve                       # run a node with API and dashboard",
            "almanack schedule show nightly --help",
        ],
    ),
    (
        "init",
        &[
            "almanack init",
            "almanack init --yes --run schedules,sources",
            "almanack init --yes --run editions --editions-to ./editions --config news.toml",
            "almanack init --yes --database postgres://almanack@db/almanack --token ci",
        ],
    ),
    (
        "serve",
        &[
            "almanack serve",
            "almanack serve --listen 0.0.0.0:8080 --node-name news-1",
            "almanack serve --config /etc/almanack.toml --set log.level=debug",
        ],
    ),
    (
        "check",
        &["almanack check", "almanack check --config news.toml --json"],
    ),
    ("schema", &["almanack schema config"]),
    (
        "schema config",
        &["almanack schema config > almanack.schema.json"],
    ),
    (
        "completions",
        &[
            "almanack completions bash > /etc/bash_completion.d/almanack",
            "almanack completions zsh > ~/.zfunc/_almanack",
        ],
    ),
    (
        "why",
        &[
            "almanack why nightly",
            "almanack why nightly '2026-03-29 02:30'",
            "almanack why source:17",
        ],
    ),
    (
        "radar",
        &["almanack radar", "almanack radar --hours 48 --herd 50"],
    ),
    (
        "radar spread",
        &[
            "almanack radar spread 2026-01-05T08:00:00Z",
            "almanack radar spread 2026-01-05T08:00:00Z --splay 2m --yes",
        ],
    ),
    (
        "search",
        &[
            "almanack search article:42",
            "almanack search backup --json",
            "almanack search night train --limit 20",
        ],
    ),
    ("tick", &["almanack tick", "almanack tick --budget 5m"]),
    (
        "work",
        &[
            "almanack work MAIL_SEND -- ./send-mail",
            "almanack work MAIL_SEND SMS_SEND --slots 4 -- ./send --verbose",
            "almanack work MAIL_SEND --server https://almanack.example.org -- ./send-mail",
        ],
    ),
    (
        "next",
        &[
            "almanack next '0 8 * * 1-5' --tz Europe/Berlin",
            "almanack next '30 2 * * *' --tz Europe/Berlin --from 2026-03-28T00:00Z",
            "almanack next '0 9 * * *' --except holidays.ics --move next_workday",
            "almanack next --batch < questions.jsonl",
        ],
    ),
    (
        "simulate",
        &[
            "almanack simulate --for 24h",
            "almanack simulate --for 7d --outage 02:00-05:00 --svg week.svg",
            "almanack simulate --from 2026-03-29T00:00Z --for 24h --json",
        ],
    ),
    (
        "import",
        &[
            "crontab -l | almanack import crontab - --tz Europe/Berlin",
            "crontab -l | almanack import crontab - --tz Europe/Berlin --apply",
            "almanack import crontab /etc/crontab --system",
            "almanack import systemd-timer /etc/systemd/system/backup.timer --json",
            "almanack import github-workflow daily.yml --repository owner/repo",
            "almanack import healthchecks checks.json",
        ],
    ),
    (
        "chain",
        &[
            "almanack chain --self tick-a",
            "almanack chain --self tick-a --once --dispatch DISPATCH",
        ],
    ),
    (
        "guard",
        &[
            "almanack guard",
            "almanack guard --chain tick-a --chain tick-b --ref main",
        ],
    ),
    (
        "token",
        &[
            "almanack token create ci --scope operate --expires 90d",
            "almanack token list",
        ],
    ),
    (
        "token create",
        &[
            "almanack token create article-service --scope operate",
            "almanack token create ci --scope read --expires 90d",
        ],
    ),
    ("token list", &["almanack token list"]),
    ("token revoke", &["almanack token revoke article-service"]),
    (
        "user",
        &[
            "almanack user create anna --scope admin",
            "almanack user list",
        ],
    ),
    (
        "user create",
        &[
            "almanack user create anna",
            "almanack user create anna --scope admin --password-stdin < password.txt",
        ],
    ),
    ("user password", &["almanack user password anna"]),
    ("user list", &["almanack user list"]),
    ("user remove", &["almanack user remove anna"]),
    (
        "backup",
        &[
            "almanack backup /backup/almanack.backup",
            "almanack backup /backup/almanack.backup --force --json",
        ],
    ),
    (
        "backup verify",
        &["almanack backup verify /backup/almanack.backup"],
    ),
    (
        "restore",
        &[
            "almanack restore /backup/almanack.backup",
            "almanack restore /backup/almanack.backup --force",
        ],
    ),
    (
        "migrate",
        &[
            "almanack migrate sqlite:almanack.db postgres://almanack@db/almanack",
            "almanack migrate sqlite:almanack.db env:NEW_DATABASE",
        ],
    ),
    (
        "health",
        &["almanack health", "almanack health --ready --json"],
    ),
    ("idle", &["almanack idle 30s"]),
    (
        "doctor",
        &[
            "almanack doctor",
            "almanack doctor --offline --deep",
            "almanack doctor --expect schedule=nightly,within=25h",
        ],
    ),
    ("clock", &["almanack clock show", "almanack clock accept"]),
    ("clock show", &["almanack clock show"]),
    ("clock accept", &["almanack clock accept"]),
    (
        "alert",
        &["almanack alert list", "almanack alert test telegram"],
    ),
    (
        "alert list",
        &["almanack alert list", "almanack alert list --all --json"],
    ),
    (
        "alert test",
        &["almanack alert test", "almanack alert test telegram"],
    ),
    ("subscription", &["almanack subscription list"]),
    (
        "subscription list",
        &[
            "almanack subscription list",
            "almanack subscription list --json",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::{
        super::{Arguments, help},
        *,
    };

    /// The words of a line as a shell splits them; what follows `#`, `<`, `>` or `|` is not ours.
    fn split(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
        for c in line.chars() {
            match c {
                '\'' => {
                    quoted = !quoted;
                    word.get_or_insert_default();
                }
                ' ' if !quoted => words.extend(word.take()),
                '#' | '<' | '>' | '|' if !quoted && word.is_none() => break,
                c => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        words
    }

    /// The words of the command that these arguments are for.
    fn command_of(arguments: &[String]) -> String {
        let matches = help::command().try_get_matches_from(arguments).unwrap();
        let (mut words, mut at) = (Vec::new(), &matches);
        while let Some((name, below)) = at.subcommand() {
            words.push(name.to_owned());
            at = below;
        }
        words.join(" ")
    }

    #[test]
    fn every_example_is_understood_and_is_about_its_command() {
        for (command, lines) in all() {
            let whole = lines.join("\n").replace("\\\n", "");
            for line in whole.lines() {
                let own = line.split_once("| ").map_or(line, |(_, behind)| behind);
                let arguments = split(own);
                assert_eq!(arguments[0], "almanack", "{line}");
                // The overview has examples of others, as a command with commands below it has.
                match Arguments::try_parse_from(&arguments) {
                    Ok(_) => {
                        let named = command_of(&arguments);
                        assert!(
                            named == command
                                || named.starts_with(&format!("{command} "))
                                || command.is_empty(),
                            "`{line}` is about `{named}`, not `{command}`"
                        );
                    }
                    Err(shown) if shown.kind() == clap::error::ErrorKind::DisplayHelp => {}
                    Err(error) => panic!("{line}\n{error}"),
                }
            }
        }
    }

    #[test]
    fn every_example_belongs_to_a_command() {
        let known = help::command();
        for (words, _) in all() {
            let found = words
                .split_whitespace()
                .try_fold(&known, |at, name| at.find_subcommand(name));
            assert!(found.is_some(), "there is no command `{words}`");
        }
    }

    #[test]
    fn a_line_is_split_as_a_shell_does() {
        let of = |line: &str| split(line).join("|");
        for (line, expected) in [
            ("a 'b c' ''  d # e", "a|b c||d"),
            ("a --x='b c' < d", "a|--x=b c"),
            ("a '#' > d", "a|#"),
        ] {
            assert_eq!(of(line), expected);
        }
    }
}
