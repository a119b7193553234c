//! `[edition.model]`: the model that writes titles and summaries (ED-36).
//!
//! Every service has a separate section for its key and model: one word switches between services,
//! and no service ever receives another's key. Further services can stand in for the first.

use almanack_adapters::model::Settings as Model;
use almanack_core::edition::allowance::Price;

use super::{super::prelude::*, caps::PriceKeys};

pub(super) const SECTION: &str = ModelKeys::NAME;
const DEEPSEEK: &str = Deepseek::NAME;
const OPENROUTER: &str = Openrouter::NAME;
const ZHIPU: &str = Zhipu::NAME;
const COMPATIBLE: &str = Compatible::NAME;
sections! { ModelKeys, Deepseek, Openrouter, Zhipu, Compatible }

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

/// What can stand in: all but "none".
const SERVICES: [&str; 4] = ["deepseek", "openrouter", "zhipu", "openai-compatible"];

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
        /// Services to ask, in this order, where the first one cannot answer.
        /// 首选服务无法回答时，依次询问的其他服务。
        fallback: Vec<Provider> = words_of(SERVICES, service).default(Vec::new());
    }
}

settings! {
    /// An OpenAI-compatible service that stands in where `edition.model.fallback` names it.
    struct Compatible in "edition.model.compatible" + PriceKeys {
        /// Base address of the service, like `http://127.0.0.1:11434/v1`.
        /// 服务的基础地址，如 `http://127.0.0.1:11434/v1`。
        base_url: Option<String> = address().unset("(none)");
        /// Name of the model.
        /// 模型名称。
        name: Option<String> = text().unset("(none)");
        /// API key.
        /// API 密钥。
        key: Option<Secret> = secret().unset("(none)");
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

/// What each service's own section says.
struct Own {
    deepseek: Deepseek,
    openrouter: Openrouter,
    zhipu: Zhipu,
    compatible: Compatible,
    prices: [Option<Price>; 4],
}

impl Own {
    fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            deepseek: Deepseek::read(reader),
            openrouter: Openrouter::read(reader),
            zhipu: Zhipu::read(reader),
            compatible: Compatible::read(reader),
            prices: [DEEPSEEK, OPENROUTER, ZHIPU, COMPATIBLE]
                .map(|section| price_in(reader, section)),
        }
    }

    /// The model at a service of these sections, and whose section it is.
    fn model(&self, provider: Provider) -> Option<(Service, Model)> {
        let [deepseek, openrouter, zhipu, _] = self.prices;
        let (service, name, key, price) = match provider {
            Provider::Deepseek => {
                let own = &self.deepseek;
                (AT_DEEPSEEK, &own.name, &own.key, deepseek)
            }
            Provider::Openrouter => {
                let own = &self.openrouter;
                (AT_OPENROUTER, &own.name, &own.key, openrouter)
            }
            Provider::Zhipu => (AT_ZHIPU, &self.zhipu.name, &self.zhipu.key, zhipu),
            Provider::Compatible | Provider::None => return None,
        };
        let (_, _, base_url, concurrency) = service;
        let model = Model {
            concurrency,
            price,
            headers: self.headers(provider),
            ..Model::new(base_url, name.clone(), key.clone())
        };
        Some((service, model))
    }

    fn headers(&self, provider: Provider) -> Vec<(String, String)> {
        let headers = [
            ("HTTP-Referer", &self.openrouter.site_url),
            ("X-Title", &self.openrouter.site_name),
        ];
        let headers = headers
            .into_iter()
            .filter(|_| provider == Provider::Openrouter);
        let headers = headers.filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)));
        headers.collect()
    }

    /// Your own service, where it stands in for another.
    fn compatible(&self, reader: &mut Reader<'_>) -> Option<Model> {
        let own = &self.compatible;
        for (name, is_missing) in [
            ("base_url", own.base_url.is_none()),
            ("name", own.name.is_none()),
        ] {
            if is_missing {
                let what = format!("{COMPATIBLE}.{name} is missing");
                let hint = "edition.model.fallback names openai-compatible, which needs it";
                reader.refuse(what, key("fallback"), hint);
            }
        }
        Some(Model {
            concurrency: CONCURRENCY,
            price: self.prices[3],
            ..Model::new(own.base_url.clone()?, own.name.clone()?, own.key.clone())
        })
    }
}

/// Reads all services: the model, if there is one, and those that stand in for it.
pub(super) fn read(reader: &mut Reader<'_>) -> (Option<Model>, Vec<Model>) {
    let keys = ModelKeys::read(reader);
    let own = Own::read(reader);
    let (provider, timeout) = (keys.provider, keys.timeout);
    let fallback = fallback(reader, &keys, &own);
    let first = match provider {
        Provider::None => {
            check_provider_is_named(reader);
            None
        }
        Provider::Compatible => compatible(reader, keys),
        _ => own
            .model(provider)
            .map(|(service, model)| at_service(reader, keys, service, model)),
    };
    let fallback = fallback.into_iter().map(|model| Model {
        timeout: timeout.unsigned_abs(),
        ..model
    });
    (first, fallback.collect())
}

/// The models that stand in. Each service once, and none without its key.
fn fallback(reader: &mut Reader<'_>, keys: &ModelKeys, own: &Own) -> Vec<Model> {
    let mut models = Vec::new();
    if keys.provider == Provider::None && !keys.fallback.is_empty() {
        let what = "edition.model: `fallback` is set without `provider`";
        reader.refuse(
            what,
            key("fallback"),
            "set edition.model.provider to the service to ask first",
        );
        return models;
    }
    for (index, provider) in keys.fallback.iter().enumerate() {
        let is_own = *provider == Provider::Compatible;
        let is_first = *provider == keys.provider && !is_own;
        if is_first || keys.fallback[..index].contains(provider) {
            let what = format!(
                "edition.model.fallback: {} is asked already",
                provider.show()
            );
            reader.refuse(what, key("fallback"), "name each service once");
            continue;
        }
        if is_own {
            models.extend(own.compatible(reader));
        } else if let Some(((section, variable, ..), model)) = own.model(*provider) {
            if model.key.is_none() {
                let what = format!("{section}: a key is missing");
                let hint =
                    format!("edition.model.fallback names it: set {variable} or {section}.key");
                reader.refuse(what, key("fallback"), hint);
            }
            models.push(model);
        }
    }
    models
}

/// A service that can stand in.
fn service(text: &str) -> Read<Provider> {
    let mut known = Provider::WORDS.iter();
    let known = known.find(|(word, value)| *word == text && *value != Provider::None);
    known.map(|(_, value)| *value).ok_or_else(|| {
        let what = format!("`{text}` is no service that can stand in");
        Problem::new(what, format!("one of {}", SERVICES.join(", ")))
    })
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
    (section, variable, base_url, _): Service,
    own: Model,
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
        concurrency: keys.concurrency.unwrap_or(own.concurrency),
        timeout: keys.timeout.unsigned_abs(),
        price: price_in(reader, SECTION).or(own.price),
        base_url: keys.base_url.unwrap_or(own.base_url),
        model: keys.name.unwrap_or(own.model),
        key: keys.key.or(own.key),
        ..own
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
