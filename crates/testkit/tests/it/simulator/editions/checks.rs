//! The reckoning: what destinations got, all the while; and every edition, at the end.

use std::collections::BTreeMap;

use almanack_core::{
    alert::{About, Key, Rule},
    edition::{
        Account, State,
        delivery::{OnRevision, OnUnknown},
        hold::Hold,
    },
    store::{AlertFilter, EditionFilter},
};
use almanack_engine::editions::{EditionSet, Editions};
use almanack_testkit::edition_harness::{Place, Received};
use jiff::Timestamp;

use super::{EditionSummary, nodes::World};

/// More editions than any story has.
const EDITIONS_MAX: usize = 100_000;

/// What destinations got so far.
#[derive(Default)]
pub(super) struct Mailboxes {
    boxes: BTreeMap<String, Mailbox>,
}

#[derive(Default)]
struct Mailbox {
    messages: usize,
    times: BTreeMap<String, usize>,
    revisions: BTreeMap<String, u32>,
}

impl Mailboxes {
    pub(super) fn messages(&self) -> usize {
        self.boxes.values().map(|mailbox| mailbox.messages).sum()
    }

    /// Looks at what arrived since the last look.
    pub(super) fn look(&mut self, world: &World) {
        for place in &world.cast.places {
            let mailbox = self.boxes.entry(place.name.clone()).or_default();
            for message in world.room.received_after(&place.name, mailbox.messages) {
                mailbox.messages += 1;
                let checked = mailbox.take(place, &message, world);
                world.record.check(checked);
            }
        }
    }
}

impl Mailbox {
    fn take(&mut self, place: &Place, message: &Received, world: &World) -> Result<(), String> {
        let key = &message.key;
        let times = self.times.entry(key.clone()).or_default();
        *times += 1;
        let resent = world.witness.is_resent(key);
        let may_repeat = place.on_unknown == OnUnknown::Repeat && !place.can_look;
        if *times > 1 && !may_repeat && !resent {
            return Err(format!("{key} arrived twice"));
        }
        let mut parts = key.trim_start_matches("edition:").split('/');
        let (date, revision) = (parts.next(), parts.next());
        let date = date.ok_or_else(|| format!("{key} names no day"))?;
        if revision != Some(message.revision.to_string().as_str()) {
            let of = message.revision;
            return Err(format!("{key} was made of the document of revision {of}"));
        }
        let day = date.parse().map_err(|_| format!("{key} names no day"))?;
        if !world.witness.is_let_out(day, message.revision) {
            return Err(format!("{key} arrived, and nobody had let it out"));
        }
        let first = self.revisions.entry(date.to_owned());
        let first = *first.or_insert(message.revision);
        // Better twice than missing: that holds for a first document that perhaps never arrived,
        // too.
        let earlier = format!("edition:{date}/{first}/{}/", place.name);
        let may_follow = may_repeat && !world.witness.is_confirmed(&earlier);
        let second = first != message.revision && !may_follow && !resent;
        if place.on_revision == OnRevision::Skip && second {
            return Err(format!(
                "{key} arrived where revision {first} had arrived, and no second is wanted"
            ));
        }
        Ok(())
    }
}

/// Checks everything that is kept.
pub(super) async fn check(
    world: &World,
    all_editions: &EditionSet,
) -> Result<EditionSummary, String> {
    let all = EditionFilter {
        limit: EDITIONS_MAX,
        ..EditionFilter::default()
    };
    let any = all_editions.any().ok_or("there are no editions")?;
    let lines = any.list(&all).await.map_err(|error| error.chain())?;
    check_alerts(world).await?;
    let mut summary = EditionSummary::default();
    for line in lines {
        let id = line.edition.id;
        let editions = all_editions.get(id.name);
        let editions = editions.ok_or_else(|| format!("{id}: no such edition"))?;
        let account = editions.account(id).await;
        let account = account.map_err(|error| error.chain())?;
        if world
            .witness
            .edition(id)
            .is_some_and(|copy| copy != account)
        {
            return Err(format!(
                "{id}: the store keeps something else than was written"
            ));
        }
        check_end(world, &account).map_err(|what| format!("{id}: {what}"))?;
        if account.was_published() {
            summary.published += 1;
        } else {
            summary.alerted += 1;
        }
        summary.documents += check_documents(editions, &account).await?;
    }
    Ok(summary)
}

/// Published, or in a clear state of which people heard.
fn check_end(world: &World, account: &Account) -> Result<(), String> {
    let (state, was) = (account.edition.state, account.edition.archived_from);
    let about = About::Edition(account.edition.id);
    let heard = |rule| {
        let about = about.clone();
        world.witness.is_heard(&Key { rule, about })
    };
    let held = account.edition.hold.as_ref();
    let ended = match was.unwrap_or(state) {
        State::Published => true,
        State::Empty => heard(Rule::Empty),
        // A person kept it back, or was asked to decide and did not.
        State::Aggregating if held.is_some_and(Hold::is_dropped) => heard(Rule::Approval),
        State::Aggregating if held.is_some_and(Hold::is_rejected) => true,
        // What was published and taken up again is still the published one.
        _ => account.was_published() || heard(Rule::Unfinished),
    };
    if state.is_open() || !ended {
        return Err(format!(
            "it ends as {state} (was {was:?}), and no one is notified why"
        ));
    }
    Ok(())
}

/// What people heard last of an alert is true.
async fn check_alerts(world: &World) -> Result<(), String> {
    let open = AlertFilter {
        closed_from: Timestamp::MAX,
        limit: 1_000,
    };
    let alerts = world.store.load_alerts(open).await;
    let alerts = alerts.map_err(|error| error.chain())?;
    let unreported = alerts.iter().find(|alert| alert.news().is_some());
    unreported.map_or(Ok(()), |alert| {
        let (key, news) = (&alert.key, alert.news());
        Err(format!("no one was notified {news:?} of {key:?}"))
    })
}

/// Every document can be rendered again from its inputs.
async fn check_documents(editions: &Editions, account: &Account) -> Result<usize, String> {
    let id = account.edition.id;
    for revision in 1..=account.edition.revision {
        let rebuilt = editions.rebuild(id, Some(revision), None).await;
        let rebuilt = rebuilt.map_err(|error| error.chain())?;
        if !rebuilt.identical {
            return Err(format!("{id}: document {revision} comes out otherwise"));
        }
    }
    Ok(account.edition.revision as usize)
}
