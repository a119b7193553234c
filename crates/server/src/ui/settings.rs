//! Settings: the active configuration, tokens and users.
//!
//! The configuration arrives ready for display ([`Configured`]), with secrets masked. It is never
//! changed here: it lives in a file. Tokens and users need scope `admin`, even for reading: names
//! help an attacker to guess.

mod tokens;

use almanack_core::sign_in::User;

use self::tokens::scope_name;
use crate::Configured;
use crate::ui::prelude::*;

/// The pages of settings.
pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/ui/settings", get(show))
        .route("/ui/settings/tokens", post(tokens::create))
        .route("/ui/settings/tokens/{name}/revoke", get(tokens::ask))
        .route("/ui/settings/tokens/{name}/revoke", post(tokens::revoke))
}

#[derive(Debug, Default, Deserialize)]
struct Query {
    /// Only settings that contain this text.
    q: Option<String>,
    /// Code of the last action.
    did: Option<String>,
}

async fn show(Sought(state, viewer, query): Sought<Query>) -> Page {
    let notice = match query.did.as_deref() {
        Some(tokens::REVOKED) => tokens::revoked_notice(viewer.lang),
        _ => Markup::default(),
    };
    let blank = (&tokens::Fields::default(), &Faults::default());
    whole(&state, &viewer, &notice, query.q.as_deref(), blank).await
}

/// The page, with a message above it and a token form as filled in.
async fn whole(
    state: &AppState,
    viewer: &Viewer,
    above: &Markup,
    sought: Option<&str>,
    filled: (&tokens::Fields, &Faults),
) -> Page {
    let inside = if viewer.may(Scope::Admin) {
        let known = state.changes.load_tokens().await?;
        let tokens = tokens::section(viewer, &known, filled);
        let users = users(viewer, &state.changes.load_users().await?);
        html! { (tokens) (users) }
    } else {
        admins_only(viewer)
    };
    let all = state.configuration.get();
    let body = html! {
        (above)
        (section! { viewer.lang; "configuration-title", "Active configuration", "生效的配置";
            (configuration(viewer, &all, sought))
        })
        (inside)
    };
    Ok(Place::Settings.page(viewer, &body))
}

fn admins_only(viewer: &Viewer) -> Markup {
    section! { viewer.lang; "tokens-title", "Tokens and users", "令牌与用户";
        p { (pick!(viewer.lang;
            "Only admins see tokens and users here. On this machine you can also list them with the command line.",
            "只有 admin 权限可以在这里查看令牌和用户。在本机上也可以用命令行列出。")) }
        (Equivalent::command(["token", "list"]).show(viewer))
    }
}

fn configuration(viewer: &Viewer, all: &[Configured], sought: Option<&str>) -> Markup {
    let lang = viewer.lang;
    let found = matching(all, sought);
    let (n, of) = (found.len(), all.len());
    let table = html! {
        p class="hint" { (say!(lang, "Showing {n} of {of} settings. Secrets are masked.", "显示 {of} 项设置中的 {n} 项。密钥已隐藏。")) }
        @if found.is_empty() { (empty(lang.pick("No setting matches.", "没有符合条件的设置。"))) }
        @for group in found.chunk_by(|a, b| part(a) == part(b)) {
            details open[sought.is_some()] {
                summary { code { (group.first().map_or("", |it| part(it))) } " " span class="hint" { (group.len()) } }
                (rows(viewer, group))
            }
        }
    };
    html! { div class="stack" {
        form method="get" action=(Place::Settings.path()) class="fields" role="search" data-try {
            (Field::search("q", lang.pick("Key, value or origin contains", "键、值或来源包含"), sought))
            button type="submit" { (lang.pick("Show", "查看")) }
        }
        (parts::live("configuration", &table))
        (Equivalent::command(["check"]).show(viewer))
    } }
}

/// The part of the configuration that a setting is in. Hundreds of settings in one table are a page
/// of twenty screens; a part is opened, or all are by a search.
fn part(setting: &Configured) -> &str {
    let key = setting.key.as_str();
    key.split_once('.').map_or(key, |(part, _)| part)
}

/// The settings that contain a text, ignoring ASCII case.
pub(crate) fn matching<'a>(all: &'a [Configured], sought: Option<&str>) -> Vec<&'a Configured> {
    let sought = sought.unwrap_or_default().trim().to_ascii_lowercase();
    let holds = |text: &str| text.to_ascii_lowercase().contains(&sought);
    let fits = |it: &&Configured| {
        let texts = [it.key.as_str(), &it.value, &it.origin];
        texts.into_iter().chain(it.words).any(holds)
    };
    all.iter().filter(fits).collect()
}

fn rows(viewer: &Viewer, found: &[&Configured]) -> Markup {
    table! { viewer.lang; "Configuration", "配置";
        for (setting in found) tr(data-row)
        "Key", "键" { th scope="row" { code { (setting.key) } (about(viewer, setting)) } }
        "Value", "值" { td { (setting.value) } }
        "From", "来源" { td { (origin(viewer, &setting.origin)) } }
    }
}

/// The description of a setting, and when a change takes effect.
fn about(viewer: &Viewer, setting: &Configured) -> Markup {
    let [english, chinese] = setting.words;
    let effect = words! { viewer.lang, setting.reloadable;
        true => "Takes effect on reload.", "重新加载后生效。";
        false => "Takes effect after a restart.", "重启后生效。";
    };
    html! { p class="hint" { (viewer.lang.pick(english, chinese)) " " (effect) } }
}

/// Defaults are shown faintly.
fn origin(viewer: &Viewer, origin: &str) -> Markup {
    html! {
        @if origin == "default" { span class="none" { (viewer.lang.pick("default", "默认值")) } }
        @else { strong { (origin) } }
    }
}

/// Users: listed here, created and changed with the command line, where a password can be typed
/// unseen.
fn users(viewer: &Viewer, users: &[User]) -> Markup {
    let lang = viewer.lang;
    let table = table! { lang; "Users", "用户"; or "No users.", "没有用户。";
        for (user in users) tr(data-row)
        "Name", "名称" { th scope="row" { (user.name) } }
        "Scope", "权限" { td { (scope_name(lang, user.scope)) } }
        "Created", "创建于" { td { (viewer.at(user.created_at)) } }
        "Password set", "密码设置于" { td { (viewer.at(user.changed_at)) } }
    };
    section! { lang; "users-title", "Users", "用户";
        (table)
        p class="hint" { (lang.pick("Create, change and remove users with the command line.", "请用命令行新建、更改和移除用户。")) }
        @for words in ["user create ada --scope operate", "user password ada", "user remove ada"] {
            (Equivalent::command(words.split(' ')).show(viewer))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_found_by_key_value_and_origin() {
        let setting = |key: &str, value: &str, origin: &str| Configured {
            key: key.into(),
            value: value.into(),
            origin: origin.into(),
            ..Configured::default()
        };
        let all = [
            setting("node.slots", "16", "default"),
            setting("node.name", "\"News-1\"", "almanack.toml:3"),
        ];
        let keys = |sought| -> Vec<&str> {
            let found = matching(&all, sought);
            found.into_iter().map(|it| it.key.as_str()).collect()
        };
        assert_eq!(keys(None), ["node.slots", "node.name"]);
        assert_eq!(keys(Some(" SLOTS ")), ["node.slots"]);
        assert_eq!(keys(Some("news")), ["node.name"]);
        assert_eq!(keys(Some(".toml")), ["node.name"]);
        assert!(keys(Some("nothing")).is_empty());
    }
}
