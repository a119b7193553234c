//! What a source published: entries, and by what two of them are the same.
//!
//! An entry is known by what its publisher calls it, else by its canonical link, else by its title,
//! else by its words (SS-13, SS-18); [`super::identity`] says when a layer is not to be trusted.
//! INVARIANT: a source has at most one row per key, and a key is never longer than
//! [`KEY_BYTES_MAX`], so that "new" can only mean "a new row".

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use url::Url;

use super::SourceId;

/// Longest key, in bytes.
pub const KEY_BYTES_MAX: usize = 500;
/// Longest link, in bytes; a longer one is dropped, since a cut link leads elsewhere.
pub const LINK_BYTES_MAX: usize = 2000;
/// Longest title, in bytes.
pub const TITLE_BYTES_MAX: usize = 500;
/// Longest summary, in bytes.
pub const SUMMARY_BYTES_MAX: usize = 2000;
/// Longest content, in bytes.
pub const CONTENT_BYTES_MAX: usize = 50_000;
/// How many entries are read of one document where nothing else is set.
pub const ENTRIES_PER_DOCUMENT: usize = 2000;
/// How many that can be at most: the protocol's limit for a sitemap.
pub const ENTRIES_MAX: usize = 50_000;
/// How far ahead of the clock a publication time may be before it is not believed.
pub const FUTURE_MAX: SignedDuration = SignedDuration::from_hours(24);
/// Before this there were no feeds: an earlier time is a default of some program.
const EARLIEST: Timestamp = Timestamp::constant(631_152_000, 0);

/// Query parameters that say how a reader came, not what they read. The longer list of the founding
/// documents (`from`, `src`, `source`, `ref`) merged different pages, so those stay.
const TRACKING: [&str; 12] = [
    "spm",
    "fbclid",
    "gclid",
    "dclid",
    "msclkid",
    "yclid",
    "igshid",
    "mc_cid",
    "mc_eid",
    "_hsenc",
    "_hsmi",
    "share_token",
];

/// An entry as a document shows it, cleaned and cut to size.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FoundEntry {
    /// The publisher's id.
    #[serde(skip)]
    pub id: Option<String>,
    /// Where it can be read, made absolute and canonical.
    pub link: Option<String>,
    /// Its title; empty when it has none.
    pub title: String,
    /// When its publisher says it was published, as far as that can be believed.
    pub published_at: Option<Timestamp>,
    /// Who wrote it.
    pub author: Option<String>,
    /// What it is about, sanitised.
    pub summary: Option<String>,
    /// All of it, sanitised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Files that come with it: a podcast's recording, a picture.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub enclosures: Vec<Enclosure>,
    /// Categories or tags that its publisher gave it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Fingerprint of its words as the document shows them ([`super::identity::fingerprint`]); 0 of
    /// one that was read from the store, where it is not kept.
    #[serde(skip)]
    pub print: u64,
}

/// A file that comes with an entry.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Enclosure {
    /// Its address, absolute.
    pub url: String,
    /// Its media type, as the publisher states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Its size in bytes, as the publisher states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
}

impl FoundEntry {
    /// Its key; `None` for an entry that shows neither id, link, title nor words.
    pub fn key(&self) -> Option<String> {
        let id = named("id", self.id.as_deref());
        id.map(shorten_key).or_else(|| self.key_without_id())
    }

    /// What its key would be if it had no id.
    pub fn key_without_id(&self) -> Option<String> {
        let words = || (self.print != 0).then(|| format!("words:{:016x}", self.print));
        named("link", self.link.as_deref())
            .or_else(|| named("title", Some(&self.title)))
            .or_else(words)
            .map(shorten_key)
    }
}

fn named(layer: &str, text: Option<&str>) -> Option<String> {
    let text = text.map(str::trim).filter(|text| !text.is_empty())?;
    Some(format!("{layer}:{text}"))
}

/// A key that is too long keeps its start, for people, and a hash of all of it, to stay itself.
fn shorten_key(key: String) -> String {
    if key.len() <= KEY_BYTES_MAX {
        return key;
    }
    let hash = text_hash(&key);
    let cut = key.floor_char_boundary(KEY_BYTES_MAX - 17);
    format!("{}#{hash:016x}", &key[..cut])
}

