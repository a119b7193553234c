//! Locks against real Git servers and against GitHub's protocol.

mod git;
mod github;
mod world;
