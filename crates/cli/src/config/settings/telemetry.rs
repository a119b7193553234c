//! `[telemetry]`: where traces go.

use almanack_core::secret::Secret;
use url::Url;

use super::super::{
    key::KeyPath,
    layer::Raw,
    reader::Reader,
    report::Problem,
    value::{self, Complaint, Read},
};

/// `[telemetry]`
#[derive(Debug, Clone)]
pub(crate) struct Telemetry {
    /// The collector, without the path of its signals; `None` traces nothing.
    pub(crate) endpoint: Option<Url>,
    /// Headers that it wants to see; a value may be a key.
    pub(crate) headers: Vec<(String, Secret)>,
    /// Which share of all tasks is traced.
    pub(crate) sample: f64,
    /// What this installation is called.
    pub(crate) service: String,
}

impl Telemetry {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let key = |name| KeyPath::plain("telemetry", name);
        let service = "almanack".to_owned();
        let read = Self {
            endpoint: reader.optional(
                &key("otlp_endpoint"),
                "(nothing is traced)",
                value::web_address,
            ),
            headers: headers(reader, &key("headers")),
            sample: reader.value(&key("sample"), Share(1.0), share).0,
            service: reader.value(&key("service"), service, value::text),
        };
        let idle = ["headers", "sample", "service"];
        let idle = idle.into_iter().filter(|_| read.endpoint.is_none());
        for name in idle {
            if let Some(place) = reader.place(&key(name)) {
                let what =
                    format!("telemetry.{name} has no effect without telemetry.otlp_endpoint");
                let hint = "name the collector, like \"http://127.0.0.1:4318\"";
                reader
                    .problems
                    .push(Problem::warning(what, Some(place)).hint(hint));
            }
        }
        read
    }
}

struct Share(f64);

impl super::super::reader::Show for Share {
    fn show(&self) -> String {
        format!("{}", self.0)
    }
}

fn share(raw: &Raw) -> Read<Share> {
    let number: Option<f64> = match raw {
        Raw::Text(text) | Raw::Bare(text) => text.trim().parse().ok(),
        Raw::Number(0) => Some(0.0),
        Raw::Number(1) => Some(1.0),
        _ => None,
    };
    let number = number.filter(|number| (0.0..=1.0).contains(number));
    number.map(Share).ok_or_else(|| {
        Complaint::new(
            "a share is a number from 0 to 1",
            "\"0.1\", in quotes, traces one task in ten, \"1\" all",
        )
    })
}

/// `name=value`, several with commas between them, as the collector's own tools write it.
fn headers(reader: &mut Reader<'_>, path: &KeyPath) -> Vec<(String, Secret)> {
    let Some(secret) = reader.secret(path, "(none)") else {
        return Vec::new();
    };
    let read = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let name = name.trim();
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        (!name.is_empty() && name.chars().all(fits))
            .then(|| (name.to_ascii_lowercase(), Secret::new(value.trim())))
    };
    let parts = secret.expose().split(',').map(read);
    if let Some(headers) = parts.collect() {
        return headers;
    }
    let hint = "write name=value, several with commas between them";
    let complaint = Complaint::new("this is not a list of headers", hint);
    reader.complain(path, complaint).unwrap_or_default()
}
