//! Adds sources, and discovers the feeds of an address.
//!
//! No two sources share an address, so adding twice adds once: the second answer is the existing
//! source, unchanged. In a list, each item is handled separately; an error in one is reported in
//! its position and does not stop the others.

use almanack_core::both;
use almanack_core::source::{Definition, SourceId, options::Options};
use almanack_core::{source::check::Candidate, source::entry::canonical_address, store::Added};
use serde_json::value::RawValue;

use super::body::{SourceBody, check_form};
use super::{refuse_key, view::SourceView, written};
use crate::batch::check_count;
use crate::call::{OneOrMany, read_object};
use crate::prelude::*;

/// Longest address for discovery, in bytes.
const ADDRESS_BYTES_MAX: usize = 2000;
/// Most candidates shown.
const CANDIDATES_MAX: usize = 50;

/// One source, or a list of them.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(
    dead_code,
    clippy::large_enum_variant,
    reason = "it describes the body and is never made"
)]
pub(crate) enum AddBody {
    /// One source.
    One(SourceBody),
    /// Several, each handled separately.
    Many(Vec<SourceBody>),
}

/// The result of a list, in request order.
#[derive(Serialize, ToSchema)]
pub(crate) struct AddedView {
    sources: Vec<AddedItemView>,
}

/// The result of one item of a list.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum AddedItemView {
    /// The source exists.
    There {
        /// Id of the source.
        source_id: i64,
        /// Whether it is new; otherwise the source already existed.
        added: bool,
    },
    /// The item was refused; nothing was stored.
    Refused {
        /// Why it was refused.
        error: Problem,
    },
}

/// Add a source, or a list of sources.
///
/// A source with a known address is not added again; the answer is then the existing source. An
/// array adds several sources, each handled separately.
#[utoipa::path(
    post, path = "/api/v1/sources", tag = "sources",
    request_body = AddBody,
    responses(
        (status = 201, description = "The new source", body = SourceView),
        (status = 200, description = "The existing source, or the results of a list", body = AddedView),
    ),
)]
pub(crate) async fn add_sources(State(state): App, call: Call) -> Answer {
    refuse_key(&call)?;
    match call.json_or_list::<SourceBody>()? {
        OneOrMany::One(body) => {
            add_one(&state, body.into_definition()?, &call.requester.origin()).await
        }
        OneOrMany::Many(items) => {
            check_count(items.len(), state.limits.batch_items_max)?;
            let read = |item: &&RawValue| read_object::<SourceBody>(item.get())?.into_definition();
            let items = items.iter().map(read).collect();
            let answers = add_each(&state, items, &call.requester.origin()).await?;
            let sources = answers.into_iter().map(AddedItemView::from).collect();
            Ok(Json(AddedView { sources }).into_response())
        }
    }
}

async fn add_one(state: &AppState, definition: Definition, by: &str) -> Answer {
    let added = state.sources.add(vec![definition], by).await?.pop();
    let (status, id) = match added {
        Some(Added::New(id)) => (StatusCode::CREATED, id),
        Some(Added::Exists(id)) => (StatusCode::OK, id),
        None => {
            return Err(Problem::new(
                Code::Internal,
                both!("the answer is missing", "缺少应答"),
            ));
        }
    };
    let source = state.sources.load(id).await?;
    written(state, status, source).await
}

/// The result of each definition, in order.
pub(super) type Answers = Vec<Result<Added>>;

/// Adds what is valid; refusals keep their position among the results.
pub(crate) async fn add_each(
    state: &AppState,
    items: Vec<Result<Definition>>,
    by: &str,
) -> Result<Answers> {
    let mut fit = Vec::with_capacity(items.len());
    let sort = |item: Result<Definition>| {
        let definition = item?;
        check_form(&definition)?;
        state.sources.check(&definition)?;
        fit.push(definition);
        Ok(())
    };
    let sorted: Vec<Result<()>> = items.into_iter().map(sort).collect();
    let mut added = state.sources.add(fit, by).await?.into_iter();
    let answer = |sorted: Result<()>| {
        sorted?;
        let missing = || {
            Problem::new(
                Code::Internal,
                both!("the answer to this item is missing", "缺少对此条目的应答"),
            )
        };
        added.next().ok_or_else(missing)
    };
    Ok(sorted.into_iter().map(answer).collect())
}

impl From<Result<Added>> for AddedItemView {
    fn from(answer: Result<Added>) -> Self {
        let there = |id: SourceId, added| Self::There {
            source_id: id.0,
            added,
        };
        match answer {
            Ok(Added::New(id)) => there(id, true),
            Ok(Added::Exists(id)) => there(id, false),
            Err(error) => Self::Refused { error },
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiscoverBody {
    /// Address of a site or a feed.
    #[schema(example = "https://example.com/")]
    address: String,
    /// How to request it: as a source with these options.
    #[serde(default)]
    options: Options,
}

/// The feeds of an address.
#[derive(Serialize, ToSchema)]
pub(crate) struct CandidatesView {
    /// The most likely first.
    candidates: Vec<CandidateView>,
}

/// A discovered feed.
#[derive(Serialize, ToSchema)]
pub(crate) struct CandidateView {
    /// Its address.
    pub(crate) address: String,
    /// Its title.
    pub(crate) title: Option<String>,
    /// Its format.
    #[schema(example = "atom")]
    pub(crate) format: Option<String>,
    /// Id of the source with this address, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source_id: Option<i64>,
}

/// Discover the feeds of a site.
///
/// The node fetches the address, so this needs scope `operate` although nothing is stored.
#[utoipa::path(
    post, path = "/api/v1/sources/discover", tag = "sources",
    request_body = DiscoverBody,
    responses(
        (status = 200, description = "The feeds found, the most likely first", body = CandidatesView),
    ),
)]
pub(crate) async fn discover(State(state): App, call: Call) -> Result<Json<CandidatesView>> {
    refuse_key(&call)?;
    let DiscoverBody { address, options } = call.json()?;
    let candidates = candidates(&state, &address, &options).await?;
    Ok(Json(CandidatesView { candidates }))
}

/// The feeds of an address, the most likely first.
pub(crate) async fn candidates(
    state: &AppState,
    address: &str,
    options: &Options,
) -> Result<Vec<CandidateView>> {
    let fits = address.len() <= ADDRESS_BYTES_MAX && !address.contains(char::is_control);
    Problem::unless(fits, "address", || {
        both!(
            "address must have at most {ADDRESS_BYTES_MAX} bytes and no control characters",
            "address 最多 {ADDRESS_BYTES_MAX} 字节，不能含控制字符"
        )
    })?;
    let mut found = state.sources.discover(address, options).await?;
    found.truncate(CANDIDATES_MAX);
    let mut candidates = Vec::with_capacity(found.len());
    for candidate in found {
        candidates.push(known(state, candidate).await?);
    }
    Ok(candidates)
}

async fn known(state: &AppState, candidate: Candidate) -> Result<CandidateView> {
    let address = canonical_address(&candidate.address);
    let there = state.changes.load_source_at(&address).await?;
    Ok(CandidateView {
        address: candidate.address,
        title: candidate.title,
        format: candidate.format,
        source_id: there.map(|source| source.id.0),
    })
}
