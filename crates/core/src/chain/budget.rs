//! What a configuration costs: requests an hour with the repository's own token (DP-13).

use jiff::{SignedDuration, Timestamp};

use super::line::Line;

/// What GitHub grants the token of a workflow, per repository and hour.
pub const LOCK_CALLS_MAX: u64 = 1_000;
/// Looks of one chain in an hour, if none of them is answered "unchanged": runs, locks on two
/// pages, cleaning, and what a start costs.
const LOOKS: u64 = 60 + 2 * 7 + 6 + 4;

/// About how many requests so many chains make in the hour after `now`: each tries to lock each
/// slot, the winner writes its receipt, and each looks around. What is retried comes on top.
pub fn calls_an_hour(lines: &[Line], chains: u64, now: Timestamp) -> u64 {
    let end = now.saturating_add(SignedDuration::from_hours(1));
    let end = end.unwrap_or(now);
    let of_line = |line: &Line| {
        let (mut slots, mut marks, mut at) = (0, 0, now);
        // Twice what may be spent is too much, however much more it is.
        while let Some(slot) = line.ready().next_after(at).filter(|slot| *slot <= end) {
            slots += 1;
            marks += u64::from(line.is_marked(slot));
            at = slot;
            if slots > 2 * LOCK_CALLS_MAX {
                break;
            }
        }
        chains * slots + marks
    };
    lines.iter().map(of_line).sum::<u64>() + chains * LOOKS
}
