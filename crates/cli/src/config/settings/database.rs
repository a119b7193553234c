//! `[database]`: where tasks are kept, and how to reach it without writing its password down.

use almanack_core::{percent, secret::Secret};

use super::super::{
    key::KeyPath,
    layer::Raw,
    reader::{Reader, Show},
    report::{Place, Problem},
    secret::{has_password, without_password},
    value::{self, Complaint, Read},
};

/// The settings of the database.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    /// Its address, complete with password.
    pub(crate) url: Secret,
    /// When a change counts as kept.
    pub(crate) durability: Durability,
}

/// When SQLite says that a change is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// It survives a loss of power.
    Full,
    /// It survives the end of the process; a loss of power may take the last moments.
    Normal,
}

impl Show for Durability {
    fn show(&self) -> String {
        match self {
            Self::Full => "\"full\"".to_owned(),
            Self::Normal => "\"normal\"".to_owned(),
        }
    }
}

/// An address as it was given, shown without its password.
struct Address(String);

impl Show for Address {
    fn show(&self) -> String {
        format!("\"{}\"", without_password(&self.0))
    }
}

fn key(name: &'static str) -> KeyPath {
    KeyPath::plain("database", name)
}

impl Database {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let usual = Address("sqlite:almanack.db".to_owned());
        let Address(address) = reader.value(&key("url"), usual, address);
        let password = reader.secret(&key("password"), "(none)");
        let grades = &[("full", Durability::Full), ("normal", Durability::Normal)];
        let durability = reader.value(&key("durability"), Durability::Full, value::choice(grades));
        check_password_place(reader, &address);
        let url = join(reader, &address, password.as_ref());
        check_idle_keys(reader, url.expose());
        Self { url, durability }
    }
}

fn address(raw: &Raw) -> Read<Address> {
    let text = value::text(raw)?;
    if let Some(path) = text.strip_prefix("sqlite:")
        && path.trim_start_matches('/') == ":memory:"
    {
        return Err(Complaint::new(
            format!("`{text}` would forget every task when the process ends"),
            "name a file: \"sqlite:almanack.db\"",
        ));
    }
    if text
        .strip_prefix("sqlite:")
        .is_some_and(|path| !path.is_empty())
        || is_postgres(&text)
    {
        return Ok(Address(text));
    }
    let hint = match text.split_once("://").map(|(scheme, _)| scheme) {
        Some("mysql" | "mariadb") => "Almanack lives in SQLite or PostgreSQL".to_owned(),
        None if !text.contains(':') => format!("did you mean \"sqlite:{text}\"?"),
        _ => "write \"sqlite:almanack.db\" or \"postgres://user@host/database\"".to_owned(),
    };
    Err(Complaint::new(
        format!("`{}` is not a database", without_password(&text)),
        hint,
    ))
}

fn is_postgres(text: &str) -> bool {
    let rest = text
        .strip_prefix("postgres://")
        .or_else(|| text.strip_prefix("postgresql://"));
    rest.is_some_and(|rest| !rest.is_empty())
}

/// A password in the file is a literal secret; on the command line every user can read it. In the
/// environment it is where secrets may be.
fn check_password_place(reader: &mut Reader<'_>, address: &str) {
    let place = reader.place(&key("url"));
    let hint = "take it out of the address and write password = \"env:NAME\"";
    match &place {
        _ if !has_password(address) => {}
        Some(Place::File { .. }) => {
            let what = "database.url: a password may not be written here, only where it is kept";
            reader.problems.push(Problem::error(what, place).hint(hint));
        }
        Some(Place::Flag { .. }) => {
            let what = "database.url: every user of this machine can read a password given so";
            let hint = "set ALMANACK_DATABASE_URL or ALMANACK_DATABASE_PASSWORD instead";
            reader
                .problems
                .push(Problem::warning(what, place).hint(hint));
        }
        Some(Place::Environment { .. }) | None => {}
    }
}

