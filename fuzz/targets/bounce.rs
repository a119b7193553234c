//! Reports of failed deliveries. What is kept of one names no address and is no longer than it may be.
#![no_main]

use almanack_core::newsletter::bounce;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|mail: &str| {
    if let Some(report) = bounce::read(mail) {
        let detail = &report.refusal.detail;
        assert!(detail.chars().count() <= 300, "{detail:?}");
        assert!(!detail.contains('@'), "{detail:?}");
    }
});
