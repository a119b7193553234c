//! `[edition.model]`: who writes titles and summaries (ED-36).
//!
//! Every service has a section of its own for its key and model, so that one word changes who is asked and no service is ever shown
//! another's key.

use almanack_core::secret::Secret;
use jiff::SignedDuration;

use super::{
    super::{
        super::{
            key::KeyPath,
            layer::Raw,
            reader::{Reader, Show},
            report::Problem,
            value::{self, Complaint, Read},
        },
        seconds,
    },
    address, is_given,
};

const SECTION: &str = "edition.model";
const DEEPSEEK: &str = "edition.model.deepseek";
const OPENROUTER: &str = "edition.model.openrouter";
const ZHIPU: &str = "edition.model.zhipu";
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

const PROVIDERS: &[(&str, Provider)] = &[
    ("deepseek", Provider::Deepseek),
    ("openrouter", Provider::Openrouter),
    ("zhipu", Provider::Zhipu),
    ("openai-compatible", Provider::Compatible),
    ("none", Provider::None),
];

impl Show for Provider {
    fn show(&self) -> String {
        let named = PROVIDERS.iter().find(|(_, provider)| provider == self);
        format!("\"{}\"", named.map_or("", |(name, _)| name))
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

/// What is said about whatever service it is.
struct Said {
    base_url: Option<String>,
    name: Option<String>,
    key: Option<Secret>,
    concurrency: Option<usize>,
    timeout: SignedDuration,
}

impl Model {
    /// Reads all services; `None` if nobody is asked.
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let provider = provider(reader);
        let said = said(reader);
        let deepseek = deepseek(reader);
        let openrouter = openrouter(reader);
        let zhipu = zhipu(reader);
        match provider {
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
}

/// A key or a model of nobody would be of no use, and nobody would notice.
fn complain_of_nobodys(reader: &mut Reader<'_>) {
    let given = |name| is_given(reader, SECTION, &[name]);
    let what = match (given("provider"), given("key"), given("name")) {
        (false, true, _) => "there is a key, but nobody says whose",
        (false, false, true) => "there is a model's name, but nobody says whose",
        _ => return,
    };
    let name = if given("key") { "key" } else { "name" };
    let place = reader.place(&KeyPath::plain(SECTION, name));
    let hint = "set edition.model.provider, or edition.model.base_url for a service of your own";
    let problem = Problem::error(format!("edition.model: {what}"), place);
    reader.problems.push(problem.hint(hint));
}

/// Who nobody names is the one whose key there is.
fn provider(reader: &mut Reader<'_>) -> Provider {
    let usual = if is_given(reader, SECTION, &["base_url"]) {
        Provider::Compatible
    } else if is_given(reader, DEEPSEEK, &["key"]) {
        Provider::Deepseek
    } else if is_given(reader, OPENROUTER, &["key"]) {
        Provider::Openrouter
    } else if is_given(reader, ZHIPU, &["key"]) {
        Provider::Zhipu
    } else {
        Provider::None
    };
    let path = KeyPath::plain(SECTION, "provider");
    reader.value(&path, usual, value::choice(PROVIDERS))
}

fn said(reader: &mut Reader<'_>) -> Said {
    let key = |name| KeyPath::plain(SECTION, name);
    let usual = "(the service's)";
    Said {
        base_url: reader.optional(&key("base_url"), usual, address),
        name: reader.optional(&key("name"), usual, value::text),
        key: reader.secret(&key("key"), usual),
        concurrency: reader.optional(&key("concurrency"), usual, value::count(1..=1_000)),
        timeout: reader.value(
            &key("timeout"),
            SignedDuration::from_secs(30),
            value::duration(seconds(1..=600)),
        ),
    }
}

fn deepseek(reader: &mut Reader<'_>) -> Service {
    let name = "deepseek-v4-flash".to_owned();
    Service {
        section: DEEPSEEK,
        variable: "LLM_DEEPSEEK_API_KEY",
        base_url: "https://api.deepseek.com/v1",
        name: reader.value(&KeyPath::plain(DEEPSEEK, "name"), name, value::text),
        key: reader.secret(&KeyPath::plain(DEEPSEEK, "key"), "(none)"),
        headers: Vec::new(),
        concurrency: CONCURRENCY,
    }
}

fn openrouter(reader: &mut Reader<'_>) -> Service {
    let key = |name| KeyPath::plain(OPENROUTER, name);
    let name = "deepseek/deepseek-v4-flash".to_owned();
    let name = reader.value(&key("name"), name, value::text);
    let secret = reader.secret(&key("key"), "(none)");
    let site_url = reader.optional(&key("site_url"), "(not told)", header);
    let site_name = reader.optional(&key("site_name"), "(not told)", header);
    let headers = [("HTTP-Referer", site_url), ("X-Title", site_name)];
    let headers = headers
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Service {
        section: OPENROUTER,
        variable: "LLM_OPENROUTER_API_KEY",
        base_url: "https://openrouter.ai/api/v1",
        name,
        key: secret,
        headers: headers.collect(),
        concurrency: CONCURRENCY,
    }
}

fn zhipu(reader: &mut Reader<'_>) -> Service {
    let name = "glm-4.5-flash".to_owned();
    Service {
        section: ZHIPU,
        variable: "LLM_ZHIPU_API_KEY",
        base_url: "https://open.bigmodel.cn/api/paas/v4",
        name: reader.value(&KeyPath::plain(ZHIPU, "name"), name, value::text),
        key: reader.secret(&KeyPath::plain(ZHIPU, "key"), "(none)"),
        headers: Vec::new(),
        concurrency: ZHIPU_CONCURRENCY,
    }
}

/// What is said beats what the service has; whose key is missing is not asked.
fn at_service(reader: &mut Reader<'_>, said: Said, service: Service) -> Model {
    let given = is_given(reader, SECTION, &["key"]) || is_given(reader, service.section, &["key"]);
    if !given {
        let (section, variable) = (service.section, service.variable);
        let what = format!("{section}: a key is missing");
        let place = reader.place(&KeyPath::plain(SECTION, "provider"));
        let hint = format!(
            "set {variable} or {section}.key, or provider = \"none\" for editions without a model"
        );
        reader.problems.push(Problem::error(what, place).hint(hint));
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

fn compatible(reader: &mut Reader<'_>, said: Said) -> Option<Model> {
    for (name, example) in [
        ("base_url", "\"http://127.0.0.1:11434/v1\""),
        ("name", "\"qwen3:8b\""),
    ] {
        if !is_given(reader, SECTION, &[name]) {
            let what = format!("edition.model.{name} is missing");
            let place = reader.place(&KeyPath::plain(SECTION, "provider"));
            let hint = format!("an OpenAI-compatible service needs it, like {name} = {example}");
            reader.problems.push(Problem::error(what, place).hint(hint));
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
fn header(raw: &Raw) -> Read<String> {
    let text = value::text(raw)?;
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Ok(text);
    }
    let what = "it becomes a header, and headers hold only ASCII letters";
    Err(Complaint::new(what, "for example \"Example News\""))
}
