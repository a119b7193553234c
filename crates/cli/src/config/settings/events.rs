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
    key::KeyPath,
    layer::Raw,
    reader::{Reader, Show},
    report::{Place, Problem},
    value::{self, Complaint, Read},
};

pub(crate) use kafka::Kafka;
pub(crate) use nats::Nats;

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

/// Whether anything is said about a section or what stands inside of it.
fn is_mentioned(reader: &Reader<'_>, section: &str) -> bool {
    let mut keys = reader.layer.keys();
    keys.any(|path| path.section.starts_with(section))
}

/// Where a section, or what stands inside of it, is first mentioned.
fn first_place(reader: &Reader<'_>, section: &str) -> Option<Place> {
    let mut given = reader.layer.iter();
    let first = given.find(|(path, _)| path.section.starts_with(section));
    first.map(|(_, given)| given.place.clone())
}

/// Says what is missing of a bus of which there is something.
fn half(reader: &mut Reader<'_>, section: &'static str, missing: &str, hint: &str) {
    let place = first_place(reader, section);
    let what = format!("[{section}] is only half there: {missing} is missing");
    reader.problems.push(Problem::error(what, place).hint(hint));
}

/// In which format messages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Formats {
    CloudEvents,
    Json,
}

impl Show for Formats {
    fn show(&self) -> String {
        let name = match self {
            Self::CloudEvents => "\"cloudevents\"",
            Self::Json => "\"json\"",
        };
        name.to_owned()
    }
}

impl Show for Others {
    fn show(&self) -> String {
        let name = match self {
            Self::Refuse => "\"refuse\"",
            Self::Skip => "\"skip\"",
        };
        name.to_owned()
    }
}

/// How messages are read; the payload's limit is the deployment's and comes later.
fn reading(
    reader: &mut Reader<'_>,
    section: &'static str,
    mapping: &'static str,
) -> Option<Reading> {
    let key = |name| KeyPath::plain(section, name);
    let formats = &[
        ("cloudevents", Formats::CloudEvents),
        ("json", Formats::Json),
    ];
    let format = reader.value(&key("format"), Formats::CloudEvents, value::choice(formats));
    let fates = &[("refuse", Others::Refuse), ("skip", Others::Skip)];
    let others = reader.value(&key("others"), Others::Refuse, value::choice(fates));
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

fn tls(reader: &mut Reader<'_>, section: &'static str) -> Option<Tls> {
    let key = |name| KeyPath::plain(section, name);
    let on = reader.value(&key("tls"), false, value::truth);
    let file = |reader: &mut Reader<'_>, name, unset| {
        let given = reader.optional(&key(name), unset, path);
        given.map(|file| reader.base.join(file))
    };
    let ca = file(reader, "tls_ca", "(the machine's own)");
    let certificate = file(reader, "tls_certificate", "(none)");
    let private = file(reader, "tls_key", "(none)");
    if !on {
        for name in ["tls_ca", "tls_certificate", "tls_key"] {
            if let Some(place) = reader.place(&key(name)) {
                let what = format!("{section}.{name} has no effect without {section}.tls");
                let problem = Problem::error(what, Some(place)).hint("write tls = true");
                reader.problems.push(problem);
            }
        }
        return None;
    }
    let identity = match (certificate, private) {
        (Some(certificate), Some(private)) => Some((certificate, private)),
        (None, None) => None,
        (Some(_), None) => missing_half(reader, section, "tls_key"),
        (None, Some(_)) => missing_half(reader, section, "tls_certificate"),
    };
    Some(Tls { ca, identity })
}

fn missing_half<T>(reader: &mut Reader<'_>, section: &'static str, name: &str) -> Option<T> {
    let hint = "a certificate and its key go together: tls_certificate and tls_key";
    half(reader, section, name, hint);
    None
}

fn path(raw: &Raw) -> Read<PathBuf> {
    value::text(raw).map(PathBuf::from)
}

/// A name without blanks, at most so long; what names are made of differs from bus to bus.
fn name(
    what: &'static str,
    bytes_max: usize,
    fits: fn(char) -> bool,
) -> impl Fn(&Raw) -> Read<String> {
    move |raw| {
        let text = value::text(raw)?;
        if text.len() <= bytes_max && text.chars().all(fits) {
            return Ok(text);
        }
        let hint = format!(
            "{what} has at most {bytes_max} letters, digits and a few signs, without blanks"
        );
        Err(Complaint::new(format!("`{text}` is not {what}"), hint))
    }
}
