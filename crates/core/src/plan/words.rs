//! When a schedule fires, in words: its expressions, and what is left out.

use super::{
    definition::{Definition, Move},
    slots::{Rule, Slots},
};
use crate::{lang::Lang, say};

pub(super) fn describe(definition: &Definition, slots: &Slots, lang: Lang) -> String {
    let pick = |en, zh| lang.pick(en, zh).to_owned();
    let mut parts = vec![slots.first.timetable.describe(lang)];
    for (rule, also) in slots.also.iter().zip(&definition.also) {
        let zone = also.tz.as_deref().filter(|tz| *tz != definition.tz);
        parts.push(pick("also ", "另外") + &in_zone(rule, zone, lang));
    }
    let listed = |names: &[String]| names.join(&pick(", ", "、"));
    if !definition.except.is_empty() {
        let names = listed(&definition.except);
        parts.push(pick("except on days of ", "排除日历：") + &names);
    }
    if !definition.only.is_empty() {
        let names = listed(&definition.only);
        parts.push(pick("only on days of ", "仅限日历：") + &names);
    }
    parts.extend(definition.moves.map(|moves| match moves {
        Move::NextWorkday => pick("moved to the next workday", "顺延至下一工作日"),
        Move::PreviousWorkday => pick("moved to the workday before", "提前至上一工作日"),
    }));
    if !definition.quiet.is_empty() {
        let quiet: Vec<String> = definition.quiet.iter().map(ToString::to_string).collect();
        parts.push(pick("not during ", "静默时段：") + &quiet.join(", "));
    }
    parts.extend(definition.runs.map(|runs| match runs {
        1 => pick("1 run", "共 1 次"),
        _ => say!(lang, "{runs} runs", "共 {runs} 次"),
    }));
    parts.join(&pick("; ", "；"))
}

fn in_zone(rule: &Rule, zone: Option<&str>, lang: Lang) -> String {
    let words = rule.timetable.describe(lang);
    match zone {
        Some(zone) => format!("{words} ({zone})"),
        None => words,
    }
}
