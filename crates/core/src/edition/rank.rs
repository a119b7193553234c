//! Ranks: which collected entries make an edition.
