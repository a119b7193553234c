//! Sitemaps: every page listed is an entry.
//!
//! A page is known by its address. What a news sitemap says about it is its title and time;
//! otherwise it has no title, and the time of its last change counts as its publication.

use std::{borrow::Cow, io::Read};

use almanack_core::source::{
    check::{Document, Failure, FailureClass},
    reading::SitemapRules,
};
use flate2::read::MultiGzDecoder;
use quick_xml::{Reader, escape, events::Event};
use url::Url;

use super::{
    charset, date,
    draft::{self, Against, Draft},
    rules::{self, RulesError},
    text, xml,
};

/// Largest sitemap, decompressed. The protocol allows 50 MB; a sitemap that is polled hourly is
/// smaller.
const BYTES_MAX: u64 = 16 * 1024 * 1024;
/// How many of an index's sitemaps are named.
const NAMED_MAX: usize = 5;
/// Longest text of an element that is kept while reading.
const WORDS_MAX: usize = 4000;

/// Whether the rules can be used.
pub(crate) fn validate(rules: &SitemapRules) -> Result<(), RulesError> {
    match rules.containing.as_deref() {
        Some("") => Err(RulesError::Empty { name: "containing" }),
        Some(part) => rules::check("containing", part),
        None => Ok(()),
    }
}

/// Reads a sitemap, compressed or not.
pub(crate) fn read(
    rules: &SitemapRules,
    bytes: &[u8],
    content_type: Option<&str>,
    base: &Url,
    against: &Against,
) -> Result<Document, Failure> {
    let unpacked = unpack(bytes)?;
    let bytes = unpacked.as_deref().unwrap_or(bytes);
    let text = charset::decode_from(base.host_str(), bytes, content_type);
    let mended = xml::mend(&text);
    match xml::root(&mended).map(|root| root.name).as_deref() {
        Some("urlset") => {}
        Some("sitemapindex") => return Err(index(&mended, base)),
        _ => return Err(super::sniff::describe(bytes, &text, "a sitemap", base)),
    }
    xml::outline(&mended, base)?;
    let pages = pages(&mended);
    let listed = pages.len();
    let wanted = |page: &Draft| {
        let link = page.link.as_deref().unwrap_or_default();
        rules
            .containing
            .as_deref()
            .is_none_or(|part| link.contains(part))
    };
    let pages: Vec<Draft> = pages.into_iter().filter(wanted).collect();
    match &rules.containing {
        Some(part) if listed > 0 && pages.is_empty() => {
            let detail =
                format!("none of the sitemap's {listed} pages has `{part}` in its address");
            Err(Failure::new(FailureClass::Rules, detail))
        }
        _ => Ok(draft::document(None, pages, base, against)),
    }
}

/// Sitemaps are often stored and served compressed.
fn unpack(bytes: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(None);
    }
    let mut unpacked = Vec::new();
    let read = MultiGzDecoder::new(bytes)
        .take(BYTES_MAX + 1)
        .read_to_end(&mut unpacked);
    if read.is_err() {
        let detail = "the compressed sitemap cannot be decompressed, or is truncated";
        return Err(Failure::new(FailureClass::Malformed, detail));
    }
    if unpacked.len() as u64 > BYTES_MAX {
        let detail = format!("the sitemap decompresses to more than {BYTES_MAX} bytes");
        return Err(Failure::new(FailureClass::TooLarge, detail));
    }
    Ok(Some(unpacked))
}

fn index(mended: &str, base: &Url) -> Failure {
    let sitemaps: Vec<String> = pages(mended)
        .into_iter()
        .filter_map(|page| base.join(page.link?.trim()).ok())
        .map(|url| text::short_line(url.as_str(), 300))
        .collect();
    let named = sitemaps[..sitemaps.len().min(NAMED_MAX)].join(", ");
    let detail = match sitemaps.len() {
        0 => "this is an index of sitemaps, and it is empty".to_owned(),
        1..=NAMED_MAX => format!("this is an index of sitemaps; choose one of {named}"),
        more => {
            let more = more - NAMED_MAX;
            format!("this is an index of sitemaps; choose one of {named} and {more} more")
        }
    };
    Failure::new(FailureClass::NotAFeed, detail)
}

/// The pages of a document known to be whole, or the sitemaps of an index.
fn pages(mended: &str) -> Vec<Draft> {
    let mut reader = Reader::from_str(mended);
    let mut pages = Vec::new();
    let mut page = Draft::default();
    let mut words = String::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(_)) => words.clear(),
            Ok(Event::Text(more)) => hear(&mut words, &more),
            Ok(Event::CData(more)) => hear(&mut words, &more),
            Ok(Event::GeneralRef(name)) => hear(&mut words, &resolve(&name)),
            Ok(Event::End(end)) => {
                match end.local_name().as_ref() {
                    "url" | "sitemap" => pages.push(std::mem::take(&mut page)),
                    name => set_field(&mut page, name, words.trim()),
                }
                words.clear();
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    pages.retain(|page| page.link.is_some());
    pages
}

fn hear(words: &mut String, more: &str) {
    if words.len() + more.len() <= WORDS_MAX {
        words.push_str(more);
    }
}

fn resolve(name: &str) -> String {
    let reference = format!("&{name};");
    escape::unescape(&reference).map_or_else(|_| reference.clone(), Cow::into_owned)
}

/// One field of a page. A picture's own `loc` and `title` come after the page's; the first counts.
fn set_field(page: &mut Draft, name: &str, words: &str) {
    match name {
        "loc" if page.link.is_none() && !words.is_empty() => page.link = Some(words.to_owned()),
        "title" if page.title.is_empty() => words.clone_into(&mut page.title),
        "publication_date" => page.published_at = date::parse(words).or(page.published_at),
        "lastmod" => page.published_at = page.published_at.or_else(|| date::parse(words)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
