//! Lists of feeds. What was taken can be written and read again.
#![no_main]

use almanack_adapters::opml::{FEEDS_MAX, PROBLEMS_MAX, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(imported) = import(bytes) else { return };
    assert!(imported.subscriptions.len() <= FEEDS_MAX);
    assert!(imported.problems.len() <= PROBLEMS_MAX);
    for feed in &imported.subscriptions {
        assert!(feed.address.starts_with("http"), "{feed:?}");
        assert!(!feed.title.contains(char::is_control), "{feed:?}");
        assert!(!feed.category.contains(char::is_control), "{feed:?}");
    }
});
