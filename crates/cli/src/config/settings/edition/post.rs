//! `[edition.slack]`, `[edition.discord]`, `[edition.mastodon]` and `[edition.bluesky]`: one post
//! with a link.

use almanack_adapters::publish::post::{Service, Visibility};
use almanack_core::edition::delivery::OnUnknown;

use super::{
    super::{alerts::secret_address, prelude::*},
    destination::check_link,
};

sections! { SlackKeys, DiscordKeys, MastodonKeys, BlueskyKeys }

words! {
    Visibility { "public" = Self::Public, "unlisted" = Self::Unlisted, "private" = Self::Private }
}

settings! {
    /// Posts editions to Slack.
    struct SlackKeys in "edition.slack" {
        /// Incoming webhook of Slack, or of a service that accepts the same.
        /// Slack 的 Incoming Webhook，或兼容的服务。
        url: Option<Secret> = secret_address().unset("(none)");
        /// When it is unknown whether a message was sent: `skip` it, or `repeat` it.
        /// 不确定消息是否已发送时：`skip` 跳过，或 `repeat` 重发。
        on_unknown: OnUnknown = choice().default(OnUnknown::Skip);
    }
}

settings! {
    /// Posts editions to a Discord channel.
    struct DiscordKeys in "edition.discord" {
        /// Webhook of the channel.
        /// 频道的 Webhook。
        url: Option<Secret> = secret_address().unset("(none)");
        /// When it is unknown whether a message was sent: `skip` it, or `repeat` it.
        /// 不确定消息是否已发送时：`skip` 跳过，或 `repeat` 重发。
        on_unknown: OnUnknown = choice().default(OnUnknown::Skip);
    }
}

settings! {
    /// Posts editions to Mastodon.
    struct MastodonKeys in "edition.mastodon" {
        /// Address of the instance, like `https://mastodon.example`.
        /// 实例的地址，如 `https://mastodon.example`。
        server: Option<String> = address().unset("(none)");
        /// Access token with the scope `write:statuses`.
        /// 具有 `write:statuses` 权限的访问令牌。
        token: Option<Secret> = secret().unset("(none)");
        /// Who sees posts: `public`, `unlisted`, or `private` for followers.
        /// 谁能看到：`public` 公开、`unlisted` 不公开列出，或 `private` 仅关注者。
        visibility: Visibility = choice().default(Visibility::Public);
    }
}

settings! {
    /// Posts editions to Bluesky.
    struct BlueskyKeys in "edition.bluesky" {
        /// Handle of the account, like `daily.example.org`.
        /// 账号的 handle，如 `daily.example.org`。
        handle: Option<String> = text_as(handle).unset("(none)");
        /// App password of the account.
        /// 账号的 App Password。
        password: Option<Secret> = secret().unset("(none)");
        /// Address of the account's server.
        /// 账号所在服务器的地址。
        server: String = address().default("https://bsky.social".to_owned());
    }
}

fn handle(text: &str) -> Read<String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
    let shaped = text.contains('.') && text.len() <= 253 && text.bytes().all(fits);
    let what = format!("`{text}` is not a handle");
    fitting(
        text,
        shaped,
        what,
        "for example \"daily.bsky.social\", without @",
    )
}

/// Every post that is configured, each with its preference.
pub(super) fn read_all(reader: &mut Reader<'_>, public: bool) -> Vec<(Service, OnUnknown)> {
    let posts = [
        (SlackKeys::NAME, slack(reader)),
        (DiscordKeys::NAME, discord(reader)),
        (MastodonKeys::NAME, mastodon(reader)),
        (BlueskyKeys::NAME, bluesky(reader)),
    ];
    let mut configured = Vec::new();
    for (section, post) in posts {
        if let Some(post) = post {
            check_link(reader, section, public);
            configured.push(post);
        }
    }
    configured
}

fn slack(reader: &mut Reader<'_>) -> Option<(Service, OnUnknown)> {
    let read = SlackKeys::read(reader);
    let url_is_missing = ("url", "the webhook", "set edition.slack.url");
    reader.needs(SlackKeys::NAME, &["on_unknown"], url_is_missing);
    Some((Service::Slack { url: read.url? }, read.on_unknown))
}

fn discord(reader: &mut Reader<'_>) -> Option<(Service, OnUnknown)> {
    let read = DiscordKeys::read(reader);
    let url_is_missing = ("url", "the webhook", "set edition.discord.url");
    reader.needs(DiscordKeys::NAME, &["on_unknown"], url_is_missing);
    Some((Service::Discord { url: read.url? }, read.on_unknown))
}

fn mastodon(reader: &mut Reader<'_>) -> Option<(Service, OnUnknown)> {
    let read = MastodonKeys::read(reader);
    let any = &["server", "token", "visibility"];
    for (name, what, hint) in [
        ("server", "the instance", "set edition.mastodon.server"),
        ("token", "the token", "set edition.mastodon.token"),
    ] {
        reader.needs(MastodonKeys::NAME, any, (name, what, hint));
    }
    let service = Service::Mastodon {
        server: read.server?,
        token: read.token?,
        visibility: read.visibility,
    };
    Some((service, OnUnknown::Repeat))
}

fn bluesky(reader: &mut Reader<'_>) -> Option<(Service, OnUnknown)> {
    let read = BlueskyKeys::read(reader);
    let any = &["handle", "password", "server"];
    for (name, what, hint) in [
        ("handle", "the handle", "set edition.bluesky.handle"),
        (
            "password",
            "the app password",
            "set edition.bluesky.password",
        ),
    ] {
        reader.needs(BlueskyKeys::NAME, any, (name, what, hint));
    }
    let service = Service::Bluesky {
        server: read.server,
        handle: read.handle?,
        password: read.password?,
    };
    Some((service, OnUnknown::Repeat))
}
