//! `almanack user create|password|list|remove`
//!
//! A password is asked for twice without being shown, or read from the input; it is never an argument. The store keeps what it is
//! recognised by.

use std::io::{BufRead, IsTerminal};

use almanack_core::{
    secret::Secret,
    sign_in::{
        PASSWORD_BYTES_MAX, PasswordHash, User,
        password::{Salt, check_new},
    },
    store,
    token::Scope,
};
use almanack_server::access::REMEMBERED_FOR;
use jiff::Timestamp;
use serde_json::json;

use super::{
    Desk, Errand,
    token::{check_name, scope_of},
};
use crate::{
    args::{PasswordArguments, UserCommand},
    failure::{Exit, Failure},
    output::{Cell, Output},
    process::is_guarded,
    view::UserView,
    when::{self, Relative},
    wiring,
};

/// Open nodes close when they hear of this, and stay closed.
const FIRST_USER: &str = "\
This is the first user: nodes that were open ask everybody to sign in, or for a token, from now on. Removing the user does not open them \
again.
";

/// Only making a user makes sense on a database that is not there yet.
pub(super) fn errand(command: &UserCommand) -> Errand {
    match command {
        UserCommand::Create { .. } => Errand::New,
        UserCommand::Password { .. } | UserCommand::List | UserCommand::Remove { .. } => {
            Errand::Existing
        }
    }
}

/// Does what was asked with users.
pub(super) async fn run(
    desk: &Desk,
    command: &UserCommand,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match command {
        UserCommand::Create {
            name,
            scope,
            password,
        } => create(desk, name, scope_of(*scope), password, output).await,
        UserCommand::Password { name, password } => change(desk, name, password, output).await,
        UserCommand::List => list(desk, output).await,
        UserCommand::Remove { name } => remove(desk, name, output).await,
    }
}

async fn create(
    desk: &Desk,
    name: &str,
    scope: Scope,
    password: &PasswordArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    check_name("user", name)?;
    refuse_tokens_name(desk, name).await?;
    if desk.store.load_user(name).await?.is_some() {
        return Err(taken(name));
    }
    let hash = hash(&new_password(password)?).await?;
    let now = desk.clock.now();
    let first = !is_guarded(desk.store.as_ref()).await?;
    let user = User {
        name: name.to_owned(),
        password: hash,
        scope,
        created_at: now,
        changed_at: now,
    };
    match desk.store.save_user(&user).await {
        Err(store::Error::Taken { .. }) => return Err(taken(name)),
        saved => saved?,
    }
    if output.json {
        output.value(&UserView::from(&user))?;
        return Ok(Exit::Ok);
    }
    output.line(&format!("created {name}, who may {scope}"))?;
    if first {
        output.note(FIRST_USER);
    }
    Ok(Exit::Ok)
}

/// The history shows a name alone, so it must be one of one asker.
async fn refuse_tokens_name(desk: &Desk, name: &str) -> Result<(), Failure> {
    let tokens = desk.store.load_tokens().await?;
    if !tokens.iter().any(|token| token.name == name) {
        return Ok(());
    }
    let what = format!("a token is called `{name}`");
    Err(Failure::new(Exit::Failed, what)
        .during("create user")
        .hint("choose another name; the history shows it for whoever did something"))
}

fn taken(name: &str) -> Failure {
    Failure::new(Exit::Failed, format!("user `{name}` already exists"))
        .during("create user")
        .hint(format!(
            "`almanack user password {name}` sets another password"
        ))
}

async fn change(
    desk: &Desk,
    name: &str,
    password: &PasswordArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let user = desk.store.load_user(name).await?;
    let mut user = user.ok_or_else(|| nobody(name))?;
    user.password = hash(&new_password(password)?).await?;
    user.changed_at = desk.clock.now();
    if !desk.store.change_user(&user).await? {
        return Err(nobody(name));
    }
    if output.json {
        output.value(&UserView::from(&user))?;
    } else {
        output.line(&format!("changed the password of {name}"))?;
        output.note(&still_taken());
    }
    Ok(Exit::Ok)
}

