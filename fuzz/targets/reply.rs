//! What a language model replies, where titles or verdicts were asked for.
#![no_main]

use almanack_adapters::model::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|reply: &str| {
    for count in [0, 1, 3, 30] {
        assert_eq!(parse::titles(reply, count).len(), count);
        let judged = parse::verdicts(reply, count);
        assert!(judged.is_none_or(|judged| judged.len() == count));
    }
});
