//! Pages of a newsletter's readers: subscribe, confirm, unsubscribe.
//!
//! Whoever subscribes gets the same answer whether the address is new, waiting, subscribed or
//! unsubscribed: nobody learns who reads what. Mail programs and their scanners open links, so a
//! GET changes nothing and shows a button; the POST of RFC 8058 needs neither cookie nor sign-in.
//! The path of a link is its authority, so logs show the route instead (`app.rs`).

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

use almanack_core::edition::EditionName;
use almanack_core::locked;
use almanack_core::newsletter::Address;
use almanack_core::newsletter::link::Purpose;
use almanack_core::newsletter::subscriber::State as SubscriberState;
use almanack_core::sign_in::tries::Peer;
use almanack_engine::newsletter::{Followed, Newsletter};
use axum::extract::Path;
use axum::response::Html;
use axum::routing::get;
use axum::{Extension, Form, Router};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::access::client::Client;
use crate::prelude::*;
use crate::ui::links::reader;
use almanack_core::{lang::Lang, say};

/// Requests to subscribe that one address of the network may make in an hour.
const PER_PEER: u32 = 20;
/// Those of all, on this node: each sends a mail.
const PER_NODE: u32 = 2_000;
/// Addresses of the network that are remembered.
const PEERS_MAX: usize = 10_000;

const STYLE: &str = "body{margin:0;background:#f3f1ec;color:#22252a;font:17px/1.6 system-ui,sans-serif}\
main{max-width:34rem;margin:3rem auto;padding:2rem;background:#fff;border-top:4px solid #b4462f}\
h1{margin:0 0 1rem;font-size:1.6rem;line-height:1.25}label{display:block;font-weight:600}\
input{box-sizing:border-box;width:100%;margin:.4rem 0 1rem;padding:.6rem;border:1px solid #6a6f76;font:inherit}\
button{padding:.6rem 1.2rem;border:0;background:#8f3421;color:#fff;font:inherit;font-weight:600;cursor:pointer}\
a{color:#8f3421}.wrong{color:#8f3421;font-weight:600}";

static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = BASE64_STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
});

pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/editions/subscribe", get(form).post(subscribe))
        .route(
            "/editions/{name}/subscribe",
            get(form_named).post(subscribe_named),
        )
        .route("/editions/confirm/{token}", get(ask_confirm).post(confirm))
        .route("/editions/unsubscribe/{token}", get(ask_leave).post(leave))
        .layer(Extension(Arc::new(Limit::default())))
}

/// How many requests came from each address in the present hour, and in all.
#[derive(Default)]
struct Limit(Mutex<(i64, u32, BTreeMap<Peer, u32>)>);

impl Limit {
    fn may_pass(&self, peer: Peer, now: Timestamp) -> bool {
        let mut counted = locked(&self.0);
        let hour = now.as_second().div_euclid(3_600);
        if counted.0 != hour {
            *counted = (hour, 0, BTreeMap::new());
        }
        let (_, all, peers) = &mut *counted;
        let known = peers.len() < PEERS_MAX || peers.contains_key(&peer);
        if *all >= PER_NODE || !known {
            return false;
        }
        let own = peers.entry(peer).or_default();
        if *own >= PER_PEER {
            return false;
        }
        (*own, *all) = (*own + 1, *all + 1);
        true
    }
}

/// The path of the form that subscribes to an edition, if it is open.
pub(crate) fn form_of(state: &AppState, edition: EditionName) -> Option<String> {
    let newsletter = state.newsletters.get(edition);
    let open = newsletter.is_some_and(|it| it.settings.form);
    open.then(|| path_of_form(edition))
}

fn path_of_form(edition: EditionName) -> String {
    format!("{}/subscribe", reader(edition))
}

fn missing() -> Response {
    let body = html! { p { "This server has no such newsletter." } };
    page(StatusCode::NOT_FOUND, Lang::English, "Not found", &body)
}

fn lang(newsletter: &Newsletter) -> Lang {
    let main = newsletter.settings.language.split(['-', '_']).next();
    match main {
        Some(main) if main.eq_ignore_ascii_case("zh") => Lang::Chinese,
        _ => Lang::English,
    }
}

fn page(status: StatusCode, lang: Lang, title: &str, body: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang=(lang.tag()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { h1 { (title) } (body) } }
        }
    };
    let policy = [(header::CONTENT_SECURITY_POLICY, POLICY.as_str())];
    let shown = crate::problem::Page;
    (status, Extension(shown), policy, Html(page.into_string())).into_response()
}

type Shown = Result<Response, Box<Response>>;

/// A page instead of what was asked for.
fn shown(done: Shown) -> Response {
    done.unwrap_or_else(|page| *page)
}

