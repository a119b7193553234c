//! Tokens: created, listed and revoked.
//!
//! A new token is shown once, in the answer to its form: it is in no address, no log and no store.
//! That answer is therefore no redirect; reloading submits the form again, which is refused,
//! because the name is in use.

use almanack_core::{store, token::Token};

use super::whole;
use crate::access::REMEMBERED_FOR;
use crate::token;
use crate::tokens::{TOKEN, check_name};
use crate::ui::prelude::*;

/// The code of a revocation in the address.
pub(super) const REVOKED: &str = "revoked";
/// Longest lifetime: ten years.
const DAYS_MAX: i64 = 3_650;

/// Valid values of the fields that must not be empty.
const STAND_INS: &[(&str, &str)] = &[("name", "x"), ("scope", "read")];

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Fields {
    name: Option<String>,
    scope: Option<String>,
    days: Option<String>,
}

/// All tokens, and the form for a new one.
pub(super) fn section(
    viewer: &Viewer,
    tokens: &[Token],
    (filled, faults): (&Fields, &Faults),
) -> Markup {
    let lang = viewer.lang;
    let revoke = |name: &str| {
        let label = say!(lang, "Revoke {name}", "撤销 {name}");
        html! { a href=(revoking(name)) aria-label=(label) { (lang.pick("Revoke…", "撤销…")) } }
    };
    let table = table! { lang; "Tokens", "令牌"; or "There are no tokens.", "没有令牌。";
        for (token in tokens) tr(data-row)
        "Name", "名称" { th scope="row" { (token.name) } }
        "Scope", "权限" { td { (token.scope) } }
        "State", "状态" { td { (state(viewer, token)) } }
        "Created", "创建于" { td { (viewer.at(token.created_at)) } }
        "Expires", "到期" {
            td { @if let Some(at) = token.expires_at { (viewer.at(at)) } @else { (lang.pick("never", "永不")) } }
        }
        "Revoke", "撤销" {
            td { @if token.is_valid(viewer.now) { (revoke(&token.name)) } @else { (dash()) } }
        }
    };
    let command = "token create article-service --scope operate --expires 90d";
    section! { lang; "tokens-title", "Tokens", "令牌";
        (table)
        h3 { (lang.pick("New token", "新建令牌")) }
        (form::form(viewer, "/ui/settings/tokens", &faults.show(lang, &fields(lang, filled))))
        (Equivalent::command(command.split(' ')).show(viewer))
    }
}

fn state(viewer: &Viewer, token: &Token) -> Markup {
    let badge = badges! { viewer.lang, token.revoked_at;
        Some(_) => "cancelled", "revoked", "已撤销";
        None if token.is_valid(viewer.now) => "done", "valid", "有效";
        None => "skipped", "expired", "已到期";
    };
    html! { (badge) @if let Some(at) = token.revoked_at { " " (viewer.at(at)) } }
}

fn revoking(name: &str) -> String {
    format!("/ui/settings/tokens/{}/revoke", percent::encode(name))
}

fn fields(lang: Lang, filled: &Fields) -> Markup {
    let scopes = Scope::ALL.map(|scope| (scope.as_str(), scope_name(lang, scope)));
    html! {
        div class="fields" {
            label { (lang.pick("Name", "名称"))
                input name="name" required maxlength=(token::NAME_BYTES_MAX) pattern="[A-Za-z0-9._\\-]+" value=[filled.name.as_deref()]
                    placeholder="article-service" autocomplete="off" spellcheck="false";
            }
            (choice("scope", lang.pick("Scope", "权限"), filled.scope.as_deref(), scopes))
            label { (lang.pick("Days until expiry (empty: never)", "有效天数（留空为永不到期）"))
                input type="number" name="days" min="1" max=(DAYS_MAX) value=[filled.days.as_deref()];
            }
            button type="submit" class="primary" { (lang.pick("Create token", "新建令牌")) }
        }
    }
}

/// A scope with its description.
pub(super) fn scope_name(lang: Lang, scope: Scope) -> &'static str {
    words! { lang, scope;
        Scope::Work => "work: take tasks as a worker, nothing else", "work：仅供工作进程领取任务";
        Scope::Read => "read: view", "read：查看";
        Scope::Operate => "operate: view and change", "operate：查看和操作";
        Scope::Admin => "admin: everything", "admin：全部";
    }
}

/// Creates a token and shows it, or the form again with everything that is wrong.
pub(crate) async fn create(Filled(state, viewer, fields): Filled<Fields>) -> Answer {
    viewer.must(Scope::Admin, "creating a token")?;
    let made = match Faults::read(&fields, STAND_INS, |form| form.make(&viewer)) {
        Ok((name, scope, expires_at)) => {
            let secret = token::draw(state.entropy.as_ref());
            let token = token::about(&name, &secret, scope, viewer.now, expires_at);
            save(&state, &token).await?.map(|()| (token, secret))
        }
        Err(faults) => Err(faults),
    };
    match made {
        Ok((token, secret)) => shown(&state, &viewer, &token, &secret).await,
        Err(faults) => {
            let form = (&fields, &faults);
            Ok(again(whole(&state, &viewer, &html! {}, None, form).await?))
        }
    }
}

