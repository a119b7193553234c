//! `[edition.github]`, `[edition.telegram]`, `[edition.directory]` and `[edition.webhook]`: where
//! editions go (ED-34).
//!
//! A destination is on as soon as it is configured. A half-configured destination is an error:
//! otherwise editions would silently go nowhere. Without destinations, editions are on this
//! server's pages only.

use std::time::Duration;

use almanack_adapters::{
    github::Repository,
    publish::{
        directory::{self, DirectoryPublisherSettings},
        github::{self, GithubPublisherSettings},
        telegram::{
            PerMessage, STORIES_PER_MESSAGE, STORIES_PER_MESSAGE_MAX, TelegramPublisherSettings,
        },
        template::{PathTemplate, Template},
        webhook::WebhookPublisherSettings,
    },
    signature::SigningKey,
    telegram::{API_URL, BotSettings, BotToken},
};
use almanack_core::edition::delivery::{OnRevision, OnUnknown};

use super::{
    super::{calls::signing_key, prelude::*},
    bot_token, compat_variable, mail, post,
};

pub(super) const GITHUB: &str = GithubKeys::NAME;
const TELEGRAM: &str = TelegramKeys::NAME;
pub(super) const DIRECTORY: &str = DirectoryKeys::NAME;
const WEBHOOK: &str = WebhookKeys::NAME;
// Every section here is a destination: a named edition goes there only if it has the section, too.
sections! { GithubKeys, TelegramKeys, DirectoryKeys, WebhookKeys; post; mail }

/// Where editions go.
#[derive(Debug, Clone, Default)]
pub(crate) struct Destinations {
    /// A file on GitHub, and the token that writes it.
    pub(crate) github: Option<(GithubPublisherSettings, Secret)>,
    /// A chat, and the bot that posts there.
    pub(crate) telegram: Option<Telegram>,
    /// A local file.
    pub(crate) directory: Option<DirectoryPublisherSettings>,
    /// A web address.
    pub(crate) webhook: Option<WebhookPublisherSettings>,
}

/// A chat.
#[derive(Debug, Clone)]
pub(crate) struct Telegram {
    pub(crate) messages: TelegramPublisherSettings,
    pub(crate) bot: BotSettings,
    pub(crate) form: TelegramForm,
    pub(crate) silent: bool,
}

/// How long a destination may take to answer.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

impl Destinations {
    pub(super) fn read(reader: &mut Reader<'_>, public: bool) -> Self {
        Self {
            github: read_github(reader),
            telegram: read_telegram(reader, public),
            directory: read_directory(reader),
            webhook: read_webhook(reader),
        }
    }
}

/// Whether a destination is on. Variables of the original setup have separate rules; everything
/// else is `true` or `false`.
fn switch(compat: fn(&str) -> bool) -> Form<bool> {
    Form::placed(Shape::Truth, move |given| match &given.raw {
        Raw::Bare(text) if compat_variable(&given.place).is_some() => Ok(compat(text)),
        raw => value::truth(raw),
    })
}

settings! {
    /// Publishes editions as files of a GitHub repository.
    struct GithubKeys in "edition.github" {
        /// Publish to GitHub; `false` turns a configured destination off.
        /// 发布到 GitHub；`false` 关闭已配置的目的地。
        enabled: bool = switch(|text| text != "false").default(true).also(&["GITHUB_ENABLED"]);
        /// Token that may write to the repository.
        /// 可写入仓库的令牌。
        token: Option<Secret> = secret().unset("(as in [github])").also(&["GITHUB_TOKEN"]);
        /// Repository, as `owner/name`.
        /// 仓库，写作 `owner/name`。
        repository: Option<String> =
            text_as(repository).unset("(none)").also(&["TARGET_REPO"]);
        /// Branch to commit to.
        /// 提交到的分支。
        branch: String = text().default(github::BRANCH.to_owned()).also(&["TARGET_BRANCH"]);
        /// Path of the file, with placeholders like `{date}`.
        /// 文件路径，可含 `{date}` 等占位符。
        path: String = text_as(path_template).default(github::PATH.to_owned());
    }
}

