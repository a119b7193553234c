//! Small on the wire, large in memory: compression, entities, depth.
//!
//! The compressed ones are put together from one packed block repeated, not by packing all of it: a
//! test that requests a bomb should not pay for 256 MiB of compression.

use std::{io::Write as _, sync::LazyLock};

use axum::body::Bytes;
use flate2::{Compress, Compression, Crc, FlushCompress};

use super::{Answer, Place, RSS, around, feed, feed_with, item, laugh_entities};
use crate::{feeds::wire::pack, reply::Reply};

/// What the compressed bombs unpack to, about.
pub(super) const UNPACKED_MIB: usize = 256;
/// How deep the nested documents go.
pub(super) const DEPTH: usize = 200_000;
const MIB: usize = 1024 * 1024;

pub(super) fn answer(name: &str, place: &Place<'_>) -> Option<Answer> {
    Some(Answer::Reply(match name {
        "gzip-bomb.xml" => packed(GZIP_BOMB.clone(), "gzip"),
        "brotli-bomb.xml" => packed(BROTLI_BOMB.clone(), "br"),
        "gzip-garbage.xml" => packed(feed_with(&item(1)).into(), "gzip"),
        "gzip-truncated.xml" => {
            let items: String = (0..200).map(item).collect();
            let mut bytes = pack::gzip(feed_with(&items).as_bytes()).unwrap_or_default();
            bytes.truncate(bytes.len() / 2);
            packed(bytes.into(), "gzip")
        }
        "gzip-twice.xml" => {
            let once = pack::gzip(feed_with(&item(1)).as_bytes()).unwrap_or_default();
            packed(pack::gzip(&once).unwrap_or_default().into(), "gzip")
        }
        "entity-bomb.xml" => with_entities(&laugh_entities(), "&l9;"),
        "entity-quadratic.xml" => {
            let (long, often) = ("A".repeat(100_000), "&a;".repeat(10_000));
            with_entities(&format!("<!ENTITY a \"{long}\">"), &often)
        }
        "external-entity.xml" => {
            let entity = "<!ENTITY secret SYSTEM \"file:///etc/passwd\">";
            with_entities(entity, "&secret;")
        }
        "external-dtd.xml" => {
            let base = place.base_url;
            with_doctype(&format!("SYSTEM \"{base}/hostile/hang.xml\""), &item(1))
        }
        "deep.xml" => {
            let text = format!("{}{}", "<a>".repeat(DEPTH), "</a>".repeat(DEPTH));
            feed(&format!("<item><title>Deep</title>{text}</item>"))
        }
        "deep-unclosed.xml" => Reply::new(RSS, format!("<rss><channel>{}", "<item>".repeat(DEPTH))),
        "deep.json" => {
            let text = format!(
                "{{\"version\":\"https://jsonfeed.org/version/1.1\",\"items\":{}{}}}",
                "[".repeat(DEPTH),
                "]".repeat(DEPTH)
            );
            Reply::new("application/feed+json", text)
        }
        "deep.html" => {
            let text = format!("<!doctype html><html><body>{}", "<div>".repeat(DEPTH));
            Reply::new(super::HTML, text)
        }
        "many-attributes.xml" => {
            let attributes = (0..100_000).map(|number| format!(" a{number}=\"\""));
            let attributes: String = attributes.collect();
            feed(&format!("<item{attributes}><title>T</title></item>"))
        }
        _ => return None,
    }))
}

/// Built on first use.
static GZIP_BOMB: LazyLock<Bytes> = LazyLock::new(|| gzip_bomb().unwrap_or_default().into());
static BROTLI_BOMB: LazyLock<Bytes> = LazyLock::new(|| brotli_bomb().unwrap_or_default().into());

fn packed(bytes: Bytes, encoding: &str) -> Reply {
    Reply::new(RSS, bytes).with("content-encoding", encoding)
}

fn with_entities(entities: &str, title: &str) -> Reply {
    let items = format!("<item><title>{title}</title></item>");
    with_doctype(&format!("[{entities}]"), &items)
}

fn with_doctype(doctype: &str, items: &str) -> Reply {
    let begin = format!("<!DOCTYPE rss {doctype}>\n<rss");
    Reply::new(RSS, feed_with(items).replacen("<rss", &begin, 1))
}

/// A feed whose one title is blank and very long.
fn around_title() -> (String, String) {
    let (head, tail) = around();
    (head + "<item><title>", format!("</title></item>{tail}"))
}

/// A block that ends in a full flush refers to nothing before it, so it can be repeated any number
/// of times.
fn gzip_bomb() -> Option<Vec<u8>> {
    let (head, tail) = around_title();
    let block = vec![b' '; MIB];
    let mut compress = Compress::new(Compression::best(), false);
    let mut deflated = |bytes: &[u8], flush| {
        let mut out = Vec::with_capacity(bytes.len() + 1024);
        compress.compress_vec(bytes, &mut out, flush).ok()?;
        Some(out)
    };
    let mut bomb = pack::GZIP_HEAD.to_vec();
    bomb.extend(deflated(head.as_bytes(), FlushCompress::Full)?);
    let packed = deflated(&block, FlushCompress::Full)?;
    bomb.extend(packed.repeat(UNPACKED_MIB));
    bomb.extend(deflated(tail.as_bytes(), FlushCompress::Finish)?);
    let (mut crc, mut of_block, mut of_tail) = (Crc::new(), Crc::new(), Crc::new());
    crc.update(head.as_bytes());
    of_block.update(&block);
    of_tail.update(tail.as_bytes());
    for _ in 0..UNPACKED_MIB {
        crc.combine(&of_block);
    }
    crc.combine(&of_tail);
    bomb.extend(pack::gzip_tail(&crc));
    Some(bomb)
}

/// Once the window is full of blanks, every further block of blanks packs to the same bytes, and
/// leaves the reader in the state it found it in.
fn brotli_bomb() -> Option<Vec<u8>> {
    let (head, tail) = around_title();
    let block = vec![b' '; MIB];
    let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 18);
    encoder.write_all(head.as_bytes()).ok()?;
    let mut ends = Vec::new();
    for _ in 0..4 {
        encoder.write_all(&block).ok()?;
        encoder.flush().ok()?;
        ends.push(encoder.get_ref().len());
    }
    encoder.write_all(tail.as_bytes()).ok()?;
    let mut bomb = encoder.into_inner();
    let [.., from, until] = ends[..] else {
        return None;
    };
    let packed = bomb.get(from..until)?.to_vec();
    let end = bomb.split_off(until);
    bomb.extend(packed.repeat(UNPACKED_MIB - ends.len()));
    bomb.extend(end);
    Some(bomb)
}
