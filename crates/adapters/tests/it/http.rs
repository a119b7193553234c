//! The one HTTP client against servers that mean harm.

mod bodies;
mod redirects;
mod server;
mod where_to;
