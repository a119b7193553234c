//! Answers remembered with their `ETag`: asking again costs nothing while nothing has changed
//! (DP-13).

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use reqwest::header;
use url::Url;

use crate::{http::Answer, locked};

/// Pages that are remembered. A chain asks for a handful; past this, forgetting all of them costs a
/// request each, once.
const PAGES_REMEMBERED_MAX: usize = 100;

/// One page of a list.
#[derive(Debug)]
pub(super) struct Page {
    /// The validator that shows whether it has changed.
    pub(super) etag: Option<String>,
    /// Where the list goes on.
    pub(super) next: Option<String>,
    pub(super) body: Vec<u8>,
}

impl Page {
    pub(super) async fn read(mut answer: Answer) -> Option<Self> {
        let body = answer.read().await.ok()?;
        let etag = answer.head.header(&header::ETAG).map(str::to_owned);
        let next = answer.head.header(&header::LINK).and_then(next_of);
        Some(Self { etag, next, body })
    }
}

/// The address that a `Link` header names as the next page.
fn next_of(link: &str) -> Option<String> {
    let mut links = link.split(',').filter_map(|link| link.split_once(';'));
    let (address, _) = links.find(|(_, rest)| {
        let mut parameters = rest.split(';').map(str::trim);
        parameters.any(|parameter| matches!(parameter, "rel=\"next\"" | "rel=next"))
    })?;
    let address = address.trim().strip_prefix('<')?.strip_suffix('>')?;
    Some(address.to_owned())
}

/// Pages by their address.
#[derive(Debug, Default)]
pub(super) struct Memory(Mutex<BTreeMap<String, Arc<Page>>>);

impl Memory {
    pub(super) fn recall(&self, url: &Url) -> Option<Arc<Page>> {
        let pages = locked(&self.0);
        pages.get(url.as_str()).cloned()
    }

    pub(super) fn keep(&self, url: &Url, page: Page) -> Arc<Page> {
        let page = Arc::new(page);
        let mut pages = locked(&self.0);
        if pages.len() >= PAGES_REMEMBERED_MAX {
            pages.clear();
        }
        if page.etag.is_some() {
            pages.insert(url.to_string(), Arc::clone(&page));
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_found_among_the_links() {
        let link = r#"<https://h/r?page=1>; rel="prev", <https://h/r?page=3&a=b>; rel="next", <https://h/r?page=9>; rel="last""#;
        assert_eq!(next_of(link).as_deref(), Some("https://h/r?page=3&a=b"));
        for none in [
            r#"<https://h/r?page=1>; rel="prev""#,
            "",
            "nonsense",
            "; rel=\"next\"",
        ] {
            assert_eq!(next_of(none), None, "{none}");
        }
    }
}
