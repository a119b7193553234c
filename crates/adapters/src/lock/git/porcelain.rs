//! Git's output, read strictly: only the known answers count.

/// What became of one ref in a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PushStatus {
    /// Created by this push.
    New,
    /// It pointed there before. Nothing was created.
    UpToDate,
    /// Deleted by this push.
    Deleted,
    /// It is not what the lease says: it exists already, is gone, or points elsewhere.
    Exists,
    /// Refused for another reason.
    Refused,
}

/// Each ref's status from `git push --porcelain`: a flag, `from:to` and a summary, between tabs.
///
/// A server that noticed the race only while writing says no more than "failed to update ref" in
/// the summary; the reason is then in a separate remark (`remarks`).
pub(super) fn read_statuses(stdout: &str, remarks: &str) -> Vec<(String, PushStatus)> {
    let status = |line: &str| {
        let mut parts = line.split('\t');
        let (flag, refspec, summary) = (parts.next()?, parts.next()?, parts.next()?);
        let (_, name) = refspec.rsplit_once(':')?;
        let pushed = match flag {
            "*" => PushStatus::New,
            "=" => PushStatus::UpToDate,
            "-" => PushStatus::Deleted,
            "!" => read_rejection(name, summary, remarks)?,
            _ => return None,
        };
        Some((name.to_owned(), pushed))
    };
    stdout.lines().filter_map(status).collect()
}

/// `None` where the result is unknown: the answer got lost, or another writer was active.
fn read_rejection(name: &str, summary: &str, remarks: &str) -> Option<PushStatus> {
    let says = |words: &str| summary.contains(words);
    if says("stale info") || says("already exists") || says("does not exist") {
        return Some(PushStatus::Exists);
    }
    if says("remote failure") {
        return None;
    }
    if says("failed to update ref") || says("cannot lock ref") {
        let about = |line: &&str| line.contains(name) && line.contains("already exists");
        return remarks.lines().find(about).map(|_| PushStatus::Exists);
    }
    Some(PushStatus::Refused)
}

/// Names and object ids from `git ls-remote`.
pub(super) fn read_refs(stdout: &str) -> Vec<(String, String)> {
    let pair = |line: &str| {
        let (oid, name) = line.split_once('\t')?;
        Some((name.to_owned(), oid.to_owned()))
    };
    stdout.lines().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RACED: &str =
        "remote: error: cannot lock ref 'refs/tags/lock/x': reference already exists";
    const OTHER: &str =
        "remote: error: cannot lock ref 'refs/tags/lock/y': reference already exists";
    const BUSY: &str = "remote: error: cannot lock ref 'refs/tags/lock/x': Unable to create \
                        '/r/refs/tags/lock/x.lock': File exists.";
    const FAILED: &str = "[remote rejected] (failed to update ref)";

    /// Flag, summary, remarks; what it means, and why.
    type Row = (
        &'static str,
        &'static str,
        &'static str,
        Option<PushStatus>,
        &'static str,
    );

    #[rustfmt::skip]
    const ROWS: [Row; 13] = [
        ("*", "[new tag]", "", Some(PushStatus::New), "created"),
        ("*", "[new reference]", "", Some(PushStatus::New), "created"),
        ("=", "[up to date]", "", Some(PushStatus::UpToDate), "exit code 0, and yet not ours"),
        ("!", "[rejected] (stale info)", "", Some(PushStatus::Exists), "seen before the push"),
        ("!", "[remote rejected] (reference already exists)", "", Some(PushStatus::Exists), "by the server"),
        ("!", FAILED, RACED, Some(PushStatus::Exists), "raced"),
        ("!", FAILED, OTHER, None, "about another ref"),
        ("!", FAILED, BUSY, None, "another writer is active"),
        ("!", FAILED, "", None, "unknown"),
        ("!", "[remote failure] (remote failed to report status)", "", None, "the answer got lost"),
        ("!", "[remote rejected] (pre-receive hook declined)", "", Some(PushStatus::Refused), "a rule"),
        (" ", "1..2", "", None, "a fast-forward would be no creation"),
        ("+", "1...2 (forced update)", "", None, "neither would an update"),
    ];

    #[test]
    fn dp_05_only_the_status_new_wins_and_only_a_known_rejection_loses() {
        for (flag, summary, remarks, expected, why) in ROWS {
            let stdout = format!("To somewhere\n{flag}\t1234:refs/tags/lock/x\t{summary}\nDone\n");
            let expected = expected.map(|pushed| ("refs/tags/lock/x".to_owned(), pushed));
            let read = read_statuses(&stdout, remarks);
            assert_eq!(read, Vec::from_iter(expected), "{flag} {summary}: {why}");
        }
        assert_eq!(read_statuses("fatal: nothing\nTo x\nDone\n", ""), []);
    }
}
