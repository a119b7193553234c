//! `[edition.model]`: the model that writes titles and summaries (ED-36).
//!
//! Every service has a separate section for its key and model: one word switches between services,
//! and no service ever receives another's key.

use almanack_adapters::model::Settings as Model;
use almanack_core::edition::allowance::Price;

use super::{super::prelude::*, caps::PriceKeys};

pub(super) const SECTION: &str = ModelKeys::NAME;
const DEEPSEEK: &str = Deepseek::NAME;
const OPENROUTER: &str = Openrouter::NAME;
const ZHIPU: &str = Zhipu::NAME;
sections! { ModelKeys, Deepseek, Openrouter, Zhipu }

/// Concurrent requests: a wave of thirty stories has sixty-five, and with fewer some would wait.
const CONCURRENCY: usize = 80;
/// This service accepts no more.
const ZHIPU_CONCURRENCY: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Provider {
    Deepseek,
    Openrouter,
    Zhipu,
    Compatible,
    None,
}

words! {
    Provider {
        "deepseek" = Self::Deepseek,
        "openrouter" = Self::Openrouter,
        "zhipu" = Self::Zhipu,
        "openai-compatible" = Self::Compatible,
        "none" = Self::None,
    }
}

settings! {
    /// The model that writes titles and summaries.
    struct ModelKeys in "edition.model" + PriceKeys {
        /// Service that runs the model; `none` writes extractive summaries.
        /// 运行模型的服务；`none` 使用抽取式摘要。
        provider: Provider = choice().default(Provider::None)
            .depends("the service whose key is set").also(&["LLM_PROVIDER"])
            => usual_provider;
        /// Base address of an OpenAI-compatible service, like `http://127.0.0.1:11434/v1`.
        /// OpenAI 兼容服务的基础地址，如 `http://127.0.0.1:11434/v1`。
        base_url: Option<String> = address().unset("(the service's)");
        /// Name of the model.
        /// 模型名称。
        name: Option<String> = text().unset("(the service's)");
        /// API key.
        /// API 密钥。
        key: Option<Secret> = secret().unset("(the service's)");
        /// Requests to the model at the same time.
        /// 对模型的并发请求数。
        concurrency: Option<usize> = count(1..=1_000).unset("(the service's)");
        /// How long a response may take.
        /// 响应的超时时间。
        timeout: SignedDuration = duration(seconds(1), minutes(10)).default(seconds(30));
    }
}

settings! {
    /// The model at DeepSeek.
    struct Deepseek in "edition.model.deepseek" + PriceKeys {
        /// Name of the model.
        /// 模型名称。
        name: String = text().default("deepseek-v4-flash".to_owned()).also(&["LLM_DEEPSEEK_MODEL"]);
        /// API key.
        /// API 密钥。
        key: Option<Secret> = secret().unset("(none)").also(&["LLM_DEEPSEEK_API_KEY"]);
    }
}

settings! {
    /// The model at OpenRouter.
    struct Openrouter in "edition.model.openrouter" + PriceKeys {
        /// Name of the model.
        /// 模型名称。
        name: String =
            text().default("deepseek/deepseek-v4-flash".to_owned()).also(&["LLM_OPENROUTER_MODEL"]);
        /// API key.
        /// API 密钥。
        key: Option<Secret> = secret().unset("(none)").also(&["LLM_OPENROUTER_API_KEY"]);
        /// Address of your site, for the rankings of OpenRouter.
        /// 你的网站地址，用于 OpenRouter 排行。
        site_url: Option<String> =
            text_as(header).unset("(not sent)").also(&["LLM_OPENROUTER_SITE_URL"]);
        /// Name of your site, for the rankings of OpenRouter.
        /// 你的网站名称，用于 OpenRouter 排行。
        site_name: Option<String> =
            text_as(header).unset("(not sent)").also(&["LLM_OPENROUTER_SITE_NAME"]);
    }
}

settings! {
    /// The model at Zhipu.
    struct Zhipu in "edition.model.zhipu" + PriceKeys {
        /// Name of the model.
        /// 模型名称。
        name: String = text().default("glm-4.5-flash".to_owned()).also(&["LLM_ZHIPU_MODEL"]);
        /// API key.
        /// API 密钥。
        key: Option<Secret> = secret().unset("(none)").also(&["LLM_ZHIPU_API_KEY"]);
    }
}

