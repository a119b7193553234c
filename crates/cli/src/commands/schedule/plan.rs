//! `almanack schedule plan FILE`: what would change if the file were in force.

use std::{collections::BTreeMap, path::PathBuf};

use almanack_core::plan::{
    Comparison, Definition, Firings, Origin, Ready, ScheduleName, State, Stretch, changed_keys,
    compare,
};
use almanack_engine::{schedules::Wanted, zones::Zones};

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
    let zones = Zones::with_calendars(loaded.calendars.compiled());
    let effects = effects(&loaded, in_force(client, &zones).await?, (&zones, stretch));
    output.print(&json_of(&effects, &loaded, stretch), |output| {
        show(&effects, &loaded, output)
    })?;
    Ok(Exit::usage_if(!loaded.schedules.problems.is_empty()))
}

/// An active schedule.
struct InForce {
    origin: Option<Origin>,
    state: String,
    definition: Option<Definition>,
    rule: Option<Ready>,
}

/// By the calendars of the file, so that only what the schedules say is compared.
async fn in_force(client: &Client, zones: &Zones) -> Result<BTreeMap<ScheduleName, InForce>> {
    let schedules = client.all(Call::get(&["schedules"]), "schedules").await?;
    let named = schedules.iter().filter_map(|it| {
        let name = ScheduleName::parse(&text(&it["name"])).ok()?;
        let definition = Definition::from_json(&it["definition"].to_string()).ok();
        let rule = definition.clone();
        let schedule = InForce {
            origin: Origin::parse(&text(&it["origin"])),
            state: text(&it["state"]),
            rule: rule.and_then(|it| zones.ready(&name, it).ok()),
            definition,
        };
        Some((name, schedule))
    });
    Ok(named.collect())
}

fn effects(
    loaded: &Loaded,
    mut found: BTreeMap<ScheduleName, InForce>,
    (zones, stretch): (&Zones, Stretch),
) -> Vec<Effect> {
    let wanted = loaded.schedules.wanted.iter();
    let effect = |wanted: &Wanted| effect(zones, wanted, found.remove(&wanted.name), stretch);
    let mut effects: Vec<Effect> = wanted.map(effect).collect();
    let gone = found.into_iter().filter(|(name, schedule)| {
        schedule.origin == Some(Origin::File) && !loaded.schedules.keep.contains(name)
    });
    effects.extend(gone.map(|(name, schedule)| Effect {
        what: What::Removed,
        firings: compare(schedule.rule.as_ref(), None, stretch),
        state: Some(schedule.state),
        name,
    }));
    effects.sort_by(|a, b| a.name.cmp(&b.name));
    effects
}

fn effect(zones: &Zones, wanted: &Wanted, old: Option<InForce>, stretch: Stretch) -> Effect {
    let name = wanted.name.clone();
    let new = zones.ready(&name, wanted.definition.clone()).ok();
    let Some(old) = old else {
        return Effect {
            name,
            what: What::Created,
            firings: compare(None, new.as_ref(), stretch),
            state: None,
        };
    };
    let (what, new) = match (old.origin, old.definition) {
        (Some(origin @ (Origin::Api | Origin::Dispatch)), _) => {
            (What::Refused(origin), old.rule.as_ref())
        }
        (_, before) => {
            let changed = before.map(|before| changed_keys(&before, &wanted.definition));
            let what = match changed {
                Some(keys) if keys.is_empty() => What::Unchanged,
                keys => What::Changed(keys.unwrap_or_default()),
            };
            (what, new.as_ref())
        }
    };
    Effect {
        name,
        what,
        firings: compare(old.rule.as_ref(), new, stretch),
        state: Some(old.state),
    }
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

fn json_of(effects: &[Effect], loaded: &Loaded, stretch: Stretch) -> Value {
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
    json!({
        "from": stretch.from,
        "until": stretch.until,
        "schedules": schedules,
        "problems": loaded.whole_report().views(),
    })
}

fn show(effects: &[Effect], loaded: &Loaded, output: &mut Output) -> Result<()> {
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

fn list(sign: &str, firings: &Firings, output: &mut Output) -> Result<()> {
    for at in &firings.listed {
        output.line(&format!("  {sign}  {}", instant(*at)))?;
    }
    let listed = u64::try_from(firings.listed.len()).unwrap_or(u64::MAX);
    match firings.count.saturating_sub(listed) {
        0 => Ok(()),
        more => output.line(&format!("  {sign}  and {more} more")),
    }
}
