//! The hub that a source names: in HTTP `Link` headers, or inside its document (WebSub, 4).
//!
//! The topic is kept as its publisher writes it, because a hub compares texts.

use almanack_core::source::{entry::LINK_BYTES_MAX, hub::NamedHub};
use reqwest::header::{HeaderMap, LINK};
use url::Url;

/// Links that are looked at in one answer.
const LINKS_MAX: usize = 50;

/// The hub among these links, each with its relation; what it names no topic for is `base`.
pub(crate) fn of_links<'a>(
    links: impl Iterator<Item = (&'a str, &'a str)>,
    base: &Url,
) -> Option<NamedHub> {
    let (mut hub, mut topic) = (None, None);
    for (relations, address) in links.take(LINKS_MAX) {
        for relation in relations.split_ascii_whitespace() {
            let into = match relation.to_ascii_lowercase().as_str() {
                "hub" => &mut hub,
                "self" => &mut topic,
                _ => continue,
            };
            // The first one counts: a second hub pushes the same.
            *into = into.take().or_else(|| absolute(address, base));
        }
    }
    Some(NamedHub {
        hub: hub?,
        topic: topic.unwrap_or_else(|| base.as_str().to_owned()),
    })
}

/// The hub that the headers name, else the document's: what a server says goes before.
pub(crate) fn of_headers(
    headers: &HeaderMap,
    base: &Url,
    inside: Option<NamedHub>,
) -> Option<NamedHub> {
    let values = headers.get_all(LINK).iter();
    let values: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    let links = values.iter().flat_map(|value| parse(value));
    of_links(links, base).or(inside)
}

fn absolute(address: &str, base: &Url) -> Option<String> {
    let address = address.trim();
    let Ok(url) = Url::parse(address) else {
        return absolute(base.join(address).ok()?.as_str(), base);
    };
    let is_web = matches!(url.scheme(), "http" | "https");
    (is_web && address.len() <= LINK_BYTES_MAX).then(|| address.to_owned())
}

/// `<address>; rel="a b"; …, <address>; …`: relations and address of each link.
fn parse(value: &str) -> impl Iterator<Item = (&str, &str)> {
    let links = value.split('<').skip(1);
    links.filter_map(|link| {
        let (address, parameters) = link.split_once('>')?;
        let relations = parameters.split([';', ',']).find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            let is_relation = name.trim().eq_ignore_ascii_case("rel");
            is_relation.then(|| value.trim().trim_matches('"'))
        });
        Some((relations?, address))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Url {
        Url::parse("https://blog.example/feed").unwrap()
    }

    #[test]
    fn ss_23_headers_name_hub_and_topic() {
        for (headers, expected, why) in [
            (
                &[r#"<https://hub.example/>; rel="hub", <https://blog.example>; rel="self""#][..],
                Some(("https://hub.example/", "https://blog.example")),
                "both in one, the topic as written",
            ),
            (
                &["<https://hub.example/>; REL=hub", "</feed?a=1,2>; rel=self"],
                Some(("https://hub.example/", "https://blog.example/feed?a=1,2")),
                "one each, a relative topic",
            ),
            (
                &[
                    r#"<https://a.example/>; title="x"; rel="hub preload", <https://b.example/>; rel=hub"#,
                ],
                Some(("https://a.example/", "https://blog.example/feed")),
                "the first of two; without a topic the address itself",
            ),
            (&["<https://blog.example/feed>; rel=self"], None, "no hub"),
            (&["<ftp://hub.example/>; rel=hub"], None, "not of the web"),
            (
                &["<https://hub.example/; rel=hub", "rel=hub", "<>"],
                None,
                "broken",
            ),
        ] {
            let mut map = HeaderMap::new();
            for header in headers {
                map.append(LINK, header.parse().unwrap());
            }
            let found = of_headers(&map, &base(), None);
            let found = found
                .as_ref()
                .map(|it| (it.hub.as_str(), it.topic.as_str()));
            assert_eq!(found, expected, "{why}");
        }
    }

    #[test]
    fn ss_23_what_a_document_names_counts_where_headers_name_none() {
        let inside = of_links([("hub", "/hub")].into_iter(), &base());
        assert_eq!(inside.as_ref().unwrap().hub, "https://blog.example/hub");
        let headers = HeaderMap::new();
        assert_eq!(of_headers(&headers, &base(), inside.clone()), inside);
    }
}
