//! GitHub contents: the document is one file on a branch, always at the same path.
//!
//! Looking is cheap and certain, so every sending looks first: a file that already says it is a
//! success without a commit, another one is replaced by its id, and a write that was overtaken
//! (409, or 422 about `sha`) is repeated after another look. A lost answer is settled the same way,
//! by looking.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        delivery::{OnRevision, OnUnknown},
        port::{Failure, FailureClass, Message, Presence, Publisher, Sent},
    },
};
use async_trait::async_trait;
use jiff::civil::Date;

use super::template::{PathTemplate, Template};
use crate::github::{Change, Error, FileAt, Github, Repository, Written, blob_id};

/// The default branch.
pub const BRANCH: &str = "main";
/// The default path.
pub const PATH: &str = "_posts/{date}-daily.md";
/// The default commit message.
pub const MESSAGE: &str = "Add the edition of {date}";
/// How often one delivery writes before it gives up on a file that keeps changing.
const WRITES_MAX: u32 = 3;
/// What to check when GitHub answers a write with "not found".
const HINT: &str = "check the repository, the branch and that the token may write its contents";

/// Where the file goes.
#[derive(Debug, Clone)]
pub struct GithubPublisherSettings {
    /// The destination's name in the configuration.
    pub destination: String,
    pub repository: Repository,
    pub branch: String,
    pub path: PathTemplate,
    pub message: Template,
}

/// Delivers to a file on GitHub.
pub struct GithubPublisher {
    github: Arc<Github>,
    settings: GithubPublisherSettings,
}

/// How one try at writing ended.
enum WriteResult {
    Ended(Sent),
    /// The file changed after it was read.
    Overtaken(Failure),
}

impl GithubPublisher {
    /// Delivers with the client's token.
    pub fn new(github: Arc<Github>, settings: GithubPublisherSettings) -> Self {
        Self { github, settings }
    }

    fn path(&self, message: &Message<'_>) -> String {
        self.settings.path.fill(message.document.inputs.date)
    }

    fn at<'a>(&'a self, path: &'a str) -> FileAt<'a> {
        FileAt {
            repository: &self.settings.repository,
            branch: &self.settings.branch,
            path,
        }
    }

    async fn try_once(&self, message: &Message<'_>, budget: &Arc<Budget>) -> WriteResult {
        let path = self.path(message);
        let content = message.body.as_bytes();
        let id = blob_id(content);
        let present = match self.github.read_file(self.at(&path), budget).await {
            Ok(present) => present,
            // A look changes nothing, whatever its result.
            Err(error) => return WriteResult::Ended(Sent::Failed(failure(&error))),
        };
        if let Some(file) = present.as_ref().filter(|file| file.sha == id) {
            return WriteResult::Ended(confirmed(&id, file.html_url.as_deref()));
        }
        let change = Change {
            content,
            message: &self.settings.message.fill(message.document.inputs.date),
            replaces: present.as_ref().map(|file| file.sha.as_str()),
        };
        let written = self.github.write_file(self.at(&path), change, budget);
        result_of(written.await, &id)
    }
}

#[async_trait]
impl Publisher for GithubPublisher {
    fn destination(&self) -> &str {
        &self.settings.destination
    }

    /// Never used: a look decides.
    fn on_unknown(&self) -> OnUnknown {
        OnUnknown::Repeat
    }

    fn on_revision(&self) -> OnRevision {
        OnRevision::Replace
    }

    /// A look and a write.
    fn requests_per_part(&self) -> u32 {
        2
    }

    /// Whether the repository is answered for, with this token: by a look at a file of no day.
    async fn ready(&self, budget: &Arc<Budget>) -> Result<(), Failure> {
        let path = self.settings.path.fill(Date::constant(1970, 1, 1));
        let found = self.github.read_file(self.at(&path), budget).await;
        found.map(drop).map_err(|error| failure(&error))
    }

    async fn send(&self, message: &Message<'_>, budget: &Arc<Budget>) -> Sent {
        let mut tries = 1;
        loop {
            match self.try_once(message, budget).await {
                WriteResult::Ended(sent) => return sent,
                WriteResult::Overtaken(failure) if tries == WRITES_MAX => {
                    return Sent::Failed(failure);
                }
                WriteResult::Overtaken(_) => tries += 1,
            }
        }
    }

    async fn look(&self, message: &Message<'_>, budget: &Arc<Budget>) -> Presence {
        let path = self.path(message);
        let id = blob_id(message.body.as_bytes());
        match self.github.read_file(self.at(&path), budget).await {
            Ok(Some(file)) if file.sha == id => Presence::There {
                receipt: Some(receipt(&id, file.html_url.as_deref())),
            },
            Ok(_) => Presence::NotThere,
            Err(error) => Presence::Failed(failure(&error)),
        }
    }
}

fn result_of(written: Result<Written, Error>, id: &str) -> WriteResult {
    let error = match written {
        Ok(written) => {
            let sha = written.commit.as_deref().unwrap_or(id);
            return WriteResult::Ended(confirmed(sha, written.html_url.as_deref()));
        }
        Err(error) => error,
    };
    if error.refused_with(409, "") || error.refused_with(422, "sha") {
        let detail = format!("the file changes while it is written: {error}");
        return WriteResult::Overtaken(Failure::new(FailureClass::Transient, detail));
    }
    WriteResult::Ended(if error.may_have_taken_effect() {
        Sent::Unknown(failure(&error))
    } else {
        Sent::Failed(failure(&error))
    })
}

fn confirmed(sha: &str, html_url: Option<&str>) -> Sent {
    Sent::Confirmed {
        receipt: Some(receipt(sha, html_url)),
    }
}

/// The commit or else the blob, and where people can look at it, without what not every database
/// takes.
fn receipt(sha: &str, html_url: Option<&str>) -> String {
    let receipt = match html_url {
        Some(url) => format!("{sha} {url}"),
        None => sha.to_owned(),
    };
    receipt.replace(char::is_control, "")
}

fn failure(error: &Error) -> Failure {
    let (class, detail) = match error {
        Error::Spent(_) => return Failure::spent(),
        Error::Limited { .. } => (FailureClass::RateLimited, error.to_string()),
        Error::NoAnswer { .. } | Error::Trouble { .. } => {
            (FailureClass::Transient, error.to_string())
        }
        Error::Refused {
            status: 401 | 403, ..
        } => (FailureClass::Credentials, error.to_string()),
        Error::Refused { status: 404, .. } => (FailureClass::Refused, format!("{error}; {HINT}")),
        Error::Refused { .. } | Error::Unreachable { .. } => {
            (FailureClass::Refused, error.to_string())
        }
        Error::Unreadable { .. } => (FailureClass::Unusable, error.to_string()),
    };
    Failure {
        class,
        detail,
        retry_after: error.retry_after(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_is_kept_without_control_characters() {
        assert_eq!(receipt("abc", None), "abc");
        let url = "https://github.example/\u{0}x\n";
        assert_eq!(
            receipt("a\u{0}bc", Some(url)),
            "abc https://github.example/x"
        );
    }
}
