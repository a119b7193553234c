//! "Did you mean …?": the known name nearest to what was written.
//!
//! Nearness is the number of single-letter slips (a letter missing, added, wrong, or two swapped).
//! A suggestion further away than a third of the word is a guess, and a wrong guess costs more
//! than none.

/// The known name nearest to `given`, if one is near enough to be what was meant.
pub(crate) fn nearest<'a>(
    given: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let slips_max = (given.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|name| (slips(&given.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(slips, _)| *slips <= slips_max)
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, name)| name)
}

/// What to write instead of a time zone that there is not.
pub(crate) fn zone(given: &str) -> String {
    let known: Vec<String> = jiff::tz::db()
        .available()
        .map(|known| known.as_str().to_owned())
        .collect();
    match nearest(given, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "zones look like Europe/Berlin".to_owned(),
    }
}

/// How many single-letter slips lead from one word to the other.
fn slips(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let changed = last[j] + usize::from(a != b);
            let mut best = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted_by_letter() {
        for (from, to, expected) in [
            ("listen", "listen", 0),
            ("lisen", "listen", 1),
            ("listne", "listen", 1),
            ("lease", "leave", 1),
            ("", "drain", 5),
            ("url", "", 3),
        ] {
            assert_eq!(slips(from, to), expected, "{from} to {to}");
        }
    }

    #[test]
    fn only_a_near_name_is_suggested() {
        let known = ["listen", "allowed_hosts"];
        for (given, expected, why) in [
            ("lsiten", Some("listen"), "two letters swapped"),
            ("Listen", Some("listen"), "case does not count as a slip"),
            ("allowed_host", Some("allowed_hosts"), "a letter missing"),
            ("port", None, "nothing like it"),
        ] {
            assert_eq!(nearest(given, known), expected, "{why}");
        }
    }
}
