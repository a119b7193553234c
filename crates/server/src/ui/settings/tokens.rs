//! Tokens: made, listed and taken back.
//!
//! A new token is shown on the answer to its form, once: it is in no address, no log and no store. That answer is therefore no
//! redirect; sent again by reloading, the form is refused, because the name is taken.

use almanack_core::{store, token::Token};
use axum::extract::Path;

use super::whole;
use crate::ui::prelude::*;
use crate::{access::REMEMBERED_FOR, percent, token, ui::form};

/// Says that a token was taken back.
pub(super) const REVOKED: &str = "revoked";
/// Longest life that can be asked for here: ten years are as good as for ever.
const DAYS_MAX: i64 = 3_650;

/// What was filled in.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Fields {
    name: Option<String>,
    scope: Option<String>,
    days: Option<String>,
}

/// Nothing but the key.
#[derive(Debug, Deserialize)]
pub(crate) struct Nothing {}

/// Refuses whoever may less.
fn admin(viewer: &Viewer, what: &str) -> Result<()> {
    let nobody = || Problem::new(Code::Unauthenticated, "sign in first");
    let asker = viewer.asker.as_ref().ok_or_else(nobody)?;
    asker.must(Scope::Admin, what)
}

/// All tokens, and the form for a new one.
pub(super) fn section(viewer: &Viewer, tokens: &[Token], filled: &Fields) -> Markup {
    let lang = viewer.lang;
    let head = [
        lang.pick("Name", "名称"),
        lang.pick("Scope", "权限"),
        lang.pick("State", "状态"),
        lang.pick("Created", "创建于"),
        lang.pick("Expires", "到期"),
        lang.pick("Take back", "撤销"),
    ];
    let rows = html! { @for token in tokens { (row(viewer, token)) } };
    let body = html! {
        @if tokens.is_empty() { (parts::empty(lang.pick("There are no tokens.", "没有令牌。"))) }
        @else { (parts::table(lang.pick("Tokens", "令牌"), &head, &rows)) }
        h3 { (lang.pick("New token", "新建令牌")) }
        (form::form(viewer, "/ui/settings/tokens", &fields(lang, filled)))
        (Equivalent::command(&["token", "create", "article-service", "--scope", "operate", "--expires", "90d"]).show(viewer))
    };
    parts::section("tokens-title", lang.pick("Tokens", "令牌"), &body)
}

fn row(viewer: &Viewer, token: &Token) -> Markup {
    let lang = viewer.lang;
    let name = &token.name;
    let state = match token.revoked_at {
        Some(_) => parts::badge("cancelled", lang.pick("revoked", "已撤销")),
        None if token.is_valid(viewer.now) => parts::badge("done", lang.pick("works", "有效")),
        None => parts::badge("skipped", lang.pick("expired", "已到期")),
    };
    html! {
        tr data-row {
            th scope="row" { (name) }
            td { (token.scope) }
            td { (state) @if let Some(at) = token.revoked_at { " " (viewer.at(at)) } }
            td { (viewer.at(token.created_at)) }
            td { @if token.expires_at.is_some() { (viewer.at_or_dash(token.expires_at)) } @else { (lang.pick("never", "永不")) } }
            td {
                @if token.is_valid(viewer.now) {
                    a href=(revoking(name)) aria-label=(say!(lang, "Revoke {name}", "撤销 {name}")) { (lang.pick("Revoke…", "撤销…")) }
                } @else { span class="none" { "–" } }
            }
        }
    }
}

fn revoking(name: &str) -> String {
    format!("/ui/settings/tokens/{}/revoke", percent::encode(name))
}

fn fields(lang: Lang, filled: &Fields) -> Markup {
    html! {
        div class="fields" {
            label { (lang.pick("Name", "名称"))
                input name="name" required maxlength=(token::NAME_BYTES_MAX) pattern="[A-Za-z0-9._\\-]+" value=[filled.name.as_deref()]
                    placeholder="article-service" autocomplete="off" spellcheck="false";
            }
            label { (lang.pick("Scope", "权限"))
                select name="scope" {
                    @for scope in Scope::ALL {
                        option value=(scope.as_str()) selected[filled.scope.as_deref() == Some(scope.as_str())] { (scope_name(lang, scope)) }
                    }
                }
            }
            label { (lang.pick("Expires after days (empty: never)", "有效天数（留空为永不到期）"))
                input type="number" name="days" min="1" max=(DAYS_MAX) value=[filled.days.as_deref()];
            }
            button type="submit" class="primary" { (lang.pick("Create the token", "新建令牌")) }
        }
    }
}

/// What a scope allows, in a few words.
pub(super) fn scope_name(lang: Lang, scope: Scope) -> &'static str {
    match scope {
        Scope::Read => lang.pick("read: look", "read：查看"),
        Scope::Operate => lang.pick("operate: look and act", "operate：查看和操作"),
        Scope::Admin => lang.pick("admin: everything", "admin：全部"),
    }
}

