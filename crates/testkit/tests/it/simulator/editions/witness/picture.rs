//! The picture of `core::edition`, held against every write: states, stories and batches.

use std::collections::BTreeSet;

use almanack_core::edition::{
    Account, Edition, State,
    batch::{Batch, Status as Ended},
    story::{Status, Story},
};

use super::Write;

type Checked = Result<(), String>;

pub(super) fn check(write: &Write<'_>) -> Checked {
    check_state(write)?;
    check_rows(write.after)?;
    check_list(write)?;
    for story in &write.change.stories {
        check_story(write, story)?;
    }
    for batch in &write.change.batches {
        check_batch(write, batch)?;
    }
    check_document(write)
}

fn check_state(write: &Write<'_>) -> Checked {
    let (from, to) = (&write.before.edition, &write.after.edition);
    if !may_follow(from, to.state) {
        let was = from.archived_from;
        return Err(format!(
            "{} (archived from {was:?}) -> {} is in no picture",
            from.state, to.state
        ));
    }
    // An improvement that changes nothing leaves the edition published as it was.
    let unchanged = from.improving_at.is_some() && from.published_at == to.published_at;
    let published = to.state == State::Published && from.state != State::Published && !unchanged;
    if (from.published_at != to.published_at) != published {
        return Err("the time of publishing changed without publishing".to_owned());
    }
    if published && !write.after.deliveries.iter().all(|d| d.state.is_settled()) {
        return Err("it is published before every delivery is settled".to_owned());
    }
    Ok(())
}

/// Which state may follow another; drawn again here on purpose.
fn may_follow(from: &Edition, to: State) -> bool {
    use State::{Aggregating, Archived, Empty, Init, ListFetched, Processing, Published};
    let anew = matches!(to, ListFetched | Processing);
    match from.state {
        same if same == to => true,
        Init => matches!(to, ListFetched | Archived),
        ListFetched => matches!(to, Processing | Archived),
        // Published: an improvement that changed nothing.
        Processing if from.improving_at.is_some() => {
            matches!(to, ListFetched | Aggregating | Published | Archived)
        }
        Processing => matches!(to, ListFetched | Aggregating | Empty | Archived),
        Aggregating => anew || matches!(to, Published | Archived),
        // Aggregating: a message is sent again.
        Published => anew || matches!(to, Aggregating | Archived),
        Empty => anew || to == Archived,
        Archived => match from.archived_from {
            Some(was) if was.is_open() => was == to || anew || to == Aggregating,
            Some(Published) => anew || to == Aggregating,
            _ => anew,
        },
    }
}

fn check_rows(account: &Account) -> Checked {
    let keys: BTreeSet<_> = account.stories.iter().map(|s| &s.listed.key).collect();
    let ranks: BTreeSet<u32> = account.stories.iter().map(|s| s.rank).collect();
    let indices: BTreeSet<u32> = account.batches.iter().map(|b| b.index).collect();
    let stories = account.stories.len();
    if keys.len() != stories || ranks.len() != stories {
        return Err("a story is in it twice".to_owned());
    }
    if indices.len() != account.batches.len() {
        return Err("two batches have one index".to_owned());
    }
    let counts = account.counts();
    let sum = counts.pending + counts.processing + counts.completed + counts.failed;
    if sum != counts.total || counts.total as usize != stories {
        return Err(format!("the counts do not add up: {counts:?}"));
    }
    let running = |batch: &&Batch| batch.status == Ended::Running;
    let at_work = account.batches.iter().filter(running);
    let began: BTreeSet<_> = at_work.map(|batch| batch.started_at).collect();
    if began.len() > 1 {
        return Err("two batches run at once that were not begun together".to_owned());
    }
    for story in &account.stories {
        let own = |batch: &&Batch| Some(batch.index) == story.batch;
        let at_work = account.batches.iter().filter(running).find(own);
        if story.status == Status::Processing && at_work.is_none() {
            return Err(format!("{} is processed by no batch", story.listed.key));
        }
    }
    Ok(())
}

