//! The one HTTP client against servers that mean harm.

mod bodies;
mod connections;
mod redirects;
mod server;
mod where_to;
