//! `almanack token create|list|revoke`
//!
//! A token is shown once; the rules of making one are the server's ([`almanack_server::token`]).

use almanack_core::{
    secret::Secret,
    store,
    token::{Scope, Token},
};
use almanack_server::{access::REMEMBERED_FOR, token};
use jiff::Timestamp;
use serde_json::json;

use super::{Desk, Errand};
use crate::{
    args::{ScopeName, TokenCommand},
    failure::{Exit, Failure},
    output::{Cell, Ink, Output},
    process::is_guarded,
    view::TokenView,
    when::{self, Relative},
    wiring,
};

/// Open nodes close when they hear of this, and stay closed.
const FIRST_TOKEN: &str = "\
This is the first token: nodes that were open ask everybody for one from now on. Revoking it does not open them again.
";

/// Only making a token makes sense on a database that is not there yet.
pub(super) fn errand(command: &TokenCommand) -> Errand {
    match command {
        TokenCommand::Create { .. } => Errand::New,
        TokenCommand::List | TokenCommand::Revoke { .. } => Errand::Existing,
    }
}

/// Does what was asked with tokens.
pub(super) async fn run(
    desk: &Desk,
    command: &TokenCommand,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match command {
        TokenCommand::Create {
            name,
            scope,
            expires,
        } => create(desk, name, scope_of(*scope), expires.as_deref(), output).await,
        TokenCommand::List => list(desk, output).await,
        TokenCommand::Revoke { name } => revoke(desk, name, output).await,
    }
}

pub(super) fn scope_of(name: ScopeName) -> Scope {
    match name {
        ScopeName::Read => Scope::Read,
        ScopeName::Operate => Scope::Operate,
        ScopeName::Admin => Scope::Admin,
    }
}

async fn create(
    desk: &Desk,
    name: &str,
    scope: Scope,
    expires: Option<&str>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    check_name("token", name)?;
    refuse_users_name(desk, name).await?;
    let now = desk.clock.now();
    let expires_at = expires.map(|text| expiry(text, now)).transpose()?;
    let secret = Secret::new(&token::draw(wiring::entropy().as_ref()));
    let token = token::about(name, secret.expose(), scope, now, expires_at);
    let others = desk.store.load_tokens().await?;
    let first = !is_guarded(desk.store.as_ref()).await?;
    let saved = desk.store.save_token(&token).await;
    saved.map_err(|error| not_saved(error, &others))?;
    if output.json {
        let view = TokenView::of(&token, now);
        output.value(&json!({ "token": secret.expose(), "about": view }))?;
    } else {
        output.line(secret.expose())?;
        output.note("This is the only time the token is shown; keep it where secrets are kept.\n");
        if first {
            output.note(FIRST_TOKEN);
        }
    }
    Ok(Exit::Ok)
}

/// The history shows a name alone, so it must be one of one asker.
async fn refuse_users_name(desk: &Desk, name: &str) -> Result<(), Failure> {
    if desk.store.load_user(name).await?.is_none() {
        return Ok(());
    }
    let what = format!("a user is called `{name}`");
    Err(Failure::new(Exit::Failed, what)
        .during("create token")
        .hint("choose another name; the history shows it for whoever did something"))
}

/// A name stands in the history for whoever had it, and so for one token for ever.
fn not_saved(error: store::Error, others: &[Token]) -> Failure {
    let revoked = match &error {
        store::Error::Taken { name, .. } => {
            let holder = others.iter().find(|other| other.name == *name);
            holder.map(|holder| holder.revoked_at.is_some())
        }
        _ => None,
    };
    let failure = Failure::from(error).during("create token");
    match revoked {
        Some(true) => failure.hint(
            "it was revoked, but names are not reused, so that the history stays clear; choose \
             another",
        ),
        Some(false) => failure.hint("choose another name; each stands for one token only"),
        None => failure,
    }
}

/// Names of tokens and users look alike, because the history shows both in one place.
pub(super) fn check_name(what: &str, name: &str) -> Result<(), Failure> {
    token::check_name(name).map_err(|invalid| {
        Failure::new(Exit::Usage, format!("a {what}'s {invalid}"))
            .hint("for example: article-service")
    })
}

fn expiry(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    let unclear = |unclear: when::Unclear| {
        Failure::new(Exit::Usage, format!("--expires: {}", unclear.what)).hint(unclear.hint)
    };
    let after = when::parse_duration(text).map_err(unclear)?;
    match now.checked_add(after) {
        Ok(at) if at > now => Ok(at),
        _ => Err(
            Failure::new(Exit::Usage, format!("--expires: `{text}` is out of range"))
                .hint("give a time to live, like 90d"),
        ),
    }
}

async fn list(desk: &Desk, output: &mut Output) -> Result<Exit, Failure> {
    let tokens = desk.store.load_tokens().await?;
    let now = desk.clock.now();
    if output.json {
        let views: Vec<TokenView<'_>> = tokens
            .iter()
            .map(|token| TokenView::of(token, now))
            .collect();
        output.value(&json!({ "tokens": views }))?;
        return Ok(Exit::Ok);
    }
    if tokens.is_empty() {
        output.note("no tokens\n");
        return Ok(Exit::Ok);
    }
    let rows: Vec<Vec<Cell>> = tokens.iter().map(|token| row(token, now)).collect();
    output.table(&["NAME", "SCOPE", "STATE", "CREATED", "EXPIRES"], &rows)?;
    Ok(Exit::Ok)
}

fn row(token: &Token, now: Timestamp) -> Vec<Cell> {
    let state = match token.revoked_at {
        Some(_) => Cell::new("revoked").ink(Ink::Bad),
        None if token.is_valid(now) => Cell::new("valid").ink(Ink::Good),
        None => Cell::new("expired").ink(Ink::Bad),
    };
    let relative = |at| Relative { at, now }.to_string();
    vec![
        Cell::new(&*token.name),
        Cell::new(token.scope.as_str()),
        state,
        Cell::new(relative(token.created_at)),
        Cell::new(
            token
                .expires_at
                .map_or_else(|| "never".to_owned(), relative),
        ),
    ]
}

async fn revoke(desk: &Desk, name: &str, output: &mut Output) -> Result<Exit, Failure> {
    let now = desk.clock.now();
    if !desk.store.revoke_token(name, now).await? {
        return Err(Failure::new(
            Exit::NotFound,
            format!("no working token is called `{name}`"),
        )
        .hint("`almanack token list` shows all"));
    }
    if output.json {
        output.value(&json!({ "name": name, "revoked_at": now }))?;
    } else {
        output.line(&format!("revoked {name}"))?;
        let longer = when::rounded(REMEMBERED_FOR);
        output.note(&format!(
            "A node that has just seen it may take it for up to {longer} more.\n"
        ));
    }
    Ok(Exit::Ok)
}