/// 64 bits of a key, the same for a site before and after it changes from http to https or loses
/// its `www.`: a source's row remembers its document by these.
pub fn key_hash(key: &str) -> u64 {
    match key.split_once(':') {
        Some((layer @ ("id" | "link"), text)) if bare(text).len() < text.len() => {
            mixed(folded(folded(folded(FNV, layer), ":"), bare(text)))
        }
        _ => text_hash(key),
    }
}

/// 64 bits of a text: FNV-1a with a final mix, the same on every machine and in every version.
pub fn text_hash(text: &str) -> u64 {
    mixed(folded(FNV, text))
}

const FNV: u64 = 0xcbf2_9ce4_8422_2325;

fn folded(hash: u64, text: &str) -> u64 {
    text.bytes().fold(hash, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn mixed(folded: u64) -> u64 {
    let mixed = (folded ^ (folded >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ (mixed >> 32)
}

/// 63 bits of a link without scheme and `www.`, by which an entry is found again when its id has
/// changed; never negative, for databases that have no unsigned numbers.
pub fn link_hash(link: &str) -> i64 {
    i64::try_from(text_hash(bare(link)) >> 1).unwrap_or(0)
}

/// A web address without what a site changes about all of its addresses at once; any other text as
/// it is.
fn bare(link: &str) -> &str {
    let rest = link.strip_prefix("https://");
    let Some(rest) = rest.or_else(|| link.strip_prefix("http://")) else {
        return link;
    };
    rest.strip_prefix("www.").unwrap_or(rest)
}

/// An entry as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Entry {
    /// Number of the row.
    #[serde(rename = "entry_id")]
    pub id: i64,
    /// Whose it is.
    #[serde(rename = "source_id")]
    pub source: SourceId,
    /// Its key.
    pub key: String,
    /// When it was first seen.
    pub seen_at: Timestamp,
    /// Counts its versions: 1 as first seen, one more with every edit.
    pub revision: u32,
    /// When its last edit was seen; null while there was none.
    pub updated_at: Option<Timestamp>,
    /// Its data.
    #[serde(flatten)]
    pub found: FoundEntry,
}

/// A publication time, if it can be believed: not before feeds existed, not far in the future.
pub fn believable(published_at: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let latest = now.saturating_add(FUTURE_MAX).unwrap_or(now);
    (EARLIEST..=latest)
        .contains(&published_at)
        .then_some(published_at)
}

/// The one way to write a link: resolved against where it was found, without fragment and without
/// parameters that only track readers; `None` for what is no web address.
pub fn canonical_link(base: Option<&Url>, link: &str) -> Option<String> {
    let link = link.trim();
    let mut url = match base {
        Some(base) => base.join(link).ok()?,
        None => Url::parse(link).ok()?,
    };
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    url.set_fragment(None);
    drop_tracking(&mut url);
    let text = String::from(url);
    (text.len() <= LINK_BYTES_MAX).then_some(text)
}

/// The one way to write a source's address, so that it is not added twice: as the network reads it,
/// without fragment. What is not an address is left unchanged, for the error that refuses it.
pub fn canonical_address(address: &str) -> String {
    let address = without_feed_scheme(address.trim());
    let Ok(mut url) = Url::parse(&address) else {
        return address.into_owned();
    };
    url.set_fragment(None);
    url.into()
}

/// Browsers hand addresses of feeds to readers as `feed:https://…`, or as `feed://…` for http.
fn without_feed_scheme(address: &str) -> Cow<'_, str> {
    let (scheme, rest) = address.split_once(':').unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("feed") {
        return address.into();
    }
    match rest.strip_prefix("//") {
        Some(bare) => format!("http://{bare}").into(),
        None => rest.into(),
    }
}

fn drop_tracking(url: &mut Url) {
    let Some(query) = url.query() else { return };
    let tracks = |pair: &&str| {
        let name = pair.split('=').next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        name.starts_with("utm_") || TRACKING.contains(&name.as_str())
    };
    // Pairs are kept as written: decoding and encoding again could change the request.
    let kept: Vec<&str> = query.split('&').filter(|pair| !tracks(pair)).collect();
    let kept = (!kept.is_empty()).then(|| kept.join("&"));
    url.set_query(kept.as_deref());
}

#[cfg(test)]
mod tests;
