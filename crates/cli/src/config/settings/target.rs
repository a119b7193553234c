//! `[schedules]`, `[github]`, `[command]` and `[tick]`: what schedules need of a node.

use std::path::PathBuf;

use almanack_adapters::{github::API_URL, signature::SigningKey};
use almanack_core::secret::Secret;
use jiff::SignedDuration;

use super::{
    super::{
        key::KeyPath,
        layer::Raw,
        reader::{Reader, Show},
        value::{self, Complaint, Read},
    },
    seconds, signing_key,
};

/// `[schedules]`
#[derive(Debug, Clone)]
pub(crate) struct Schedules {
    /// A file in the DISPATCH format.
    pub(crate) dispatch: Option<PathBuf>,
    /// How often files are looked at; `None` for only when told.
    pub(crate) reload: Option<SignedDuration>,
}

impl Show for PathBuf {
    fn show(&self) -> String {
        format!("\"{}\"", self.display())
    }
}

impl Schedules {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let key = |name| KeyPath::plain("schedules", name);
        let unset = "(none; or set DISPATCH)";
        let dispatch = reader.optional(&key("dispatch"), unset, path);
        let usual = SignedDuration::from_secs(5);
        let reload = value::duration(seconds(0..=86_400));
        let reload = reader.value(&key("reload"), usual, reload);
        Self {
            dispatch: dispatch.map(|file| reader.base.join(file)),
            reload: (!reload.is_zero()).then_some(reload),
        }
    }
}

fn path(raw: &Raw) -> Read<PathBuf> {
    value::text(raw).map(PathBuf::from)
}

/// `[github]`
#[derive(Debug, Clone)]
pub(crate) struct Github {
    /// Where the API answers.
    pub(crate) api_url: String,
    /// Who asks; without one, workflows cannot be started.
    pub(crate) token: Option<Secret>,
}

impl Github {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let key = |name| KeyPath::plain("github", name);
        let address = |raw: &Raw| value::web_address(raw).map(|url| url.to_string());
        Self {
            api_url: reader.value(&key("api_url"), API_URL.to_owned(), address),
            token: reader.secret(&key("token"), "(none; workflows cannot be started)"),
        }
    }
}

/// `[command]`
#[derive(Debug, Clone)]
pub(crate) struct Command {
    /// Whether commands run here at all.
    pub(crate) enabled: bool,
    /// The programs and folders that may; none listed means any.
    pub(crate) programs: Vec<PathBuf>,
    /// Where they run.
    pub(crate) directory: PathBuf,
    /// Variables they see of ours.
    pub(crate) environment: Vec<String>,
}

impl Command {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let key = |name| KeyPath::plain("command", name);
        let here = PathBuf::from(".");
        Self {
            enabled: reader.value(&key("enabled"), false, value::truth),
            programs: reader.value(&key("programs"), Vec::new(), value::texts(full_path)),
            directory: reader.value(&key("directory"), here, path),
            environment: reader.value(&key("environment"), Vec::new(), value::texts(variable)),
        }
    }
}

/// A name alone would run whatever is first in the search path.
fn full_path(text: &str) -> Read<PathBuf> {
    let path = PathBuf::from(text);
    let plain = path
        .components()
        .all(|part| part != std::path::Component::ParentDir);
    if path.is_absolute() && plain {
        return Ok(path);
    }
    let hint = "name a program or a folder by its full path, like \"/usr/bin/rsync\"";
    Err(Complaint::new(format!("`{text}` is not a full path"), hint))
}

fn variable(text: &str) -> Read<String> {
    let fits = !text.is_empty() && !text.contains(['=', '\0']);
    if fits {
        return Ok(text.to_owned());
    }
    let hint = "only the name; its value comes from this process";
    Err(Complaint::new(
        format!("`{text}` is not the name of a variable"),
        hint,
    ))
}

/// `[tick]`
#[derive(Debug, Clone)]
pub(crate) struct Tick {
    /// What a signed `POST /tick` must be signed with.
    pub(crate) key: Option<SigningKey>,
}

impl Tick {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let key = KeyPath::plain("tick", "secret");
        Self {
            key: signing_key(reader, &key, "(a tick needs a token)"),
        }
    }
}
