//! `almanack schedule plan FILE`: what would change if the file were in force.

use std::{collections::BTreeMap, path::PathBuf};

use almanack_core::plan::{
    Comparison, Definition, Firings, Origin, Ready, ScheduleName, State, Stretch, changed_keys,
    compare,
};
use almanack_engine::{schedules::Wanted, zones::Zones};

use super::duration;
use crate::{
    commands::prelude::*,
    config::{Loaded, report::Severity},
};

/// Firings listed one by one, per schedule.
const LISTED_MAX: usize = 20;

/// What the file does to one schedule.
struct Effect {
    name: ScheduleName,
    what: What,
    firings: Comparison,
    /// What it is now, if it is there. Rules are compared, whether they fire or not.
    state: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    Created,
    Changed(Vec<String>),
    Removed,
    Unchanged,
    /// Another origin has a schedule of this name.
    Refused(Origin),
}

/// Compares a file with the active schedules.
pub(super) async fn run(
    (inputs, client): (&Inputs, &Client),
    (file, period): (&PathBuf, &str),
    output: &mut Output,
) -> Done {
    let period = duration("--for", period)?;
    let loaded = config::load(
        &Inputs {
            file: Some(file.clone()),
            ..inputs.clone()
        },
        Need::Database,
    );
    if loaded.report.has_errors() {
        return Err(Failure::Configuration(Box::new(loaded.report)));
    }
    let from = client.now();
    let stretch = Stretch {
        from,
        until: from.saturating_add(period).unwrap_or(Timestamp::MAX),
        listed_max: LISTED_MAX,
    };
    let found = in_force(client).await?;
    let effects = effects(&loaded, found, stretch);
    if output.json {
        json_of(&effects, &loaded, stretch, output)?;
    } else {
        show(&effects, &loaded, output)?;
    }
    Ok(if loaded.schedules.problems.is_empty() {
        Exit::Ok
    } else {
        Exit::Usage
    })
}

/// An active schedule.
struct InForce {
    origin: Option<Origin>,
    state: String,
    definition: Option<Definition>,
}

async fn in_force(client: &Client) -> Result<BTreeMap<ScheduleName, InForce>, Failure> {
    let schedules = client.all(Call::get(&["schedules"]), "schedules").await?;
    let named = schedules.iter().filter_map(|it| {
        let schedule = InForce {
            origin: Origin::parse(&text(&it["origin"])),
            state: text(&it["state"]),
            definition: Definition::from_json(&it["definition"].to_string()).ok(),
        };
        Some((ScheduleName::parse(&text(&it["name"])).ok()?, schedule))
    });
    Ok(named.collect())
}

fn effects(
    loaded: &Loaded,
    mut found: BTreeMap<ScheduleName, InForce>,
    stretch: Stretch,
) -> Vec<Effect> {
    let zones = Zones::default();
    let mut effects = Vec::new();
    for wanted in &loaded.schedules.wanted {
        let old = found.remove(&wanted.name);
        effects.push(effect(&zones, wanted, old.as_ref(), stretch));
    }
    let gone = found.into_iter().filter(|(name, schedule)| {
        schedule.origin == Some(Origin::File) && !loaded.schedules.keep.contains(name)
    });
    effects.extend(gone.map(|(name, schedule)| Effect {
        what: What::Removed,
        firings: compare(old_rule(&zones, &name, &schedule).as_ref(), None, stretch),
        state: Some(schedule.state),
        name,
    }));
    effects.sort_by(|a, b| a.name.cmp(&b.name));
    effects
}

fn effect(zones: &Zones, wanted: &Wanted, old: Option<&InForce>, stretch: Stretch) -> Effect {
    let name = wanted.name.clone();
    let new = zones.ready(&name, wanted.definition.clone()).ok();
    let rule = old.and_then(|old| old_rule(zones, &name, old));
    let definition = old.and_then(|old| old.definition.as_ref());
    let (what, firings) = match old {
        None => (What::Created, compare(None, new.as_ref(), stretch)),
        Some(InForce {
            origin: Some(origin @ (Origin::Api | Origin::Dispatch)),
            ..
        }) => {
            let same = compare(rule.as_ref(), rule.as_ref(), stretch);
            (What::Refused(*origin), same)
        }
        Some(_) => {
            let changed = definition.map(|old| changed_keys(old, &wanted.definition));
            let what = match changed {
                Some(keys) if keys.is_empty() => What::Unchanged,
                Some(keys) => What::Changed(keys),
                None => What::Changed(Vec::new()),
            };
            (what, compare(rule.as_ref(), new.as_ref(), stretch))
        }
    };
    Effect {
        name,
        what,
        firings,
        state: old.map(|old| old.state.clone()),
    }
}

