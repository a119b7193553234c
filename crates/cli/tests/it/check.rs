//! `almanack check`: every mistake is found, pointed at and explained, and no secret is shown.

use crate::harness::Home;

/// The problems of a bad configuration.
fn complaint(toml: &str) -> String {
    let ran = Home::with(toml).run(&["check"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert_eq!(ran.data, "", "nothing is in force");
    ran.notes
}

#[test]
fn a_wrong_type() {
    insta::assert_snapshot!(complaint("[node]\nslots = \"64\"\n"), @r#"
    error: node.slots: expected a number, found text
     --> almanack.toml:2:9
      |
    2 | slots = "64"
      |         ^^^^
      = hint: remove the quotes: 64

    1 error
    "#);
}

#[test]
fn an_unknown_key_gets_its_neighbour() {
    insta::assert_snapshot!(complaint("[server]\nlisen = \"127.0.0.1:1\"\n"), @"
    error: unknown key `lisen` in [server]
     --> almanack.toml:2:1
      |
    2 | lisen = ***
      | ^^^^^
      = hint: did you mean `listen`?

    1 error
    ");
}

#[test]
fn an_unknown_key_without_a_neighbour_gets_the_list() {
    insta::assert_snapshot!(complaint("[server]\nport = 80\n"), @"
    error: unknown key `port` in [server]
     --> almanack.toml:2:1
      |
    2 | port = ***
      | ^^^^
      = hint: use one of `listen`, `allowed_hosts`, `public_url`, `trusted_proxies`, `shutdown_delay`, `connections`, `header_timeout`

    1 error
    ");
}

#[test]
fn an_unknown_section() {
    insta::assert_snapshot!(complaint("[databse]\nurl = \"sqlite:x\"\n"), @"
    error: unknown section `databse`
     --> almanack.toml:1:2
      |
    1 | [databse]
      |  ^^^^^^^
      = hint: did you mean `database`?

    1 error
    ");
}

#[test]
fn a_key_outside_its_section() {
    insta::assert_snapshot!(complaint("listen = \"127.0.0.1:1\"\n"), @"
    error: unknown key `listen` outside of any section
     --> almanack.toml:1:1
      |
    1 | listen = ***
      | ^^^^^^
      = hint: `listen` belongs in [server]

    1 error
    ");
}

#[test]
fn a_bad_duration() {
    insta::assert_snapshot!(complaint("[node]\nlease = \"soon\"\n"), @r#"
    error: node.lease: `soon` is not a duration
     --> almanack.toml:2:9
      |
    2 | lease = "soon"
      |         ^^^^^^
      = hint: write numbers with units, like "30s", "10m", "1h30m" or "7d"

    1 error
    "#);
}

#[test]
fn a_duration_without_a_unit() {
    insta::assert_snapshot!(complaint("[node]\ndrain = 20\n"), @r#"
    error: node.drain: expected a duration, found a number without a unit
     --> almanack.toml:2:9
      |
    2 | drain = 20
      |         ^^
      = hint: did you mean "20s"?

    1 error
    "#);
}

#[test]
fn a_duration_out_of_range() {
    insta::assert_snapshot!(complaint("[node]\nlease = \"1s\" # too short\n"), @r#"
    error: node.lease: `1s` is out of range
     --> almanack.toml:2:9
      |
    2 | lease = "1s" # too short
      |         ^^^^
      = hint: write 3s to 1h

    1 error
    "#);
}

#[test]
fn a_bad_address_to_call() {
    insta::assert_snapshot!(complaint("[kinds.NEWS]\nurl = \"ftp://example.org/x\"\n"), @r#"
    error: kinds.NEWS.url: `ftp://example.org/***` is not a web address
     --> almanack.toml:2:7
      |
    2 | url = ***
      |       ^^^
      = hint: start it with http:// or https://

    1 error
    "#);
}

#[test]
fn a_bad_address_to_listen_at() {
    insta::assert_snapshot!(complaint("[server]\nlisten = \"localhost:8080\"\n"), @r#"
    error: server.listen: `localhost:8080` is not an address to listen on
     --> almanack.toml:2:10
      |
    2 | listen = "localhost:8080"
      |          ^^^^^^^^^^^^^^^^
      = hint: did you mean "127.0.0.1:8080"?

    1 error
    "#);
}

#[test]
fn a_database_of_another_make() {
    insta::assert_snapshot!(complaint("[database]\nurl = \"mysql://root:hunter2@db/x\"\n"), @"
    error: database.url: `mysql://root:***@db/x` is not a database
     --> almanack.toml:2:7
      |
    2 | url = ***
      |       ^^^
      = hint: Almanack supports SQLite and PostgreSQL

    1 error
    ");
}

#[test]
fn a_literal_secret_is_refused_and_not_shown() {
    insta::assert_snapshot!(complaint("[callback]\nsecret = \"hunter2\"\n"), @r#"
    error: callback.secret: do not write the secret itself, only where it is kept
     --> almanack.toml:2:10
      |
    2 | secret = ***
      |          ^^^
      = hint: write "env:NAME" and set NAME, or write "file:/path" and put it in that file

    1 error
    "#);
}

#[test]
fn a_literal_password_is_refused_and_not_shown() {
    insta::assert_snapshot!(complaint("[database]\nurl = \"postgres://bob:hunter2@db/x\"\n"), @r#"
    error: database.url: do not write the password here
     --> almanack.toml:2:7
      |
    2 | url = ***
      |       ^^^
      = hint: remove it from the address and write password = "env:NAME"

    1 error
    "#);
}

#[test]
fn a_secret_that_is_not_where_it_should_be() {
    insta::assert_snapshot!(complaint("[callback]\nsecret = \"env:HOOK\"\n"), @r#"
    error: callback.secret: environment variable `HOOK` is not set
     --> almanack.toml:2:10
      |
    2 | secret = "env:HOOK"
      |          ^^^^^^^^^^
      = hint: set it, or write where the secret is kept: "env:NAME" or "file:/path"

    1 error
    "#);
    insta::assert_snapshot!(complaint("[callback]\nsecret = \"file:/no/such/file\"\n"), @r#"
    error: callback.secret: cannot read `/no/such/file`: No such file or directory (os error 2)
     --> almanack.toml:2:10
      |
    2 | secret = "file:/no/such/file"
      |          ^^^^^^^^^^^^^^^^^^^^
      = hint: set it, or write where the secret is kept: "env:NAME" or "file:/path"

    1 error
    "#);
}

#[test]
fn a_secret_that_cannot_sign() {
    let home = Home::with("[callback]\nsecret = \"env:HOOK\"\n").set("HOOK", "hunter2");
    insta::assert_snapshot!(home.run(&["check"]), @r#"
    error: callback.secret: a webhook secret is `whsec_` followed by the base64 of 24 to 64 random bytes; during a rotation, two of them separated by a blank
     --> almanack.toml:2:10
      |
    2 | secret = "env:HOOK"
      |          ^^^^^^^^^^
      = hint: create one: echo whsec_$(openssl rand -base64 32)

    1 error
    exit 2
    "#);
}

#[test]
fn a_key_twice() {
    insta::assert_snapshot!(complaint("[node]\nslots = 4\nslots = 5\n"), @"
    error: `slots` is set twice
     --> almanack.toml:3:1
      |
    3 | slots = 5
      | ^^^^^
      = hint: set a key only once in its table; remove one of them

    1 error
    ");
}

#[test]
fn text_without_quotes() {
    insta::assert_snapshot!(complaint("[log]\nformat = json\n"), @r#"
    error: text must be quoted
     --> almanack.toml:2:10
      |
    2 | format = json
      |          ^^^^
      = hint: for example "30s"

    1 error
    "#);
}

#[test]
fn a_kind_that_is_no_name() {
    insta::assert_snapshot!(complaint("[kinds.\"my kind\"]\nurl = \"http://a/\"\n"), @r#"
    error: kind `my kind` must start with a letter and have at most 64 letters, digits, `_`, `-` or `.`
     --> almanack.toml:1:8
      |
    1 | [kinds."my kind"]
      |        ^^^^^^^^^
      = hint: for example [kinds.ARTICLE_PUBLISH]

    1 error
    "#);
}

#[test]
fn a_negative_number() {
    insta::assert_snapshot!(complaint("[retention]\ndays = -1\n"), @"
    error: retention.days: -1 is out of range
     --> almanack.toml:2:8
      |
    2 | days = -1
      |        ^^
      = hint: write 0 to 36500

    1 error
    ");
}

#[test]
fn a_number_out_of_range() {
    insta::assert_snapshot!(complaint("[kinds.NEWS]\nmax_retry = 101\n"), @"
    error: kinds.NEWS.max_retry: 101 is out of range
     --> almanack.toml:2:13
      |
    2 | max_retry = 101
      |             ^^^
      = hint: write 0 to 100

    1 error
    ");
}

#[test]
fn one_wrong_item_of_a_list() {
    let toml = "[kinds.NEWS]\nalready_done = [\"409:published\", \"done\"]\n";
    insta::assert_snapshot!(complaint(toml), @r#"
    error: kinds.NEWS.already_done: `done` is not a response
     --> almanack.toml:2:34
      |
    2 | already_done = ["409:published", "done"]
      |                                  ^^^^^^
      = hint: write a status from 400 to 599, alone or with a code in the response: "409:already_published"

    1 error
    "#);
}

#[test]
fn a_misspelt_word() {
    insta::assert_snapshot!(complaint("[log]\nlevel = \"inof\"\n"), @r#"
    error: log.level: `inof` is not a level
     --> almanack.toml:2:9
      |
    2 | level = "inof"
      |         ^^^^^^
      = hint: did you mean "info"?

    1 error
    "#);
}

#[test]
fn two_values_that_contradict_each_other() {
    insta::assert_snapshot!(complaint("[retry]\nbase = \"1h\"\ncap = \"10m\"\n"), @r#"
    error: retry.cap is shorter than retry.base
     --> almanack.toml:3:7
      |
    3 | cap = "10m"
      |       ^^^^^
      = hint: make cap the longer one

    1 error
    "#);
}

#[test]
fn a_password_without_a_user() {
    let home = Home::with("[database]\nurl = \"postgres://db/x\"\npassword = \"env:PW\"\n");
    let ran = home.set("PW", "hunter2").run(&["check"]);
    insta::assert_snapshot!(ran, @r#"
    error: database.password: the address has no user name
     --> almanack.toml:3:12
      |
    3 | password = "env:PW"
      |            ^^^^^^^^
      = hint: write url = "postgres://user@host/database"

    1 error
    exit 2
    "#);
}

#[test]
fn all_mistakes_are_reported_at_once_from_the_top_down() {
    let toml = "[node]\nslots = 0\nlaese = 3\n\n[log]\nformat = yaml\nlevel = 5\n";
    insta::assert_snapshot!(complaint(toml), @r#"
    error: node.slots: 0 is out of range
     --> almanack.toml:2:9
      |
    2 | slots = 0
      |         ^
      = hint: write 1 to 10000

    error: unknown key `laese` in [node]
     --> almanack.toml:3:1
      |
    3 | laese = ***
      | ^^^^^
      = hint: did you mean `lease`?

    error: text must be quoted
     --> almanack.toml:6:10
      |
    6 | format = yaml
      |          ^^^^
      = hint: for example "30s"

    error: log.level: expected text, found a number
     --> almanack.toml:7:9
      |
    7 | level = 5
      |         ^
      = hint: for example "some text"; put text in quotes

    4 errors
    "#);
}

#[test]
fn mistakes_outside_the_file_are_shown_where_they_are() {
    let home = Home::new()
        .set("ALMANACK_NODE_LEASE", "soon")
        .set("ALMANACK_NODE_SLTOS", "4");
    let ran = home.run(&[
        "check",
        "--set",
        "log.level=loud",
        "--database",
        "almanack.db",
    ]);
    insta::assert_snapshot!(ran, @r#"
    error: unknown variable `ALMANACK_NODE_SLTOS`
    --> environment
     |
     | ALMANACK_NODE_SLTOS=***
     |                     ^^^
     = hint: did you mean `ALMANACK_NODE_SLOTS`?

    error: node.lease: `soon` is not a duration
    --> environment
     |
     | ALMANACK_NODE_LEASE=soon
     |                     ^^^^
     = hint: write numbers with units, like "30s", "10m", "1h30m" or "7d"

    error: database.url: `almanack.db` is not a database
    --> command line
     |
     | --database almanack.db
     |            ^^^^^^^^^^^
     = hint: did you mean "sqlite:almanack.db"?

    error: log.level: `loud` is not a level
    --> command line
     |
     | --set log.level=loud
     |       ^^^^^^^^^^^^^^
     = hint: write error, warn, info, debug or trace, or levels per module: "info,almanack_engine=debug"

    4 errors
    exit 2
    "#);
}

#[test]
fn a_missing_file_that_was_asked_for() {
    insta::assert_snapshot!(Home::new().run(&["check", "--config", "there.toml"]), @"
    error: cannot read `there.toml`: No such file or directory (os error 2)
     = hint: check the name; a relative path starts at the current folder

    1 error
    exit 2
    ");
}

#[test]
fn no_secret_is_ever_shown_whatever_is_wrong_with_its_line() {
    for line in [
        "[callback]\nsecret = \"hunter2\"",
        "[callback]\nsecret = \"hunter2",
        "[callback]\nsecret = hunter2",
        "[callback]\nsecrt = \"hunter2\"",
        "[callback]\nsecrt = hunter2",
        "[callback]\nsecret = [\"hunter2\"]",
        "[callback]\nsecret = \"env:HOOK\"\nsecret = \"hunter2\"",
        "[calback]\nsecret = \"hunter2\"",
        "callback = { secret = \"hunter2\", timeout = 3 }",
        "callback = { secret = \"hunter2\", timeout = 3",
        "callback = \"hunter2\"",
        "kinds.NEWS = { secret = \"hunter2\", urk = 1 }",
        "[kinds.\"my kind\"]\nsecret = \"hunter2\"",
        "[database]\npassword = \"hunter2\"",
        "[database]\nurl = \"postgres://bob:hunter2@db/x\"",
        "[database]\nurl = \"mysql://bob:hunter2@db/x\"",
        "[database]\nurl = postgres://bob:hunter2@db/x",
        "[kinds.NEWS]\nurl = \"http://bob:hunter2@a/\"",
        "[kinds.NEWS]\nurl = \"http://bob:hunter2@a:b:c/\"",
    ] {
        for arguments in [
            ["check", "--set", "node.slots=1"],
            ["check", "--json", "--set=node.slots=1"],
        ] {
            let ran = Home::with(line).run(&arguments);
            assert_eq!(ran.code, 2, "{line}: {ran}");
            assert!(!ran.to_string().contains("hunter2"), "{line}: {ran}");
        }
    }
}

#[test]
fn no_secret_of_the_environment_or_the_command_line_is_shown_either() {
    for (variable, value) in [
        ("ALMANACK_CALLBACK_SECRET", "hunter2"),
        ("ALMANACK_CALLBACK_SECRTE", "hunter2"),
        ("ALMANACK_KINDS_NEWS_SECRET", "hunter2"),
        ("ALMANACK_DATABASE_URL", "mysql://bob:hunter2@db"),
    ] {
        let ran = Home::new().set(variable, value).run(&["check"]);
        assert_eq!(ran.code, 2, "{variable}: {ran}");
        assert!(!ran.to_string().contains("hunter2"), "{variable}: {ran}");
    }
    for set in [
        "callback.secret=hunter2",
        "callback.secrte=hunter2",
        "database.password=hunter2",
        "database.url=mysql://bob:hunter2@db",
    ] {
        let ran = Home::new().run(&["check", "--set", set]);
        assert_eq!(ran.code, 2, "{set}: {ran}");
        assert!(!ran.to_string().contains("hunter2"), "{set}: {ran}");
    }
}

const GOOD: &str = r#"
[database]
url = "postgres://almanack@db.internal/almanack"
password = "file:password"

[callback]
secret = "env:HOOK"

[kinds.ARTICLE_PUBLISH]
url = "https://articles.internal/publish"
timeout = "1m30s"
already_done = ["409:already_published"]
"#;

const HOOK: &str = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz";

#[test]
#[expect(clippy::too_many_lines, reason = "one line for every key")]
fn what_is_in_force_and_why() {
    let home = Home::with(GOOD)
        .file("password", "hunter2\n")
        .set("HOOK", HOOK)
        .set("ALMANACK_NODE_SLOTS", "8")
        .set("ALMANACK_SERVER_ALLOWED_HOSTS", "a.example, b.example");
    insta::assert_snapshot!(home.run(&["check", "--set", "log.level=debug"]), @r#"
    KEY                                  VALUE                                       FROM
    database.url                         "postgres://almanack@db.internal/almanack"  almanack.toml:3
    database.password                    *** (file:password)                         almanack.toml:4
    database.durability                  "full"                                      default
    backup.directory                     (no backups)                                default
    backup.every                         "24h"                                       default
    backup.keep                          7                                           default
    server.listen                        "127.0.0.1:8080"                            default
    server.allowed_hosts                 ["a.example", "b.example"]                  ALMANACK_SERVER_ALLOWED_HOSTS
    server.public_url                    (none)                                      default
    server.trusted_proxies               []                                          default
    server.shutdown_delay                "3s"                                        default
    server.connections                   512                                         default
    server.header_timeout                "30s"                                       default
    node.name                            (host name and a random suffix)             default
    node.slots                           8                                           ALMANACK_NODE_SLOTS
    node.lease                           "30s"                                       default
    node.drain                           "20s"                                       default
    retry.base                           "5s"                                        default
    retry.cap                            "1h"                                        default
    retry.retry_after_cap                "6h"                                        default
    retention.days                       30                                          default
    retention.run_log_days               14                                          default
    limits.payload_bytes                 65536                                       default
    limits.batch_items                   10000                                       default
    limits.kinds                         250                                         default
    limits.run_log_bytes                 1048576                                     default
    callback.timeout                     "10s"                                       default
    callback.secret                      *** (env:HOOK)                              almanack.toml:7
    callback.secrets                     []                                          default
    kinds.ARTICLE_PUBLISH.deliver        "push"                                      default
    kinds.ARTICLE_PUBLISH.url            "https://articles.internal/***"             almanack.toml:10
    kinds.ARTICLE_PUBLISH.slots          (as in [node])                              default
    kinds.ARTICLE_PUBLISH.slots_in_all   (no limit)                                  default
    kinds.ARTICLE_PUBLISH.rate           (no limit)                                  default
    kinds.ARTICLE_PUBLISH.burst          (what a second brings, at least 1)          default
    kinds.ARTICLE_PUBLISH.rate_by        (one rate for the kind)                     default
    kinds.ARTICLE_PUBLISH.share_by       (by time)                                   default
    kinds.ARTICLE_PUBLISH.timeout        "1m30s"                                     almanack.toml:11
    kinds.ARTICLE_PUBLISH.secret         (as in [callback])                          default
    kinds.ARTICLE_PUBLISH.max_retry      3                                           default
    kinds.ARTICLE_PUBLISH.retry_base     (as in [retry])                             default
    kinds.ARTICLE_PUBLISH.retry_cap      (as in [retry])                             default
    kinds.ARTICLE_PUBLISH.expires_after  (never)                                     default
    kinds.ARTICLE_PUBLISH.already_done   ["409:already_published"]                   almanack.toml:12
    outbound.allow                       []                                          default
    outbound.contact                     (none)                                      default
    sources.allow                        []                                          default
    sources.secrets                      []                                          default
    sources.policy                       "adaptive"                                  default
    sources.checks_per_day               24                                          default
    sources.slow_percent                 0                                           default
    sources.floor                        "15m"                                       default
    sources.ceiling                      "24h"                                       default
    sources.interval                     "1h"                                        default
    sources.keep_days                    90                                          default
    sources.keep_per_source              500                                         default
    sources.filters                      []                                          default
    sources.timeout                      "30s"                                       default
    sources.body_bytes                   8388608                                     default
    sources.entries_per_document         2000                                        default
    sources.host_concurrency             1                                           default
    sources.host_pace                    "5/10s"                                     default
    sources.push                         true                                        default
    sources.push_secret                  (from random tokens in the database alone)  default
    sources.ping                         false                                       default
    schedules.dispatch                   (none; or set DISPATCH)                     default
    schedules.reload                     "5s"                                        default
    schedules.secrets                    []                                          default
    github.api_url                       "https://api.github.com"                    default
    github.token                         (none; workflows cannot be started)         default
    command.enabled                      false                                       default
    command.programs                     []                                          default
    command.directory                    "."                                         default
    command.environment                  []                                          default
    tick.secret                          (a tick needs a token)                      default
    edition.enabled                      false                                       default
    event_delivery.source                "/almanack"                                 default
    alerts.every                         "20s"                                       default
    alerts.missing_after                 "2m"                                        default
    alerts.late_after                    "1m"                                        default
    alerts.stuck_after                   "1h"                                        default
    alerts.unclaimed_after               "5m"                                        default
    alerts.failing_after                 3                                           default
    alerts.gone_after                    "2m"                                        default
    alerts.disconnected_after            "2m"                                        default
    alerts.disk_free_bytes               268435456                                   default
    alerts.budget_percent                120                                         default
    alerts.cool_down                     "1m"                                        default
    alerts.quiet                         (none)                                      default
    alerts.quiet_tz                      "UTC"                                       default
    alerts.quiet_except                  "critical"                                  default
    alerts.language                      (the edition's, or English)                 default
    status_page.enabled                  false                                       default
    status_page.title                    (Status)                                    default
    status_page.schedules                []                                          default
    status_page.tags                     []                                          default
    status_page.editions                 []                                          default
    heartbeat.url                        (no heartbeat is sent)                      default
    heartbeat.every                      "1m"                                        default
    heartbeat.method                     "get"                                       default
    events.kafka.brokers                 (none)                                      default
    events.nats.servers                  (none)                                      default
    log.format                           "text"                                      default
    log.level                            "debug"                                     --set
    telemetry.otlp_endpoint              (no traces)                                 default
    telemetry.headers                    (none)                                      default
    telemetry.sample                     1                                           default
    telemetry.service                    "almanack"                                  default
    the configuration is valid
    exit 0
    "#);
}

#[test]
fn flags_win_over_the_environment_and_the_environment_over_the_file() {
    let home = Home::with("[node]\nslots = 1\nlease = \"10s\"\nname = \"a\"\n")
        .set("ALMANACK_NODE_SLOTS", "2")
        .set("ALMANACK_NODE_LEASE", "20s");
    let reported = home
        .run(&["check", "--json", "--set", "node.slots=3"])
        .expect_json();
    let of = |key: &str| {
        let settings = reported["settings"].as_array().unwrap();
        let found = settings
            .iter()
            .find(|setting| setting["key"] == key)
            .unwrap();
        (
            found["value"].as_str().unwrap().to_owned(),
            found["origin"]["from"].clone(),
        )
    };
    assert_eq!(of("node.slots"), ("3".into(), "flag".into()));
    assert_eq!(of("node.lease"), ("\"20s\"".into(), "environment".into()));
    assert_eq!(of("node.name"), ("\"a\"".into(), "file".into()));
    assert_eq!(of("node.drain"), ("\"20s\"".into(), "default".into()));
}

#[test]
fn warnings_do_not_stop_anything() {
    let home = Home::with("[database]\npassword = \"env:PW\"\n")
        .set("PW", "x")
        .set("ALMANACK_SERVER_SERVICE_HOST", "10.0.0.1")
        .set("ALMANACK_SERVICE_HOST", "10.0.0.1");
    let ran = home.run(&["check"]);
    assert_eq!(ran.code, 0, "{ran}");
    insta::assert_snapshot!(ran.notes, @r#"
    warning: database.password has no effect
     --> almanack.toml:2:12
      |
    2 | password = "env:PW"
      |            ^^^^^^^^
      = hint: SQLite has no password

    warning: variable `ALMANACK_SERVER_SERVICE_HOST` has no effect: there is no such key
    --> environment
     |
     | ALMANACK_SERVER_SERVICE_HOST=***
     |                              ^^^

    2 warnings
    "#);
}

#[test]
fn problems_for_programs() {
    let ran = Home::with("[server]\nlisen = 1\n").run(&["check", "--json"]);
    assert_eq!(ran.code, 2);
    insta::assert_snapshot!(ran.data, @r#"
    {"ok":false,"problems":[{"column":1,"file":"almanack.toml","hint":"did you mean `listen`?","line":2,"message":"unknown key `lisen` in [server]","severity":"error"}],"settings":null}
    "#);
}

#[test]
fn a_task_of_a_kind_that_is_not_configured_is_pointed_at() {
    let home = Home::with(
        "[kinds.EDITION_RUN]
url = \"http://127.0.0.1:1025/\"
[[schedule]]
name = \"edition\"
expression = \"@daily\"
target = { type = \"task\", kind = \"EDITION_RNU\", subject = \"edition:{date}\" }
",
    );
    let reported = home.run(&["check"]);
    assert_eq!(reported.code, 0, "a warning: {reported}");
    insta::assert_snapshot!(reported.notes, @r#"
    warning: schedule `edition`: kind `EDITION_RNU` is not configured, so every firing would fail
     --> almanack.toml:6:34
      |
    6 | target = { type = "task", kind = "EDITION_RNU", subject = "edition:{date}" }
      |                                  ^^^^^^^^^^^^^
      = hint: did you mean `EDITION_RUN`?

    1 warning
    "#);
}

#[test]
fn mistakes_about_sources() {
    let toml = "\
[sources]
policy = \"clasic\"
checks_per_day = 0
floor = \"2h\"
ceiling = \"1h\"
body_bytes = 1024
host_pace = \"5 per 10s\"
allow = [\"10.0.0.0/8\", \"home\"]
";
    insta::assert_snapshot!(complaint(toml), @r#"
    error: sources.policy: `clasic` is not a policy
     --> almanack.toml:2:10
      |
    2 | policy = "clasic"
      |          ^^^^^^^^
      = hint: write adaptive, classic, miniflux, fixed:1h or a schedule

    error: sources.checks_per_day: 0 is out of range
     --> almanack.toml:3:18
      |
    3 | checks_per_day = 0
      |                  ^
      = hint: write 1 to 1440

    error: sources.ceiling is shorter than sources.floor
     --> almanack.toml:5:11
      |
    5 | ceiling = "1h"
      |           ^^^^
      = hint: make ceiling the longer one

    error: sources.body_bytes: 1024 is out of range
     --> almanack.toml:6:14
      |
    6 | body_bytes = 1024
      |              ^^^^
      = hint: write 262144 to 67108864

    error: sources.host_pace: `5 per 10s` is not a pace
     --> almanack.toml:7:13
      |
    7 | host_pace = "5 per 10s"
      |             ^^^^^^^^^^^
      = hint: write requests per time, like "5/10s" or "60/1m"

    error: sources.allow: `home` is not a network
     --> almanack.toml:8:24
      |
    8 | allow = ["10.0.0.0/8", "home"]
      |                        ^^^^^^
      = hint: write a network or an address: "10.0.0.0/8", "192.168.1.7", "fd00::/8"; host names are checked by the addresses they resolve to

    6 errors
    "#);
}

#[test]
fn the_compat_name_of_a_setting_of_sources_is_heard() {
    let home = Home::new().set("HOTNEWS_RSS_HOST_CONCURRENCY", "2");
    let shown = home.run(&["check"]).expect_data();
    let line = shown
        .lines()
        .find(|line| line.starts_with("sources.host_concurrency"));
    let words: Vec<&str> = line.unwrap().split_whitespace().collect();
    assert_eq!(words[1..], ["2", "HOTNEWS_RSS_HOST_CONCURRENCY"]);
}
