//! The dashboard as a browser meets it.

mod browser;
mod sign_in;
