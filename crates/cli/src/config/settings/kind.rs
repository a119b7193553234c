//! `[kinds.NAME]`: what differs per kind.

use std::collections::BTreeMap;

use almanack_adapters::signature::SigningKey;
use almanack_core::{
    callback::AlreadyDone,
    task::{Kind, MAX_RETRY_MAX},
};
use jiff::SignedDuration;
use url::Url;

use super::{
    super::{
        key::{KINDS, KeyPath},
        reader::{Reader, Show},
        report::Problem,
        value::{self, Complaint, Read},
    },
    signing_key, timeout_bounds,
};

/// `[kinds.NAME]`: `None` means as everywhere.
#[derive(Debug, Clone)]
pub(crate) struct KindSettings {
    /// Where to call, for tasks that do not say.
    pub(crate) url: Option<Url>,
    /// How many of this kind a node tries at once.
    pub(crate) slots: Option<usize>,
    /// How many of this kind all nodes together try at once.
    pub(crate) slots_in_all: Option<usize>,
    /// How long a call may take.
    pub(crate) timeout: Option<SignedDuration>,
    /// Signs the calls.
    pub(crate) key: Option<SigningKey>,
    /// Retries a new task of this kind gets when nobody says otherwise.
    pub(crate) max_retry: Option<u32>,
    /// Answers that mean that it had already taken effect.
    pub(crate) already_done: Vec<AlreadyDone>,
}

impl Show for AlreadyDone {
    fn show(&self) -> String {
        match &self.code {
            Some(code) => format!("\"{}:{code}\"", self.status),
            None => format!("\"{}\"", self.status),
        }
    }
}

/// Reads all kinds that have a table of their own.
pub(super) fn read_all(reader: &mut Reader<'_>) -> BTreeMap<Kind, KindSettings> {
    let mut kinds = BTreeMap::new();
    for name in reader.named(KINDS) {
        match Kind::parse(&name) {
            Ok(kind) => drop(kinds.insert(kind, KindSettings::read(reader, &name))),
            // The file was checked while it was walked; variables and flags are checked here.
            Err(error) => {
                let place = reader.first_place(KINDS, &name);
                reader
                    .problems
                    .push(Problem::error(error.to_string(), place));
            }
        }
    }
    kinds
}

impl KindSettings {
    fn read(reader: &mut Reader<'_>, kind: &str) -> Self {
        let key = |name| KeyPath::kind(kind, name);
        let usual = "(as in [callback])";
        Self {
            url: reader.optional(&key("url"), "(the task says)", value::web_address),
            slots: reader.optional(&key("slots"), "(as in [node])", value::count(1..=10_000)),
            slots_in_all: reader.optional(
                &key("slots_in_all"),
                "(no limit)",
                value::count(1..=100_000),
            ),
            timeout: reader.optional(&key("timeout"), usual, value::duration(timeout_bounds())),
            key: signing_key(reader, &key("secret"), usual),
            max_retry: reader.optional(&key("max_retry"), "3", value::count(0..=MAX_RETRY_MAX)),
            already_done: reader.value(
                &key("already_done"),
                Vec::new(),
                value::texts(already_done),
            ),
        }
    }
}

fn already_done(text: &str) -> Read<AlreadyDone> {
    AlreadyDone::parse(text).ok_or_else(|| {
        let hint = "write a status from 400 to 599, alone or with the code the answer must name: \"409:already_published\"";
        Complaint::new(format!("`{text}` is not an answer"), hint)
    })
}
