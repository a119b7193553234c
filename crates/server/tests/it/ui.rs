//! The dashboard's pages, as a browser without a script meets them.

mod browser;
mod reading;
mod schedules;
mod sign_in;
mod sources;