fn open<'a>(state: &'a AppState, name: &str) -> Result<&'a Arc<Newsletter>, Box<Response>> {
    let name = EditionName::parse(name).map_err(|_| Box::new(missing()))?;
    let newsletter = state.newsletters.get(name);
    let newsletter = newsletter.ok_or_else(|| Box::new(missing()))?;
    if newsletter.settings.form {
        return Ok(newsletter);
    }
    let lang = lang(newsletter);
    let words = lang.pick(
        "This newsletter takes no new subscribers here.",
        "此处不接受新的订阅。",
    );
    let title = &newsletter.settings.title;
    let closed = page(StatusCode::NOT_FOUND, lang, title, &html! { p { (words) } });
    Err(Box::new(closed))
}

async fn form(State(state): App) -> Response {
    shown_form(&state, EditionName::default().as_str())
}

async fn form_named(State(state): App, Path(name): Path<String>) -> Response {
    shown_form(&state, &name)
}

fn shown_form(state: &AppState, name: &str) -> Response {
    shown(open(state, name).map(|it| filling(it, StatusCode::OK, "", None)))
}

fn filling(
    newsletter: &Newsletter,
    status: StatusCode,
    typed: &str,
    wrong: Option<&str>,
) -> Response {
    let (lang, title) = (lang(newsletter), &newsletter.settings.title);
    let title = say!(lang, "Subscribe to {title}", "订阅《{title}》");
    let body = html! {
        p { (lang.pick("Every edition by mail. You confirm your address first, and can leave with one click.",
            "每期通过邮件发送。需先确认邮箱，可随时一键退订。")) }
        form method="post" action=(path_of_form(newsletter.settings.edition)) {
            label for="address" { (lang.pick("Mail address", "邮箱地址")) }
            @if let Some(wrong) = wrong { p class="wrong" id="wrong" { (wrong) } }
            input id="address" name="address" type="email" autocomplete="email" required maxlength="254" value=(typed) aria-describedby=[wrong.map(|_| "wrong")];
            button type="submit" { (lang.pick("Subscribe", "订阅")) }
        }
    };
    page(status, lang, &title, &body)
}

#[derive(Deserialize)]
struct Filled {
    #[serde(default)]
    address: String,
}

async fn subscribe(
    State(state): App,
    Extension(limit): Extension<Arc<Limit>>,
    Client(peer): Client,
    Form(filled): Form<Filled>,
) -> Response {
    let name = EditionName::default();
    shown(subscribing(&state, (&limit, peer), name.as_str(), &filled.address).await)
}

async fn subscribe_named(
    State(state): App,
    Path(name): Path<String>,
    Extension(limit): Extension<Arc<Limit>>,
    Client(peer): Client,
    Form(filled): Form<Filled>,
) -> Response {
    shown(subscribing(&state, (&limit, peer), &name, &filled.address).await)
}

async fn subscribing(
    state: &AppState,
    (limit, peer): (&Limit, Peer),
    name: &str,
    typed: &str,
) -> Shown {
    let newsletter = open(state, name)?;
    let lang = lang(newsletter);
    let Ok(address) = Address::parse(typed) else {
        let wrong = lang.pick(
            "Enter an address like name@site.example.",
            "请输入形如 name@site.example 的地址。",
        );
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return Ok(filling(newsletter, status, typed, Some(wrong)));
    };
    if !limit.may_pass(peer, state.clock.now()) {
        let wrong = lang.pick(
            "Too many requests. Try again in an hour.",
            "请求过多，请一小时后再试。",
        );
        return Ok(filling(
            newsletter,
            StatusCode::TOO_MANY_REQUESTS,
            typed,
            Some(wrong),
        ));
    }
    let (subscribers, edition) = (newsletter.subscribers(), newsletter.settings.edition);
    if let Err(error) = subscribers.ask(edition, &address, None).await {
        return Err(Box::new(failed(lang, &error)));
    }
    let title = lang.pick("Check your mail", "请查收邮件");
    let body = html! {
        p { (lang.pick("If this address is not subscribed yet, a mail with a link is on its way. Open the link to confirm.",
            "如果该地址尚未订阅，我们已发送一封含链接的邮件。请打开链接确认订阅。")) }
        p { (lang.pick("Nothing arrived? Look in the spam folder, or try again in an hour.",
            "没有收到？请检查垃圾邮件，或一小时后再试。")) }
    };
    Ok(page(StatusCode::OK, lang, title, &body))
}

fn failed(lang: Lang, error: &almanack_engine::newsletter::Error) -> Response {
    tracing::error!(error = error.chain(), "could not change a subscriber");
    let words = lang.pick(
        "This did not work. Try again later.",
        "操作未成功，请稍后再试。",
    );
    let title = lang.pick("Try again later", "请稍后再试");
    page(
        StatusCode::SERVICE_UNAVAILABLE,
        lang,
        title,
        &html! { p { (words) } },
    )
}

/// The link was not signed by this server, or is too old.
fn invalid(newsletter: &Newsletter) -> Response {
    let lang = lang(newsletter);
    let title = lang.pick("This link is not valid", "链接无效");
    let body = html! {
        p { (lang.pick("It may be incomplete, or older than a week. ", "链接可能不完整，或已超过一周。"))
            @if newsletter.settings.form {
                a href=(path_of_form(newsletter.settings.edition)) { (lang.pick("Subscribe again", "重新订阅")) }
            } }
    };
    page(StatusCode::NOT_FOUND, lang, title, &body)
}

