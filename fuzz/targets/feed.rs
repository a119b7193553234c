//! RSS, Atom and JSON Feed, whatever it turns out to be.
#![no_main]

use almanack_core::source::reading::Reading;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| almanack_fuzz::read(&Reading::Feed, bytes));
