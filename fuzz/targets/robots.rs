//! A site's `robots.txt`, and an address on its last line.
#![no_main]

use almanack_core::source::robots::Rules;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let rules = Rules::parse(bytes);
    assert!(rules.delay_s.is_none_or(|delay| (1..=86_400).contains(&delay)));
    let text = String::from_utf8_lossy(bytes);
    let path = text.lines().last().unwrap_or_default();
    if let Some(rule) = rules.forbids(path) {
        assert!(rule.bytes().all(|byte| byte.is_ascii_graphic()), "{rule:?}");
    }
    assert_eq!(rules.forbids("/robots.txt"), None);
});