fn read_github(reader: &mut Reader<'_>) -> Option<(GithubPublisherSettings, Secret)> {
    let read = GithubKeys::read(reader);
    let begun = reader.is_given(GITHUB, &["token", "repository", "branch", "path"]);
    if !read.enabled || !begun {
        return None;
    }
    let shared = reader.is_given("github", &["token"]);
    if !reader.is_given(GITHUB, &["repository"]) {
        let hint = "set edition.github.repository or TARGET_REPO to \"owner/name\"; \
                    GITHUB_ENABLED=false turns this off";
        reader.half(GITHUB, "the repository", hint);
    } else if !reader.is_given(GITHUB, &["token"]) && !shared {
        let hint = "set GITHUB_TOKEN, edition.github.token or github.token";
        reader.half(GITHUB, "the token", hint);
    }
    let token = match read.token {
        Some(token) => token,
        None => shared_token(reader)?,
    };
    let file = GithubPublisherSettings {
        destination: "github".to_owned(),
        repository: Repository::parse(&read.repository?)?,
        branch: read.branch,
        path: PathTemplate::parse(&read.path).ok()?,
        message: Template::parse(github::MESSAGE).ok()?,
    };
    Some((file, token))
}

/// The token of `[github]`, read again: its problems are reported there.
fn shared_token(reader: &mut Reader<'_>) -> Option<Secret> {
    let (problems, shown) = (reader.problems.len(), reader.effective.len());
    let token = reader.value(&KeyPath::plain("github", "token"), secret(), String::new());
    reader.problems.truncate(problems);
    reader.effective.truncate(shown);
    token
}

fn repository(text: &str) -> Read<String> {
    let hint = "write owner and name, like \"almanack/news\"";
    let refused = || Problem::new(format!("`{text}` is not a repository"), hint);
    Repository::parse(text)
        .map(|_| text.to_owned())
        .ok_or_else(refused)
}

fn path_template(text: &str) -> Read<String> {
    let hint = format!("for example \"{}\"", github::PATH);
    let parsed = PathTemplate::parse(text).map_err(|error| Problem::new(error.to_string(), hint));
    parsed.map(|_| text.to_owned())
}

words! {
    OnUnknown { "skip" = Self::Skip, "repeat" = Self::Repeat }
    OnRevision { "send" = Self::Replace, "skip" = Self::Skip }
    TelegramForm { "stories" = Self::Stories, "link" = Self::Link }
}

/// What a chat gets of an edition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TelegramForm {
    /// Every story, in several messages.
    #[default]
    Stories,
    /// One message with a link to the edition's page.
    Link,
}

settings! {
    /// Publishes editions to a Telegram chat.
    struct TelegramKeys in "edition.telegram" {
        /// Publish to Telegram; `false` turns a configured destination off.
        /// 发布到 Telegram；`false` 关闭已配置的目的地。
        enabled: bool = switch(|text| text == "true").default(false)
            .depends("on as soon as [edition.telegram] is configured").also(&["TELEGRAM_ENABLED"])
            => is_ours;
        /// Token of the bot that posts.
        /// 发布消息的机器人令牌。
        token: Option<BotToken> = bot_token().unset("(none)").also(&["TELEGRAM_BOT_TOKEN"]);
        /// Chat to post to: `@channel` or its number.
        /// 发布到的会话：`@channel` 或其编号。
        chat: Option<String> = text().unset("(none)").also(&["TELEGRAM_CHANNEL_ID"]);
        /// Stories per message.
        /// 每条消息的文章数。
        batch_size: u8 = count(1..=STORIES_PER_MESSAGE_MAX).default(STORIES_PER_MESSAGE)
            .also(&["TELEGRAM_BATCH_SIZE"]);
        /// When it is unknown whether a message was sent: `skip` it, or `repeat` it.
        /// 不确定消息是否已发送时：`skip` 跳过，或 `repeat` 重发。
        on_unknown: OnUnknown = choice().default(OnUnknown::Skip);
        /// When an edition is published again: `send` the new revision, or `skip` it.
        /// 日报重新发布时：`send` 发送新修订版，或 `skip` 跳过。
        on_revision: OnRevision = choice().default(OnRevision::Skip);
        /// What to send: all `stories` in several messages, or one message with a `link` to the edition's page, which needs `server.public_url`.
        /// 发送内容：`stories` 用多条消息发送全部文章，或 `link` 发送一条带链接的消息（需要设置 `server.public_url`）。
        form: TelegramForm = choice().default(TelegramForm::Stories);
        /// Send without sound.
        /// 静默发送。
        silent: bool = truth().default(false);
        /// Base address of the Telegram API.
        /// Telegram API 的基础地址。
        api_url: String = address().default(API_URL.to_owned());
    }
}

