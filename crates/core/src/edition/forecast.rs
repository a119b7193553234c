//! When an edition is expected to be finished.
