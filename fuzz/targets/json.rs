//! JSON, by paths that look everywhere.
#![no_main]

use almanack_core::source::reading::{JsonRules, Reading};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let rules = JsonRules {
        items: "$..items[*]".to_owned(),
        title: "$.title".to_owned(),
        link: Some("$.url".to_owned()),
        id: Some("$['id', 'key']".to_owned()),
        date: Some("$.date".to_owned()),
        summary: Some("$..*".to_owned()),
    };
    almanack_fuzz::read(&Reading::Json(rules), bytes);
});