/// Our own keys turn it on; variables of the original setup need its switch.
fn is_ours(reader: &Reader<'_>) -> bool {
    let mut given = reader.layer.iter();
    given.any(|(path, given)| path.section == TELEGRAM && compat_variable(&given.place).is_none())
}

fn read_telegram(reader: &mut Reader<'_>, public: bool) -> Option<Telegram> {
    let read = TelegramKeys::read(reader);
    if !read.enabled {
        return None;
    }
    if !reader.is_given(TELEGRAM, &["token"]) {
        let hint = "set TELEGRAM_BOT_TOKEN or edition.telegram.token";
        reader.half(TELEGRAM, "the bot's token", hint);
    } else if !reader.is_given(TELEGRAM, &["chat"]) {
        let hint =
            "set edition.telegram.chat or TELEGRAM_CHANNEL_ID to \"@channel\" or the chat's number";
        reader.half(TELEGRAM, "the chat", hint);
    }
    if read.form == TelegramForm::Link {
        check_link(reader, TELEGRAM, public);
    }
    let bot = BotSettings {
        token: read.token?,
        chat: read.chat?,
        api_url: read.api_url,
        timeout: TIMEOUT,
    };
    let messages = TelegramPublisherSettings {
        destination: "telegram".to_owned(),
        per_message: PerMessage::new(read.batch_size)?,
        on_unknown: read.on_unknown,
        on_revision: read.on_revision,
        link: None,
    };
    Some(Telegram {
        messages,
        bot,
        form: read.form,
        silent: read.silent,
    })
}

/// Refuses a destination that gets a link to an edition's page if readers could not follow it.
pub(super) fn check_link(reader: &mut Reader<'_>, section: &'static str, public: bool) {
    if !reader.is_given("server", &["public_url"]) {
        let hint = "set server.public_url, like \"https://news.example.org\"";
        let missing = "the address of this server, which the link needs,";
        reader.half(section, missing, hint);
    } else if !public {
        let what =
            format!("[{section}] gets a link to a page that only people who sign in can read");
        let hint = format!("remove edition.public = false, or [{section}]");
        let place = reader.first_place(|path| path.is_plainly_within(section));
        reader.push(Severity::Error, (what, place), hint);
    }
}

settings! {
    /// Writes editions to a folder on this machine.
    struct DirectoryKeys in "edition.directory" {
        /// Folder to write editions to.
        /// 写入日报的目录。
        path: Option<PathBuf> = path().unset("(none)").beside_file();
        /// Path of the file in the folder, with placeholders like `{date}`.
        /// 目录内的文件路径，可含 `{date}` 等占位符。
        file: String = text_as(path_template).default(directory::PATH.to_owned());
    }
}

fn read_directory(reader: &mut Reader<'_>) -> Option<DirectoryPublisherSettings> {
    let read = DirectoryKeys::read(reader);
    let hint = "set edition.directory.path to a folder, like \"/srv/site/_posts\"";
    reader.needs(DIRECTORY, &["file"], ("path", "the folder", hint));
    Some(DirectoryPublisherSettings {
        destination: "directory".to_owned(),
        root: read.path?,
        path: PathTemplate::parse(&read.file).ok()?,
    })
}

settings! {
    /// Sends editions to a web address.
    struct WebhookKeys in "edition.webhook" {
        /// Web address that receives editions.
        /// 接收日报的网址。
        url: Option<String> = address().unset("(none)");
        /// Key that signs calls.
        /// 为调用签名的密钥。
        secret: Option<SigningKey> = signing_key().unset("(calls are not signed)");
    }
}

fn read_webhook(reader: &mut Reader<'_>) -> Option<WebhookPublisherSettings> {
    let WebhookKeys { url, secret } = WebhookKeys::read(reader);
    let url_is_missing = ("url", "the address", "set edition.webhook.url");
    reader.needs(WEBHOOK, &["secret"], url_is_missing);
    Some(WebhookPublisherSettings {
        destination: "webhook".to_owned(),
        url: url?,
        key: secret,
        timeout: TIMEOUT,
    })
}