/// Makes a token and shows it, or the form again with what is wrong.
pub(crate) async fn create(State(state): App, filled: Filled<Fields>) -> Answer {
    let (viewer, fields) = (filled.viewer, filled.form);
    admin(&viewer, "making a token")?;
    let made = fields.make(&viewer);
    let refused = match made {
        // The history shows tokens and users in one place.
        Ok((name, ..)) if state.changes.load_user(name).await?.is_some() => of_a_user(viewer.lang),
        Ok((name, scope, expires_at)) => {
            let secret = token::draw(state.entropy.as_ref());
            let token = token::about(name, &secret, scope, viewer.now, expires_at);
            match state.changes.save_token(&token).await {
                Ok(()) => return shown(&state, &viewer, &token, &secret).await,
                Err(store::Error::Taken { .. }) => taken(viewer.lang),
                Err(error) => return Err(error.into()),
            }
        }
        Err(refused) => refused,
    };
    let wrong = html! { p class="wrong" role="alert" { (refused) } };
    let page = whole(&state, &viewer, &wrong, None, &fields).await?;
    Ok(told(&viewer, StatusCode::UNPROCESSABLE_ENTITY, page))
}

fn of_a_user(lang: Lang) -> Markup {
    html! { (lang.pick("A user has this name. Choose another.", "已有同名用户。请换一个名称。")) }
}

fn taken(lang: Lang) -> Markup {
    html! { (lang.pick(
        "This name is taken, or was once: each stands for one token for ever, so that the history stays clear. Choose another.",
        "这个名称已被使用（或曾被使用）：每个名称永远只对应一个令牌，以保证历史清晰。请换一个。",
    )) }
}

impl Fields {
    fn make(&self, viewer: &Viewer) -> Result<(&str, Scope, Option<Timestamp>), Markup> {
        let lang = viewer.lang;
        let name = self.name.as_deref().unwrap_or_default().trim();
        token::check_name(name).map_err(|invalid| lang.english(&format!("a token's {invalid}")))?;
        let scope = self.scope.as_deref().and_then(Scope::parse);
        let scope =
            scope.ok_or_else(|| html! { (lang.pick("Choose a scope.", "请选择权限。")) })?;
        let expires_at = self.days.as_deref().map(|days| expiry(days, viewer.now));
        let out_of_range = || html! { (say!(lang, "Days must be 1 to {DAYS_MAX}.", "天数须为 1 到 {DAYS_MAX}。")) };
        match expires_at {
            Some(None) => Err(out_of_range()),
            known => Ok((name, scope, known.flatten())),
        }
    }
}

fn expiry(days: &str, now: Timestamp) -> Option<Timestamp> {
    let days: i64 = days.trim().parse().ok()?;
    let days = Some(days).filter(|days| (1..=DAYS_MAX).contains(days))?;
    now.checked_add(SignedDuration::from_hours(days * 24)).ok()
}

async fn shown(state: &AppState, viewer: &Viewer, token: &Token, secret: &str) -> Answer {
    let lang = viewer.lang;
    let (name, scope) = (&token.name, token.scope);
    let notice = parts::notice(&html! {
        p { (say!(lang, "Token {name} of scope {scope}. This is the only time it is shown; keep it where secrets are kept.",
            "令牌 {name}，权限 {scope}。它只显示这一次，请妥善保存。")) }
        div class="command" {
            pre tabindex="0" { code { (secret) } }
            button type="button" class="copy" data-copy=(secret) hidden { (lang.pick("Copy", "复制")) }
        }
    });
    let page = whole(state, viewer, &notice, None, &Fields::default()).await?;
    Ok(page.into_response())
}

/// Asks whether to take a token back.
pub(crate) async fn ask(State(state): App, Path(name): Path<String>, viewer: Viewer) -> Page {
    admin(&viewer, "taking a token back")?;
    let tokens = state.changes.load_tokens().await?;
    let works = |token: &&Token| token.name == name && token.is_valid(viewer.now);
    let token = tokens.iter().find(works).ok_or_else(|| no_such(&name))?;
    let (lang, scope) = (viewer.lang, token.scope);
    let own = viewer
        .asker
        .as_ref()
        .is_some_and(|asker| asker.name() == name);
    let title = say!(lang, "Revoke token {name}", "撤销令牌 {name}");
    let sentence = html! {
        (say!(lang, "1 token of scope {scope} would stop working, for good. Whoever uses it is refused from then on.",
            "1 个权限为 {scope} 的令牌将永久失效，使用它的请求将被拒绝。"))
        @if own { " " strong { (lang.pick("It is the one you are using.", "这正是您在使用的令牌。")) } }
    };
    let question = Question {
        title: &title,
        sentence,
        action: &revoking(&name),
        fields: &[],
        body: Markup::default(),
        button: lang.pick("Revoke the token", "撤销令牌"),
        back: Place::Settings.path(),
        equivalent: Some(Equivalent::command(&["token", "revoke", &name])),
    };
    Ok(form::ask(&viewer, Place::Settings, &question))
}

fn no_such(name: &str) -> Problem {
    Problem::new(
        Code::NoSuchPath,
        format!("no working token is called `{name}`"),
    )
}

/// Takes a token back.
pub(crate) async fn revoke(
    State(state): App,
    Path(name): Path<String>,
    filled: Filled<Nothing>,
) -> Answer {
    admin(&filled.viewer, "taking a token back")?;
    if !state.changes.revoke_token(&name, state.clock.now()).await? {
        return Err(no_such(&name));
    }
    Ok(see(&format!("{}?did={REVOKED}", Place::Settings.path())))
}

/// What is told afterwards.
pub(super) fn revoked_notice(lang: Lang) -> Markup {
    let longer = length(lang, REMEMBERED_FOR);
    parts::notice(&html! {
        p { (say!(lang, "The token was revoked. A node that has just seen it may take it for up to {longer} more.",
            "令牌已撤销。刚刚见过它的节点最多还会在 {longer} 内接受它。")) }
    })
}
