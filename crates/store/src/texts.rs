//! A check on the texts that both databases share.

use crate::{claim, history, migrate, register, task};

/// SQLite numbers `$n` by first appearance, PostgreSQL by its digit: only ascending texts mean the
/// same to both.
#[test]
fn shared_texts_use_their_parameters_in_ascending_order() {
    let shared = [
        claim::EXPIRED,
        claim::LANES,
        history::LOAD_ATTEMPTS,
        history::LOAD_DECISIONS,
        history::LOAD_ONCE,
        history::NOTE_ONCE,
        history::PRUNE_ONCE,
        migrate::NOTE_APPLIED,
        register::FORGET_NODE,
        register::LOAD_TOKEN,
        register::REVOKE_TOKEN,
        register::SAVE_NODE,
        register::SAVE_TOKEN,
        task::DEPTH,
        task::LIST_SQLITE,
        task::LOAD,
        task::LOAD_ALL,
        task::PRUNABLE,
    ];
    for text in shared {
        let mut seen = 0;
        for digits in text.split('$').skip(1) {
            let end = digits
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(digits.len());
            let number: usize = digits[..end].parse().unwrap();
            assert!(
                number <= seen + 1,
                "${number} before ${} in: {text}",
                seen + 1
            );
            seen = seen.max(number);
        }
    }
}