/// Stores a token, unless its name is taken: the history shows tokens and users by name.
async fn save(state: &AppState, token: &Token) -> Result<Result<(), Faults>> {
    if state.changes.load_user(&token.name).await?.is_some() {
        let user = both!(
            "A user already has this name. Choose another.",
            "已有同名用户。请换一个名称。"
        );
        return Ok(Err(Fault::at("name", user).into()));
    }
    match state.changes.save_token(token).await {
        Ok(()) => Ok(Ok(())),
        Err(store::Error::Taken { .. }) => Ok(Err(Fault::at("name", taken()).into())),
        Err(error) => Err(error.into()),
    }
}

fn taken() -> Sentence {
    both!(
        "This name is or was in use. A token name is never reused, so the history stays unambiguous. Choose another.",
        "该名称正在使用或曾被使用。为避免历史记录混淆，令牌名称不会重复使用。请换一个。"
    )
}

impl Fields {
    fn make(&self, viewer: &Viewer) -> Result<(String, Scope, Option<Timestamp>), Fault> {
        let name = self.name.as_deref().unwrap_or_default().trim();
        check_name(TOKEN, name)?;
        let no_scope = || Fault::at("scope", both!("Choose a scope.", "请选择权限。"));
        let scope = self.scope.as_deref().and_then(Scope::parse);
        let scope = scope.ok_or_else(no_scope)?;
        let range = || {
            both!(
                "Days must be 1 to {DAYS_MAX}.",
                "天数须为 1 到 {DAYS_MAX}。"
            )
        };
        let expires_at = self.days.as_deref().map(|days| expiry(days, viewer.now));
        let expires_at = expires_at.map(|at| at.ok_or_else(|| Fault::at("days", range())));
        Ok((name.to_owned(), scope, expires_at.transpose()?))
    }
}

fn expiry(days: &str, now: Timestamp) -> Option<Timestamp> {
    let days: i64 = days.trim().parse().ok()?;
    let days = Some(days).filter(|days| (1..=DAYS_MAX).contains(days))?;
    now.checked_add(SignedDuration::from_hours(days * 24)).ok()
}

async fn shown(state: &AppState, viewer: &Viewer, token: &Token, secret: &str) -> Answer {
    let (name, scope) = (&token.name, token.scope);
    let notice = parts::notice(&html! {
        p { (say!(viewer.lang, "Token {name}, scope {scope}. It is shown only once; store it as a secret.",
            "令牌 {name}，权限 {scope}。它只显示这一次，请妥善保存。")) }
        div class="command" {
            pre tabindex="0" { code { (secret) } }
            button type="button" class="copy" data-copy=(secret) hidden { (viewer.lang.pick("Copy", "复制")) }
        }
    });
    let blank = (&Fields::default(), &Faults::default());
    let page = whole(state, viewer, &notice, None, blank).await?;
    Ok(page.into_response())
}

/// Asks before a token is revoked.
pub(crate) async fn ask(State(state): App, Path(name): Path<String>, viewer: Viewer) -> Page {
    let requester = viewer.must(Scope::Admin, "revoking a token")?;
    let tokens = state.changes.load_tokens().await?;
    let works = |token: &&Token| token.name == name && token.is_valid(viewer.now);
    let token = tokens.iter().find(works).ok_or_else(|| no_such(&name))?;
    let (lang, scope) = (viewer.lang, token.scope);
    let sentence = html! {
        (say!(lang, "The token (scope {scope}) stops working permanently. Requests that use it are refused.",
            "该令牌（权限 {scope}）将永久失效，使用它的请求会被拒绝。"))
        @if requester.name() == name { " " strong { (lang.pick("You are signed in with this token.", "您正在使用该令牌登录。")) } }
    };
    let question = Question {
        title: &say!(lang, "Revoke token {name}", "撤销令牌 {name}"),
        sentence,
        fields: Markup::default(),
        button: lang.pick("Revoke token", "撤销令牌"),
        back: Place::Settings.path(),
        equivalent: Equivalent::command(["token", "revoke", &name]),
    };
    Ok(form::ask(&viewer, Place::Settings, &question))
}

fn no_such(name: &str) -> Problem {
    let detail = both!(
        "no valid token is called `{name}`",
        "没有名为 `{name}` 的有效令牌"
    );
    Problem::new(Code::NoSuchPath, detail)
}

/// Revokes a token.
pub(crate) async fn revoke(Path(name): Path<String>, Filled(state, viewer, _): Filled) -> Answer {
    viewer.must(Scope::Admin, "revoking a token")?;
    if !state.changes.revoke_token(&name, state.clock.now()).await? {
        return Err(no_such(&name));
    }
    Ok(see(&format!("{}?did={REVOKED}", Place::Settings.path())))
}

/// The result of a revocation.
pub(super) fn revoked_notice(lang: Lang) -> Markup {
    let longer = length(lang, REMEMBERED_FOR);
    parts::notice(&html! {
        p { (say!(lang, "Token revoked. Nodes that cached it may accept it for up to {longer} more.",
            "令牌已撤销。缓存了它的节点最多还会在 {longer} 内接受它。")) }
    })
}
