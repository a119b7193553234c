use super::*;

const NOW: Timestamp = Timestamp::constant(1_767_323_045, 0);

fn file(rules: &str, at: Timestamp) -> File {
    File::read(Rules::parse(rules.as_bytes()), at)
}

#[test]
fn ss_26_the_memory_of_files_is_bounded() {
    let mut files = Files::default();
    let rules = format!(
        "user-agent: *\n{}",
        format!("disallow: /{}\n", "a".repeat(900)).repeat(900)
    );
    for number in 0..20 {
        let at = later(NOW, SignedDuration::from_secs(number));
        files.keep(&format!("https://{number}.test"), file(&rules, at));
        assert!(files.bytes <= RULES_BYTES_MAX);
    }
    assert!(
        !files.by_site.contains_key("https://0.test"),
        "the oldest goes"
    );
    assert!(files.by_site.contains_key("https://19.test"));
    files.keep("https://19.test", file("", NOW));
    let sum: usize = files.by_site.values().map(File::cost).sum();
    assert_eq!(
        files.bytes, sum,
        "a file that is read again is counted once"
    );
    let small = file("", NOW);
    for number in 0..FILES_MAX + 5 {
        files.keep(&number.to_string(), small.clone());
    }
    assert_eq!(files.by_site.len(), FILES_MAX);
}

#[test]
fn ss_26_a_file_is_believed_for_a_day() {
    let mut files = Files::default();
    files.keep("a", file("", NOW));
    for (after, fresh, why) in [
        (SignedDuration::ZERO, true, "just read"),
        (
            FRESH_FOR - SignedDuration::from_secs(1),
            true,
            "within the day",
        ),
        (FRESH_FOR, false, "after a day"),
        (
            -SignedDuration::from_secs(1),
            false,
            "the clock was set back",
        ),
    ] {
        let known = files.fresh("a", NOW.saturating_add(after).unwrap());
        assert_eq!(known.is_some(), fresh, "{why}");
    }
}
