//! The dashboard as a browser meets it: pages out, forms in, a real store behind, no socket.

mod activity;
mod alerts;
mod api;
mod browser;
mod editions;
mod forms;
mod kinds;
mod live;
mod nodes;
mod problems;
mod radar;
pub(crate) mod reading;
mod reserved;
mod schedules;
mod search;
mod settings;
mod sign_in;
mod size;
mod sources;
mod tasks;
mod tasks_bulk;
mod undo;
