//! `almanack token create|list|revoke`
//!
//! A token is made of 256 random bits and shown once; the store keeps its SHA-256 and the history
//! its name.

use almanack_core::{
    store,
    time::Entropy,
    token::{Scope, TOKEN_PREFIX, Token},
};
use almanack_server::access::REMEMBERED_FOR;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{Desk, Errand};
use crate::{
    args::{ScopeName, TokenCommand},
    config::secret::Secret,
    failure::{Exit, Failure},
    output::{Cell, Ink, Output},
    process::is_guarded,
    view::TokenView,
    when::{self, Relative},
    wiring,
};

const NAME_BYTES_MAX: usize = 100;
/// A node decides at its start whether it asks for tokens, and this changes what it will decide.
const FIRST_TOKEN: &str = "\
This is the first token: nodes that listen on loopback ask everybody for one after their next start.
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
    let secret = draw(wiring::entropy().as_ref());
    let token = Token {
        name: name.to_owned(),
        hash: hash(&secret),
        scope,
        created_at: now,
        expires_at,
        revoked_at: None,
    };
    let others = desk.store.load_tokens().await?;
    let first = !is_guarded(desk.store.as_ref(), now).await?;
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
    let fits = (1..=NAME_BYTES_MAX).contains(&name.len());
    if fits
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    {
        return Ok(());
    }
    let what =
        format!("a {what}'s name has 1 to {NAME_BYTES_MAX} letters, digits, `-`, `_` or `.`");
    Err(Failure::new(Exit::Usage, what).hint("for example: article-service"))
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

fn draw(entropy: &dyn Entropy) -> Secret {
    let bytes: Vec<u8> = (0..4)
        .flat_map(|_| entropy.next_u64().to_le_bytes())
        .collect();
    Secret::new(&format!("{TOKEN_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
}

fn hash(token: &Secret) -> String {
    format!("{:x}", Sha256::digest(token.expose().as_bytes()))
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

#[cfg(test)]
mod tests {
    use super::*;

    struct Same(u64);

    impl Entropy for Same {
        fn next_u64(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn a_token_is_its_prefix_and_256_bits() {
        let token = draw(&Same(u64::MAX));
        let body = token.expose().strip_prefix("alm_").unwrap();
        assert_eq!(URL_SAFE_NO_PAD.decode(body).unwrap(), [0xff; 32]);
    }

    #[test]
    fn the_hash_is_sha_256_of_the_whole_token() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash(&Secret::new("abc")), expected);
    }
}
