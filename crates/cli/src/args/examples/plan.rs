//! The commands for tasks, schedules, sources and editions.

use super::Example;

pub(super) const PLAN: &[Example] = &[
    (
        "task",
        &[
            "almanack task put ARTICLE_PUBLISH article:42 --at +10m",
            "almanack task list --live",
            "almanack task why ARTICLE_PUBLISH article:42",
        ],
    ),
    (
        "task put",
        &[
            "almanack task put ARTICLE_PUBLISH article:42 --at +10m",
            "almanack task put MAIL_SEND user:7 --at now --payload '{\"lang\":\"en\"}'",
            "almanack task put MAIL_SEND user:7 --at '2026-01-05 08:00 Europe/Berlin'",
            "almanack task put PING svc:1 --at +1h --callback-url https://example.org/ping",
            "almanack task put --batch tasks.jsonl",
        ],
    ),
    (
        "task get",
        &["almanack task get ARTICLE_PUBLISH article:42"],
    ),
    (
        "task list",
        &[
            "almanack task list --live --limit 20",
            "almanack task list --kind MAIL_SEND --status FAIL --due-from -1h",
            "almanack task list --subject article: --all --json-lines",
        ],
    ),
    (
        "task count",
        &[
            "almanack task count --by status",
            "almanack task count --kind MAIL_SEND --live",
        ],
    ),
    (
        "task bulk",
        &[
            "almanack task bulk retry --kind MAIL_SEND --status FAIL --dry-run",
            "almanack task bulk list",
        ],
    ),
    (
        "task bulk cancel",
        &[
            "almanack task bulk cancel --subject article: --dry-run",
            "almanack task bulk cancel --tag campaign-7 --yes --wait",
        ],
    ),
    (
        "task bulk retry",
        &["almanack task bulk retry --kind MAIL_SEND --error timeout --yes"],
    ),
    (
        "task bulk move",
        &[
            "almanack task bulk move --kind MAIL_SEND --by 2h --dry-run",
            "almanack task bulk move --tag campaign-7 --at 2026-01-05T08:00Z --yes",
        ],
    ),
    ("task bulk list", &["almanack task bulk list --limit 10"]),
    ("task bulk show", &["almanack task bulk show 3"]),
    ("task bulk stop", &["almanack task bulk stop 3"]),
    (
        "task cancel",
        &[
            "almanack task cancel ARTICLE_PUBLISH article:42",
            "almanack task cancel ARTICLE_PUBLISH article:42 --revision 7",
        ],
    ),
    (
        "task retry",
        &["almanack task retry ARTICLE_PUBLISH article:42"],
    ),
    (
        "task history",
        &["almanack task history ARTICLE_PUBLISH article:42 --limit 20"],
    ),
    (
        "task why",
        &["almanack task why ARTICLE_PUBLISH article:42"],
    ),
    (
        "kind",
        &[
            "almanack kind list",
            "almanack kind pause MAIL_SEND --until +2h",
        ],
    ),
    ("kind list", &["almanack kind list"]),
    ("kind show", &["almanack kind show MAIL_SEND"]),
    (
        "kind pause",
        &[
            "almanack kind pause MAIL_SEND",
            "almanack kind pause MAIL_SEND --until +2h --note 'mail server moves'",
        ],
    ),
    ("kind resume", &["almanack kind resume MAIL_SEND"]),
    (
        "schedule",
        &[
            "almanack schedule list",
            "almanack schedule show nightly",
            "almanack schedule fire nightly",
        ],
    ),
    (
        "schedule list",
        &[
            "almanack schedule list",
            "almanack schedule list --state paused --tag reports",
        ],
    ),
    ("schedule show", &["almanack schedule show nightly"]),
    (
        "schedule put",
        &[
            "almanack schedule put ping '@10s' --target-webhook https://example.org/hook",
            "almanack schedule put backup '0 3 * * *' --tz Europe/Berlin \\",
            "  --target-command /usr/bin/rsync --target-command -a \\",
            "  --target-command /data/ --target-command /backup/",
            "almanack schedule put ci '0 6 * * 1-5' --target-workflow owner/name/daily.yml",
            "almanack schedule put digest '0 7 * * *' --target-task DIGEST 'day:{date}'",
        ],
    ),
    (
        "schedule pause",
        &[
            "almanack schedule pause nightly",
            "almanack schedule pause nightly --until +2d --note 'warehouse moves'",
        ],
    ),
    ("schedule resume", &["almanack schedule resume nightly"]),
    (
        "schedule rewind",
        &[
            "almanack schedule rewind",
            "almanack schedule rewind nightly",
        ],
    ),
    ("schedule remove", &["almanack schedule remove nightly"]),
    (
        "schedule fire",
        &[
            "almanack schedule fire nightly",
            "almanack schedule fire nightly --force",
        ],
    ),
    (
        "schedule backfill",
        &[
            "almanack schedule backfill nightly --from 2026-01-01 --dry-run",
            "almanack schedule backfill nightly --from 2026-01-01 --to 2026-01-08 --pace 1m",
        ],
    ),
    (
        "schedule slots",
        &["almanack schedule slots nightly --limit 50"],
    ),
    (
        "schedule log",
        &[
            "almanack schedule log nightly",
            "almanack schedule log nightly --follow",
        ],
    ),
    (
        "schedule plan",
        &["almanack schedule plan almanack.toml --for 7d"],
    ),
    (
        "monitor",
        &[
            "almanack monitor list",
            "almanack monitor put backup '@every 1d' --grace 1h",
        ],
    ),
    ("monitor list", &["almanack monitor list"]),
    ("monitor show", &["almanack monitor show backup"]),
    (
        "monitor put",
        &[
            "almanack monitor put backup '@every 1d' --grace 1h",
            "almanack monitor put report '30 6 * * 1-5' --tz Europe/Berlin --grace 20m",
        ],
    ),
    (
        "monitor pings",
        &["almanack monitor pings backup --limit 5"],
    ),
    (
        "monitor key",
        &[
            "almanack monitor key backup",
            "almanack monitor key backup --key 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
        ],
    ),
    (
        "monitor badge",
        &[
            "almanack monitor badge backup",
            "almanack monitor badge backup --off",
        ],
    ),
    (
        "monitor pause",
        &["almanack monitor pause backup --until +2d"],
    ),
    ("monitor resume", &["almanack monitor resume backup"]),
    ("monitor remove", &["almanack monitor remove backup"]),
    (
        "calendar",
        &[
            "almanack calendar list",
            "almanack calendar put weekend --weekday saturday",
        ],
    ),
    ("calendar list", &["almanack calendar list"]),
    ("calendar show", &["almanack calendar show holidays"]),
    (
        "calendar put",
        &[
            "almanack calendar put closed --date '2026-12-24=Christmas Eve'",
            "almanack calendar put weekend --weekday saturday --weekday sunday",
            "almanack calendar put holidays --url https://example.org/holidays.ics",
        ],
    ),
    ("calendar remove", &["almanack calendar remove weekend"]),
    (
        "source",
        &[
            "almanack source add example.org --category news/world",
            "almanack source list --attention",
            "almanack source why 17",
        ],
    ),
    (
        "source add",
        &[
            "almanack source add https://example.org/feed.xml",
            "almanack source add example.org --category news/world --dry-run",
            "almanack source add https://example.org/ --as html --item article --title h2",
        ],
    ),
    (
        "source try",
        &[
            "almanack source try example.org",
            "almanack source try https://example.org/ --as html --item article --title h2",
            "almanack source try 17 --rules new.json",
        ],
    ),
    (
        "source list",
        &[
            "almanack source list --containing example.org",
            "almanack source list --attention failing",
            "almanack source list --due",
        ],
    ),
    (
        "source show",
        &[
            "almanack source show 17",
            "almanack source show https://example.org/feed.xml",
        ],
    ),
    (
        "source check",
        &[
            "almanack source check 17",
            "almanack source check 17 --wait --timeout 30s",
        ],
    ),
    (
        "source pause",
        &["almanack source pause 17 --note 'site is moving'"],
    ),
    ("source resume", &["almanack source resume 17"]),
    (
        "source set",
        &[
            "almanack source set 17 --address https://example.org/new.xml",
            "almanack source set 17 --header 'Accept-Language: de' --bearer env:TOKEN",
            "almanack source set 17 --bearer '' --header 'Accept-Language:'",
        ],
    ),
    (
        "source remove",
        &[
            "almanack source remove 17",
            "almanack source remove 17 --yes",
        ],
    ),
    (
        "source entries",
        &[
            "almanack source entries 17 --since 2h",
            "almanack source entries --search 'ferry \"night train\" -strike'",
        ],
    ),
    (
        "source stats",
        &["almanack source stats", "almanack source stats --type rss"],
    ),
    (
        "source courtesy",
        &["almanack source courtesy --host example.org --days 30"],
    ),
    (
        "source replay",
        &[
            "almanack source replay --policy adaptive --policy classic --trace h.tsv.gz",
            "almanack source replay --budget 24 --floor 15m --trace - < history.tsv",
        ],
    ),
    (
        "source import",
        &[
            "almanack source import feeds.opml",
            "almanack source import - < feeds.opml",
        ],
    ),
    ("source export", &["almanack source export feeds.opml"]),
    (
        "source why",
        &[
            "almanack source why 17",
            "almanack source why 17 --svg week.svg",
        ],
    ),
    (
        "edition",
        &[
            "almanack edition run",
            "almanack edition status",
            "almanack edition show 2026-01-31",
        ],
    ),
    (
        "edition run",
        &[
            "almanack edition run",
            "almanack edition run weekly@2026-01-31",
        ],
    ),
    (
        "edition status",
        &[
            "almanack edition status",
            "almanack edition status 2026-01-31",
        ],
    ),
    (
        "edition show",
        &[
            "almanack edition show 2026-01-31",
            "almanack edition show --revision 2",
            "almanack edition show 2026-01-31 --template new.html",
        ],
    ),
    ("edition publish", &["almanack edition publish 2026-01-31"]),
    (
        "edition retry",
        &[
            "almanack edition retry",
            "almanack edition retry 2026-01-31 --max 2",
        ],
    ),
    (
        "edition reset",
        &["almanack edition reset 2026-01-31 --yes"],
    ),
    (
        "edition resend",
        &[
            "almanack edition resend telegram",
            "almanack edition resend mail 2026-01-31 --part 2",
        ],
    ),
    (
        "edition skip",
        &["almanack edition skip telegram 2026-01-31"],
    ),
    (
        "edition approve",
        &[
            "almanack edition approve",
            "almanack edition approve --revision 2",
        ],
    ),
    ("edition reject", &["almanack edition reject 2026-01-31"]),
    (
        "edition drop",
        &[
            "almanack edition drop 3",
            "almanack edition drop hn:42 2026-01-31",
        ],
    ),
    ("edition move", &["almanack edition move hn:42 --to 1"]),
    (
        "edition edit",
        &[
            "almanack edition edit 3 --title 'Ferries run again'",
            "almanack edition edit hn:42 2026-01-31 --summary ''",
        ],
    ),
    (
        "edition retract",
        &["almanack edition retract 2026-01-31 --note 'The lead story was wrong' --yes"],
    ),
    ("edition restore", &["almanack edition restore 2026-01-31"]),
    (
        "edition usage",
        &[
            "almanack edition usage",
            "almanack edition usage weekly --month 2026-01",
        ],
    ),
    (
        "edition prompts",
        &[
            "almanack edition prompts",
            "almanack edition prompts weekly",
        ],
    ),
    (
        "edition mailing",
        &[
            "almanack edition mailing 2026-01-31",
            "almanack edition mailing weekly --state failed",
        ],
    ),
    ("edition bounce", &["almanack edition bounce < report.eml"]),
    ("edition history", &["almanack edition history 2026-01-31"]),
    ("edition preview", &["almanack edition preview"]),
    (
        "edition list",
        &[
            "almanack edition list --limit 7",
            "almanack edition list weekly",
        ],
    ),
    (
        "edition subscriber",
        &[
            "almanack edition subscriber status",
            "almanack edition subscriber list",
        ],
    ),
    (
        "edition subscriber list",
        &["almanack edition subscriber list --edition weekly --state confirmed"],
    ),
    (
        "edition subscriber status",
        &["almanack edition subscriber status"],
    ),
    (
        "edition subscriber add",
        &[
            "almanack edition subscriber add anna@example.org --language en",
            "almanack edition subscriber add anna@example.org --confirm",
        ],
    ),
    (
        "edition subscriber show",
        &["almanack edition subscriber show 17"],
    ),
    (
        "edition subscriber ask",
        &["almanack edition subscriber ask 17"],
    ),
    (
        "edition subscriber remove",
        &["almanack edition subscriber remove 17"],
    ),
    (
        "edition subscriber unsubscribe",
        &["almanack edition subscriber unsubscribe 17"],
    ),
    (
        "edition subscriber import",
        &["almanack edition subscriber import people.csv --edition weekly"],
    ),
    (
        "edition subscriber export",
        &["almanack edition subscriber export people.csv --state confirmed"],
    ),
];
