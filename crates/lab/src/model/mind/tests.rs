//! Answers are deterministic, in Chinese, and never longer than requested.

use proptest::prelude::*;

use super::*;

#[test]
fn a_translation_keeps_what_it_does_not_know() {
    let translated = translate("Show HN: The fast <b>database</b> & \"SQLite\" in Rust");
    assert!(
        translated.starts_with("展示HN:快速<b>database</b> & \"SQLite\"在Rust（译文·"),
        "{translated}"
    );
    assert_eq!(translate("潮汐的历史"), "潮汐的历史", "Chinese stays");
    assert_ne!(translate("Tides"), translate("Winds"));
    assert!(translate("").chars().any(is_chinese));
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
    let summary = summarise(text, 300);
    assert!(summary.contains("harbour") && summary.contains("tides"));
    assert_eq!(summary.matches('。').count(), 3, "{summary}");
    assert_eq!(summary, summarise(text, 300));
    assert_ne!(summary, summarise("Winds", 300));
    assert!(summarise("", 300).contains(NO_TOPIC));
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
        let translated = translate(&title);
        prop_assert!(translated.chars().any(is_chinese));
        prop_assert_eq!(translated, translate(&title));
    }

    #[test]
    fn no_summary_is_longer_than_asked(text in ".{0,200}", chars_max in 10_usize..400) {
        let summary = summarise(&text, chars_max);
        prop_assert!(summary.chars().count() <= chars_max);
        prop_assert!(summary.ends_with('。'));
    }

    #[test]
    fn what_was_cut_has_no_more_tokens(text in "[a-z潮汐 ]{0,80}", max in 0_usize..30) {
        prop_assert!(tokens(&cut_to_tokens(&text, max)) <= max);
    }
}
