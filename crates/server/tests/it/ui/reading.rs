//! Pages taken apart, and forms filled in without a session.

use std::collections::BTreeSet;

use axum::http::Method;
use scraper::{Html, Selector};

use crate::harness::{Answer, World, with};

/// Elements of a page, by a selector.
pub(crate) fn all(answer: &Answer, selector: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    let page = Html::parse_document(&answer.body);
    let texts = page.select(&selector).map(|element| {
        let text: String = element.text().collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    texts.collect()
}

/// An attribute of the elements that have it.
pub(crate) fn attributes(answer: &Answer, selector: &str, name: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    let page = Html::parse_document(&answer.body);
    let values = page.select(&selector).filter_map(|it| it.attr(name));
    values.map(str::to_owned).collect()
}

/// What the page says, without its markup.
pub(crate) fn words(answer: &Answer) -> String {
    all(answer, "main").concat()
}

/// The form key of the viewer of this page.
pub(crate) async fn form_key(world: &World, headers: &[(&str, &str)]) -> String {
    let page = world
        .send(with(Method::GET, "/ui/schedules/try", "", headers))
        .await;
    let keys = attributes(&page, "input[name=form_key]", "value");
    keys.into_iter().next().expect("a form with a key")
}

/// A form, filled in and sent.
pub(crate) async fn fill(world: &World, path: &str, fields: &[(&str, &str)]) -> Answer {
    let key = form_key(world, &[]).await;
    fill_as(world, path, fields, &key, &[]).await
}

/// A form with a key, from a client.
pub(crate) async fn fill_as(
    world: &World,
    path: &str,
    fields: &[(&str, &str)],
    key: &str,
    headers: &[(&str, &str)],
) -> Answer {
    let body = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("form_key", key)
        .extend_pairs(fields)
        .finish();
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let headers: Vec<_> = [kind].into_iter().chain(headers.iter().copied()).collect();
    world.send(with(Method::POST, path, &body, &headers)).await
}

/// A page in Chinese.
pub(crate) async fn in_chinese(world: &World, path: &str) -> Answer {
    world
        .send(with(Method::GET, path, "", &[("accept-language", "zh-CN")]))
        .await
}

/// Ids are there once: what is replaced while a page is open is found by its id.
pub(crate) fn check_ids(answer: &Answer) {
    let mut seen = BTreeSet::new();
    let ids = attributes(answer, "[id]", "id").into_iter();
    let twice: Vec<String> = ids.filter(|id| !seen.insert(id.clone())).collect();
    assert!(twice.is_empty(), "ids that are there twice: {twice:?}");
}

/// Headings go down one step at a time, ids are there once, inputs have labels, links lead
/// somewhere.
pub(crate) fn check_structure(answer: &Answer) {
    let page = Html::parse_document(&answer.body);
    let select = |text: &str| Selector::parse(text).unwrap();
    let mut level = 0;
    for heading in page.select(&select("main h1, main h2, main h3, main h4")) {
        let this: u8 = heading.value().name()[1..].parse().unwrap();
        assert!(this <= level + 1, "{this} after {level} in {}", answer.body);
        level = this;
    }
    check_ids(answer);
    for name in ["style", "onclick", "onload"] {
        assert!(
            page.select(&select(&format!("[{name}]"))).next().is_none(),
            "{name}"
        );
    }
    let fields = "main input:not([type=hidden]), main select, main textarea";
    for field in page.select(&select(fields)) {
        let labelled = field.ancestors().any(|it| {
            it.value()
                .as_element()
                .is_some_and(|it| it.name() == "label")
        });
        assert!(
            labelled || field.attr("aria-label").is_some(),
            "{}",
            field.html()
        );
    }
}
