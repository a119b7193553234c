//! The outside: the system's clock and randomness, HTTP, GitHub, Telegram, Git and local commands.
//!
//! Each thing the rest of Almanack must not touch by itself is touched in exactly one file here.

pub mod alert;
pub mod bearer;
pub mod calendar;
pub mod call;
pub mod callback;
pub mod command;
pub mod disk;
pub mod event_publisher;
pub mod feed;
pub mod github;
pub mod hacker_news;
pub mod heartbeat;
pub mod http;
mod language;
mod launcher;
pub mod lock;
pub mod model;
pub mod newsletter;
pub mod opml;
pub mod password;
pub mod ping_sender;
mod process;
pub mod publish;
pub mod reader;
mod redact;
pub mod renderer;
pub mod resources;
pub mod robots;
pub mod signature;
pub mod telegram;
pub mod trace;
mod upstream;
pub mod webhook;

use almanack_core::locked;
pub use almanack_machine::{clock, entropy};