fn old_rule(zones: &Zones, name: &ScheduleName, schedule: &InForce) -> Option<Ready> {
    let definition = schedule.definition.clone()?;
    zones.ready(name, definition).ok()
}

impl What {
    fn name(&self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed(_) => "changed",
            Self::Removed => "removed",
            Self::Unchanged => "unchanged",
            Self::Refused(_) => "refused",
        }
    }

    fn ink(&self) -> Ink {
        match self {
            Self::Created => Ink::Good,
            Self::Changed(_) => Ink::Notable,
            Self::Removed | Self::Refused(_) => Ink::Bad,
            Self::Unchanged => Ink::Faint,
        }
    }
}

fn json_of(
    effects: &[Effect],
    loaded: &Loaded,
    stretch: Stretch,
    output: &mut Output,
) -> Result<(), Failure> {
    let firings = |it: &Firings| json!({ "count": it.count, "first": it.listed });
    let schedules: Vec<Value> = effects
        .iter()
        .map(|effect| {
            let keys = match &effect.what {
                What::Changed(keys) => Some(keys),
                _ => None,
            };
            json!({
                "name": effect.name,
                "effect": effect.what.name(),
                "state": effect.state,
                "keys": keys,
                "come": firings(&effect.firings.come),
                "go": firings(&effect.firings.go),
                "stay": effect.firings.stay,
                "complete": effect.firings.complete,
            })
        })
        .collect();
    output.value(&json!({
        "from": stretch.from,
        "until": stretch.until,
        "schedules": schedules,
        "problems": loaded.whole_report().views(),
    }))
}

fn show(effects: &[Effect], loaded: &Loaded, output: &mut Output) -> Result<(), Failure> {
    let mut quiet = 0;
    for effect in effects {
        if effect.what == What::Unchanged {
            quiet += 1;
            continue;
        }
        output.line(&title(effect, output))?;
        for (sign, firings) in [("-", &effect.firings.go), ("+", &effect.firings.come)] {
            list(sign, firings, output)?;
        }
    }
    output.line(&format!("{quiet} unchanged"))?;
    let report = loaded.whole_report();
    let errors = report.render(Severity::Error);
    if !errors.is_empty() {
        output.note(&format!(
            "{errors}\nschedules with errors would stay unchanged\n"
        ));
    }
    Ok(())
}

fn title(effect: &Effect, output: &Output) -> String {
    let what = output.paint(effect.what.ink(), effect.what.name());
    let firings = &effect.firings;
    let more = if firings.complete { "" } else { " at least" };
    let active = State::Active.as_str();
    let rests = effect.state.as_deref().filter(|state| *state != active);
    let rests = rests.map(|state| format!("; it is {state}"));
    let counts = format!(
        "firings:{more} {} come, {} go, {} stay{}",
        firings.come.count,
        firings.go.count,
        firings.stay,
        rests.unwrap_or_default()
    );
    let name = &effect.name;
    match &effect.what {
        What::Changed(keys) => format!("{what} {name} ({}); {counts}", keys.join(", ")),
        What::Refused(origin) => {
            let origin = origin.as_str();
            format!("{what} {name}: this name belongs to a schedule of origin {origin}")
        }
        _ => format!("{what} {name}; {counts}"),
    }
}

fn list(sign: &str, firings: &Firings, output: &mut Output) -> Result<(), Failure> {
    let rows: Vec<Vec<Cell>> = firings
        .listed
        .iter()
        .map(|at| vec![Cell::new(format!("  {sign}")), Cell::new(instant(*at))])
        .collect();
    output.rows(&rows)?;
    let listed = u64::try_from(firings.listed.len()).unwrap_or(u64::MAX);
    match firings.count.saturating_sub(listed) {
        0 => Ok(()),
        more => output.line(&format!("  {sign}  and {more} more")),
    }
}
