//! Replies as real models spoil them: what can be used is used, and what cannot is missing (ED-09).

use super::*;

/// What is left of a batch of four when its reply is spoiled every time, and how many requests that
/// takes.
#[tokio::test]
async fn ed_09_a_spoiled_reply_gives_what_it_says_and_nothing_else() {
    let all: &[usize] = &[0, 1, 2, 3];
    let none: &[usize] = &[];
    for (effect, left, requests) in [
        (Effect::Prose, all, 1),
        (Effect::ProseWithBrackets, all, 1),
        (Effect::Fence, all, 1),
        (Effect::TrailingComma, all, 1),
        (Effect::Shuffled, all, 1),
        (Effect::Reversed, all, 1),
        (Effect::OneMore, all, 1),
        (Effect::OneLess, &[0, 1, 2], 1),
        (Effect::RepeatedIndex, &[2, 3], 1),
        (Effect::ElementEmpty, &[1, 2, 3], 1),
        (Effect::ElementNull, &[1, 2, 3], 1),
        (Effect::CutOff, &[0], 1),
        (Effect::Unchanged, none, 2),
        (Effect::Excuse, none, 2),
        (Effect::EmptyContent, none, 2),
        (Effect::NullContent, none, 2),
        (Effect::NoChoices, none, 2),
        (Effect::NotJson, none, 2),
    ] {
        let fixture = Fixture::open().await;
        fixture.disturb(Kind::Titles, When::Always, effect);
        let (translated, spend) = fixture.titles(&titles()).await;
        assert_eq!(translated.len(), 4, "{effect:?}");
        for (index, title) in translated.iter().enumerate() {
            assert_eq!(
                title.is_some(),
                left.contains(&index),
                "{effect:?} at {index}: {title:?}"
            );
            assert!(
                title.as_deref().is_none_or(|it| belongs(index, it)),
                "{effect:?}: {title:?}"
            );
        }
        assert_eq!(spend.requests, requests, "{effect:?}");
        assert_eq!(fixture.waits(), [] as [i64; 0], "{effect:?}");
    }
}

#[tokio::test]
async fn ed_09_a_useless_reply_is_asked_for_once_more() {
    let fixture = Fixture::open().await;
    fixture.disturb(Kind::Titles, When::Next(1), Effect::Excuse);
    let (translated, spend) = fixture.titles(&titles()).await;
    assert!(translated.iter().all(Option::is_some));
    assert_eq!((spend.requests, spend.model_requests), (2, 2));
}

#[tokio::test]
async fn ed_09_one_title_that_was_not_translated_is_missing_alone() {
    let fixture = Fixture::open().await;
    let poison = Rule::poison("tides", Effect::Unchanged);
    fixture.handle().add_fault(poison);
    let (translated, spend) = fixture.titles(&titles()).await;
    let missing: Vec<usize> = (0..4)
        .filter(|index| translated[*index].is_none())
        .collect();
    assert_eq!((missing, spend.requests), (vec![2], 1));
}

#[tokio::test]
async fn a_useless_summary_is_a_failure_and_not_a_text() {
    for effect in [
        Effect::Excuse,
        Effect::EmptyContent,
        Effect::NullContent,
        Effect::NoChoices,
        Effect::NotJson,
        Effect::Unchanged,
    ] {
        let fixture = Fixture::open().await;
        fixture.disturb(Kind::Summary, When::Always, effect);
        let budget = Budget::new(9);
        let failure = fixture
            .writer
            .summary(Text::article("Tides."), Length::Full, &budget)
            .await;
        assert_eq!(
            failure.unwrap_err().class,
            FailureClass::Unusable,
            "{effect:?}"
        );
        assert_eq!(budget.spent(), 1, "{effect:?}");
    }
    for effect in [Effect::Prose, Effect::Fence, Effect::CutOff] {
        let fixture = Fixture::open().await;
        fixture.disturb(Kind::Summary, When::Always, effect);
        let summary = fixture
            .writer
            .summary(Text::article("Tides."), Length::Full, &Budget::new(9))
            .await;
        let summary = summary.unwrap();
        assert!(
            !summary.contains("以下是结果") && !summary.contains("```"),
            "{summary}"
        );
    }
}

#[tokio::test]
async fn a_judgement_that_leaves_a_title_out_is_a_failure() {
    for effect in [
        Effect::OneLess,
        Effect::RepeatedIndex,
        Effect::ElementNull,
        Effect::Excuse,
    ] {
        let fixture = Fixture::open().await;
        fixture.disturb(Kind::Filter, When::Always, effect);
        let judged = fixture
            .writer
            .judge(&titles(), Sensitivity::High, &Budget::new(9))
            .await;
        assert_eq!(
            judged.unwrap_err().class,
            FailureClass::Unusable,
            "{effect:?}"
        );
    }
    let fixture = Fixture::open().await;
    fixture.disturb(Kind::Filter, When::Always, Effect::Reversed);
    let judged = fixture
        .writer
        .judge(&titles(), Sensitivity::High, &Budget::new(9))
        .await;
    assert_eq!(judged.unwrap(), [true; 4]);
}
