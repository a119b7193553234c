//! Dates. What one says does not depend on the blanks around it.
#![no_main]

use almanack_adapters::feed::date;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let at = date::parse(text);
    if let Some(at) = at {
        assert_eq!(date::parse(&format!(" {text}\n")), Some(at));
        let written = at.to_string();
        let second = date::parse(&written).map(|at| at.as_second());
        assert!(
            second.is_some(),
            "{text:?} is {written}, and that is not read"
        );
    }
});
