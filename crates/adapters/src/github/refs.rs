//! Refs: listing, creating, deleting.

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::{Error, Github, Repository, read};
use crate::locked;

/// Refs in one mutation.
const REFS_PER_MUTATION: usize = 100;
/// Refs deleted one by one, where the mutation does not work: each costs a request, and what is
/// left is there next time too.
const SINGLE_DELETIONS_MAX: usize = 20;
/// The object id that means "deleted".
const NOTHING: &str = "0000000000000000000000000000000000000000";
const UPDATE_REFS: &str =
    "mutation($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }";

/// A ref, and what it points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ref {
    /// Its full name: `refs/tags/v1`.
    pub name: String,
    pub sha: String,
}

#[derive(Deserialize)]
struct Shown {
    r#ref: String,
    object: Object,
}

#[derive(Deserialize)]
struct Object {
    sha: String,
}

impl From<Shown> for Ref {
    fn from(shown: Shown) -> Self {
        Self {
            name: shown.r#ref,
            sha: shown.object.sha,
        }
    }
}

impl Github {
    /// All refs whose full name starts with `prefix` (`refs/tags/lock/`). Remembers what it saw: an
    /// unchanged page costs nothing.
    pub async fn list_refs(
        &self,
        repository: &Repository,
        prefix: &str,
    ) -> Result<Vec<Ref>, Error> {
        let mut path = vec!["git", "matching-refs"];
        // GitHub matches beginnings of names as we do, but says nothing about a `/` at the end.
        path.extend(short(prefix).trim_end_matches('/').split('/'));
        let mut url = self.repository_url(repository, &path);
        url.query_pairs_mut().append_pair("per_page", "100");
        let hidden = repository.names();
        let pages = self.pages::<Vec<Shown>>(url, &hidden, "refs").await?;
        let refs = pages.into_iter().flatten().map(Ref::from);
        Ok(refs
            .filter(|found| found.name.starts_with(prefix))
            .collect())
    }

    /// What a ref points to; never from memory.
    pub async fn read_ref(&self, repository: &Repository, name: &str) -> Result<Ref, Error> {
        let mut path = vec!["git", "ref"];
        path.extend(short(name).split('/'));
        let url = self.repository_url(repository, &path);
        let page = self.page(&url, &repository.names(), "a ref").await?;
        read::<Shown>(&page.body, "a ref").map(Ref::from)
    }

    /// Creates a ref, full name. GitHub refuses with 422 if it exists.
    pub async fn create_ref(
        &self,
        repository: &Repository,
        name: &str,
        sha: &str,
    ) -> Result<(), Error> {
        let url = self.repository_url(repository, &["git", "refs"]);
        let request = self.posting(url, &json!({"ref": name, "sha": sha}));
        self.send(request, &repository.names()).await?;
        Ok(())
    }

    /// Creates an annotated tag object on a commit, without a ref, and returns its id. No two with
    /// different messages have the same.
    pub async fn create_tag_object(
        &self,
        repository: &Repository,
        commit: &str,
        tag: &str,
        message: &str,
    ) -> Result<String, Error> {
        let url = self.repository_url(repository, &["git", "tags"]);
        let body = json!({"tag": tag, "message": message, "object": commit, "type": "commit"});
        let (request, names) = (self.posting(url, &body), repository.names());
        let created = self.fetch::<Object>(request, &names, "a tag object");
        Ok(created.await?.sha)
    }

    /// Deletes refs, full names; those that are already gone count as deleted. Many cost one
    /// request; where that does not work, some are deleted one by one and the rest is left for next
    /// time.
    pub async fn delete_refs(
        &self,
        repository: &Repository,
        names: &[String],
    ) -> Result<(), Error> {
        for names in names.chunks(REFS_PER_MUTATION) {
            match self.delete_at_once(repository, names).await {
                Err(Error::Refused { .. } | Error::Unreadable { .. }) => {
                    return self.delete_singly(repository, names).await;
                }
                done => done?,
            }
        }
        Ok(())
    }

    /// All or none: if one of them is already gone, GitHub refuses all of them.
    async fn delete_at_once(&self, repository: &Repository, names: &[String]) -> Result<(), Error> {
        #[derive(Deserialize)]
        struct GraphqlAnswer {
            #[serde(default)]
            errors: Vec<Value>,
        }
        let update = |name: &String| json!({"name": name, "afterOid": NOTHING, "force": true});
        let updates: Vec<Value> = names.iter().map(update).collect();
        let id = self.node_id(repository).await?;
        let body = json!({
            "query": UPDATE_REFS,
            "variables": {"input": {"repositoryId": id, "refUpdates": updates}},
        });
        let hidden = repository.names();
        let request = self.posting(self.graphql(), &body);
        let answer: GraphqlAnswer = self.fetch(request, &hidden, "deleted refs").await?;
        if answer.errors.is_empty() {
            return Ok(());
        }
        // GraphQL refuses with 200 and a list of errors.
        Err(Error::Refused {
            status: 200,
            message: "GitHub refused to delete the refs at once".to_owned(),
        })
    }

    async fn delete_singly(&self, repository: &Repository, names: &[String]) -> Result<(), Error> {
        for name in names.iter().take(SINGLE_DELETIONS_MAX) {
            let mut path = vec!["git", "refs"];
            path.extend(short(name).split('/'));
            let url = self.repository_url(repository, &path);
            let request = self.request(Method::DELETE, url);
            match self.send(request, &repository.names()).await {
                Err(error) if error.refused_with(422, "does not exist") => {}
                Err(error) if error.refused_with(404, "") => {}
                deleted => drop(deleted?),
            }
        }
        Ok(())
    }

    async fn node_id(&self, repository: &Repository) -> Result<String, Error> {
        #[derive(Deserialize)]
        struct RepositoryAnswer {
            node_id: String,
        }
        let known = locked(&self.node_ids).get(repository).cloned();
        if let Some(id) = known {
            return Ok(id);
        }
        let request = self.request(Method::GET, self.repository_url(repository, &[]));
        let names = repository.names();
        let RepositoryAnswer { node_id } = self.fetch(request, &names, "a repository").await?;
        locked(&self.node_ids).insert(repository.clone(), node_id.clone());
        Ok(node_id)
    }

    /// GraphQL is beside the REST API: `/graphql`, or `/api/graphql` beside `/api/v3`.
    fn graphql(&self) -> Url {
        let path = self.base.path().trim_end_matches('/');
        let root = path.strip_suffix("/v3").unwrap_or(path);
        let mut url = self.base.clone();
        url.set_path(&format!("{root}/graphql"));
        url
    }
}

/// The name as the REST paths want it: without `refs/`.
fn short(name: &str) -> &str {
    name.strip_prefix("refs/").unwrap_or(name)
}
