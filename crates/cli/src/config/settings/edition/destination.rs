//! `[edition.github]`, `[edition.telegram]`, `[edition.directory]` and `[edition.webhook]`: where editions go (ED-34).
//!
//! A destination is there as soon as it is configured, and half of one is a mistake: an edition that silently goes nowhere is
//! found out only by its readers. Where none is configured, editions are on this server's own pages.

mod telegram;

use std::path::PathBuf;

use almanack_adapters::{
    github::Repository,
    publish::{directory, github, template::PathTemplate},
    signature::SigningKey,
};
use almanack_core::secret::Secret;

use super::{
    super::{
        super::{
            key::KeyPath,
            layer::Raw,
            reader::Reader,
            report::Problem,
            value::{self, Complaint, Read},
        },
        signing_key,
    },
    address, founding_variable, is_given,
};

pub(crate) use telegram::ToTelegram;
pub(in super::super) use telegram::bot_token;

const GITHUB: &str = "edition.github";
const DIRECTORY: &str = "edition.directory";
const WEBHOOK: &str = "edition.webhook";

/// Where editions go.
#[derive(Debug, Clone, Default)]
pub(crate) struct Destinations {
    /// A file on GitHub.
    pub(crate) github: Option<ToGithub>,
    /// A chat.
    pub(crate) telegram: Option<ToTelegram>,
    /// A file here.
    pub(crate) directory: Option<ToDirectory>,
    /// An address of one's own.
    pub(crate) webhook: Option<ToWebhook>,
}

/// A file on GitHub.
#[derive(Debug, Clone)]
pub(crate) struct ToGithub {
    /// Who writes.
    pub(crate) token: Secret,
    /// The repository.
    pub(crate) repository: Repository,
    /// The branch.
    pub(crate) branch: String,
    /// The file.
    pub(crate) path: PathTemplate,
}

/// A file here.
#[derive(Debug, Clone)]
pub(crate) struct ToDirectory {
    /// The folder.
    pub(crate) root: PathBuf,
    /// The file in it.
    pub(crate) file: PathTemplate,
}

/// An address of one's own.
#[derive(Debug, Clone)]
pub(crate) struct ToWebhook {
    /// The address.
    pub(crate) url: String,
    /// What calls are signed with.
    pub(crate) key: Option<SigningKey>,
}

impl Destinations {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            github: read_github(reader),
            telegram: telegram::read(reader),
            directory: read_directory(reader),
            webhook: read_webhook(reader),
        }
    }
}

/// Says what is missing of a destination of which there is something.
pub(in super::super) fn half(
    reader: &mut Reader<'_>,
    section: &'static str,
    missing: &str,
    hint: &str,
) {
    let first = reader
        .layer
        .iter()
        .find(|(path, _)| path.section == section);
    let place = first.map(|(_, given)| given.place.clone());
    let what = format!("[{section}] is only half there: {missing} is missing");
    reader.problems.push(Problem::error(what, place).hint(hint));
}

/// Whether a destination is on. The founding setup's variables have rules of their own; everything else is `true`
/// or `false`.
fn switch(
    reader: &mut Reader<'_>,
    section: &'static str,
    usual: bool,
    founding: fn(&str) -> bool,
) -> bool {
    let path = KeyPath::plain(section, "enabled");
    let place = reader.place(&path);
    let by_founding = place
        .as_ref()
        .is_some_and(|place| founding_variable(place).is_some());
    reader.value(&path, usual, |raw| match raw {
        Raw::Bare(text) if by_founding => Ok(founding(text)),
        raw => value::truth(raw),
    })
}

fn read_github(reader: &mut Reader<'_>) -> Option<ToGithub> {
    let key = |name| KeyPath::plain(GITHUB, name);
    let enabled = switch(reader, GITHUB, true, |text| text != "false");
    let own = reader.secret(&key("token"), "(as in [github])");
    let repository = reader.optional(&key("repository"), "(none)", repository);
    let branch = reader.value(&key("branch"), github::BRANCH.to_owned(), value::text);
    let path = reader.value(&key("path"), github::PATH.to_owned(), path_template);
    let begun = is_given(reader, GITHUB, &["token", "repository", "branch", "path"]);
    if !enabled || !begun {
        return None;
    }
    let shared = is_given(reader, "github", &["token"]);
    if !is_given(reader, GITHUB, &["repository"]) {
        let hint = "set edition.github.repository or TARGET_REPO to \"owner/name\"; GITHUB_ENABLED=false turns this off";
        half(reader, GITHUB, "the repository", hint);
    } else if !is_given(reader, GITHUB, &["token"]) && !shared {
        let hint = "set GITHUB_TOKEN, or edition.github.token or github.token to where it is kept";
        half(reader, GITHUB, "the token", hint);
    }
    let token = match own {
        Some(token) => token,
        None => shared_token(reader)?,
    };
    Some(ToGithub {
        token,
        repository: Repository::parse(&repository?)?,
        branch,
        path: PathTemplate::parse(&path).ok()?,
    })
}

/// The token of `[github]`, read once more: what is wrong with it is said there.
fn shared_token(reader: &mut Reader<'_>) -> Option<Secret> {
    let (problems, shown) = (reader.problems.len(), reader.effective.len());
    let token = reader.secret(&KeyPath::plain("github", "token"), "");
    reader.problems.truncate(problems);
    reader.effective.truncate(shown);
    token
}

fn repository(raw: &Raw) -> Read<String> {
    let text = value::text(raw)?;
    if Repository::parse(&text).is_some() {
        return Ok(text);
    }
    let hint = "write owner and name, like \"almanack/news\"";
    Err(Complaint::new(
        format!("`{text}` is not a repository"),
        hint,
    ))
}

fn path_template(raw: &Raw) -> Read<String> {
    let text = value::text(raw)?;
    match PathTemplate::parse(&text) {
        Ok(_) => Ok(text),
        Err(error) => {
            let hint = format!("for example \"{}\"", github::PATH);
            Err(Complaint::new(error.to_string(), hint))
        }
    }
}

fn read_directory(reader: &mut Reader<'_>) -> Option<ToDirectory> {
    let key = |name| KeyPath::plain(DIRECTORY, name);
    let folder = |raw: &Raw| value::text(raw).map(PathBuf::from);
    let root = reader.optional(&key("path"), "(none)", folder);
    let file = reader.value(&key("file"), directory::PATH.to_owned(), path_template);
    if root.is_none() && is_given(reader, DIRECTORY, &["file"]) {
        let hint = "set edition.directory.path to a folder, like \"/srv/site/_posts\"";
        half(reader, DIRECTORY, "the folder", hint);
    }
    Some(ToDirectory {
        root: reader.base.join(root?),
        file: PathTemplate::parse(&file).ok()?,
    })
}

fn read_webhook(reader: &mut Reader<'_>) -> Option<ToWebhook> {
    let key = |name| KeyPath::plain(WEBHOOK, name);
    let url = reader.optional(&key("url"), "(none)", address);
    let signed = signing_key(reader, &key("secret"), "(calls are not signed)");
    if !is_given(reader, WEBHOOK, &["url"]) && is_given(reader, WEBHOOK, &["secret"]) {
        half(reader, WEBHOOK, "the address", "set edition.webhook.url");
    }
    Some(ToWebhook {
        url: url?,
        key: signed,
    })
}
