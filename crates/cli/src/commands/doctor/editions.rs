//! Whether editions take their stories from sources that there are: a misspelt name is an edition
//! with fewer stories, and no error.

use almanack_core::{source::Definition, store::SourceFilter};

use super::Finding;
use crate::{commands::prelude::*, config::settings::edition::table_of};

/// Sources whose names contain another one's.
const NAMESAKES_MAX: usize = 300;

/// Looks for every source that an edition names, in the store and in the file.
pub(super) async fn look(settings: &Settings, file: &[Definition]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (edition, of) in settings.editions.all() {
        let sources = of.stories.entries().map(|it| it.sources.as_slice());
        let check = format!("{}.source", table_of(edition));
        for name in sources.unwrap_or_default() {
            if file.iter().any(|it| it.name == *name) || is_stored(settings, name).await? {
                findings.push(Finding::ok(&check, format!("there is a source `{name}`")));
                continue;
            }
            let what = format!("no source has the name `{name}`");
            let hint = "write the name as `almanack source list` shows it";
            findings.push(Finding::warning(&check, what).hint(hint));
        }
    }
    Ok(findings)
}

async fn is_stored(settings: &Settings, name: &str) -> Result<bool> {
    let store = wiring::open_store(&settings.database).await?;
    let filter = SourceFilter {
        containing: Some(name.to_owned()),
        limit: NAMESAKES_MAX,
        ..SourceFilter::default()
    };
    let found = store.list_sources(&filter).await?.rows;
    Ok(found.iter().any(|source| source.definition.name == name))
}