/// The list comes once, whole.
fn check_list(write: &Write<'_>) -> Checked {
    let (from, to) = (write.before.edition.state, write.after.edition.state);
    let came = from == State::Init && to == State::ListFetched;
    let (before, after) = (write.before.stories.len(), write.after.stories.len());
    match (came, after == before) {
        (false, false) => Err(format!("{before} stories became {after} in {to}")),
        (true, true) => Err("a list without stories was accepted".to_owned()),
        _ => Ok(()),
    }
}

fn check_story(write: &Write<'_>, story: &Story) -> Checked {
    let key = &story.listed.key;
    let mut known = write.before.stories.iter();
    let Some(before) = known.find(|known| known.listed.key == *key) else {
        return Ok(());
    };
    let reset = write.after.edition.state == State::ListFetched;
    let allowed = match (before.status, story.status) {
        (same, now) if same == now => before.batch == story.batch || reset,
        (Status::Pending, Status::Processing) => {
            let new = |batch: &Batch| Some(batch.index) == story.batch;
            write.change.batches.iter().any(new)
        }
        (Status::Processing, _) => {
            let own = |batch: &&Batch| Some(batch.index) == before.batch;
            let batch = write.after.batches.iter().find(own);
            batch.is_some_and(|batch| batch.status != Ended::Running)
        }
        (Status::Failed, Status::Pending) => true,
        (Status::Completed, Status::Pending) if is_improved(write) => {
            before.written.degraded_by.is_some()
        }
        (_, Status::Pending) => reset,
        _ => false,
    };
    if !allowed || before.rank != story.rank {
        return Err(format!(
            "{key}: {:?} of batch {:?} became {:?} of batch {:?}",
            before.status, before.batch, story.status, story.batch
        ));
    }
    if !reset && !(before.retry_count..=before.retry_count + 1).contains(&story.retry_count) {
        return Err(format!("{key}: its retries are not counted one by one"));
    }
    Ok(())
}

/// Whether the edition is worked on again by itself from now on.
fn is_improved(write: &Write<'_>) -> bool {
    write.before.edition.improving_at != write.after.edition.improving_at
        && write.after.edition.improving_at.is_some()
}

fn check_batch(write: &Write<'_>, batch: &Batch) -> Checked {
    let index = batch.index;
    let mut known = write.before.batches.iter();
    let last = write.before.batches.iter().map(|known| known.index).max();
    let Some(before) = known.find(|known| known.index == index) else {
        let own = |story: &&Story| story.batch == Some(index);
        let taken = write.change.stories.iter().filter(own).count();
        return if Some(index) > last && batch.story_count as usize == taken {
            Ok(())
        } else {
            Err(format!("batch {index} of {taken} stories after {last:?}"))
        };
    };
    if before.status != Ended::Running {
        return Err(format!("batch {index} ended twice"));
    }
    if batch.spend.requests > write.cast.settings.rules.budget {
        return Err(format!(
            "batch {index} spent {} requests",
            batch.spend.requests
        ));
    }
    let mut stories = write.change.stories.iter();
    let given_up = stories.any(|story| story.status == Status::Pending && story.batch.is_none());
    let reset = write.after.edition.state == State::ListFetched;
    if given_up && !reset && batch.lease_until > write.now {
        return Err(format!("batch {index} was given up before its lease"));
    }
    Ok(())
}

fn check_document(write: &Write<'_>) -> Checked {
    let (before, after) = (&write.before.edition, &write.after.edition);
    let Some(document) = &write.change.document else {
        return if before.revision == after.revision {
            Ok(())
        } else {
            Err("a revision without a document".to_owned())
        };
    };
    let counts = write.before.counts();
    let printed = document.inputs.stories.len();
    let corrected = !before.corrections.is_empty();
    let adds_up = match &document.revised {
        // What a person made of another document.
        Some(revised) if document.retracted().is_some() => !revised.by.is_empty(),
        Some(revised) => !revised.by.is_empty() && printed > 0,
        None => {
            (printed == counts.completed as usize || corrected && printed > 0)
                && document.inputs.left_out == counts.total - counts.completed
        }
    };
    if after.revision != before.revision + 1
        || document.inputs.revision != after.revision
        || !adds_up
        || printed == 0 && document.retracted().is_none()
    {
        return Err(format!(
            "document {} of {printed} stories, without {}, after {counts:?}",
            document.inputs.revision, document.inputs.left_out
        ));
    }
    Ok(())
}
