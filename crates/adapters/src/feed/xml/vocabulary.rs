//! Vocabularies that feeds mix, distinguished by the prefixes of their elements.
//!
//! A prefix means what the root declares. Many feeds declare none, or a namespace that is slightly
//! wrong, and use the prefix that everybody uses; so that counts where nothing else is known.

use quick_xml::events::BytesStart;

/// What an element is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vocabulary {
    /// RSS or Atom itself.
    Feed,
    /// Media RSS.
    Media,
    Itunes,
    /// Dublin Core.
    Dublin,
    Other,
}

/// Parts of namespaces, in lower case, and usual prefixes.
const KNOWN: [(Vocabulary, &[&str], &[&str]); 4] = [
    (Vocabulary::Media, &["search.yahoo.com/mrss"], &["media"]),
    (
        Vocabulary::Itunes,
        &["itunes.com/dtds/podcast"],
        &["itunes"],
    ),
    (Vocabulary::Dublin, &["purl.org/dc/"], &["dc", "dcterms"]),
    (
        Vocabulary::Feed,
        &["w3.org/2005/atom", "purl.org/atom/ns"],
        &["atom", "atom10", "a10", "rss"],
    ),
];

/// What the prefixes of a document mean.
#[derive(Debug, Default)]
pub(super) struct Vocabularies(Vec<(String, Vocabulary)>);

impl Vocabularies {
    pub(super) fn declared_by(root: &BytesStart<'_>) -> Self {
        let mut attributes = root.attributes();
        let declared = attributes
            .with_checks(false)
            .flatten()
            .filter_map(|attribute| {
                let prefix = attribute.key.as_ref().strip_prefix("xmlns:")?;
                let namespace = attribute.value.to_ascii_lowercase();
                let is_one = |parts: &[&str]| parts.iter().any(|part| namespace.contains(part));
                let mut known = KNOWN.iter();
                let vocabulary = known.find_map(|(what, parts, _)| is_one(parts).then_some(*what));
                Some((prefix.to_owned(), vocabulary?))
            });
        Self(declared.collect())
    }

    pub(super) fn of(&self, element: &BytesStart<'_>) -> Vocabulary {
        let name = element.name();
        let Some(prefix) = name.prefix() else {
            return Vocabulary::Feed;
        };
        let prefix = prefix.as_ref();
        let mut declared = self.0.iter();
        let declared = declared.find_map(|(known, what)| (known == prefix).then_some(*what));
        let mut known = KNOWN.iter();
        let usual = known.find_map(|(what, _, usual)| usual.contains(&prefix).then_some(*what));
        declared.or(usual).unwrap_or(Vocabulary::Other)
    }
}
