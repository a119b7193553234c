//! `[edition.model]`: who writes titles and summaries (ED-36).
//!
//! Every service has a section of its own for its key and model, so that one word changes who is asked and no service is ever shown
//! another's key.

use almanack_core::secret::Secret;
use jiff::SignedDuration;

use super::super::super::{
    key::KeyPath,
    reader::Reader,
    table::{
        Listed, Section, address, choice, count, duration, minutes, seconds, secret, settings,
        text, text_as, words,
    },
    value::{Complaint, Read},
};

const SECTION: &str = "edition.model";
const DEEPSEEK: &str = "edition.model.deepseek";
const OPENROUTER: &str = "edition.model.openrouter";
const ZHIPU: &str = "edition.model.zhipu";
pub(in super::super) const SECTIONS: &[Listed] = &[
    (
        SECTION,
        "The model that writes titles and summaries.",
        &[ModelKeys::keys],
    ),
    (DEEPSEEK, "The model at DeepSeek.", &[Deepseek::keys]),
    (OPENROUTER, "The model at OpenRouter.", &[Openrouter::keys]),
    (ZHIPU, "The model at Zhipu.", &[Zhipu::keys]),
];
/// Requests under way at once: a batch of six has thirteen for the model, and fewer would make some of them queue.
const CONCURRENCY: usize = 16;
/// This service takes no more.
const ZHIPU_CONCURRENCY: usize = 2;

/// A model at a service.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    /// What `/chat/completions` is put after.
    pub(crate) base_url: String,
    /// What the service calls the model.
    pub(crate) name: String,
    /// Who asks.
    pub(crate) key: Option<Secret>,
    /// What is told along.
    pub(crate) headers: Vec<(String, String)>,
    /// Requests under way at once.
    pub(crate) concurrency: usize,
    /// How long an answer may take.
    pub(crate) timeout: SignedDuration,
}

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
    struct ModelKeys {
        /// Service that runs the model; `none` writes extractive summaries.
        /// 运行模型的服务；`none` 使用抽取式摘要。
        provider: Provider = choice().default(Provider::None)
            .depends("the service whose key is set").also(&["LLM_PROVIDER"])
            => |reader| usual_provider(reader);
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
    struct Deepseek {
        /// Name of the model.
        /// 模型名称。
        name: String = text().default("deepseek-v4-flash".to_owned()).also(&["LLM_DEEPSEEK_MODEL"]);
        /// API key.
        /// API 密钥。
        key: Option<Secret> = secret().unset("(none)").also(&["LLM_DEEPSEEK_API_KEY"]);
    }
}

settings! {
    struct Openrouter {
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
            text_as(header).unset("(not told)").also(&["LLM_OPENROUTER_SITE_URL"]);
        /// Name of your site, for the rankings of OpenRouter.
        /// 你的网站名称，用于 OpenRouter 排行。
        site_name: Option<String> =
            text_as(header).unset("(not told)").also(&["LLM_OPENROUTER_SITE_NAME"]);
    }
}

settings! {
    struct Zhipu {
        /// Name of the model.
        /// 模型名称。
        name: String = text().default("glm-4.5-flash".to_owned()).also(&["LLM_ZHIPU_MODEL"]);
        /// API key.
        /// API 密钥。
        key: Option<Secret> = secret().unset("(none)").also(&["LLM_ZHIPU_API_KEY"]);
    }
}

/// What is known of one service.
struct Service {
    section: &'static str,
    variable: &'static str,
    base_url: &'static str,
    name: String,
    key: Option<Secret>,
    headers: Vec<(String, String)>,
    concurrency: usize,
}

/// Reads all services; `None` if nobody is asked.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<Model> {
    let said = ModelKeys::read(reader, SECTION);
    let deepseek = deepseek(Deepseek::read(reader, DEEPSEEK));
    let openrouter = openrouter(Openrouter::read(reader, OPENROUTER));
    let zhipu = zhipu(Zhipu::read(reader, ZHIPU));
    match said.provider {
        Provider::None => {
            complain_of_nobodys(reader);
            None
        }
        Provider::Compatible => compatible(reader, said),
        Provider::Deepseek => Some(at_service(reader, said, deepseek)),
        Provider::Openrouter => Some(at_service(reader, said, openrouter)),
        Provider::Zhipu => Some(at_service(reader, said, zhipu)),
    }
}