/// A service: its section, the variable of its key, its address, and its concurrent requests.
type Service = (&'static str, &'static str, &'static str, usize);

const AT_DEEPSEEK: Service = (
    DEEPSEEK,
    "LLM_DEEPSEEK_API_KEY",
    "https://api.deepseek.com/v1",
    CONCURRENCY,
);
const AT_OPENROUTER: Service = (
    OPENROUTER,
    "LLM_OPENROUTER_API_KEY",
    "https://openrouter.ai/api/v1",
    CONCURRENCY,
);
const AT_ZHIPU: Service = (
    ZHIPU,
    "LLM_ZHIPU_API_KEY",
    "https://open.bigmodel.cn/api/paas/v4",
    ZHIPU_CONCURRENCY,
);

/// Reads all services; `None` without a model.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<Model> {
    let keys = ModelKeys::read(reader);
    let deepseek = Deepseek::read(reader);
    let openrouter = Openrouter::read(reader);
    let zhipu = Zhipu::read(reader);
    let [deepseek_price, openrouter_price, zhipu_price] =
        [DEEPSEEK, OPENROUTER, ZHIPU].map(|section| price_in(reader, section));
    let (service, own) = match keys.provider {
        Provider::None => {
            check_provider_is_named(reader);
            return None;
        }
        Provider::Compatible => return compatible(reader, keys),
        Provider::Deepseek => (AT_DEEPSEEK, (deepseek.name, deepseek.key, deepseek_price)),
        Provider::Openrouter => (
            AT_OPENROUTER,
            (openrouter.name, openrouter.key, openrouter_price),
        ),
        Provider::Zhipu => (AT_ZHIPU, (zhipu.name, zhipu.key, zhipu_price)),
    };
    let mut model = at_service(reader, keys, service, own);
    if service == AT_OPENROUTER {
        let headers = [
            ("HTTP-Referer", openrouter.site_url),
            ("X-Title", openrouter.site_name),
        ];
        model.headers = headers
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect();
    }
    Some(model)
}

fn key(name: &'static str) -> KeyPath {
    KeyPath::plain(SECTION, name)
}

/// Refuses a key or a model without a service: it would silently have no effect.
fn check_provider_is_named(reader: &mut Reader<'_>) {
    let given = |name| reader.is_given(SECTION, &[name]);
    let (what, name) = match (given("provider"), given("key"), given("name")) {
        (false, true, _) => ("`key` is set without `provider`", "key"),
        (false, false, true) => ("`name` is set without `provider`", "name"),
        _ => return,
    };
    let hint = "set edition.model.provider, or edition.model.base_url for your own service";
    reader.refuse(format!("edition.model: {what}"), key(name), hint);
}

/// Without a named provider, the service whose key is set.
fn usual_provider(reader: &Reader<'_>) -> Provider {
    let keys = [
        (DEEPSEEK, Provider::Deepseek),
        (OPENROUTER, Provider::Openrouter),
        (ZHIPU, Provider::Zhipu),
    ];
    if reader.is_given(SECTION, &["base_url"]) {
        return Provider::Compatible;
    }
    let mut keys = keys.into_iter();
    let found = keys.find(|(section, _)| reader.is_given(section, &["key"]));
    found.map_or(Provider::None, |(_, provider)| provider)
}

/// Keys of `[edition.model]` override the service's own. A missing key is an error.
fn at_service(
    reader: &mut Reader<'_>,
    keys: ModelKeys,
    (section, variable, base_url, concurrency): Service,
    (name, own_key, own_price): (String, Option<Secret>, Option<Price>),
) -> Model {
    if !reader.is_given(SECTION, &["key"]) && !reader.is_given(section, &["key"]) {
        let what = format!("{section}: a key is missing");
        let hint = format!(
            "set {variable} or {section}.key, or provider = \"none\" for editions without a model"
        );
        reader.refuse(what, key("provider"), hint);
    }
    if reader.is_given(SECTION, &["base_url"]) && !reader.is_given(SECTION, &["key"]) {
        let what =
            format!("edition.model.base_url: the key in [{section}] is for {base_url} alone");
        let hint = "set edition.model.key to the key for this address, or provider = \"openai-compatible\"";
        reader.refuse(what, key("base_url"), hint);
    }
    Model {
        concurrency: keys.concurrency.unwrap_or(concurrency),
        timeout: keys.timeout.unsigned_abs(),
        price: price_in(reader, SECTION).or(own_price),
        ..Model::new(
            keys.base_url.unwrap_or_else(|| base_url.to_owned()),
            keys.name.unwrap_or(name),
            keys.key.or(own_key),
        )
    }
}

fn price_in(reader: &mut Reader<'_>, section: &'static str) -> Option<Price> {
    PriceKeys::read_in(reader, section).price(reader, section)
}

fn compatible(reader: &mut Reader<'_>, keys: ModelKeys) -> Option<Model> {
    for (name, example) in [
        ("base_url", "\"http://127.0.0.1:11434/v1\""),
        ("name", "\"qwen3:8b\""),
    ] {
        if !reader.is_given(SECTION, &[name]) {
            let what = format!("edition.model.{name} is missing");
            let hint = format!("an OpenAI-compatible service needs it, like {name} = {example}");
            reader.refuse(what, key("provider"), hint);
        }
    }
    Some(Model {
        concurrency: keys.concurrency.unwrap_or(CONCURRENCY),
        timeout: keys.timeout.unsigned_abs(),
        price: price_in(reader, SECTION),
        ..Model::new(keys.base_url?, keys.name?, keys.key)
    })
}

/// Text that a header can hold.
fn header(text: &str) -> Read<String> {
    let fits = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let what = "it becomes an HTTP header, which may contain only ASCII characters";
    fitting(text, fits, what, "for example \"Example News\"")
}
