//! `almanack user create|password|list|remove`
//!
//! A password is asked for twice without being shown, or read from the input; it is never an
//! argument.

use std::io::{BufRead, IsTerminal};

use almanack_core::{
    secret::Secret,
    sign_in::{PASSWORD_BYTES_MAX, password::check_new},
};

use super::token::still_taken;
use crate::commands::prelude::*;

/// Open nodes require a sign-in after this, for good.
const FIRST_USER: &str = "\
This is the first user: from now on, nodes require a sign-in or a token. Removing the user does not open them \
again.
";

const LIST: &[Column] = &[
    column("NAME", "/name", plain),
    column("SCOPE", "/scope", plain),
    column("CREATED", "/created_at", ago),
    column("PASSWORD SET", "/changed_at", ago),
];

/// Does what was asked with users.
pub(super) async fn run(at: &Connector<'_>, command: &UserCommand, output: &mut Output) -> Done {
    let creates = matches!(command, UserCommand::Create { .. });
    let client = &at.open(DatabaseNeed::new_if(creates)).await?;
    match command {
        UserCommand::Create {
            name,
            scope,
            password,
        } => create(client, (name, *scope), password, output).await,
        UserCommand::Password { name, password } => change(client, name, password, output).await,
        UserCommand::List => {
            let answer = client.call(Call::get(&["users"])).await?;
            output.all(&answer, ("users", LIST), "no users")
        }
        UserCommand::Remove { name } => {
            client.call(Call::delete(&["users", name])).await?;
            output.say(&json!({ "removed": name }), &format!("removed {name}"))?;
            output.aside(&still_taken("them may let them in"));
            Ok(Exit::Ok)
        }
    }
}

async fn create(
    client: &Client,
    (name, scope): (&str, ScopeName),
    password: &PasswordArguments,
    output: &mut Output,
) -> Done {
    // Check the name before the password is typed twice.
    if knows(client, name).await? {
        return Err(taken(name));
    }
    let password = new_password(password)?;
    let body = json!({ "name": name, "scope": scope, "password": password.expose() });
    let answer = client.call(Call::post(&["users"]).json(&body)).await?;
    output.report(&answer, |made| {
        format!("created {name}, who may {}", text(&made["scope"]))
    })?;
    if answer.value()["first"] == true {
        output.aside(FIRST_USER);
    }
    Ok(Exit::Ok)
}

async fn knows(client: &Client, name: &str) -> Result<bool> {
    let users = client.call(Call::get(&["users"])).await?.value();
    let mut users = users["users"].as_array().into_iter().flatten();
    Ok(users.any(|user: &Value| user["name"] == name))
}

fn taken(name: &str) -> Failure {
    Failure::failed(format!("user `{name}` already exists")).hint(format!(
        "`almanack user password {name}` sets a new password"
    ))
}

async fn change(
    client: &Client,
    name: &str,
    password: &PasswordArguments,
    output: &mut Output,
) -> Done {
    if !knows(client, name).await? {
        return Err(
            Failure::not_found(format!("no user `{name}`")).hint("`almanack user list` lists all")
        );
    }
    let password = new_password(password)?;
    let call = Call::put(&["users", name, "password"]);
    let answer = client
        .call(call.json(&json!({ "password": password.expose() })))
        .await?;
    output.report(&answer, |_| format!("changed the password of {name}"))?;
    output.aside(&still_taken("them may let them in"));
    Ok(Exit::Ok)
}

/// A password that may be set.
fn new_password(arguments: &PasswordArguments) -> Result<Secret> {
    let password = if arguments.password_stdin {
        from_input(std::io::stdin().lock())?
    } else if std::io::stdin().is_terminal() {
        from_terminal()?
    } else {
        return Err(Failure::usage("no terminal to ask for a password")
            .hint("pass it on standard input: --password-stdin"));
    };
    check_new(password.expose()).map_err(Failure::usage)?;
    Ok(password)
}

/// The first line; what ends it does not belong to the password.
fn from_input(input: impl BufRead) -> Result<Secret> {
    let mut line = String::new();
    // One byte more than allowed, and a line break, to detect a password that is too long.
    let most = u64::try_from(PASSWORD_BYTES_MAX).unwrap_or(u64::MAX) + 3;
    input
        .take(most)
        .read_line(&mut line)
        .map_err(|error| unreadable(&error))?;
    Ok(Secret::new(line.trim_end_matches(['\r', '\n'])))
}

/// Twice, because the input is hidden.
fn from_terminal() -> Result<Secret> {
    let ask = |prompt: &str| {
        let typed = rpassword::prompt_password(prompt).map_err(|error| unreadable(&error))?;
        Ok::<_, Failure>(Secret::new(&typed))
    };
    let password = ask("Password: ")?;
    if ask("Again: ")? != password {
        return Err(Failure::usage("the two passwords differ"));
    }
    Ok(password)
}

fn unreadable(error: &std::io::Error) -> Failure {
    Failure::failed(format!("read the password: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_gives_its_first_line_without_what_ends_it() {
        let long = "x".repeat(PASSWORD_BYTES_MAX + 1);
        for (input, expected) in [
            ("correct horse\n", "correct horse"),
            ("correct horse\r\nbattery\n", "correct horse"),
            (" blanks count ", " blanks count "),
            ("", ""),
            (&long, &long),
        ] {
            let read = from_input(input.as_bytes()).unwrap();
            assert_eq!(read.expose(), expected, "{input:?}");
        }
    }
}
