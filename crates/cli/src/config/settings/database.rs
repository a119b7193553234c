//! `[database]` and `[backup]`: where tasks are stored, how to connect without writing the password
//! down, and scheduled backups.

use almanack_core::percent;
use almanack_store::sqlite::Durability;

use super::{
    super::secret::{has_password, without_password},
    prelude::*,
};

sections! { DatabaseKeys, Backup }

/// The settings of the database.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    /// Its address, complete with password.
    pub(crate) url: Secret,
    /// When a change counts as durable.
    pub(crate) durability: Durability,
}

words! { Durability { "full" = Self::Full, "normal" = Self::Normal } }

settings! {
    /// Where tasks are stored.
    struct DatabaseKeys in "database" {
        /// Database: `sqlite:FILE` or `postgres://user@host/database`.
        /// 数据库：`sqlite:文件` 或 `postgres://user@host/database`。
        url: Address = text_as(address).default(Address("sqlite:almanack.db".to_owned()));
        /// Password of the PostgreSQL user.
        /// PostgreSQL 用户的密码。
        password: Option<Secret> = secret().unset("(none)");
        /// SQLite only: `full` survives a power failure, `normal` may lose the last moments.
        /// 仅 SQLite：`full` 断电不丢数据，`normal` 可能丢失最后片刻的数据。
        durability: Durability = choice().default(Durability::Full);
    }
}

/// An address as given, shown without its password.
#[derive(Debug, Clone)]
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
        let read = DatabaseKeys::read(reader);
        let Address(address) = read.url;
        check_password_place(reader, &address);
        let url = join(reader, &address, read.password.as_ref());
        check_idle_keys(reader, url.expose());
        Self {
            url,
            durability: read.durability,
        }
    }
}

fn address(text: &str) -> Read<Address> {
    if let Some(path) = text.strip_prefix("sqlite:")
        && path.trim_start_matches('/') == ":memory:"
    {
        return Err(Problem::new(
            format!("`{text}` would lose all tasks when the process ends"),
            "name a file: \"sqlite:almanack.db\"",
        ));
    }
    if text
        .strip_prefix("sqlite:")
        .is_some_and(|path| !path.is_empty())
        || is_postgres(text)
    {
        return Ok(Address(text.to_owned()));
    }
    let hint = match text.split_once("://").map(|(scheme, _)| scheme) {
        Some("mysql" | "mariadb") => "Almanack supports SQLite and PostgreSQL".to_owned(),
        None if !text.contains(':') => format!("did you mean \"sqlite:{text}\"?"),
        _ => "write \"sqlite:almanack.db\" or \"postgres://user@host/database\"".to_owned(),
    };
    Err(Problem::new(
        format!("`{}` is not a database", without_password(text)),
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
    let url = key("url");
    match reader.place(&url) {
        _ if !has_password(address) => {}
        Some(Place::File { .. }) => {
            let what = "database.url: do not write the password here";
            let hint = "remove it from the address and write password = \"env:NAME\"";
            reader.refuse(what, url, hint);
        }
        Some(Place::Flag { .. }) => {
            let what = "database.url: every user of this machine can read a password in a flag";
            let hint = "set ALMANACK_DATABASE_URL or ALMANACK_DATABASE_PASSWORD instead";
            reader.warn(what, url, hint);
        }
        Some(Place::Environment { .. }) | None => {}
    }
}

/// The address with its password in it.
fn join(reader: &mut Reader<'_>, address: &str, password: Option<&Secret>) -> Secret {
    let Some(password) = password.filter(|_| is_postgres(address)) else {
        return Secret::new(address);
    };
    if has_password(address) {
        let what = "database.password: the address already has a password";
        reader.refuse(what, key("password"), "keep one of the two");
        return Secret::new(address);
    }
    let start = address.find("://").map_or(0, |at| at + 3);
    let end = address[start..]
        .find(['/', '?'])
        .map_or(address.len(), |at| start + at);
    let Some(at) = address[start..end].rfind('@').map(|at| start + at) else {
        let what = "database.password: the address has no user name";
        let hint = "write url = \"postgres://user@host/database\"";
        reader.refuse(what, key("password"), hint);
        return Secret::new(address);
    };
    let user = address[..at].trim_end_matches(':');
    Secret::new(&format!(
        "{user}:{}{}",
        percent::encode(password.expose()).replace(':', "%3A"),
        &address[at..]
    ))
}

/// Warns of keys that are for the other database only.
fn check_idle_keys(reader: &mut Reader<'_>, url: &str) {
    let (name, why) = if is_postgres(url) {
        (
            "durability",
            "it is for SQLite only; PostgreSQL has synchronous_commit",
        )
    } else {
        ("password", "SQLite has no password")
    };
    if reader.is_given("database", &[name]) {
        let what = format!("database.{name} has no effect");
        reader.warn(what, key(name), why);
    }
}

settings! {
    /// Scheduled backups of a SQLite database.
    pub(crate) struct Backup in "backup" {
        /// Folder to write scheduled backups of a SQLite database to.
        /// 定期备份 SQLite 数据库的目录。
        directory: Option<PathBuf> = path().unset("(no backups)").beside_file();
        /// Time between two backups.
        /// 两次备份之间的时间。
        every: SignedDuration = duration(minutes(1), days(30)).default(days(1));
        /// How many backups to keep.
        /// 保留的备份数。
        keep: usize = count(1..=1_000).default(7);
    }
}

/// Scheduled backups of the store.
pub(super) fn backup(reader: &mut Reader<'_>) -> Backup {
    let read = Backup::read(reader);
    if read.directory.is_none() {
        let hint = "name the folder, like \"/var/backups/almanack\"";
        let names = (&["every", "keep"][..], "directory");
        reader.without_effect(Severity::Warning, Backup::NAME, names, hint);
    }
    read
}

/// Refuses backups of a database that this process cannot copy.
pub(super) fn check_backup(reader: &mut Reader<'_>, settings: &super::Settings) {
    if settings.backup.directory.is_some() && is_postgres(settings.database.url.expose()) {
        let what = "[backup] supports SQLite only, and this database is PostgreSQL";
        let hint = "remove it, and run pg_dump on a timer, or pg_basebackup with a WAL archive";
        reader.refuse(what, (Backup::NAME, "directory"), hint);
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
                .contains("has no user name")
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
    fn tasks_in_memory_are_refused() {
        for url in ["sqlite::memory:", "sqlite://:memory:"] {
            let error = address(&[("ALMANACK_DATABASE_URL", url)]).unwrap_err();
            assert!(error.contains("would lose all tasks"), "{error}");
        }
    }
}
