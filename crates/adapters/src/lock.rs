//! Locks on slots where there is no shared database: refs of a Git repository.
//!
//! `core::lock` defines what they must do; the store's own is in the engine. Both adapters here
//! create the same refs, so they may even share a repository.

pub mod git;
pub mod github;
