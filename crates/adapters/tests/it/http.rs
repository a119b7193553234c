//! The one HTTP client against hostile servers.

mod bodies;
mod connections;
mod redirects;
mod server;
mod where_to;
