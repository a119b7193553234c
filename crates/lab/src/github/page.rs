//! Pages of long lists, and the `Link` header that leads through them.

use std::collections::BTreeMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Default entries per page.
const SIZE: usize = 30;
/// Most entries of a page.
const SIZE_MAX: usize = 100;

/// The query parameters.
pub(super) type Parameters = BTreeMap<String, String>;

/// Which page, and how long pages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Page {
    number: usize,
    size: usize,
}

impl Page {
    /// As GitHub reads it: invalid values are ignored.
    pub(super) fn of(parameters: &Parameters) -> Self {
        let number = |name: &str| {
            let value = parameters.get(name).and_then(|value| value.parse().ok());
            value.filter(|number: &usize| *number > 0)
        };
        Self {
            number: number("page").unwrap_or(1),
            size: number("per_page").unwrap_or(SIZE).min(SIZE_MAX),
        }
    }

    /// The entries of this page.
    pub(super) fn cut<T>(self, all: impl Iterator<Item = T>) -> Vec<T> {
        let before = (self.number - 1).saturating_mul(self.size);
        all.skip(before).take(self.size).collect()
    }

    /// The `Link` header to the next page; the last has none.
    pub(super) fn links(self, url: &str, parameters: &Parameters, total: usize) -> Option<String> {
        let next = self.number + 1;
        let more = self.number * self.size < total;
        more.then(|| format!("<{url}?{}>; rel=\"next\"", query(parameters, next)))
    }
}

fn query(parameters: &Parameters, number: usize) -> String {
    let kept = parameters.iter().filter(|(name, _)| *name != "page");
    let kept = kept.map(|(name, value)| format!("{name}={}&", encode(value)));
    kept.collect::<String>() + &format!("page={number}")
}

/// Characters that need no encoding in a path or a query.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// Percent-encodes a path or a query; slashes stay.
pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, PATH).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(pairs: &[(&str, &str)]) -> Parameters {
        let owned = pairs.iter();
        owned
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn invalid_values_are_ignored() {
        for (why, pairs, number, size) in [
            ("no parameters", &[][..], 1, 30),
            ("both", &[("page", "3"), ("per_page", "7")], 3, 7),
            ("too long", &[("per_page", "1000")], 1, 100),
            ("zero", &[("page", "0"), ("per_page", "0")], 1, 30),
            ("words", &[("page", "two"), ("per_page", "-1")], 1, 30),
        ] {
            let page = Page::of(&parameters(pairs));
            assert_eq!(page, Page { number, size }, "{why}");
        }
    }

    #[test]
    fn links_lead_through_all_pages() {
        let asked = parameters(&[("page", "2"), ("per_page", "2")]);
        let page = Page::of(&asked);
        assert_eq!(page.cut(1..=5), [3, 4]);
        let expected = "<u?per_page=2&page=3>; rel=\"next\"";
        assert_eq!(page.links("u", &asked, 5).unwrap(), expected);
        let only = Page::of(&parameters(&[]));
        assert_eq!(only.links("u", &parameters(&[]), 30), None);
    }
}
