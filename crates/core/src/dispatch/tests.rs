//! DISPATCH texts: what they mean, how they are refused, and that nothing breaks the reader.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::{
    plan::{CatchUp, Overlap},
    target::Target,
};

/// The examples of the format's first description, with its comments.
const CHINESE: &str = "\
# crontab 5 字段 — 分 時 日 月 週  倉庫  工作流
*/5 * * * *  owner/repo  check.yml     # 每 5 分鐘
0   8 * * *  owner/repo  daily.yml     # 每天 08:00
0   9 * * 1  owner/repo  weekly.yml    # 每週一 09:00

# 秒級語法 — @Ns  倉庫  工作流
@10s         owner/repo  poll.yml      # 每 10 秒
";

const ENGLISH: &str = "\
# crontab 5 fields — minute hour day month weekday  repository  workflow
*/5 * * * *  owner/repo  check.yml     # every 5 minutes
0   8 * * *  owner/repo  daily.yml     # every day at 08:00
0   9 * * 1  owner/repo  weekly.yml    # Mondays at 09:00

# seconds — @Ns  repository  workflow
@10s         owner/repo  poll.yml      # every 10 seconds
";

/// All good lines as they are printed, then all problems as people see them.
fn shown(text: &str) -> String {
    let dispatch = parse(text);
    let mut shown = String::new();
    for line in &dispatch.lines {
        let _ = writeln!(shown, "{}: {line}", line.place.line);
    }
    for problem in &dispatch.problems {
        let Place { line, column, span } = problem.place;
        let marked = &text[span.start..span.end];
        let marked = marked.replace(
            |c: char| !c.is_ascii() && (c.is_whitespace() || c == '\u{200b}'),
            "_",
        );
        let _ = writeln!(shown, "{line}:{column} `{marked}` {}", problem.reason);
        if let Some(hint) = problem.reason.hint() {
            let _ = writeln!(shown, "  hint: {hint}");
        }
    }
    shown
}

fn only(text: &str) -> Line {
    let Dispatch {
        lines, problems, ..
    } = parse(text);
    assert_eq!(problems, [], "{text}");
    assert_eq!(lines.len(), 1, "{text}");
    lines.into_iter().next().unwrap()
}