fn question(
    newsletter: &Newsletter,
    (purpose, token): (Purpose, &str),
    words: (&str, &str),
) -> Response {
    let (title, button) = words;
    let body = html! {
        form method="post" action={ "/editions/" (purpose) "/" (token) } {
            button type="submit" { (button) }
        }
    };
    page(StatusCode::OK, lang(newsletter), title, &body)
}

async fn ask_confirm(State(state): App, Path(token): Path<String>) -> Response {
    shown(asking(&state, Purpose::Confirm, &token).await)
}

async fn ask_leave(State(state): App, Path(token): Path<String>) -> Response {
    shown(asking(&state, Purpose::Unsubscribe, &token).await)
}

/// What a link leads to, or the page that says why nothing.
async fn followed<'a>(
    state: &'a AppState,
    purpose: Purpose,
    token: &str,
) -> Result<Followed<'a>, Box<Response>> {
    // Whoever has a link that nobody signed sees the page of any newsletter.
    let any = state.newsletters.get(EditionName::default());
    let any = any.or_else(|| state.newsletters.iter().next());
    let any = any.ok_or_else(missing)?;
    let found = state.newsletters.follow(purpose, token).await;
    let found = found.map_err(|error| Box::new(failed(lang(any), &error)))?;
    found.ok_or_else(|| Box::new(invalid(any)))
}

async fn asking(state: &AppState, purpose: Purpose, token: &str) -> Shown {
    let Followed {
        newsletter, title, ..
    } = followed(state, purpose, token).await?;
    let lang = lang(newsletter);
    let (title, button) = match purpose {
        Purpose::Confirm => (
            say!(lang, "Subscribe to {title}?", "确认订阅《{title}》？"),
            lang.pick("Confirm subscription", "确认订阅"),
        ),
        Purpose::Unsubscribe => (
            say!(lang, "Unsubscribe from {title}?", "退订《{title}》？"),
            lang.pick("Unsubscribe", "退订"),
        ),
    };
    Ok(question(newsletter, (purpose, token), (&title, button)))
}

async fn confirm(State(state): App, Path(token): Path<String>) -> Response {
    shown(act(&state, Purpose::Confirm, &token).await)
}

async fn leave(State(state): App, Path(token): Path<String>) -> Response {
    shown(act(&state, Purpose::Unsubscribe, &token).await)
}

async fn act(state: &AppState, purpose: Purpose, token: &str) -> Shown {
    use almanack_engine::newsletter::Error;
    let Followed {
        newsletter,
        id,
        title: name,
    } = followed(state, purpose, token).await?;
    let subscribers = newsletter.subscribers();
    let done = match purpose {
        Purpose::Confirm => subscribers.confirm(id).await,
        Purpose::Unsubscribe => subscribers.unsubscribe(id).await,
    };
    let lang = lang(newsletter);
    let subscriber = match (done, purpose) {
        (Ok(subscriber), _) => Some(subscriber),
        // Deleted since: there is nothing left to unsubscribe.
        (Err(Error::Unknown), Purpose::Unsubscribe) => None,
        (Err(Error::Unknown), Purpose::Confirm) => return Err(Box::new(invalid(newsletter))),
        (Err(error), _) => return Err(Box::new(failed(lang, &error))),
    };
    let is_in = subscriber.is_some_and(|it| it.state == SubscriberState::Confirmed);
    // A link to confirm that is opened again after leaving subscribes nobody.
    if purpose == Purpose::Confirm && !is_in {
        return Err(Box::new(invalid(newsletter)));
    }
    let (title, words) = match purpose {
        Purpose::Confirm => (
            say!(lang, "You are subscribed to {name}", "已订阅《{name}》"),
            lang.pick("The next edition comes by mail.", "下一期将通过邮件发送。"),
        ),
        Purpose::Unsubscribe => (
            say!(lang, "You are unsubscribed from {name}", "已退订《{name}》"),
            lang.pick(
                "You get no more mail of this newsletter.",
                "您不会再收到这份邮件。",
            ),
        ),
    };
    Ok(page(StatusCode::OK, lang, &title, &html! { p { (words) } }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed_43_one_address_of_the_network_subscribes_a_few_and_others_as_many() {
        let (limit, at) = (Limit::default(), |second| {
            Timestamp::from_second(second).unwrap()
        });
        let peer = |text: &str| Peer::address(text.parse().ok());
        let passed = (0..500).filter(|_| limit.may_pass(peer("192.0.2.1"), at(10)));
        assert_eq!(passed.count(), PER_PEER as usize);
        assert!(limit.may_pass(peer("192.0.2.2"), at(10)), "another's");
        assert!(
            limit.may_pass(peer("192.0.2.1"), at(3_600)),
            "the next hour"
        );
        let other = |n: u32| peer(&std::net::Ipv4Addr::from_bits(n).to_string());
        let passed = (0..9_000).filter(|n| limit.may_pass(other(*n), at(7_200)));
        assert_eq!(passed.count(), PER_NODE as usize, "of all");
    }
}
