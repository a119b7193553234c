//! Headers that say when to come again, one a line.
#![no_main]

use almanack_adapters::feed::freshness;
use almanack_fuzz::{NOW, check_hints};
use http::{HeaderMap, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut headers = HeaderMap::new();
    for line in bytes.split(|byte| *byte == b'\n').take(20) {
        let at = line.iter().position(|byte| *byte == b':').unwrap_or(0);
        let (name, value) = (&line[..at], line.get(at + 1..).unwrap_or_default());
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name), HeaderValue::from_bytes(value))
        {
            headers.append(name, value);
        }
    }
    check_hints(&freshness::hints(&headers, NOW));
    if let Some(wait) = freshness::retry_after(&headers, NOW) {
        assert!(!wait.is_negative(), "{wait:?}");
    }
});
