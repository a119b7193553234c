//! How GitHub shows what it holds.
//!
//! The fields are those of GitHub's published description that clients read; long tails of links
//! that only a browser follows are left out.

use base64::{Engine, engine::general_purpose::STANDARD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::github::{
    service::Service,
    state::{
        Hosted,
        contents::Entry,
        object::{Commit, Oid},
        run::Run,
    },
};

/// Larger files come without content; GitHub wants them fetched raw.
const INLINE_BYTES_MAX: usize = 1024 * 1024;
/// GitHub wraps Base64 after so many characters.
const BASE64_LINE: usize = 60;

/// Shows one repository's things, with the addresses they have.
pub(super) struct View<'a> {
    base_url: &'a str,
    repository: &'a Hosted,
}

impl<'a> View<'a> {
    pub(super) fn of(app: &'a Service, repository: &'a Hosted) -> Self {
        Self {
            base_url: &app.base_url,
            repository,
        }
    }

    pub(super) fn repository(&self) -> Value {
        let Hosted {
            id, name, owner, ..
        } = self.repository;
        json!({
            "id": id,
            "node_id": self.node_id(),
            "name": name,
            "full_name": self.repository.full_name(),
            "private": true,
            "owner": { "login": owner },
            "html_url": self.web(""),
            "url": self.api(""),
            "default_branch": self.repository.default_branch,
        })
    }

    /// The repository's name in the GraphQL API.
    pub(super) fn node_id(&self) -> String {
        format!("{NODE_PREFIX}{:08x}", self.repository.id)
    }

    pub(super) fn git_ref(&self, name: &str, sha: &Oid) -> Value {
        let below = name.strip_prefix("refs/").unwrap_or(name);
        let kind = if self.repository.is_tag(sha) {
            "tag"
        } else {
            "commit"
        };
        json!({
            "ref": name,
            "node_id": STANDARD.encode(format!("REF_{}:{name}", self.repository.id)),
            "url": self.api(&format!("/git/refs/{}", encode(below))),
            "object": {
                "type": kind,
                "sha": sha,
                "url": self.api(&format!("/git/{kind}s/{sha}")),
            },
        })
    }

    pub(super) fn run(&self, run: &Run) -> Value {
        let id = run.id;
        let url = self.api(&format!("/actions/runs/{id}"));
        json!({
            "id": id,
            "name": run.workflow.trim_end_matches(".yml"),
            "display_title": run.workflow.trim_end_matches(".yml"),
            "node_id": STANDARD.encode(format!("WFR_{id}")),
            "head_branch": run.head_branch,
            "head_sha": run.head_sha,
            "path": format!(".github/workflows/{}", run.workflow),
            "run_number": run.run_number,
            "run_attempt": 1,
            "event": run.event,
            "status": run.status,
            "conclusion": run.conclusion,
            "workflow_id": run.workflow_id,
            "workflow_url": self.api(&format!("/actions/workflows/{}", run.workflow_id)),
            "url": url,
            "cancel_url": format!("{url}/cancel"),
            "jobs_url": format!("{url}/jobs"),
            "html_url": self.web(&format!("/actions/runs/{id}")),
            "created_at": seconds(run.created_at),
            "updated_at": seconds(run.updated_at),
            "run_started_at": seconds(run.created_at),
            "repository": self.repository(),
        })
    }

    pub(super) fn file(&self, path: &str, sha: &Oid, content: &[u8]) -> Value {
        let entry = Entry {
            path: path.to_owned(),
            sha: sha.clone(),
            size: Some(content.len()),
        };
        let mut shown = self.entry(&entry);
        let inline = content.len() <= INLINE_BYTES_MAX;
        let (encoding, text) = if inline {
            ("base64", wrapped(content))
        } else {
            ("none", String::new())
        };
        shown["encoding"] = json!(encoding);
        shown["content"] = json!(text);
        shown
    }

    pub(super) fn entry(&self, entry: &Entry) -> Value {
        let Entry { path, sha, size } = entry;
        let (kind, objects) = match size {
            Some(_) => ("file", "blobs"),
            None => ("dir", "trees"),
        };
        let url = self.api(&format!("/contents/{}", encode(path)));
        let git_url = self.api(&format!("/git/{objects}/{sha}"));
        let branch = &self.repository.default_branch;
        let html_url = self.web(&format!("/blob/{branch}/{}", encode(path)));
        let raw = self.web(&format!("/raw/{branch}/{}", encode(path)));
        json!({
            "type": kind,
            "size": size.unwrap_or(0),
            "name": path.rsplit('/').next(),
            "path": path,
            "sha": sha,
            "url": url,
            "git_url": git_url,
            "html_url": html_url,
            "download_url": size.map(|_| raw),
            "_links": { "self": url, "git": git_url, "html": html_url },
        })
    }

    pub(super) fn commit(&self, sha: &Oid, commit: &Commit) -> Value {
        let person = json!({
            "name": "github-actions[bot]",
            "email": "41898282+github-actions[bot]@users.noreply.github.com",
            "date": seconds(commit.at),
        });
        let tree = commit.tree_id();
        let parent = |sha: &Oid| {
            json!({
                "sha": sha,
                "url": self.api(&format!("/git/commits/{sha}")),
                "html_url": self.web(&format!("/commit/{sha}")),
            })
        };
        let parents: Vec<Value> = commit.parent.iter().map(parent).collect();
        json!({
            "sha": sha,
            "node_id": STANDARD.encode(format!("C_{sha}")),
            "url": self.api(&format!("/git/commits/{sha}")),
            "html_url": self.web(&format!("/commit/{sha}")),
            "author": person,
            "committer": person,
            "message": commit.message,
            "tree": { "sha": tree, "url": self.api(&format!("/git/trees/{tree}")) },
            "parents": parents,
            "verification": {
                "verified": false,
                "reason": "unsigned",
                "signature": null,
                "payload": null,
                "verified_at": null,
            },
        })
    }

    pub(super) fn api(&self, below: &str) -> String {
        format!(
            "{}/repos/{}{below}",
            self.base_url,
            self.repository.full_name()
        )
    }

    fn web(&self, below: &str) -> String {
        format!("{}/{}{below}", self.base_url, self.repository.full_name())
    }
}

const NODE_PREFIX: &str = "R_kgDO";

/// The number of the repository that has this name in the GraphQL API.
pub(super) fn repository_id(node_id: &str) -> Option<u64> {
    let digits = node_id.strip_prefix(NODE_PREFIX)?;
    u64::from_str_radix(digits, 16).ok()
}

/// What stands in a path or a query as it is.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// Percent-encodes what cannot stand in a path or a query; slashes stay.
pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, PATH).to_string()
}

/// GitHub's instants have whole seconds.
fn seconds(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Base64 in lines, each ended, as GitHub sends it. Clients that do not expect line breaks fail.
fn wrapped(content: &[u8]) -> String {
    let encoded = STANDARD.encode(content);
    let mut lines = String::new();
    for (index, character) in encoded.chars().enumerate() {
        lines.push(character);
        if (index + 1) % BASE64_LINE == 0 {
            lines.push('\n');
        }
    }
    if !lines.is_empty() && !lines.ends_with('\n') {
        lines.push('\n');
    }
    lines
}
