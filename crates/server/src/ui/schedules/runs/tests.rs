//! Slots unrolled and joined.
