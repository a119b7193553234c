//! Pages, by selectors that match almost everything.
#![no_main]

use almanack_core::source::reading::{HtmlRules, Reading};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let rules = HtmlRules {
        item: "li, p, div, td".to_owned(),
        title: "*".to_owned(),
        link: None,
        date: Some("time, i".to_owned()),
        summary: Some("*".to_owned()),
    };
    almanack_fuzz::read(&Reading::Html(rules), bytes);
});
