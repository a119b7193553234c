//! `[edition.reader]`: what reads the pages of stories (ED-35).

use almanack_adapters::reader::PREFIX;

use super::super::prelude::*;

const SECTION: &str = PageKeys::NAME;
sections! { PageKeys }

/// What reads pages.
#[derive(Debug, Clone)]
pub(crate) enum Pages {
    /// This process.
    BuiltIn,
    /// A crawler behind an API.
    Crawler {
        /// Its address, used unchanged.
        url: String,
        token: Option<Secret>,
    },
    /// A service that reads the page whose address is appended to its own.
    Prefix {
        /// Its address.
        prefix: String,
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

words! {
    Provider {
        "builtin" = Self::BuiltIn,
        "crawler" = Self::Crawler,
        "reader" = Self::Prefix,
        "jina" = Self::Prefix,
    }
}

settings! {
    /// The reader of the pages of stories.
    struct PageKeys in "edition.reader" {
        /// Reader of pages: `builtin`, a `crawler` with an API, or a `reader` service (also `jina`).
        /// 网页的读取方式：`builtin`、带 API 的 `crawler`，或 `reader` 服务（也可写 `jina`）。
        provider: Provider = provider().default(Provider::BuiltIn)
            .depends("the one that is configured").also(&["CRAWLER_PROVIDER"])
            => usual_provider;
        /// Address of the crawler.
        /// 爬虫的地址。
        crawler_url: Option<String> = address().unset("(none)").also(&["CRAWLER_API_URL"]);
        /// Token of the crawler.
        /// 爬虫的令牌。
        crawler_token: Option<Secret> = secret().unset("(none)").also(&["CRAWLER_API_TOKEN"]);
        /// Address of the reader service that a page's address is appended to.
        /// 阅读服务的地址，网页地址附加在其后。
        prefix: String = address().default(PREFIX.to_owned());
        /// API key of the reader service.
        /// 阅读服务的 API 密钥。
        prefix_key: Option<Secret> =
            secret().unset("(none; few pages a minute)").also(&["JINA_API_KEY"]);
        /// Leave the key out of every second request, to use the free quota as well.
        /// 每隔一次请求不带密钥，以便同时使用免费额度。
        rotate_key: bool = truth().default(false).also(&["JINA_USE_KEY_ROTATION"]);
    }
}

pub(super) fn read(reader: &mut Reader<'_>) -> Pages {
    let read = PageKeys::read(reader);
    warn_of_unknown(reader);
    match (read.provider, read.crawler_url) {
        (Provider::BuiltIn, _) => Pages::BuiltIn,
        (Provider::Crawler, Some(url)) => Pages::Crawler {
            url,
            token: read.crawler_token,
        },
        (Provider::Crawler, None) => {
            if !reader.is_given(SECTION, &["crawler_url"]) {
                let what = "edition.reader: the crawler's address is missing";
                let hint = "set edition.reader.crawler_url (or CRAWLER_API_URL), \
                            or provider = \"builtin\"";
                reader.refuse(what, provider_path(), hint);
            }
            Pages::BuiltIn
        }
        (Provider::Prefix, _) => Pages::Prefix {
            prefix: read.prefix,
            key: read.prefix_key,
            rotate: read.rotate_key,
        },
    }
}

fn provider_path() -> KeyPath {
    KeyPath::plain(SECTION, "provider")
}

/// Without a named provider, the one that is configured.
fn usual_provider(reader: &Reader<'_>) -> Provider {
    if reader.is_given(SECTION, &["crawler_url"]) {
        Provider::Crawler
    } else if reader.is_given(SECTION, &["prefix_key", "prefix"]) {
        Provider::Prefix
    } else {
        Provider::BuiltIn
    }
}

/// The original setup uses the built-in reader for any name it does not know.
fn provider() -> Form<Provider> {
    let shape = Shape::Choice(names::<Provider>());
    Form::placed(shape, |given| {
        match value::choice(Provider::WORDS)(&given.raw) {
            Err(_) if is_variable(&given.place) => Ok(Provider::BuiltIn),
            read => read,
        }
    })
}

fn is_variable(place: &Place) -> bool {
    matches!(place, Place::Environment { .. })
}

fn warn_of_unknown(reader: &mut Reader<'_>) {
    let path = provider_path();
    let Some(given) = reader.layer.get(&path) else {
        return;
    };
    let known = |text: &str| Provider::WORDS.iter().any(|(name, _)| *name == text);
    if is_variable(&given.place) && !given.raw.as_text().is_none_or(known) {
        let what = format!("{path}: unknown reader; the built-in one reads pages");
        let hint = "write builtin, crawler or reader (also called jina)";
        reader.warn(what, path, hint);
    }
}
