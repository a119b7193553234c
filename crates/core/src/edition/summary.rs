//! Summaries without a model: the sentences of a text that say the most.

/// Fewest comments that are summarised: below it there is nothing to sum up.
pub const COMMENTS_MIN: usize = 3;
