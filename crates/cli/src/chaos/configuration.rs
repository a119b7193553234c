//! The scratch copy: what a chaos run keeps of the user's configuration, and what it replaces.
//!
//! Kept: how a node works (slots, lease, drain), the retry policy, and the schedules with all their
//! policies. Replaced: the database, and every outside address. Nothing else is copied, so no
//! secret is.

use almanack_core::{
    plan::{CatchUp, Definition, Overlap, ScheduleName, Unfit},
    target::Target,
};
use almanack_engine::schedules::Wanted;
use almanack_lab::customer;
use jiff::SignedDuration;

use crate::{config::Settings, when::show_duration};

/// An added schedule with a slot in every second.
pub(crate) const EVERY_SECOND: &str = "chaos-every-second";
/// Its slots to catch up after an outage; more than a run has.
const CATCH_UP_MAX: u32 = 1_000;

/// The addresses that the copy's tasks and firings call.
pub(crate) struct Places {
    pub(crate) customer: String,
    pub(crate) articles: String,
    /// Base address of the hooks; a name follows.
    pub(crate) hooks: String,
}

/// The file that the nodes read.
pub(crate) fn file(settings: &Settings, places: &Places) -> String {
    let (node, retry) = (&settings.node, &settings.retry);
    format!(
        "# Written by `almanack chaos`: a scratch copy that touches nothing outside this machine.\n\
         [node]\n\
         slots = {slots}\n\
         lease = \"{lease}\"\n\
         drain = \"{drain}\"\n\n\
         [retry]\n\
         base = \"{base}\"\n\
         cap = \"{cap}\"\n\n\
         [outbound]\n\
         allow = [\"127.0.0.1\"]\n\n\
         [kinds.{customer}]\n\
         url = \"{calls}\"\n\n\
         [kinds.ARTICLE_AUDIT]\n\
         url = \"{articles}/callbacks/audit\"\n\n\
         [kinds.ARTICLE_PUBLISH]\n\
         url = \"{articles}/callbacks/publish\"\n\n\
         [log]\n\
         level = \"warn\"\n",
        slots = node.slots,
        lease = show_duration(node.lease),
        drain = show_duration(node.drain),
        base = show_duration(retry.base),
        cap = show_duration(retry.cap),
        customer = customer::KIND,
        calls = places.customer,
        articles = places.articles,
    )
}

/// The schedules of the copy: the user's, each calling a hook of its name, and one for every
/// second.
pub(crate) fn schedules(own: &[Wanted], places: &Places) -> Result<Vec<Wanted>, Unfit> {
    let hook = |name: &ScheduleName| Target::webhook(format!("{}/{name}", places.hooks));
    let copy = |wanted: &Wanted| Wanted {
        name: wanted.name.clone(),
        definition: Definition {
            target: hook(&wanted.name),
            ..wanted.definition.clone()
        },
    };
    let mut copies: Vec<Wanted> = own.iter().map(copy).collect();
    let name = ScheduleName::parse(EVERY_SECOND)?;
    let definition = Definition {
        catch_up: CatchUp::All,
        max_catch_up: CATCH_UP_MAX,
        catch_up_pace: SignedDuration::ZERO,
        overlap: Overlap::Allow,
        retry_for: Some(SignedDuration::from_hours(1)),
        ..Definition::new("* * * * * *", hook(&name))
    };
    copies.push(Wanted { name, definition });
    Ok(copies)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places {
            customer: "http://127.0.0.1:1/calls".to_owned(),
            articles: "http://127.0.0.1:2".to_owned(),
            hooks: "http://127.0.0.1:3/hooks".to_owned(),
        }
    }

    #[test]
    fn a_copied_schedule_keeps_its_policies_and_fires_at_home() {
        let target = Target::webhook("https://example.org/live".to_owned());
        let mut definition = Definition::new("0 9 * * *", target);
        definition.overlap = Overlap::QueueOne;
        let name = ScheduleName::parse("nightly").unwrap();
        let own = [Wanted { name, definition }];
        let copies = schedules(&own, &places()).unwrap();
        assert_eq!(copies.len(), 2);
        assert_eq!(copies[0].definition.overlap, Overlap::QueueOne);
        let at_home = Target::webhook("http://127.0.0.1:3/hooks/nightly".to_owned());
        assert!(copies[0].definition.target == at_home);
    }
}
