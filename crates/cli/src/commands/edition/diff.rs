//! What differs between two texts, line by line.

use std::fmt::Write as _;

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;
/// Pairs of lines compared at most; larger differences are shown as one.
const PAIRS_MAX: usize = 4_000_000;

/// Where two texts first differ, in words; none if they do not.
pub(super) fn first_difference(before: &str, after: &str) -> Option<String> {
    if before == after {
        return None;
    }
    let (was, is): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = was.iter().zip(&is).take_while(|(was, is)| was == is);
    let line = same.count();
    let shown = |lines: &[&str]| match lines.get(line) {
        Some(text) => format!("`{text}`"),
        None => "the end".to_owned(),
    };
    let mut told = format!(
        "line {} was {} and is {}",
        line + 1,
        shown(&was),
        shown(&is)
    );
    if line == was.len() && line == is.len() {
        told.clear();
        let _ = write!(told, "only the line breaks differ");
    }
    Some(told)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// The changes with some lines around them: ` ` unchanged, `-` gone, `+` new, `@@` where lines were left out.
pub(super) fn lines(before: &str, after: &str) -> Vec<String> {
    if before == after {
        return Vec::new();
    }
    let steps = steps(
        &before.lines().collect::<Vec<_>>(),
        &after.lines().collect::<Vec<_>>(),
    );
    let changed: Vec<usize> = steps
        .iter()
        .enumerate()
        .filter(|(_, step)| !matches!(step, Step::Same(_)))
        .map(|(at, _)| at)
        .collect();
    let near = |at: usize| {
        let next = changed.partition_point(|change| change + CONTEXT < at);
        changed
            .get(next)
            .is_some_and(|change| *change <= at + CONTEXT)
    };
    let (mut told, mut line, mut gap) = (Vec::new(), 1, true);
    for (at, step) in steps.iter().enumerate() {
        if near(at) {
            if gap {
                told.push(format!("@@ line {line} @@"));
            }
            told.push(shown(step));
        }
        gap = !near(at);
        if !matches!(step, Step::New(_)) {
            line += 1;
        }
    }
    told
}

fn shown(step: &Step<'_>) -> String {
    match step {
        Step::Same(text) => format!(" {text}"),
        Step::Gone(text) => format!("-{text}"),
        Step::New(text) => format!("+{text}"),
    }
}

/// From one to the other in the fewest steps: what both begin and end with stays, and in between the longest common sequence.
fn steps<'a>(was: &[&'a str], is: &[&'a str]) -> Vec<Step<'a>> {
    let front = was.iter().zip(is).take_while(|(a, b)| a == b).count();
    let (was_rest, is_rest) = (&was[front..], &is[front..]);
    let back = was_rest
        .iter()
        .rev()
        .zip(is_rest.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (was_middle, is_middle) = (
        &was_rest[..was_rest.len() - back],
        &is_rest[..is_rest.len() - back],
    );
    let mut steps: Vec<Step<'a>> = was[..front].iter().map(|line| Step::Same(line)).collect();
    steps.extend(middle(was_middle, is_middle));
    steps.extend(was[was.len() - back..].iter().map(|line| Step::Same(line)));
    steps
}

fn middle<'a>(was: &[&'a str], is: &[&'a str]) -> Vec<Step<'a>> {
    let gone = |from: usize| was[from..].iter().map(|line| Step::Gone(line));
    let new = |from: usize| is[from..].iter().map(|line| Step::New(line));
    if was.len().saturating_mul(is.len()) > PAIRS_MAX {
        return gone(0).chain(new(0)).collect();
    }
    // common[i][j]: how many lines was[i..] and is[j..] have in common.
    let mut common = vec![vec![0_u32; is.len() + 1]; was.len() + 1];
    for i in (0..was.len()).rev() {
        for j in (0..is.len()).rev() {
            common[i][j] = if was[i] == is[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut steps) = (0, 0, Vec::new());
    while i < was.len() && j < is.len() {
        if was[i] == is[j] {
            steps.push(Step::Same(was[i]));
            (i, j) = (i + 1, j + 1);
        } else if common[i + 1][j] >= common[i][j + 1] {
            steps.push(Step::Gone(was[i]));
            i += 1;
        } else {
            steps.push(Step::New(is[j]));
            j += 1;
        }
    }
    steps.extend(gone(i));
    steps.extend(new(j));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named_by_its_line() {
        for (before, after, expected) in [
            ("a\nb\n", "a\nb\n", None),
            ("a\nb\n", "a\nc\n", Some("line 2 was `b` and is `c`")),
            ("a\n", "a\nb\n", Some("line 2 was the end and is `b`")),
            ("a", "a\n", Some("only the line breaks differ")),
        ] {
            assert_eq!(
                first_difference(before, after).as_deref(),
                expected,
                "{before:?}"
            );
        }
    }

    #[test]
    fn changes_are_shown_with_what_stands_around_them() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let after = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n";
        assert_eq!(lines(before, before), Vec::<String>::new());
        insta::assert_snapshot!(lines(before, after).join("\n"), @r"
        @@ line 2 @@
         2
         3
         4
        -5
        +five
         6
         7
         8
        @@ line 10 @@
         10
         11
         12
        +13
        ");
    }

    #[test]
    fn the_steps_lead_from_one_text_to_the_other() {
        for (was, is) in [
            ("", "a\nb"),
            ("a\nb\nc", "c\na\nb"),
            ("a\nb\nc\nd", "b\nx\nd\ny"),
            ("x\na\nx", "x\nx"),
        ] {
            let (was, is): (Vec<&str>, Vec<&str>) = (was.lines().collect(), is.lines().collect());
            let steps = steps(&was, &is);
            let side = |other: fn(&Step<'_>) -> bool| -> Vec<&str> {
                let kept = steps.iter().filter(|step| !other(step));
                kept.map(|step| match step {
                    Step::Same(text) | Step::Gone(text) | Step::New(text) => *text,
                })
                .collect()
            };
            assert_eq!(side(|step| matches!(step, Step::New(_))), was);
            assert_eq!(side(|step| matches!(step, Step::Gone(_))), is);
        }
    }
}
