use almanack_core::source::reading::Reading;

use super::*;

const NOW: Timestamp = Timestamp::constant(1_767_600_000, 0);
const PAGE: &str = r#"<!DOCTYPE html><html><head><title>The
    Weekly</title><base href="/news/"></head><body><ul>
    <li class="post"><h2><a href="1">One &amp; <em>only</em></a></h2><time datetime="2026-01-02T05:04:05+02:00">yesterday</time><div class="lead"><p onclick="x()">Short</p></div></li>
    <li class="post"><h2><a href="/2?utm_source=x">Two</a></h2><span class="date">January 2, 2026</span></li>
    <li class="post"><h2>Three</h2></li>
    <li class="advertisement"><h2>Buy</h2></li></ul>"#;

fn rules() -> HtmlRules {
    HtmlRules {
        item: "li.post".to_owned(),
        title: "h2".to_owned(),
        link: None,
        date: Some("time, .date".to_owned()),
        summary: Some(".lead".to_owned()),
    }
}

fn read(rules: &HtmlRules, text: &str) -> Result<Document, Failure> {
    let base = Url::parse("https://site.example/").unwrap();
    crate::feed::read(
        &Reading::Html(rules.clone()),
        text.as_bytes(),
        None,
        &base,
        NOW,
    )
}

#[test]
fn ss_12_a_page_is_read_by_selectors() {
    let document = read(&rules(), PAGE).unwrap();
    assert_eq!(document.title.as_deref(), Some("The Weekly"));
    let [first, second, third] = document.entries.as_slice() else {
        panic!()
    };
    assert_eq!(first.title, "One & only");
    assert_eq!(
        first.link.as_deref(),
        Some("https://site.example/news/1"),
        "relative to the page's base"
    );
    assert_eq!(
        first.published_at.unwrap().to_string(),
        "2026-01-02T03:04:05Z",
        "for machines first"
    );
    assert_eq!(first.summary.as_deref(), Some("<p>Short</p>"));
    assert_eq!(second.link.as_deref(), Some("https://site.example/2"));
    assert_eq!(
        second.published_at.unwrap().to_string(),
        "2026-01-02T00:00:00Z",
        "else for people"
    );
    assert_eq!((third.link.as_deref(), third.published_at), (None, None));

    let links = HtmlRules {
        item: "h2 a".to_owned(),
        title: "a".to_owned(),
        link: Some("a".to_owned()),
        ..rules()
    };
    assert_eq!(
        read(&links, PAGE).unwrap().entries.len(),
        2,
        "an item may be its own link"
    );
}

#[test]
fn sentences_about_selectors() {
    let error = |rules: &HtmlRules, text: &str| {
        let failure = read(rules, text).unwrap_err();
        format!("{}: {}", failure.class, failure.detail)
    };
    insta::assert_snapshot!(error(&HtmlRules { item: "article".to_owned(), ..rules() }, PAGE), @"rules: the selector `article` for `item` matches nothing on the page “The Weekly”");
    insta::assert_snapshot!(error(&rules(), "plain text"), @"rules: the selector `li.post` for `item` matches nothing on the page");
    insta::assert_snapshot!(error(&HtmlRules { title: "h3".to_owned(), ..rules() }, PAGE), @"rules: the selector `li.post` for `item` matches 3, but `h3` for `title` finds nothing in any of them");
    insta::assert_snapshot!(error(&HtmlRules { link: Some("a.more".to_owned()), ..rules() }, PAGE), @"rules: the selector `li.post` for `item` matches 3, but `a.more` for `link` finds nothing in any of them");
    insta::assert_snapshot!(error(&HtmlRules { item: "li..post".to_owned(), ..rules() }, PAGE), @"rules: `item`: `li..post` is not a CSS selector we can read: a name must follow the dot");
    insta::assert_snapshot!(error(&HtmlRules { title: String::new(), ..rules() }, PAGE), @"rules: `title`: `` is not a CSS selector we can read: it is empty");
    insta::assert_snapshot!(error(&HtmlRules { title: "a".repeat(301), ..rules() }, PAGE), @"rules: `title` is longer than 300 bytes");
    insta::assert_snapshot!(error(&rules(), &"<div>".repeat(1_000_000)), @"malformed: the page is nested more than 512 deep");
}

#[test]
fn rules_are_refused_before_they_are_stored() {
    let bad = Reading::Html(HtmlRules {
        date: Some("time[".to_owned()),
        ..rules()
    });
    assert!(matches!(
        crate::feed::validate(&bad),
        Err(RulesError::Selector { name: "date", .. })
    ));
    let unshowable = Reading::Html(HtmlRules {
        item: "li\u{1b}[2J".to_owned(),
        ..rules()
    });
    assert_eq!(
        crate::feed::validate(&unshowable),
        Err(RulesError::Control { name: "item" })
    );
    assert_eq!(crate::feed::validate(&Reading::Html(rules())), Ok(()));
}

#[test]
fn ss_12_items_inside_each_other_are_not_looked_through_without_end() {
    let nested = HtmlRules {
        item: "div".to_owned(),
        summary: Some("section".to_owned()),
        ..rules()
    };
    let inside = |what: &str| format!("{}<section>{what}", "<div>".repeat(400));
    for (what, why) in [
        ("<h2></h2>".repeat(10_000), "elements"),
        ("word ".repeat(100_000), "text"),
        (
            format!("<i title='{}'>", "x".repeat(500_000)),
            "an attribute",
        ),
    ] {
        let failure = read(&nested, &inside(&what)).unwrap_err();
        assert_eq!(failure.class, FailureClass::Rules, "{why}");
        assert!(
            failure.detail.contains("inside each other"),
            "{why}: {}",
            failure.detail
        );
    }
    let beside = "<div><h2>Title</h2><section>words</section></div>".repeat(50_000);
    assert!(
        read(&nested, &beside).is_ok(),
        "as large, but beside each other"
    );
}
