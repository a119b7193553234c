//! Reading pages: from an address to the text of an article (ED-35).
//!
//! [`PageReader`] works alone: it fetches the page and finds the article in it. Where a site can
//! only be read by a browser, a service that runs one can be used instead: a crawler behind an API
//! ([`CrawlerApi`]), or a service that reads whatever address is put behind its own
//! ([`ReaderPrefix`]).
//!
//! INVARIANT: every text was checked by [`check_article`], whatever reader it comes from. Whatever
//! a site shows instead of its article (a bot check, a login, an error) would otherwise be
//! summarised as if it were one.

mod api;
mod page;
mod prefix;
mod sent;
mod sniff;

pub use api::CrawlerApi;
pub use page::{PageReader, read_page};
pub use prefix::{PREFIX, ReaderPrefix};
pub use sent::Sent;
pub use sniff::check_article;

use std::time::Duration;

use almanack_core::{
    address,
    edition::port::{Failure, FailureClass},
};

use crate::http::Limits;

/// How much reading one page may take.
const LIMITS: Limits = Limits {
    total: Duration::from_secs(30),
    idle: Duration::from_secs(10),
    body_bytes: 5 * 1024 * 1024,
};

/// Refuses an invalid page address before it is sent to another service.
fn check(url: &str) -> Result<(), Failure> {
    let read = address::parse(url).map(drop);
    read.map_err(|refusal| Failure::new(FailureClass::Refused, refusal.to_string()))
}
