//! The prompts that models get for the editions of a name (ED-36).

use almanack_core::edition::prompts::Prompt;

use super::{editions_named, parse_name};
use crate::prelude::*;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PromptsQuery {
    /// Name of the edition. Default: the one that is configured without.
    name: Option<String>,
}

/// The prompts in force for the editions of a name.
#[derive(Serialize, ToSchema)]
#[schema(as = EditionPromptsView)]
pub(crate) struct PromptsView {
    /// Name of the edition.
    #[schema(example = "default")]
    name: String,
    /// One of each kind; empty without a model.
    prompts: Vec<Prompt>,
}

/// Show the prompts that models get for the editions of a name, with a version of each prompt.
///
/// `prompts` of a story names the versions that it was written by.
#[utoipa::path(
    get, path = "/api/v1/editions/prompts", tag = "editions",
    params(PromptsQuery),
    responses((status = 200, description = "The prompts", body = PromptsView)),
)]
pub(crate) async fn prompts(
    State(state): App,
    Asked(query): Asked<PromptsQuery>,
) -> Result<Json<PromptsView>> {
    let name = query.name.as_deref().map(parse_name).transpose()?;
    let editions = editions_named(&state, name.unwrap_or_default())?;
    let prompts = editions.outside.writer.prompts();
    let prompts = prompts
        .into_iter()
        .flat_map(almanack_core::edition::prompts::Prompts::iter);
    Ok(Json(PromptsView {
        name: editions.settings.name.to_string(),
        prompts: prompts.cloned().collect(),
    }))
}