#[test]
fn dp_01_the_examples_of_the_compat_document_all_work() {
    let chinese = shown(CHINESE);
    assert_eq!(chinese, shown(ENGLISH), "comments say nothing");
    insta::assert_snapshot!(chinese, @"
    2: */5 * * * * owner/repo check.yml
    3: 0 8 * * * owner/repo daily.yml
    4: 0 9 * * 1 owner/repo weekly.yml
    7: @10s owner/repo poll.yml
    ");
    let line = only("0   8 * * *  owner/repo  daily.yml     # 每天 08:00");
    assert_eq!(line.definition.tz, "UTC");
    assert_eq!(line.definition.expression, "0 8 * * *");
    assert!(line.commented);
}

#[test]
fn dp_01_the_guide_shows_what_works() {
    let guide = include_str!("../../../../docs/guide/dispatch.md");
    let block = guide.split("```text\n").nth(1).unwrap();
    let example = block.split("```").next().unwrap();
    assert_eq!(
        shown(example),
        shown(ENGLISH),
        "the guide has the founding examples"
    );
}

#[test]
fn dp_01_bad_lines_are_reported_and_the_good_ones_run() {
    insta::assert_snapshot!(shown("\
*/0 * * * * o/r a.yml
0 25 * * * o/r b.yml
0 8 * * * o/r good.yml
0/15 * * * * o/r c.yml
0 8 * * o/r d.yml
0 0 8 * * * o/r e.yml
0 8 * * * owner f.yml
0 8 * * * o/r
0 8 * * *
0 8 * *
@0s o/r g.yml
@10m o/r h.yml
@10s o/r i.yml every 10 seconds
@10s o/r good.yml # every 10 seconds
0 8 * * * o/r a/b.yml
0 0 30 2 * o/r j.yml
@reboot o/r k.yml
hello
"), @"
    3: 0 8 * * * o/r good.yml
    14: @10s o/r good.yml
    1:3 `0` minute: a step is a number from 1, not `0`
    2:3 `25` hour: 25 is not between 0 and 23
    4:1 `0/15` minute: a step needs `*` or a range before it; `0/15` means different things elsewhere
      hint: write `0-59/15`
    5:1 `0 8 * *` five fields must precede the repository; found 4
      hint: write minute, hour, day, month, weekday, or @10s for every ten seconds
    6:1 `0 0 8 * * *` five fields must precede the repository; found 6
      hint: write minute, hour, day, month, weekday, or @10s for every ten seconds
    7:11 `owner` target.repository must be written owner/name
      hint: write owner/repo
    8:14 `` the workflow is missing
      hint: a line ends in repository and workflow: owner/repo daily.yml
    9:10 `` the repository and the workflow are missing
      hint: a line ends in repository and workflow: owner/repo daily.yml
    10:1 `0 8 * *` five fields must precede the repository; found 4
      hint: write minute, hour, day, month, weekday, or @10s for every ten seconds
    11:2 `0s` `0s` is not a period of 1 second to 366 days
    12:1 `@10m` `@10m` is not a nickname
      hint: write `@600s`
    13:16 `every` only settings like ref=main follow the workflow
      hint: begin a comment with `#`
    15:15 `a/b.yml` target.workflow must be the file name of a workflow, such as daily.yml
      hint: write the file's name, without its folder
    16:1 `0 0 30 2 *` no date fits: this never fires
    17:1 `@reboot` `@reboot` names no time: nothing fires because of a restart
    18:1 `hello` five fields must precede the repository; found 1
      hint: write minute, hour, day, month, weekday, or @10s for every ten seconds
    ");
}

#[test]
fn dp_01_any_blank_separates_and_lookalikes_are_named() {
    for text in [
        "0 8 * * * o/r w.yml",
        "\u{feff}0 8 * * * o/r w.yml",
        "\t0\t8 *  * *\to/r\tw.yml\t\r\n",
        "\r\n  0 8 * * * o/r w.yml # x\r\n\r\n",
        "0 8 *\u{b}* *\u{c}o/r w.yml#",
    ] {
        let dispatch = parse(text);
        let fits = dispatch
            .lines
            .first()
            .map(|line| line.definition.expression.as_str());
        let expected = if text.ends_with('#') {
            None
        } else {
            Some("0 8 * * *")
        };
        assert_eq!(fits, expected, "{text:?}: {:?}", dispatch.problems);
    }
    insta::assert_snapshot!(shown("\
0 8 * * *　o/r w.yml
0 8 * * *\u{a0}o/r w.yml
＊/5 * * * * o/r w.yml
0 8 * * * o/r w.yml ＃ 註釋
0 8 * * * o/r w\u{200b}.yml
"), @r"
    1:10 `_` only spaces and tabs separate words; this is U+3000
      hint: write a space
    2:10 `_` only spaces and tabs separate words; this is U+00A0
      hint: write a space
    3:1 `＊` `＊` has no meaning in an expression
      hint: write `*`
    4:21 `＃` a comment begins with `#`; this is its full-width twin
      hint: write `#`
    5:16 `_` invisible character U+200B
      hint: remove it
    ");
}

#[test]
fn dp_02_fields_are_those_of_every_schedule() {
    for expression in [
        "*/15 8-18/2 1,15 JAN-MAR 1-5",
        "0 0 * * 7",
        "0 9 * * MON#2",
        "0 9 L * *",
        "0 9 13 * +FRI",
        "@daily",
        "@every 1h30m",
        "@3600s",
    ] {
        let line = only(&format!("{expression} o/r w.yml # x"));
        assert_eq!(line.definition.expression, expression);
    }
}

#[test]
fn settings_follow_the_workflow() {
    let line = only(
        r#"0 8 * * * o/r w.yml ref=v1 tz=europe/berlin input.mode="a \"b\" # c" input.x='\' catch_up=none overlap=allow name=daily # x"#,
    );
    let definition = &line.definition;
    assert_eq!(line.name.as_str(), "daily");
    assert_eq!(definition.tz, "Europe/Berlin");
    assert_eq!(definition.catch_up, CatchUp::None);
    assert_eq!(definition.overlap, Overlap::Allow);
    let Target::Workflow {
        git_ref, inputs, ..
    } = &definition.target
    else {
        panic!("{:?}", definition.target);
    };
    assert_eq!(git_ref, "v1");
    assert_eq!(inputs["mode"], "a \"b\" # c");
    assert_eq!(inputs["x"], "\\");
    insta::assert_snapshot!(shown("\
@10s o/r w.yml tz=Mars/Olympus
@10s o/r w.yml catch_up=sometimes
@10s o/r w.yml branch=main
@10s o/r w.yml ref=
@10s o/r w.yml ref=a ref=b
@10s o/r w.yml input.x=\"a b
@10s o/r w.yml input.x=\"a\"b
@10s o/r w.yml input.=1
@10s o/r w.yml name=-x
@10s o/r w.yml catch_up=all overlap=cancel_running
@10s o/r w.yml ref=\"a b\"
"), @r#"
    1:19 `Mars/Olympus` there is no such time zone
      hint: zones look like Europe/Berlin
    2:25 `sometimes` `catch_up` is none, latest or all
    3:16 `branch` there is no such setting
      hint: there are name, tz, ref, catch_up, overlap and input.NAME for the workflow's inputs
    4:16 `ref` `ref` has no value
    5:22 `ref` `ref` is set twice
    6:24 `"a b` the quote does not close on this line
      hint: close it, and write `\"` for a quote inside
    7:27 `b` a blank must follow the closing quote
    8:16 `input.` an input's name has letters, digits, `_` and `-`
    9:21 `-x` schedule name `-x` must start with a letter or digit and have at most 100 letters, digits, `.`, `_` or `-`
    10:16 `catch_up=all overlap=cancel_running` catch_up = "all" and overlap = "cancel_running" contradict each other: every missed slot would cancel the one before it
    11:16 `ref="a b"` target.ref must name a branch or a tag
    "#);
}

#[test]
fn dp_06_a_name_comes_from_what_a_line_says_and_never_from_its_position() {
    let names = |text: &str| -> Vec<String> {
        let mut names: Vec<String> = parse(text)
            .lines
            .iter()
            .map(|it| it.name.to_string())
            .collect();
        names.sort();
        names
    };
    let mut reversed: Vec<&str> = ENGLISH.lines().collect();
    reversed.reverse();
    assert_eq!(names(ENGLISH), names(&reversed.join("\r\n\r\n")));
    assert_eq!(
        only("0 8 * * * o/r w.yml").name.as_str(),
        "dispatch-37480a1eb3c7",
        "a name that changes loses its history"
    );
    let base = only("0 8 * * * o/r w.yml").name;
    for other in [
        "1 8 * * * o/r w.yml",
        "0 8 * * * o/r2 w.yml",
        "0 8 * * * o/r v.yml",
        "0 8 * * * o/r w.yml ref=x",
        "0 8 * * * o/r w.yml tz=Asia/Tokyo",
        "0 8 * * * o/r w.yml input.a=1",
    ] {
        assert_ne!(only(other).name, base, "{other}");
    }
    assert_eq!(only("0  8 * * *  o/r w.yml catch_up=none # x").name, base);
}

#[test]
fn dp_06_the_same_line_twice_would_fire_once() {
    insta::assert_snapshot!(shown("\
0 8 * * * o/r w.yml
0   8 * * *  o/r  w.yml  # again
0 8 * * * o/r w.yml name=other
1 8 * * * o/r w.yml name=a
2 8 * * * o/r w.yml name=a
"), @"
    1: 0 8 * * * o/r w.yml
    4: 1 8 * * * o/r w.yml name=a
    2:1 `0   8 * * *  o/r  w.yml` this is the same as line 1
      hint: remove one of the two
    3:1 `0 8 * * * o/r w.yml name=other` this is the same as line 1
      hint: remove one of the two
    5:26 `a` line 4 has this name already
    ");
}

#[test]
fn dp_15_no_refusal_quotes_what_follows_the_expression() {
    for text in [
        "0 8 * * secret/repo w.yml",
        "0 8 secret/repo w.yml",
        "secret/repo w.yml",
        "0 8 * * * secret/repo/x w.yml",
        "0 8 * * * secret w.yml",
        "0 8 * * secret w.yml ref=x",
        "@10s secret/repo secret.yml secret",
        "@10s secret/repo w.yml secret=secret",
        "@10s secret/repo w.yml tz=secret",
        "@every secret/repo w.yml",
        "@every secret/repo w.yml ref=x",
        "@10s secret/repo w.yml ref=\"secret",
    ] {
        let problems = parse(text).problems;
        assert_eq!(problems.len(), 1, "{text}");
        let shown = format!("{} {:?}", problems[0], problems[0]);
        assert!(!shown.contains("secret"), "{text}: {shown}");
    }
}

fn lines() -> impl Strategy<Value = String> {
    let expression = prop_oneof![
        Just("*/5 * * * *".to_owned()),
        Just("0 9 * * MON#2".to_owned()),
        Just("@every 1h".to_owned()),
        (0_u8..60, 0_u8..24, 1_u8..29).prop_map(|(m, h, d)| format!("{m} {h} {d} * *")),
        (1_u32..90_000).prop_map(|seconds| format!("@{seconds}s")),
    ];
    let extras = prop_oneof![
        Just(String::new()),
        Just(" tz=Asia/Shanghai catch_up=all".to_owned()),
        Just(" overlap=queue_one name=x.y-z".to_owned()),
        "[a-z]{1,8}".prop_map(|name| format!(" ref=feature/{name}")),
        "[^\"\\\\\\r\\n]{0,12}".prop_map(|value| format!(" input.value=\"{value}\"")),
        "[^'\\r\\n]{0,12}".prop_map(|value| format!(" input.value='{value}'")),
    ];
    (expression, "[a-z]{1,6}/[a-z.]{1,6}x", extras)
        .prop_map(|(when, repository, extras)| format!("{when}  {repository}\tw.yml{extras}"))
}

/// The text with a few characters put in, taken out or doubled.
fn mutated() -> impl Strategy<Value = String> {
    let edits = prop::collection::vec(
        (any::<prop::sample::Index>(), any::<char>(), 0_u8..4),
        1..12,
    );
    edits.prop_map(|edits| {
        let mut characters: Vec<char> = format!("{CHINESE}{ENGLISH}@10s o/r w.yml input.x=\"a b\"")
            .chars()
            .collect();
        for (index, c, edit) in edits {
            let at = index.index(characters.len());
            let odd = ['\u{3000}', '"', '#', '=', '\n', '\t', '\u{feff}', '@'];
            match edit {
                0 => characters.insert(at, c),
                1 => characters[at] = odd[(c as usize) % odd.len()],
                2 => drop(characters.remove(at)),
                _ => characters.insert(at, characters[at]),
            }
        }
        characters.into_iter().collect()
    })
}

fn check_places(text: &str) -> Result<(), TestCaseError> {
    let Dispatch {
        lines, problems, ..
    } = parse(text);
    let places = lines.iter().map(|line| line.place);
    for place in places.chain(problems.iter().map(|problem| problem.place)) {
        let marked = text.get(place.span.start..place.span.end);
        prop_assert!(
            marked.is_some_and(|marked| !marked.contains('\n')),
            "{place:?}"
        );
        let before = &text[..place.span.start];
        prop_assert_eq!(before.matches('\n').count() + 1, place.line);
        let begins = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before[begins..]
            .trim_start_matches('\u{feff}')
            .chars()
            .count()
            + 1;
        prop_assert!(place.column == column || begins > 0, "{place:?}");
    }
    Ok(())
}

#[test]
fn dp_18_a_refused_line_still_says_its_name_where_that_can_be_read() {
    for (line, name, why) in [
        (
            "0 25 * * * o/r a.yml name=news",
            Some("news"),
            "a bad field",
        ),
        (
            "@daily o/r a.yml name=news tz=Atlantis",
            Some("news"),
            "a bad setting",
        ),
        ("@daily o/r name=news", Some("news"), "no workflow"),
        (
            "@daily o/r a.yml name=\"news\" x",
            Some("news"),
            "in quotes",
        ),
        (
            "@daily o/r a.yml name='news' input.t=\"open",
            Some("news"),
            "not even words",
        ),
        (
            "@daily o/r\u{3000}a.yml name=news",
            Some("news"),
            "a wide blank",
        ),
        (
            "@daily o/r a.yml x # name=news",
            None,
            "a comment is no name",
        ),
        ("@daily o/r a.yml name=-", None, "the name itself is bad"),
        ("@daily o/r a.yml nonsense", None, "none was written"),
    ] {
        let text = format!("@hourly o/r b.yml name=good\n{line}\n");
        let dispatch = parse(&text);
        assert_eq!(dispatch.problems.len(), 1, "{line}");
        let refused: Vec<&str> = dispatch.refused.iter().map(ScheduleName::as_str).collect();
        assert_eq!(refused, Vec::from_iter(name), "{line}: {why}");
    }
}

proptest! {
    #[test]
    fn dp_01_what_is_printed_reads_back(text in lines()) {
        let dispatch = parse(&text);
        prop_assert_eq!(&dispatch.problems, &[], "{}", text);
        let line = &dispatch.lines[0];
        let again = parse(&line.to_string());
        prop_assert_eq!(&again.problems, &[], "{}", line);
        prop_assert_eq!(&again.lines[0].definition, &line.definition, "{}", line);
        prop_assert_eq!(&again.lines[0].name, &line.name);
    }

    #[test]
    fn dp_01_every_problem_is_inside_the_text(text in mutated()) {
        check_places(&text)?;
    }

    #[test]
    fn dp_01_no_text_is_too_odd(text in any::<String>()) {
        check_places(&text)?;
    }
}
