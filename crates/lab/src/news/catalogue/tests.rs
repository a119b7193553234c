//! The catalogue is complete in both languages, and every text is found again.

use std::collections::BTreeSet;

use super::*;

fn is_chinese(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

/// Words that Chinese texts keep: units and abbreviations are in capitals.
fn untranslated(text: &str) -> Option<&str> {
    let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
    words.find(|word| word.chars().any(|c| c.is_ascii_lowercase()))
}

#[test]
fn every_text_is_in_its_language() {
    assert_eq!(
        STORIES.len(),
        include_str!("stories.txt").split("\n\n").count()
    );
    assert_eq!(
        REMARKS.len(),
        include_str!("remarks.txt").split("\n\n").count()
    );
    let pairs = STORIES.iter().flat_map(|it| [it.title, it.summary]);
    for pair in pairs.chain(REMARKS.iter().map(|it| it.retold)) {
        assert!(!pair.english.chars().any(is_chinese), "{}", pair.english);
        assert!(pair.chinese.chars().any(is_chinese), "{}", pair.chinese);
        assert_eq!(untranslated(pair.chinese), None, "{}", pair.chinese);
    }
}

#[test]
fn summaries_are_two_sentences_that_fit_an_edition() {
    for story in STORIES.iter() {
        let Pair { english, chinese } = story.summary;
        assert!(english.len() <= 260 && english.ends_with('.'), "{english}");
        assert!(
            chinese.chars().count() <= 100 && chinese.ends_with('。'),
            "{chinese}"
        );
        assert!(first_sentence(english).len() < english.len(), "{english}");
        assert!(first_sentence(chinese).len() < chinese.len(), "{chinese}");
    }
}

#[test]
fn a_story_is_found_by_its_title_and_by_its_summary_in_either_language() {
    for (index, story) in STORIES.iter().enumerate() {
        for language in [Language::English, Language::Chinese] {
            for year in [None, Some(2019)] {
                let printed = Printed { story, year };
                assert_eq!(titled(&printed.title(language)), Some(printed), "{index}");
            }
            let text = format!("Before. {} After.", story.summary.of(language));
            assert_eq!(summarised_in(&text), Some(story), "{index}");
        }
    }
    assert_eq!(titled("Tides"), None);
    assert_eq!(summarised_in("Tides rise and fall."), None);
}

#[test]
fn remarks_are_retold_whatever_their_number() {
    for seed in 0..50 {
        let said = remark(&mut Chance::new(seed));
        assert!(retold(&said, Language::English).count() >= 1, "{said}");
        let chinese: Vec<&str> = retold(&said, Language::Chinese).collect();
        assert!(
            chinese.iter().all(|it| it.chars().any(is_chinese)),
            "{chinese:?}"
        );
    }
    assert_eq!(retold("First!", Language::English).count(), 0);
}

#[test]
fn a_day_has_no_title_twice_and_two_short_days_share_none() {
    let titles = |day, per_day: i64| -> BTreeSet<String> {
        let places = (0..per_day).filter_map(|index| at(7, day, index, per_day));
        places.map(|it| it.title(Language::English)).collect()
    };
    assert_eq!(titles(20_457, 1_400).len(), 1_400);
    let (one, next) = (titles(20_457, 30), titles(20_458, 30));
    assert_eq!((one.len(), next.len()), (30, 30));
    assert!(one.is_disjoint(&next));
}
