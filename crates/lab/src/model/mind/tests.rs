//! Answers are deterministic, in the language asked for, and never longer than requested.

use proptest::prelude::*;

use super::*;

#[test]
fn a_translation_keeps_what_it_does_not_know() {
    let translated = translate(
        "Show HN: The fast <b>database</b> & \"SQLite\" in Rust",
        Language::Chinese,
    );
    assert!(
        translated.starts_with("展示HN:快速<b>database</b> & \"SQLite\"在Rust（译文·"),
        "{translated}"
    );
    assert_eq!(
        translate("潮汐的历史", Language::Chinese),
        "潮汐的历史",
        "Chinese stays"
    );
    assert_ne!(
        translate("Tides", Language::Chinese),
        translate("Winds", Language::Chinese)
    );
    assert!(translate("", Language::Chinese).chars().any(is_chinese));
}

#[test]
fn a_known_title_is_translated_by_hand_and_english_stays_english() {
    let (title, chinese) = (
        "A lock file is not a lock (2019)",
        "锁文件并不是锁（2019年）",
    );
    assert_eq!(translate(title, Language::Chinese), chinese);
    for (from, into) in [
        (title, title),
        (chinese, title),
        ("Show HN: <b>Tides</b>", "Show HN: <b>Tides</b>"),
        ("潮汐的历史", FOREIGN_TITLE),
    ] {
        assert_eq!(translate(from, Language::English), into, "{from}");
    }
}

#[test]
fn an_english_summary_is_the_first_sentences() {
    let summarise = |text| summarise(text, Language::English, 300);
    assert_eq!(
        summarise("Tides rise. They fall. They rest."),
        "Tides rise. They fall."
    );
    assert_eq!(summarise("潮汐有涨有落。"), FOREIGN_TEXT);
}

#[test]
fn a_sensitive_word_is_found_in_any_case() {
    let words = ["Election".to_owned()];
    assert!(is_sensitive("The ELECTIONS of 1998", &words));
    assert!(!is_sensitive("Tides", &words));
    assert!(!is_sensitive("Tides", &[]));
}

#[test]
fn a_summary_is_about_the_topic_of_its_text() {
    let text = "Harbour tides. The harbour is deep; sailors like the harbour and its tides.";
    let summary = summarise(text, Language::Chinese, 300);
    assert!(summary.contains("harbour") && summary.contains("tides"));
    assert_eq!(summary.matches('。').count(), 3, "{summary}");
    assert_eq!(summary, summarise(text, Language::Chinese, 300));
    assert_ne!(summary, summarise("Winds", Language::Chinese, 300));
    assert!(summarise("", Language::Chinese, 300).contains(NO_TOPIC));
}

#[test]
fn tokens_are_counted_alike_when_cut() {
    assert_eq!(tokens("潮汐 tide"), 2 + 2);
    assert_eq!(cut_to_tokens("潮汐tides", 3), "潮汐tide");
    assert_eq!(cut_to_tokens("潮汐", 0), "");
}

proptest! {
    #[test]
    fn every_translation_is_chinese_and_repeats(title in ".{0,80}") {
        let translated = translate(&title, Language::Chinese);
        prop_assert!(translated.chars().any(is_chinese));
        prop_assert_eq!(translated, translate(&title, Language::Chinese));
    }

    #[test]
    fn no_summary_is_longer_than_asked(text in ".{0,200}", chars_max in 10_usize..400) {
        let summary = summarise(&text, Language::Chinese, chars_max);
        prop_assert!(summary.chars().count() <= chars_max);
        prop_assert!(summary.ends_with('。'));
        let summary = summarise(&text, Language::English, chars_max);
        prop_assert!((1..=chars_max).contains(&summary.chars().count()));
        prop_assert!(!summary.chars().any(is_chinese));
    }

    #[test]
    fn what_was_cut_has_no_more_tokens(text in "[a-z潮汐 ]{0,80}", max in 0_usize..30) {
        prop_assert!(tokens(&cut_to_tokens(&text, max)) <= max);
    }
}
