//! `almanack token create|list|revoke`

use almanack_server::access::REMEMBERED_FOR;

use crate::commands::prelude::*;

/// Open nodes close when they hear of this, and stay closed.
const FIRST_TOKEN: &str = "\
This is the first token: from now on, nodes require a token or a sign-in. Revoking it does not open them again.
";

/// Does what was asked with tokens.
pub(super) async fn run(at: &Connector<'_>, command: &TokenCommand, output: &mut Output) -> Done {
    let creates = matches!(command, TokenCommand::Create { .. });
    let client = at.open(DatabaseNeed::new_if(creates)).await?;
    match command {
        TokenCommand::Create {
            name,
            scope,
            expires,
        } => create(&client, (name, *scope), expires.as_deref(), output).await,
        TokenCommand::List => {
            let answer = client.call(Call::get(&["tokens"])).await?;
            output.all(&answer, ("tokens", LIST), "no tokens")
        }
        TokenCommand::Revoke { name } => {
            let answer = client.call(Call::delete(&["tokens", name])).await?;
            output.report(&answer, |_| format!("revoked {name}"))?;
            output.aside(&still_taken("it may accept it"));
            Ok(Exit::Ok)
        }
    }
}

/// How long a node relies on what it has just seen.
pub(super) fn still_taken(what: &str) -> String {
    let longer = when::rounded(REMEMBERED_FOR);
    format!("A node that has just seen {what} for up to {longer} more.\n")
}

async fn create(
    client: &Client,
    (name, scope): (&str, ScopeName),
    expires: Option<&str>,
    output: &mut Output,
) -> Done {
    let expires_at = expires.map(|text| expiry(text, client.now())).transpose()?;
    let body = json!({ "name": name, "scope": scope, "expires_at": expires_at });
    let answer = client.call(Call::post(&["tokens"]).json(&body)).await?;
    output.report(&answer, |made| text(&made["token"]))?;
    output.aside("The token is shown only once; store it as a secret.\n");
    if answer.value()["first"] == true {
        output.aside(FIRST_TOKEN);
    }
    Ok(Exit::Ok)
}

fn expiry(text: &str, now: Timestamp) -> Result<Timestamp> {
    let after = duration("--expires", text)?;
    let at = now.checked_add(after).ok().filter(|at| *at > now);
    at.ok_or_else(|| {
        Failure::usage(format!("--expires: `{text}` is out of range"))
            .hint("write a lifetime, like 90d")
    })
}

const LIST: &[Column] = &[
    column("NAME", "/name", plain),
    column("SCOPE", "/scope", plain),
    column("STATE", "", state),
    column("CREATED", "/created_at", ago),
    column("EXPIRES", "/expires_at", ago).or("never"),
];

fn state(token: &Value, _: Timestamp) -> Cell {
    match (token["valid"] == true, token["revoked_at"].is_null()) {
        (true, _) => Cell::new("valid").ink(Ink::Good),
        (false, false) => Cell::new("revoked").ink(Ink::Bad),
        (false, true) => Cell::new("expired").ink(Ink::Bad),
    }
}