/// The address with its password in it.
fn join(reader: &mut Reader<'_>, address: &str, password: Option<&Secret>) -> Secret {
    let Some(password) = password.filter(|_| is_postgres(address)) else {
        return Secret::new(address);
    };
    let place = reader.place(&key("password"));
    if has_password(address) {
        let what = "database.password: the address already has a password";
        reader
            .problems
            .push(Problem::error(what, place).hint("keep one of the two"));
        return Secret::new(address);
    }
    let start = address.find("://").map_or(0, |at| at + 3);
    let end = address[start..]
        .find(['/', '?'])
        .map_or(address.len(), |at| start + at);
    let Some(at) = address[start..end].rfind('@').map(|at| start + at) else {
        let what = "database.password: the address names no user it could belong to";
        let hint = "write url = \"postgres://user@host/database\"";
        reader.problems.push(Problem::error(what, place).hint(hint));
        return Secret::new(address);
    };
    let user = address[..at].trim_end_matches(':');
    Secret::new(&format!(
        "{user}:{}{}",
        percent::encode(password.expose()).replace(':', "%3A"),
        &address[at..]
    ))
}

/// Keys that mean something for the other database only.
fn check_idle_keys(reader: &mut Reader<'_>, url: &str) {
    let (name, why) = if is_postgres(url) {
        (
            "durability",
            "it is a setting of SQLite; PostgreSQL has its own synchronous_commit",
        )
    } else {
        ("password", "SQLite has no password")
    };
    if let Some(place) = reader.place(&key(name)) {
        let what = format!("database.{name} has no effect here");
        reader
            .problems
            .push(Problem::warning(what, Some(place)).hint(why));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::super::{Inputs, Need, load};

    /// The address in force for these variables, or the first complaint.
    fn address(variables: &[(&str, &str)]) -> Result<String, String> {
        let environment: BTreeMap<String, String> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let loaded = load(
            &Inputs {
                environment,
                ..Inputs::default()
            },
            Need::Database,
        );
        match loaded.settings {
            Some(settings) => Ok(settings.database.url.expose().to_owned()),
            None => Err(loaded.report.problems[0].what.clone()),
        }
    }

    #[test]
    fn a_password_is_put_into_the_address_so_that_it_comes_out_the_same() {
        let with = |url, password| {
            address(&[
                ("ALMANACK_DATABASE_URL", url),
                ("ALMANACK_DATABASE_PASSWORD", password),
            ])
        };
        for (url, password, expected) in [
            ("postgres://bob@db/x", "pw", "postgres://bob:pw@db/x"),
            (
                "postgres://bob@db/x",
                "p@/:w?",
                "postgres://bob:p%40%2F%3Aw%3F@db/x",
            ),
            ("postgres://bob:@db/x", "pw", "postgres://bob:pw@db/x"),
            (
                "postgres://bob@a,b:1/x?a=@",
                "pw",
                "postgres://bob:pw@a,b:1/x?a=@",
            ),
            ("sqlite:a.db", "pw", "sqlite:a.db"),
        ] {
            assert_eq!(with(url, password).as_deref(), Ok(expected), "{url}");
        }
        assert!(
            with("postgres://db/x", "pw")
                .unwrap_err()
                .contains("names no user")
        );
        assert!(
            with("postgres://bob:a@db/x", "pw")
                .unwrap_err()
                .contains("already has")
        );
    }

    #[test]
    fn a_password_in_the_address_is_fine_where_secrets_may_be() {
        let url = "postgres://bob:pw@db/x";
        assert_eq!(
            address(&[("ALMANACK_DATABASE_URL", url)]).as_deref(),
            Ok(url)
        );
        assert_eq!(address(&[]).as_deref(), Ok("sqlite:almanack.db"));
    }

    #[test]
    fn memory_is_no_place_for_tasks() {
        for url in ["sqlite::memory:", "sqlite://:memory:"] {
            let told = address(&[("ALMANACK_DATABASE_URL", url)]).unwrap_err();
            assert!(told.contains("would forget every task"), "{told}");
        }
    }
}
