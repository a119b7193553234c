//! Sitemaps, packed or not.
#![no_main]

use almanack_core::source::reading::{Reading, SitemapRules};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    almanack_fuzz::read(&Reading::Sitemap(SitemapRules::default()), bytes);
});
