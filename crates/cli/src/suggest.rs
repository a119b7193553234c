//! "Did you mean …?": the known name nearest to what was written.
//!
//! Nearness is the number of single-letter slips (a letter missing, added, wrong, or two swapped).
//! A suggestion further away than a third of the word is a guess, and a wrong guess costs more
//! than none.

use strsim::osa_distance;

/// The known name nearest to `given`, if one is near enough to be what was meant.
pub(crate) fn nearest<'a>(
    given: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let slips_max = (given.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|name| {
            (
                osa_distance(&given.to_lowercase(), &name.to_lowercase()),
                name,
            )
        })
        .filter(|(slips, _)| *slips <= slips_max)
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, name)| name)
}

/// What to write instead of an unknown time zone.
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

#[cfg(test)]
mod tests {
    use super::*;

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
