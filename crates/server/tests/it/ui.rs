//! The dashboard's pages, as a browser without a script meets them.

mod browser;
mod editions;
mod sign_in;
mod sources;