async fn list(desk: &Desk, output: &mut Output) -> Result<Exit, Failure> {
    let users = desk.store.load_users().await?;
    let now = desk.clock.now();
    if output.json {
        let views: Vec<UserView<'_>> = users.iter().map(UserView::from).collect();
        output.value(&json!({ "users": views }))?;
        return Ok(Exit::Ok);
    }
    if users.is_empty() {
        output.note("no users\n");
        return Ok(Exit::Ok);
    }
    let rows: Vec<Vec<Cell>> = users.iter().map(|user| row(user, now)).collect();
    output.table(&["NAME", "SCOPE", "CREATED", "PASSWORD SET"], &rows)?;
    Ok(Exit::Ok)
}

fn row(user: &User, now: Timestamp) -> Vec<Cell> {
    let relative = |at| Cell::new(Relative { at, now }.to_string());
    vec![
        Cell::new(&*user.name),
        Cell::new(user.scope.as_str()),
        relative(user.created_at),
        relative(user.changed_at),
    ]
}

async fn remove(desk: &Desk, name: &str, output: &mut Output) -> Result<Exit, Failure> {
    if !desk.store.remove_user(name).await? {
        return Err(nobody(name));
    }
    if output.json {
        output.value(&json!({ "name": name, "removed_at": desk.clock.now() }))?;
    } else {
        output.line(&format!("removed {name}"))?;
        output.note(&still_taken());
    }
    Ok(Exit::Ok)
}

fn nobody(name: &str) -> Failure {
    Failure::new(Exit::NotFound, format!("no user is called `{name}`"))
        .hint("`almanack user list` shows all")
}

fn still_taken() -> String {
    let longer = when::rounded(REMEMBERED_FOR);
    format!("A node that has just seen them may let them in for up to {longer} more.\n")
}

async fn hash(password: &Secret) -> Result<PasswordHash, Failure> {
    let entropy = wiring::entropy();
    let halves = std::array::from_fn::<_, 2, _>(|_| entropy.next_u64().to_le_bytes());
    let mut salt = Salt::default();
    salt.copy_from_slice(halves.as_flattened());
    let hashed = wiring::passwords().hash(password.expose(), salt).await;
    hashed.map_err(|error| Failure::new(Exit::Failed, error.to_string()))
}

/// A password that may be set.
fn new_password(arguments: &PasswordArguments) -> Result<Secret, Failure> {
    let password = if arguments.password_stdin {
        from_input(std::io::stdin().lock())?
    } else if std::io::stdin().is_terminal() {
        from_terminal()?
    } else {
        return Err(
            Failure::new(Exit::Usage, "there is no terminal to ask for a password")
                .hint("give it on the input: --password-stdin"),
        );
    };
    check_new(password.expose()).map_err(|unfit| Failure::new(Exit::Usage, unfit.to_string()))?;
    Ok(password)
}

/// The first line; what ends it does not belong to the password.
fn from_input(input: impl BufRead) -> Result<Secret, Failure> {
    let mut line = String::new();
    // One byte more than may be, and a line break, so that one too long is told from one that fits.
    let most = u64::try_from(PASSWORD_BYTES_MAX).unwrap_or(u64::MAX) + 3;
    input
        .take(most)
        .read_line(&mut line)
        .map_err(|error| unreadable(&error))?;
    Ok(Secret::new(line.trim_end_matches(['\r', '\n'])))
}

/// Twice, because nobody sees what they type.
fn from_terminal() -> Result<Secret, Failure> {
    let ask = |prompt: &str| {
        let typed = rpassword::prompt_password(prompt).map_err(|error| unreadable(&error))?;
        Ok::<_, Failure>(Secret::new(&typed))
    };
    let password = ask("Password: ")?;
    if ask("Again: ")? != password {
        return Err(Failure::new(Exit::Usage, "the two passwords differ"));
    }
    Ok(password)
}

fn unreadable(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("read the password: {error}"))
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
