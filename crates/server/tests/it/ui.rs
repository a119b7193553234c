//! The dashboard as a browser meets it: pages out, forms in, a real store behind, no socket.

mod activity;
mod alerts;
mod api;
mod browser;
mod editions;
mod kinds;
mod live;
mod nodes;
mod radar;
pub(crate) mod reading;
mod reserved;
mod schedules;
mod settings;
mod search;
mod sign_in;
mod size;
mod sources;
mod tasks;
mod tasks_bulk;
mod undo;
