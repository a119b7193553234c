//! Imports: what foreign texts become, what is said about them, and that nothing is lost on the
//! way.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::{
    plan::{CatchUp, Overlap},
    target::Target,
};

/// Everything that was found, as text.
fn shown(text: &str, import: &Import) -> String {
    let mut shown = String::new();
    for imported in &import.schedules {
        let definition = &imported.definition;
        let what = match &definition.target {
            Target::Command { argv, .. } => format!("{argv:?}"),
            Target::Workflow {
                repository,
                workflow,
                ..
            } => format!("{repository} {workflow}"),
            other => format!("{other:?}"),
        };
        let line = imported.place.line;
        let when = &definition.expression;
        let _ = writeln!(shown, "{line}: {when} ({}) {what}", definition.tz);
        for difference in &imported.differences {
            let _ = writeln!(shown, "   {}", difference.code());
        }
    }
    for difference in &import.differences {
        let _ = writeln!(shown, "all: {}", difference.code());
    }
    for problem in &import.problems {
        let Place { line, column, span } = problem.place;
        let marked = &text[span.start..span.end];
        let _ = writeln!(shown, "{line}:{column} `{marked}` {}", problem.reason);
    }
    shown
}

const PLAIN: Options<'_> = Options {
    file: "backup.timer",
    tz: None,
    repository: "o/r",
    with_users: false,
};

fn crontab(text: &str) -> String {
    shown(text, &crontab::read(text, &PLAIN))
}

fn timer(lines: &str) -> String {
    let text = format!(
        "[Unit]\nDescription=x \\\n  y\n[Timer]\n{lines}\n[Install]\nWantedBy=timers.target\n"
    );
    shown(&text, &systemd::read(&text, &PLAIN))
}

