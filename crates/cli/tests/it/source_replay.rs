//! `almanack source replay`: what people see, what programs see, and what is refused.

use std::fmt::Write as _;

use serde_json::Value;

use crate::harness::Home;

/// Three sources with habits, for some weeks.
fn trace() -> String {
    let mut text = String::new();
    for day in 0..60_i64 {
        let midnight = 1_699_833_600 + day * 86_400;
        for hour in [8, 10, 12, 14, 16] {
            writeln!(text, "office\t{}", midnight + hour * 3_600 + 90).unwrap();
        }
        writeln!(text, "morning\t{}", midnight + 6 * 3_600 + day * 7).unwrap();
    }
    text
}

#[test]
fn policies_are_compared_in_a_table() {
    let home = Home::new().file("trace.tsv", &trace());
    let line = [
        "source",
        "replay",
        "--policy",
        "fixed:1h",
        "--policy",
        "fixed:2h",
        "--trace",
        "trace.tsv",
    ];
    insta::assert_snapshot!(home.run(&line).to_string(), @"
    POLICY    CLASS     SOURCES  ENTRIES  CHECKS/DAY  MEAN   MEDIAN  P95    MACRO  HITS    FIXED  EVEN
    fixed:1h  all       2        315      23.99       0.634  0.716   0.716  0.429  13.3 %
              realtime  1        270      23.99       0.716  0.716   0.716  0.716  20.9 %  0.716  0.716
              daily     1        45       23.98       0.142  0.142   0.181  0.142  4.2 %   0.142  0.142
    fixed:2h  all       2        315      11.99       1.634  1.716   1.716  1.429  26.7 %
              realtime  1        270      12.00       1.716  1.716   1.716  1.716  41.7 %  1.716  1.716
              daily     1        45       11.99       1.142  1.143   1.181  1.143  8.3 %   1.142  1.142
    delays are in hours; FIXED is the mean delay of a fixed interval with as many checks,
    EVEN that of one interval for all sources with as many checks as all of them got
    exit 0
    ");
}

#[test]
fn ss_15_the_adaptive_policy_is_given_as_many_checks_as_another_makes() {
    let home = Home::new().file("trace.tsv", &trace());
    let ran = home.run(&[
        "source",
        "replay",
        "--policy",
        "classic",
        "--policy",
        "adaptive",
        "--budget",
        "classic",
        "--trace",
        "trace.tsv",
        "--json",
    ]);
    let lines: Vec<Value> = ran
        .data
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!((ran.code, lines.len()), (0, 2), "{ran}");
    let [classic, adaptive] = [&lines[0], &lines[1]];
    let number = |value: &Value, key: &str| value[key].as_f64().unwrap();
    let off = number(adaptive, "checks") / number(classic, "checks") - 1.0;
    assert!(off.abs() < 0.005, "{off}");
    assert!(
        number(adaptive, "mean_delay_h") < 0.45 * number(classic, "mean_delay_h"),
        "{ran}"
    );
    let mut keys: Vec<&str> = adaptive
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    insta::assert_snapshot!(keys.join(" "), @"checks checks_per_source_day classes entries first_fortnight_checks_per_source_day first_fortnight_delay_h hit_rate macro_mean_delay_h mean_delay_h median_delay_h missed p95_delay_h policy price_h sources");
    assert!(
        adaptive["classes"]["realtime"]["fixed"]["mean_delay_h"].is_number(),
        "{ran}"
    );
}

#[test]
fn a_trace_comes_from_a_pipe_or_gzipped() {
    let plain = Home::new().run_with_input(
        &["source", "replay", "--policy", "fixed:3h", "--trace", "-"],
        &trace(),
    );
    assert_eq!(plain.code, 0, "{plain}");
    let home = Home::new();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, trace().as_bytes()).unwrap();
    std::fs::write(home.path().join("trace.tsv.gz"), packed.finish().unwrap()).unwrap();
    let unpacked = home.run(&[
        "source",
        "replay",
        "--policy",
        "fixed:3h",
        "--trace",
        "trace.tsv.gz",
    ]);
    assert_eq!(unpacked.data, plain.data);
}

#[test]
fn what_cannot_be_replayed_is_refused_with_its_place() {
    let home = Home::new()
        .file("bad.tsv", "a\t5\na\tsoon\n")
        .file("few.tsv", "a\t5\n");
    std::fs::write(home.path().join("broken.gz"), [0x1f, 0x8b, 8, 0, 1, 2, 3]).unwrap();
    let mut reported = String::new();
    for arguments in [
        &["--trace", "bad.tsv"][..],
        &["--trace", "few.tsv"],
        &["--trace", "nowhere.tsv"],
        &["--trace", "broken.gz"],
        &["--trace", "bad.tsv", "--policy", "clasic"],
        &["--trace", "bad.tsv", "--floor", "5"],
        &["--trace", "bad.tsv", "--rate-min=-1"],
    ] {
        let line: Vec<&str> = ["source", "replay"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        writeln!(reported, "{}", home.run(&line)).unwrap();
    }
    insta::assert_snapshot!(reported, @r#"
    error: bad.tsv:2: `soon` is not a number of seconds since 1970
    hint: each line is a source's id, a tab, and seconds since 1970
    exit 1
    error: no source in the trace has enough entries
    hint: a source needs at least four
    exit 1
    error: read `nowhere.tsv`: No such file or directory (os error 2)
    exit 3
    error: read `broken.gz`: unexpected end of file
    exit 1
    error: --policy: `clasic` is not a policy; write adaptive, classic, miniflux, fixed:1h or a schedule
    exit 2
    error: --floor: `5` has no unit
    hint: did you mean "5s"?
    exit 2
    error: --rate-min: write a number of entries per day, like 0.04
    exit 2
    "#);
}
