//! The dashboard's pages, as a browser without a script meets them.

mod editions;
mod sources;
