//! `[edition.reader]`: who reads the pages of stories (ED-35).

use almanack_adapters::reader::PREFIX;
use almanack_core::secret::Secret;

use super::{
    super::super::{
        key::KeyPath,
        layer::Raw,
        reader::{Reader, Show},
        report::{Place, Problem},
        value::{self, Read},
    },
    address, is_given,
};

const SECTION: &str = "edition.reader";

/// Who reads pages.
#[derive(Debug, Clone)]
pub(crate) enum Pages {
    /// We do.
    BuiltIn,
    /// A crawler behind an API.
    Crawler {
        /// Its address, used as it is.
        url: String,
        /// Who asks.
        token: Option<Secret>,
    },
    /// A service that reads what stands behind its own address.
    Prefix {
        /// Its address.
        prefix: String,
        /// Who asks.
        key: Option<Secret>,
        /// Whether the key is left out every other time.
        rotate: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Provider {
    BuiltIn,
    Crawler,
    Prefix,
}

impl Show for Provider {
    fn show(&self) -> String {
        match self {
            Self::BuiltIn => "\"builtin\"".to_owned(),
            Self::Crawler => "\"crawler\"".to_owned(),
            Self::Prefix => "\"reader\"".to_owned(),
        }
    }
}

const PROVIDERS: &[(&str, Provider)] = &[
    ("builtin", Provider::BuiltIn),
    ("crawler", Provider::Crawler),
    ("reader", Provider::Prefix),
    ("jina", Provider::Prefix),
];

impl Pages {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let key = |name| KeyPath::plain(SECTION, name);
        let provider = provider(reader);
        let url = reader.optional(&key("crawler_url"), "(none)", address);
        let token = reader.secret(&key("crawler_token"), "(none)");
        let prefix = reader.value(&key("prefix"), PREFIX.to_owned(), address);
        let prefix_key = reader.secret(&key("prefix_key"), "(none; few pages a minute)");
        let rotate = reader.value(&key("rotate_key"), false, value::truth);
        match (provider, url) {
            (Provider::BuiltIn, _) => Self::BuiltIn,
            (Provider::Crawler, Some(url)) => Self::Crawler { url, token },
            (Provider::Crawler, None) => {
                if !is_given(reader, SECTION, &["crawler_url"]) {
                    let what = "edition.reader: a crawler needs its address, and there is none";
                    let place = reader.place(&key("provider"));
                    let hint = "set edition.reader.crawler_url (or CRAWLER_API_URL), or provider = \"builtin\"";
                    reader.problems.push(Problem::error(what, place).hint(hint));
                }
                Self::BuiltIn
            }
            (Provider::Prefix, _) => Self::Prefix {
                prefix,
                key: prefix_key,
                rotate,
            },
        }
    }
}

/// Who nobody names is the one who was given something to work with.
fn provider(reader: &mut Reader<'_>) -> Provider {
    let path = KeyPath::plain(SECTION, "provider");
    let given = |name| is_given(reader, SECTION, &[name]);
    let usual = if given("crawler_url") {
        Provider::Crawler
    } else if given("prefix_key") || given("prefix") {
        Provider::Prefix
    } else {
        Provider::BuiltIn
    };
    let by_variable = matches!(reader.place(&path), Some(Place::Environment { .. }));
    let read = |raw: &Raw| -> Read<Provider> {
        match value::choice(PROVIDERS)(raw) {
            Err(_) if by_variable => Ok(Provider::BuiltIn),
            read => read,
        }
    };
    let provider = reader.value(&path, usual, read);
    let said = reader
        .layer
        .get(&path)
        .and_then(|given| given.raw.as_text());
    let known = said.is_none_or(|said| PROVIDERS.iter().any(|(name, _)| *name == said));
    if by_variable && !known {
        let what = format!("{path}: nobody knows this reader; pages are read by the built-in one");
        let place = reader.place(&path);
        let hint = "there are builtin, crawler and reader (also called jina)";
        reader
            .problems
            .push(Problem::warning(what, place).hint(hint));
    }
    provider
}
