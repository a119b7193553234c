//! Review before publishing: whether, and what happens when nobody answers (ED-42).

use almanack_core::edition::hold::{Approval, Deadline, OnSilence};
use jiff::civil::Time;

use super::{
    super::{alerts::wall_time, prelude::*},
    EditionKeys, key,
};

words! {
    OnSilence { "publish" = Self::Publish, "drop" = Self::Drop }
}

impl Show for Time {
    fn show(&self) -> String {
        format!("\"{:02}:{:02}\"", self.hour(), self.minute())
    }
}

/// A time of day.
pub(super) fn time_of_day(text: &str) -> Read<Time> {
    let refused = || {
        Problem::new(
            format!("`{text}` is not a time of day"),
            "for example \"07:00\"",
        )
    };
    wall_time(text).ok_or_else(refused)
}

/// How editions are approved; none where nobody has to. Contradictory settings are refused, and
/// those without effect are reported.
pub(super) fn of(reader: &mut Reader<'_>, read: &EditionKeys) -> Option<Approval> {
    let deadline = match (read.approve_by, read.approve_within) {
        (Some(_), Some(_)) => {
            let what = "edition.approve_by and edition.approve_within contradict each other";
            let problem = Problem::new(what, "keep one of them");
            reader.complain::<()>(&key("approve_within"), problem);
            None
        }
        (Some(time), None) => Some(Deadline::By(time)),
        (None, Some(wait)) => Some(Deadline::Within(wait)),
        (None, None) => None,
    };
    let unused = |reader: &mut Reader<'_>, name: &'static str, why: &str| {
        if let Some(place) = reader.place(&key(name)) {
            let what = format!("edition.{name} has no effect: {why}");
            reader.problems.push(Problem::warning(what, Some(place)));
        }
    };
    if !read.approve {
        for name in ["approve_by", "approve_within", "on_silence"] {
            unused(reader, name, "edition.approve is not on");
        }
        return None;
    }
    if read.approve_by.is_none() && read.approve_within.is_none() {
        let why = "neither edition.approve_by nor edition.approve_within is set";
        unused(reader, "on_silence", why);
    }
    if let (Some(ready_by), Some(approve_by)) = (read.ready_by, read.approve_by)
        && approve_by > ready_by
    {
        let what = "edition.approve_by is after edition.ready_by: what nobody approves is late";
        let hint = "set approve_by to that time or an earlier one";
        reader.warn(what, key("approve_by"), hint);
    }
    Some(Approval {
        deadline,
        on_silence: read.on_silence,
    })
}
