//! `[events.kafka]` and `[events.nats]`: message buses that events come from, besides HTTP.
//!
//! A bus is on as soon as its address is set, and events are read from it as soon as a topic or a
//! stream is set. A half-configured bus is an error.

mod kafka;
mod mapping;
mod nats;

use almanack_bus::Tls;
use almanack_core::event::incoming::envelope::{Format, Others, Reading};

use super::prelude::*;

pub(crate) use kafka::Kafka;
pub(crate) use nats::Nats;

pub(in crate::config) fn sections() -> Vec<Listed> {
    let mapping = |name| Listed {
        name,
        about: "Where to find each field in a message.",
        keys: mapping::MappingKeys::keys(name),
    };
    vec![
        kafka::Brokers::listed(),
        mapping(kafka::MAPPING),
        nats::Servers::listed(),
        mapping(nats::MAPPING),
    ]
}

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

/// The format of messages.
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
        /// Format of messages: `cloudevents`, or any `json` with a mapping.
        /// 消息格式：`cloudevents`，或配有映射的任意 `json`。
        format: Formats = choice().default(Formats::CloudEvents);
        /// Unrelated messages: `refuse` them as dead letters, or `skip` them.
        /// 无关的消息：`refuse` 作为死信拒收，或 `skip` 跳过。
        others: Others = choice().default(Others::Refuse);
    }
}

/// How messages are read; the payload's limit is set later.
fn reading(
    reader: &mut Reader<'_>,
    section: &'static str,
    mapping: &'static str,
) -> Option<Reading> {
    let ReadingKeys { format, others } = ReadingKeys::read_in(reader, section);
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
        tls_ca: Option<PathBuf> = path().unset("(the system's)").beside_file();
        /// File with the client certificate.
        /// 客户端证书文件。
        tls_certificate: Option<PathBuf> = path().unset("(none)").beside_file();
        /// File with the key of the client certificate.
        /// 客户端证书的私钥文件。
        tls_key: Option<PathBuf> = path().unset("(none)").beside_file();
    }
}

fn tls(reader: &mut Reader<'_>, section: &'static str) -> Option<Tls> {
    let read = TlsKeys::read_in(reader, section);
    if !read.tls {
        let names = (&["tls_ca", "tls_certificate", "tls_key"][..], "tls");
        reader.without_effect(Severity::Error, section, names, "write tls = true");
        return None;
    }
    let pair = ["tls_certificate", "tls_key"];
    for (name, missing) in [(pair[0], pair[1]), (pair[1], pair[0])] {
        let hint = "set tls_certificate and tls_key together";
        reader.needs(section, &[name], (missing, missing, hint));
    }
    Some(Tls {
        ca: read.tls_ca,
        identity: read.tls_certificate.zip(read.tls_key),
    })
}

/// A name without blanks, of limited length; allowed characters differ between buses.
fn name(what: &'static str, bytes_max: usize, fits: fn(char) -> bool) -> Form<String> {
    text_as(move |text| {
        let fits = text.len() <= bytes_max && text.chars().all(fits);
        let hint = format!(
            "{what} has at most {bytes_max} letters, digits and a few signs, without blanks"
        );
        fitting(text, fits, format!("`{text}` is not {what}"), hint)
    })
}
