//! Lists of feeds between the adapter that reads them and the sources that they become (SS-16).

use std::sync::Arc;

use almanack_adapters::opml::{self, Subscription};
use almanack_core::{
    source::{Definition, options::Options, reading::Reading},
    time::Clock,
};
use almanack_server::{Opml, Outline};

/// The title of an exported list.
const TITLE: &str = "Sources of Almanack";

/// Lists for the API.
pub(crate) struct Lists(pub(crate) Arc<dyn Clock>);

impl Opml for Lists {
    fn read(&self, text: &[u8]) -> Result<Outline, String> {
        let imported = opml::import(text).map_err(|error| error.to_string())?;
        let mut broken: Vec<String> = imported.problems.iter().map(ToString::to_string).collect();
        if imported.left_out > 0 {
            let beyond = imported.left_out;
            broken.push(format!("{beyond} more, above the limit of one file"));
        }
        Ok(Outline {
            definitions: imported.subscriptions.into_iter().map(definition).collect(),
            broken,
        })
    }

    fn write(&self, definitions: &[Definition]) -> String {
        write(definitions, self.0.as_ref())
    }
}

/// A feed of a list as a source.
pub(crate) fn definition(feed: Subscription) -> Definition {
    Definition {
        name: feed.title,
        address: feed.address,
        category: feed.category,
        options: Options {
            site: feed.site,
            ..Options::default()
        },
        ..Definition::default()
    }
}

/// A list of the feeds among these: sources with rules are of no use to other readers.
pub(crate) fn write(definitions: &[Definition], clock: &dyn Clock) -> String {
    let feeds = definitions
        .iter()
        .filter(|definition| definition.reading == Reading::Feed);
    let feeds: Vec<Subscription> = feeds
        .map(|feed| Subscription {
            address: feed.address.clone(),
            title: feed.name.clone(),
            category: feed.category.clone(),
            site: feed.options.site.clone(),
        })
        .collect();
    opml::export(TITLE, &feeds, clock.now())
}
