//! `[events.kafka]` and `[events.nats]`: message buses that bring events, besides HTTP.
//!
//! A bus is there as soon as it is said where it is, and it brings events as soon as it is said what to read; half of either is a mistake.

mod kafka;
mod mapping;
mod nats;

use std::path::PathBuf;

use almanack_bus::Tls;
use almanack_core::event::incoming::{Format, Others, Reading};

use super::super::{
    reader::Reader,
    report::Severity,
    table::{Form, Section, choice, path, settings, text_as, truth, words},
    value::Complaint,
};

pub(crate) use kafka::Kafka;
pub(super) use kafka::SECTIONS as KAFKA;
pub(crate) use nats::Nats;
pub(super) use nats::SECTIONS as NATS;

/// Where events come from, besides HTTP.
#[derive(Debug, Clone, Default)]
pub(crate) struct Events {
    /// A Kafka cluster.
    pub(crate) kafka: Option<Kafka>,
    /// A NATS server with `JetStream`.
    pub(crate) nats: Option<Nats>,
}

impl Events {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            kafka: kafka::read(reader),
            nats: nats::read(reader),
        }
    }
}

/// In which format messages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Formats {
    CloudEvents,
    Json,
}

words! {
    Formats { "cloudevents" = Self::CloudEvents, "json" = Self::Json }
    Others { "refuse" = Self::Refuse, "skip" = Self::Skip }
}

settings! {
    struct ReadingKeys {
        /// Format of messages: `cloudevents`, or `json` of your own with a mapping.
        /// 消息格式：`cloudevents`，或带映射的自有 `json`。
        format: Formats = choice().default(Formats::CloudEvents);
        /// Messages that are none of ours: `refuse` them as dead letters, or `skip` them.
        /// 无关的消息：`refuse` 作为死信拒收，或 `skip` 跳过。
        others: Others = choice().default(Others::Refuse);
    }
}

/// How messages are read; the payload's limit is the deployment's and comes later.
fn reading(
    reader: &mut Reader<'_>,
    section: &'static str,
    mapping: &'static str,
) -> Option<Reading> {
    let ReadingKeys { format, others } = ReadingKeys::read(reader, section);
    let format = match format {
        Formats::CloudEvents => {
            mapping::check_idle(reader, section, mapping);
            Format::CloudEvents
        }
        Formats::Json => Format::Mapped(Box::new(mapping::read(reader, section, mapping)?)),
    };
    Some(Reading {
        format,
        others,
        payload_bytes: 0,
    })
}

settings! {
    struct TlsKeys {
        /// Connect with TLS.
        /// 使用 TLS 连接。
        tls: bool = truth().default(false);
        /// File with the certificates of authorities to trust.
        /// 受信任 CA 证书的文件。
        tls_ca: Option<PathBuf> = path().unset("(the machine's own)").beside_file();
        /// File with the client certificate.
        /// 客户端证书文件。
        tls_certificate: Option<PathBuf> = path().unset("(none)").beside_file();
        /// File with the key of the client certificate.
        /// 客户端证书的私钥文件。
        tls_key: Option<PathBuf> = path().unset("(none)").beside_file();
    }
}

fn tls(reader: &mut Reader<'_>, section: &'static str) -> Option<Tls> {
    let read = TlsKeys::read(reader, section);
    if !read.tls {
        let names = (&["tls_ca", "tls_certificate", "tls_key"][..], "tls");
        reader.without_effect(Severity::Error, section, names, "write tls = true");
        return None;
    }
    let missing = match (&read.tls_certificate, &read.tls_key) {
        (Some(_), None) => Some("tls_key"),
        (None, Some(_)) => Some("tls_certificate"),
        _ => None,
    };
    if let Some(missing) = missing {
        let hint = "a certificate and its key go together: tls_certificate and tls_key";
        reader.half(section, missing, hint);
    }
    Some(Tls {
        ca: read.tls_ca,
        identity: read.tls_certificate.zip(read.tls_key),
    })
}

/// A name without blanks, at most so long; what names are made of differs from bus to bus.
fn name(what: &'static str, bytes_max: usize, fits: fn(char) -> bool) -> Form<String> {
    text_as(move |text| {
        if text.len() <= bytes_max && text.chars().all(fits) {
            return Ok(text.to_owned());
        }
        let hint = format!(
            "{what} has at most {bytes_max} letters, digits and a few signs, without blanks"
        );
        Err(Complaint::new(format!("`{text}` is not {what}"), hint))
    })
}
