//! Files on a branch: read, and written as one commit each.
//!
//! A write names the version of the file that it replaces, so of two writers one is refused (409,
//! or 422 where it named none) and has to look again. The blob id shows whether a file has the
//! expected content: GitHub returns it for files of any size, and it can be computed locally.

use std::sync::Arc;

use almanack_core::budget::Budget;
use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;
use sha1::{Digest, Sha1};
use url::Url;

use super::{Error, Github, Repository};

/// Where a file is.
#[derive(Debug, Clone, Copy)]
pub struct FileAt<'a> {
    pub repository: &'a Repository,
    pub branch: &'a str,
    /// Its path from the root, without a slash in front.
    pub path: &'a str,
}

impl FileAt<'_> {
    fn url(&self, github: &Github) -> Url {
        let path: Vec<&str> = std::iter::once("contents")
            .chain(self.path.split('/'))
            .collect();
        github.repository_url(self.repository, &path)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct File {
    /// The id of its content: see [`blob_id`].
    pub sha: String,
    /// Where people can look at it.
    #[serde(default)]
    pub html_url: Option<String>,
}

/// What a write is to do.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// The file's new content.
    pub content: &'a [u8],
    /// The commit message.
    pub message: &'a str,
    /// The version it replaces; none where there was no file.
    pub replaces: Option<&'a str>,
}

/// What a write did. If all of it is missing, the write was done, but its answer could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    pub commit: Option<String>,
    /// Where people can look at the file.
    pub html_url: Option<String>,
}

impl Github {
    /// What is at a path; nothing where there is no such file, branch or repository, or none for
    /// this token: GitHub does not say which.
    pub async fn read_file(
        &self,
        at: FileAt<'_>,
        budget: &Arc<Budget>,
    ) -> Result<Option<File>, Error> {
        let mut url = at.url(self);
        url.query_pairs_mut().append_pair("ref", at.branch);
        let request = self.request(Method::GET, url).paid_by(Arc::clone(budget));
        // A folder is returned as a list, which is no file; a file cannot replace it.
        let names = at.repository.names();
        match self.fetch(request, &names, "a file").await {
            Err(error) if error.refused_with(404, "") => Ok(None),
            read => read.map(Some),
        }
    }

    /// Creates or replaces a file by one commit.
    pub async fn write_file(
        &self,
        at: FileAt<'_>,
        change: Change<'_>,
        budget: &Arc<Budget>,
    ) -> Result<Written, Error> {
        let mut body = json!({
            "message": change.message,
            "content": STANDARD.encode(change.content),
            "branch": at.branch,
        });
        if let Some(replaced) = change.replaces {
            body["sha"] = replaced.into();
        }
        let request = Self::with_json(self.request(Method::PUT, at.url(self)), &body)
            .paid_by(Arc::clone(budget));
        let mut answer = self.send(request, &at.repository.names()).await?;
        let body = answer.read().await.unwrap_or_default();
        Ok(Shown::read(&body))
    }
}

/// What GitHub shows of a write.
#[derive(Deserialize)]
struct Shown {
    commit: Commit,
    content: Option<File>,
}

#[derive(Deserialize)]
struct Commit {
    sha: String,
}

impl Shown {
    fn read(body: &[u8]) -> Written {
        let Ok(shown) = serde_json::from_slice::<Self>(body) else {
            return Written::default();
        };
        Written {
            commit: Some(shown.commit.sha),
            html_url: shown.content.and_then(|file| file.html_url),
        }
    }
}

/// The id that Git gives to a file with this content.
pub fn blob_id(content: &[u8]) -> String {
    use std::fmt::Write;
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", content.len()));
    hash.update(content);
    hash.finalize().iter().fold(String::new(), |mut id, byte| {
        // Writing to a string cannot fail.
        let _ = write!(id, "{byte:02x}");
        id
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_has_the_id_that_git_gives_it() {
        // As `git hash-object` says.
        for (content, id) in [
            ("", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
            ("hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"),
        ] {
            assert_eq!(blob_id(content.as_bytes()), id);
        }
    }

    #[test]
    fn an_answer_that_cannot_be_read_does_not_undo_a_write() {
        let whole =
            br#"{"content": {"sha": "b", "html_url": "https://x/y"}, "commit": {"sha": "c"}}"#;
        let written = Shown::read(whole);
        assert_eq!(written.commit.as_deref(), Some("c"));
        assert_eq!(written.html_url.as_deref(), Some("https://x/y"));
        let bare = Shown::read(br#"{"content": null, "commit": {"sha": "c"}}"#);
        assert_eq!(bare.commit.as_deref(), Some("c"));
        assert_eq!(Shown::read(b"<html>"), Written::default());
    }
}