#[test]
fn a_dispatch_text_keeps_the_days_it_fired_on() {
    let text = "\
0 0 13 * 5 o/r friday.yml
0 0 */2 * 1 o/r step.yml
0 0 * * 7 o/r sunday.yml
0 0 * * 1-7 o/r week.yml
0 8 * * * o/r daily.yml  # every day
@5s o/r poll.yml
0 0 13 * +5 o/r both.yml
*/0 * * * * o/r bad.yml
";
    insta::assert_snapshot!(shown(text, &dispatch::read(text, &PLAIN)), @"
    1: 0 0 13 * +5 (UTC) o/r friday.yml
       both_days
    2: 0 0 */2 * +1 (UTC) o/r step.yml
       both_days
    3: 0 0 * * 7 (UTC) o/r sunday.yml
       never_sunday
    4: 0 0 * * 1-7 (UTC) o/r week.yml
       never_sunday
    5: 0 8 * * * (UTC) o/r daily.yml
       dropped
    6: @5s (UTC) o/r poll.yml
       round
    7: 0 0 13 * +5 (UTC) o/r both.yml
    all: caught_up
    8:3 `0` minute: a step is a number from 1, not `0`
    ");
}

#[test]
fn a_crontab_becomes_commands_at_the_same_times() {
    insta::assert_snapshot!(crontab("\
# comment
SHELL=/bin/bash
MAILTO=\"ops@example.org\"
PATH=/usr/local/bin:/usr/bin
CRON_TZ = Europe/Berlin
0 8 * * 1-5   /usr/local/bin/report --daily
*/10 * * * *  cd /srv && ./poll.sh > /dev/null 2>&1
0 4 */2 * 1   backup
0 4 1 * 1     backup
0/15 * * * *  a
0 0 * * FRI-MON b
@daily        date +\\%F
0 5 * * *     mail -s hi me%hello
@reboot       /usr/bin/start
61 * * * *    x
0 5 * *
0 5 * * *
0 8 * * 1-5   /usr/local/bin/report --daily
CRON_TZ=Mars/Olympus
"), @r#"
    6: 0 8 * * 1-5 (Europe/Berlin) ["/usr/local/bin/report", "--daily"]
    7: */10 * * * * (Europe/Berlin) ["/bin/bash", "-c", "cd /srv && ./poll.sh > /dev/null 2>&1"]
       shell
    8: 0 4 */2 * +1 (Europe/Berlin) ["backup"]
       step_day
    9: 0 4 1 * 1 (Europe/Berlin) ["backup"]
    10: 0-59/15 * * * * (Europe/Berlin) ["a"]
    11: 0 0 * * 5-6,0-1 (Europe/Berlin) ["b"]
    12: @daily (Europe/Berlin) ["date", "+%F"]
    all: mail
    all: environment
    13:28 `%hello` an unescaped `%` begins the command's input; commands get no input here
    14:1 `@reboot` `@reboot` names no time: nothing fires because of a restart
    15:1 `61` minute: 61 is not between 0 and 59
    16:1 `0 5 * *` an expression has five fields, six with seconds first or seven with a year last; this has 4
    17:10 `` the command is missing
    18:1 `0 8 * * 1-5   /usr/local/bin/report --daily` this is the same as line 6
    19:9 `Mars/Olympus` there is no time zone `Mars/Olympus`
    "#);
    let import = crontab::read("0 8 * * * x", &PLAIN);
    assert_eq!(import.differences, [Difference::LocalTime]);
    let definition = &import.schedules[0].definition;
    assert_eq!(definition.catch_up, CatchUp::None, "cron looks never back");
    assert_eq!(definition.overlap, Overlap::Allow, "and never aside");
}

#[test]
fn a_systems_crontab_names_a_user_before_the_command() {
    let options = Options {
        with_users: true,
        tz: Some("Asia/Tokyo"),
        ..PLAIN
    };
    let text = "17 *\t* * *\troot    run-parts --report /etc/cron.hourly\n0 5 * * * root\n";
    insta::assert_snapshot!(shown(text, &crontab::read(text, &options)), @r#"
    1: 17 * * * * (Asia/Tokyo) ["run-parts", "--report", "/etc/cron.hourly"]
       user
    2:15 `` the command is missing
    "#);
}

#[test]
fn only_what_needs_a_shell_gets_one() {
    for (text, expected) in [
        ("/usr/bin/true", false),
        ("sync --all a=b x#y", false),
        ("a | b", true),
        ("a > b", true),
        ("echo $HOME", true),
        ("echo 'a b'", true),
        ("LANG=C sort", true),
        ("ls ~/x", true),
        ("ls *.txt", true),
        ("cd /srv", true),
        ("a # why", true),
    ] {
        assert_eq!(command::needs_shell(text), expected, "{text}");
    }
}

#[test]
fn calendar_times_become_expressions() {
    for (text, expected) in [
        ("daily", "0 0 * * *"),
        ("Weekly", "0 0 * * 1"),
        ("quarterly UTC", "0 0 1 1,4,7,10 * (UTC)"),
        ("Mon..Fri *-*-* 08:00:00", "0 8 * * 1-5"),
        (
            "Mon,Wed..Thu 08:00 Europe/Berlin",
            "0 8 * * 1,3-4 (Europe/Berlin)",
        ),
        ("*:0/15", "0-59/15 * * * *"),
        ("*-*-* 00/6:30", "30 0-23/6 * * *"),
        ("08..18/2:00", "0 8-18/2 * * *"),
        ("Sat *-*-1..7 18:00", "0 18 1-7 * +6"),
        ("*-*~1 23:00", "0 23 L * *"),
        ("*-02~01", "0 0 L 2 *"),
        ("Fri *-*~7/1 18:00", "0 18 * * 5L"),
        ("*-*-* *:*:00/30", "0-59/30 * * * * *"),
        ("2027-01-01 12:00:30", "30 0 12 1 1 * 2027"),
        ("10-31", "0 0 31 10 *"),
        ("Sunday", "0 0 * * 0"),
        ("Sat..Sun 10:00", "0 10 * * 6-7"),
        ("Sun..Sun 10:00", "0 10 * * 0"),
        ("Mon..Sun 10:00", "0 10 * * 1-7"),
        ("27-1-1", "0 0 0 1 1 * 2027"),
        ("*-*-* 10:00:05.000", "5 0 10 * * *"),
        ("*-01,07-01", "0 0 1 1,7 *"),
    ] {
        let calendar =
            calendar::translate(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        let tz = calendar.tz.map(|tz| format!(" ({tz})")).unwrap_or_default();
        assert_eq!(calendar.expression + &tz, expected, "{text}");
    }
}

#[test]
fn what_a_calendar_says_and_we_cannot_is_named() {
    for (text, piece) in [
        ("*-*~3", "*-*~3"),
        ("Mon..Tue *-*~7/1", "*-*~7/1"),
        ("*:*:0.5", "*:*:0.5"),
        ("08:00 Mars/Olympus", "Mars/Olympus"),
        ("Someday 08:00", "Someday"),
        ("@1700000000", "@1700000000"),
        ("1:2:3:4", "1:2:3:4"),
        ("25:00", "25:00"),
        ("*:*/15", "*:*/15"),
        ("Fri..Mon 10:00", "Fri..Mon"),
        ("Sun..Tue 10:00", "Sun..Tue"),
        ("*-02-30", "*-02-30"),
    ] {
        let fault = calendar::translate(text).unwrap_err();
        assert_eq!(&text[fault.span.start..fault.span.end], piece, "{text}");
    }
}

#[test]
fn a_timer_becomes_schedules_that_start_its_unit() {
    insta::assert_snapshot!(timer("\
OnCalendar=Mon..Fri 08:00
OnCalendar=Sat *-*-1..7 18:00 Europe/Berlin
OnBootSec=5min
OnUnitActiveSec=1h 30min
RandomizedDelaySec=10min
Persistent=true
WakeSystem=yes"), @r#"
    5: 0 8 * * 1-5 (UTC) ["systemctl", "start", "backup.service"]
    6: 0 18 1-7 * +6 (Europe/Berlin) ["systemctl", "start", "backup.service"]
    8: @5400s (UTC) ["systemctl", "start", "backup.service"]
       monotonic
    all: boot
    all: unit
    all: local_time
    all: accuracy
    all: delay
    all: clocks
    all: ignored
    "#);
    insta::assert_snapshot!(timer("\
OnCalendar=hourly
OnCalendar=
OnCalendar=*-*~3
AccuracySec=1us
Unit=other.service
nonsense"), @"
    7:12 `*-*~3` `*-*~3` has no counterpart in a schedule expression
    10:1 `nonsense` this is neither a comment, a [section] nor a Setting=value
    ");
    insta::assert_snapshot!(timer("OnCalendar=daily\nOnCalendar=*-*-* 0:00\nOnCalendar=weekly"), @r#"
    5: 0 0 * * * (UTC) ["systemctl", "start", "backup.service"]
    7: 0 0 * * 1 (UTC) ["systemctl", "start", "backup.service"]
    all: unit
    all: local_time
    all: accuracy
    6:12 `*-*-* 0:00` this is the same as line 5
    "#);
    insta::assert_snapshot!(timer("OnBootSec=10min"), @"5:11 `10min` OnBootSec names no time: nothing fires because of a restart");
    insta::assert_snapshot!(timer("Persistent=true"), @"1:1 `[Unit]` no time is given: OnCalendar= in [Timer] is missing");
    insta::assert_snapshot!(timer("OnUnitActiveSec=100ms"), @"5:17 `100ms` `100ms` is not a span of whole seconds");
}

#[test]
fn a_timers_policies_come_along() {
    let read = |lines: &str| {
        let text = format!("[Timer]\n{lines}\n");
        let import = systemd::read(&text, &PLAIN);
        assert_eq!(import.problems, [], "{lines}");
        import.schedules
    };
    let plain = read("OnCalendar=daily\nOnCalendar=weekly");
    assert_eq!(plain[0].definition.catch_up, CatchUp::None);
    assert_eq!(
        plain[0].definition.overlap,
        Overlap::Skip,
        "a unit that runs is not started again"
    );
    let names: Vec<&str> = plain.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["backup", "backup-2"]);
    let kept = read("OnCalendar=daily\nPersistent=yes\nRandomizedDelaySec=2h");
    assert_eq!(kept[0].definition.catch_up, CatchUp::Latest);
    assert_eq!(
        kept[0].definition.splay,
        jiff::SignedDuration::from_hours(2)
    );
}

#[test]
fn a_template_needs_its_instance() {
    let text = "[Timer]\nOnCalendar=daily\n";
    let read = |file| systemd::read(text, &Options { file, ..PLAIN });
    let template = shown(text, &read("dump@.timer"));
    assert!(
        template.contains("2:12 `daily` dump@.service is a template"),
        "{template}"
    );
    let instance = shown(text, &read("dump@main.timer"));
    assert!(instance.contains("dump@main.service"), "{instance}");
}

#[test]
fn a_workflows_times_become_dispatches() {
    let text = "0 8 * * *\n*/2 * * * *\n0 25 * * *\n0 9 * * *\nnowhere\n";
    let places: Vec<Place> = crate::place::rows(text).map(|row| row.whole()).collect();
    let entry = |line: usize, tz: Option<(&str, usize)>| workflow::Entry {
        expression: text.lines().nth(line).unwrap().to_owned(),
        place: places[line],
        tz: tz.map(|(tz, line)| (tz.to_owned(), places[line])),
    };
    let source = workflow::Source {
        entries: vec![
            entry(0, Some(("asia/shanghai", 0))),
            entry(1, None),
            entry(2, None),
            entry(3, Some(("nowhere", 4))),
        ],
        dispatchable: false,
    };
    let options = Options {
        file: "daily.yml",
        ..PLAIN
    };
    let import = workflow::read(&source, &options);
    let names: Vec<&str> = import.schedules.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["daily", "daily-2"]);
    insta::assert_snapshot!(shown(text, &import), @"
    1: 0 8 * * * (Asia/Shanghai) o/r daily.yml
    2: */2 * * * * (UTC) o/r daily.yml
       often
    all: late
    all: branch
    all: not_dispatchable
    3:1 `0 25 * * *` hour: 25 is not between 0 and 23
    5:1 `nowhere` there is no time zone `nowhere`
    ");
}

#[test]
fn spans_of_time_are_read_as_systemd_reads_them() {
    for (text, expected) in [
        ("90", Some(90)),
        ("1h 30min", Some(5_400)),
        ("1h30m", Some(5_400)),
        ("2 weeks", Some(1_209_600)),
        ("1M", Some(2_629_800)),
        ("5 min 10", Some(310)),
        ("", None),
        ("100ms", None),
        ("min", None),
        ("99999999999999999999y", None),
    ] {
        assert_eq!(period::seconds(text), expected, "{text}");
    }
}

const EXAMPLE: &str = "\
CRON_TZ=Europe/Berlin
0 8 */2 * 1-5 root /usr/bin/x --a \\% b | c
[Timer]
OnCalendar=Mon..Fri,Sun 2027-*-1..7/2 08:00:00 Europe/Berlin
OnCalendar=Fri *-*~7/1 18:00
OnUnitActiveSec=1h 30min
RandomizedDelaySec=5min
@daily root y
0 9 1 * 7 o/r w.yml input.x=\"a b\" # c
";

proptest! {
    #[test]
    fn no_mutated_file_breaks_an_import(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<char>(), 0_u8..4), 0..16),
        with_users: bool,
    ) {
        let mut characters: Vec<char> = EXAMPLE.chars().collect();
        for (index, c, edit) in edits {
            let at = index.index(characters.len());
            let odd = ['\u{3000}', '%', '~', '=', '\n', '.', '/', '*', ',', '-', ':', ' ', '9'];
            match edit {
                0 => characters.insert(at, c),
                1 => characters[at] = odd[(c as usize) % odd.len()],
                2 => drop(characters.remove(at)),
                _ => characters.insert(at, characters[at]),
            }
        }
        let text: String = characters.into_iter().collect();
        let options = Options { with_users, ..PLAIN };
        for import in [
            crontab::read(&text, &options),
            systemd::read(&text, &options),
            dispatch::read(&text, &options),
        ] {
            let places = import.schedules.iter().map(|it| it.place);
            for place in places.chain(import.problems.iter().map(|it| it.place)) {
                let marked = text.get(place.span.start..place.span.end);
                prop_assert!(marked.is_some_and(|it| !it.contains('\n')), "{:?}", place);
                let before = &text[..place.span.start];
                prop_assert_eq!(before.matches('\n').count() + 1, place.line);
            }
            for imported in &import.schedules {
                let expression = &imported.definition.expression;
                let read = crate::schedule::Expression::parse(expression, crate::schedule::Mode::Strict);
                prop_assert!(read.is_ok(), "{}", expression);
            }
        }
    }
}

/// A field as all of these programs read it, with its smallest and largest value.
fn field(min: u8, max: u8) -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just("*".to_owned()),
        2 => (1_u8..9).prop_map(|step| format!("*/{step}")),
        2 => (min..=max).prop_map(|value| value.to_string()),
        1 => (min..=max, min..=max).prop_map(|(a, b)| format!("{a},{b}")),
        2 => (min..=max, min..=max).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
    ]
}

/// Whether a value is listed, in the plainest way to find out.
fn lists(field: &str, value: i8, min: i8) -> bool {
    field.split(',').any(|item| {
        let number = |text: &str| text.parse::<i8>().unwrap();
        match (item.split_once("*/"), item.split_once('-')) {
            (Some((_, step)), _) => (value - min) % number(step) == 0,
            (_, Some((first, last))) => (number(first)..=number(last)).contains(&value),
            _ => item == "*" || number(item) == value,
        }
    })
}

/// Who decides on which days a line fires.
#[derive(Debug, Clone, Copy)]
enum Cron {
    /// The scheduler that DISPATCH comes from: both day fields must fit.
    Compat,
    /// Vixie: both, unless neither begins with `*`; then one is enough.
    Vixie,
}

fn fires(cron: Cron, fields: &[String], at: jiff::civil::DateTime) -> bool {
    let weekday = at.weekday().to_sunday_zero_offset();
    let day = lists(&fields[2], at.day(), 1);
    let of_week = lists(&fields[4], weekday, 0);
    let starred = fields[2].starts_with('*') || fields[4].starts_with('*');
    let days = match cron {
        Cron::Vixie if !starred => day || of_week,
        Cron::Compat | Cron::Vixie => day && of_week,
    };
    days && lists(&fields[3], at.month(), 1)
}

proptest! {
    #[test]
    fn an_import_fires_on_the_days_the_other_program_did(
        (day, month, weekday) in (field(1, 28), field(1, 12), field(0, 6)),
    ) {
        let fields = ["0".to_owned(), "0".to_owned(), day, month, weekday];
        let line = fields.join(" ");
        for cron in [Cron::Compat, Cron::Vixie] {
            let import = match cron {
                Cron::Compat => dispatch::read(&format!("{line} o/r w.yml"), &PLAIN),
                Cron::Vixie => crontab::read(&format!("{line} x"), &PLAIN),
            };
            prop_assert_eq!(&import.problems, &[], "{}", line);
            let expression = &import.schedules[0].definition.expression;
            let strict = crate::schedule::Mode::Strict;
            let read = crate::schedule::Expression::parse(expression, strict).unwrap();
            let (timetable, zone) = (read.compile("x"), crate::schedule::Zone::utc());
            for day in 0..800 {
                let at = jiff::Timestamp::from_second(1_767_225_600 + day * 86_400).unwrap();
                let civil = at.to_zoned(jiff::tz::TimeZone::UTC).datetime();
                let expected = fires(cron, &fields, civil);
                prop_assert_eq!(timetable.matches(at, &zone), expected, "{:?} {} {}", cron, expression, at);
            }
        }
    }
}