fn key(name: &'static str) -> KeyPath {
    KeyPath::plain(SECTION, name)
}

/// A key or a model of nobody would be of no use, and nobody would notice.
fn complain_of_nobodys(reader: &mut Reader<'_>) {
    let given = |name| reader.is_given(SECTION, &[name]);
    let (what, name) = match (given("provider"), given("key"), given("name")) {
        (false, true, _) => ("there is a key, but nobody says whose", "key"),
        (false, false, true) => ("there is a model's name, but nobody says whose", "name"),
        _ => return,
    };
    let hint = "set edition.model.provider, or edition.model.base_url for a service of your own";
    reader.refuse(format!("edition.model: {what}"), &key(name), hint);
}

/// Who nobody names is the one whose key there is.
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

fn deepseek(read: Deepseek) -> Service {
    Service {
        section: DEEPSEEK,
        variable: "LLM_DEEPSEEK_API_KEY",
        base_url: "https://api.deepseek.com/v1",
        name: read.name,
        key: read.key,
        headers: Vec::new(),
        concurrency: CONCURRENCY,
    }
}

fn openrouter(read: Openrouter) -> Service {
    let headers = [("HTTP-Referer", read.site_url), ("X-Title", read.site_name)];
    let headers = headers
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Service {
        section: OPENROUTER,
        variable: "LLM_OPENROUTER_API_KEY",
        base_url: "https://openrouter.ai/api/v1",
        name: read.name,
        key: read.key,
        headers: headers.collect(),
        concurrency: CONCURRENCY,
    }
}

fn zhipu(read: Zhipu) -> Service {
    Service {
        section: ZHIPU,
        variable: "LLM_ZHIPU_API_KEY",
        base_url: "https://open.bigmodel.cn/api/paas/v4",
        name: read.name,
        key: read.key,
        headers: Vec::new(),
        concurrency: ZHIPU_CONCURRENCY,
    }
}

/// What is said beats what the service has; whose key is missing is not asked.
fn at_service(reader: &mut Reader<'_>, said: ModelKeys, service: Service) -> Model {
    let (section, variable) = (service.section, service.variable);
    if !reader.is_given(SECTION, &["key"]) && !reader.is_given(section, &["key"]) {
        let what = format!("{section}: a key is missing");
        let hint = format!(
            "set {variable} or {section}.key, or provider = \"none\" for editions without a model"
        );
        reader.refuse(what, &key("provider"), hint);
    }
    Model {
        base_url: said.base_url.unwrap_or_else(|| service.base_url.to_owned()),
        name: said.name.unwrap_or(service.name),
        key: said.key.or(service.key),
        headers: service.headers,
        concurrency: said.concurrency.unwrap_or(service.concurrency),
        timeout: said.timeout,
    }
}

fn compatible(reader: &mut Reader<'_>, said: ModelKeys) -> Option<Model> {
    for (name, example) in [
        ("base_url", "\"http://127.0.0.1:11434/v1\""),
        ("name", "\"qwen3:8b\""),
    ] {
        if !reader.is_given(SECTION, &[name]) {
            let what = format!("edition.model.{name} is missing");
            let hint = format!("an OpenAI-compatible service needs it, like {name} = {example}");
            reader.refuse(what, &key("provider"), hint);
        }
    }
    Some(Model {
        base_url: said.base_url?,
        name: said.name?,
        key: said.key,
        headers: Vec::new(),
        concurrency: said.concurrency.unwrap_or(CONCURRENCY),
        timeout: said.timeout,
    })
}

/// Text that a header can hold.
fn header(text: &str) -> Read<String> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Ok(text.to_owned());
    }
    let what = "it becomes a header, and headers hold only ASCII letters";
    Err(Complaint::new(what, "for example \"Example News\""))
}
