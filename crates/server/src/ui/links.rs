//! Links to the things that a page names.

use almanack_core::edition::EditionName;
use almanack_core::plan::DISPATCH;
use almanack_core::source::SOURCE_CHECK;

pub(crate) use super::schedules::path as schedule;
use crate::ui::prelude::*;

/// The page of a task.
pub(crate) fn task_path(identity: &Identity) -> String {
    let [kind, subject] = [identity.kind.as_str(), identity.subject.as_str()].map(percent::encode);
    format!("/ui/tasks/{kind}/{subject}")
}

/// A task, by its subject and kind.
pub(crate) fn task(identity: &Identity) -> Markup {
    html! {
        a href=(task_path(identity)) data-open { (identity.subject) }
        " " small class="hint" { (identity.kind) }
    }
}

/// Tasks with this status.
pub(crate) fn tasks_in(status: Status) -> String {
    format!("/ui/tasks?status={status}")
}

/// The page of a firing's log.
pub(crate) fn run_log(firing: TaskId) -> String {
    format!("/ui/firings/{firing}/log")
}

/// The page of a source.
pub(crate) fn source(id: SourceId) -> String {
    format!("/ui/sources/{id}")
}

/// The page of an edition.
/// The pages of an edition for its readers.
pub(crate) fn reader(name: EditionName) -> String {
    if name.is_default() {
        "/editions".to_owned()
    } else {
        format!("/editions/{name}")
    }
}

pub(crate) fn edition(id: EditionId) -> String {
    format!("/ui/editions/{id}")
}

/// The schedule of a firing's task.
pub(crate) fn fired_schedule(identity: &Identity) -> Option<&str> {
    let subject = identity.subject.as_str();
    let named = subject.strip_prefix("schedule:")?;
    let (name, _) = named.rsplit_once('@')?;
    (identity.kind.as_str() == DISPATCH).then_some(name)
}

/// Whether a task checks a source.
pub(crate) fn is_check(identity: &Identity) -> bool {
    identity.kind.as_str() == SOURCE_CHECK
}

#[cfg(test)]
mod tests {
    use almanack_core::task::{Kind, Subject};

    use super::*;

    fn identity(kind: &str, subject: &str) -> Identity {
        Identity {
            kind: Kind::parse(kind).unwrap(),
            subject: Subject::parse(subject).unwrap(),
        }
    }

    #[test]
    fn a_subject_stays_one_segment_of_a_path() {
        let path = task_path(&identity("ARTICLE_PUBLISH", "a/b?c#d <e>"));
        assert_eq!(path, "/ui/tasks/ARTICLE_PUBLISH/a%2Fb%3Fc%23d%20%3Ce%3E");
    }

    #[test]
    fn a_firing_names_its_schedule() {
        let firing = identity(DISPATCH, "schedule:morning@2026-01-04T08:00:00Z");
        assert_eq!(fired_schedule(&firing), Some("morning"));
        let manual = identity(DISPATCH, "schedule:a@manual-2026-01-04T08:00:00Z");
        assert_eq!(fired_schedule(&manual), Some("a"));
        assert_eq!(fired_schedule(&identity("OTHER", "schedule:a@b")), None);
    }
}
