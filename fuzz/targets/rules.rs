//! Rules that people write: the first line finds the entries, the second their titles.
#![no_main]

use almanack_adapters::feed;
use almanack_core::source::reading::{HtmlRules, JsonRules, Reading};
use libfuzzer_sys::fuzz_target;

const PAGE: &[u8] =
    b"<ul><li class=a id=b><a href=/1 title='x y'>one</a><li>two<p><i>2026-01-02</i></ul>";
const DOCUMENT: &[u8] =
    br#"{"items": [{"id": 1, "title": "one", "tags": ["a", ["b"]]}, {"title": null}]}"#;

fuzz_target!(|text: &str| {
    let (item, title) = text.split_once('\n').unwrap_or((text, "*"));
    let (item, title) = (item.to_owned(), title.to_owned());
    let page = Reading::Html(HtmlRules {
        item: item.clone(),
        title: title.clone(),
        link: None,
        date: None,
        summary: None,
    });
    let json = Reading::Json(JsonRules {
        items: item,
        title,
        link: None,
        id: None,
        date: None,
        summary: None,
    });
    for (reading, bytes) in [(page, PAGE), (json, DOCUMENT)] {
        if let Err(error) = feed::validate(&reading) {
            assert!(!error.to_string().is_empty());
        } else {
            almanack_fuzz::read(&reading, bytes);
        }
    }
});
