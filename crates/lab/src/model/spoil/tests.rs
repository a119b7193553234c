//! The effect of each fault on an answer.

use super::*;
use crate::model::fault::When;

fn titles(texts: &[&str], shape: Shape) -> Task {
    let title = |(index, text): (i64, &&str)| Title {
        index,
        text: (*text).to_owned(),
    };
    let titles = (0..).zip(texts).map(title).collect();
    Task::Titles { titles, shape }
}

fn say(task: &Task, effect: Effect) -> String {
    let rule = Rule::any(When::Always, effect);
    answer(task, (Language::Chinese, &[]), Some(&rule))
        .content
        .unwrap()
}

fn parse(content: &str) -> Vec<Value> {
    serde_json::from_str(content).unwrap()
}

#[test]
fn arrays_are_spoiled_each_in_its_way() {
    let task = titles(&["a1", "b2", "c3"], Shape::Strings);
    let right = parse(
        &answer(&task, (Language::Chinese, &[]), None)
            .content
            .unwrap(),
    );
    let [a, b, c] = [&right[0], &right[1], &right[2]].map(Value::clone);
    let (empty, null) = (json!(""), Value::Null);
    for (effect, expected) in [
        (Effect::OneLess, vec![&a, &b]),
        (Effect::OneMore, vec![&a, &b, &c, &c]),
        (Effect::Shuffled, vec![&b, &c, &a]),
        (Effect::Reversed, vec![&c, &b, &a]),
        (Effect::ElementEmpty, vec![&empty, &b, &c]),
        (Effect::ElementNull, vec![&null, &b, &c]),
        (Effect::RepeatedIndex, vec![&a, &b, &c]),
    ] {
        let spoiled = parse(&say(&task, effect));
        assert_eq!(spoiled.iter().collect::<Vec<_>>(), expected, "{effect:?}");
    }
    assert_eq!(say(&task, Effect::Unchanged), r#"["a1","b2","c3"]"#);
}

#[test]
fn objects_keep_their_indices_wherever_they_go() {
    let task = titles(&["a1", "b2"], Shape::Objects);
    let shuffled = parse(&say(&task, Effect::Shuffled));
    assert_eq!(
        (&shuffled[0]["index"], &shuffled[1]["index"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(
        shuffled[0]["title"],
        mind::translate("b2", Language::Chinese)
    );
    let repeated = parse(&say(&task, Effect::RepeatedIndex));
    assert_eq!(repeated[1]["index"], 0);
    let null = parse(&say(&task, Effect::ElementNull));
    assert_eq!(null[0], json!({ "index": 0, "title": null }));
}

#[test]
fn poison_spoils_the_element_that_holds_it() {
    let task = titles(&["a1", "b2", "c3"], Shape::Strings);
    for (effect, expected) in [
        (Effect::ElementEmpty, json!("")),
        (Effect::ElementNull, Value::Null),
        (Effect::Unchanged, json!("b2")),
    ] {
        let rule = Rule::poison("b2", effect);
        let spoiled = parse(
            &answer(&task, (Language::Chinese, &[]), Some(&rule))
                .content
                .unwrap(),
        );
        assert_eq!(spoiled[1], expected, "{effect:?}");
        assert_eq!(
            spoiled[0],
            mind::translate("a1", Language::Chinese),
            "{effect:?}"
        );
        assert_eq!(
            spoiled[2],
            mind::translate("c3", Language::Chinese),
            "{effect:?}"
        );
    }
}

#[test]
fn content_is_wrapped_emptied_or_cut() {
    let task = titles(&["a1", "b2"], Shape::Strings);
    let right = answer(&task, (Language::Chinese, &[]), None)
        .content
        .unwrap();
    for effect in [Effect::Prose, Effect::ProseWithBrackets, Effect::Fence] {
        let spoiled = say(&task, effect);
        assert!(spoiled.contains(&right) && spoiled != right, "{spoiled}");
    }
    let open = right.trim_end_matches(']');
    assert_eq!(say(&task, Effect::TrailingComma), format!("{open},]"));
    assert_eq!(say(&task, Effect::EmptyContent), "");
    let null = Rule::any(When::Always, Effect::NullContent);
    assert_eq!(
        answer(&task, (Language::Chinese, &[]), Some(&null)).content,
        None
    );
    let cut = answer(
        &task,
        (Language::Chinese, &[]),
        Some(&Rule::any(When::Always, Effect::CutOff)),
    );
    assert!(cut.cut && right.starts_with(&cut.content.unwrap()));
}

#[test]
fn a_summary_has_no_elements_to_spoil() {
    let task = Task::Summary {
        text: "Tides rise and fall.".to_owned(),
        chars_max: 300,
    };
    let right = answer(&task, (Language::Chinese, &[]), None)
        .content
        .unwrap();
    for effect in [Effect::OneLess, Effect::Shuffled, Effect::TrailingComma] {
        assert_eq!(say(&task, effect), right, "{effect:?}");
    }
    assert_eq!(say(&task, Effect::Unchanged), "Tides rise and fall.");
}
