//! `almanack schedule plan FILE`: what would change if the file, and the DISPATCH text that it or the
//! environment names, were in force.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use almanack_core::{
    calendar,
    plan::{
        Comparison, Definition, Firings, Origin, Ready, ScheduleName, State, Stretch, changed_keys,
        compare,
    },
};
use almanack_engine::{schedules::Wanted, zones::Zones};

use crate::{
    commands::{calendar::stored, prelude::*},
    config::{
        Loaded, dispatch,
        report::{Report, Severity},
    },
};

/// Firings listed one by one, per schedule.
const LISTED_MAX: usize = 20;

/// What the file does to one schedule.
struct Effect {
    name: ScheduleName,
    /// Who asks for it: the file, or DISPATCH.
    origin: Origin,
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
        runs_done: 0,
    };
    let (wanted, reports) = wanted(&loaded, inputs)?;
    let mut calendars = stored(client).await?;
    let zones = Zones::with_calendars(calendars.compiled());
    let found = in_force(client, &zones).await?;
    let differs = |(name, new): &(&String, &calendar::Definition)| {
        calendars.wanted.get(*name).is_some_and(|old| old != *new)
    };
    let changed = loaded.calendars.wanted.iter().filter(differs);
    let changed = changed.map(|(name, _)| name.clone()).collect();
    calendars.wanted.extend(loaded.calendars.wanted.clone());
    let planned = Planned {
        zones: Zones::with_calendars(calendars.compiled()),
        changed,
        stretch,
    };
    let effects = effects(wanted, found, &planned);
    output.print(&json_of(&effects, &reports, stretch), |output| {
        show(&effects, &reports, output)
    })?;
    let is_wrong = |report: &Report| report.has_errors();
    Ok(Exit::usage_if(reports.iter().any(is_wrong)))
}

/// What schedules would be planned by.
struct Planned {
    zones: Zones,
    /// Calendars that get other days.
    changed: BTreeSet<String>,
    stretch: Stretch,
}

/// The schedules of one origin, and the names that stay although they cannot be read.
struct Asked {
    origin: Origin,
    wanted: Vec<Wanted>,
    keep: BTreeSet<ScheduleName>,
}

/// What the file asks for, and what DISPATCH does, if there is one; and what is wrong with them.
fn wanted(loaded: &Loaded, inputs: &Inputs) -> Result<(Vec<Asked>, Vec<Report>)> {
    let mut asked = vec![Asked {
        origin: Origin::File,
        wanted: loaded.schedules.wanted.clone(),
        keep: loaded.schedules.keep.clone(),
    }];
    let mut reports = vec![loaded.whole_report()];
    let settings = loaded.settings.as_ref();
    let text = settings.map(|it| dispatch::read(it, &inputs.environment));
    if let Some(text) = text.transpose().map_err(Failure::usage)?.flatten() {
        asked.push(Asked {
            origin: Origin::Dispatch,
            wanted: text.wanted,
            keep: text.keep,
        });
        reports.push(text.report);
    }
    Ok((asked, reports))
}

/// An active schedule.
struct InForce {
    origin: Option<Origin>,
    state: String,
    definition: Option<Definition>,
    rule: Option<Ready>,
    runs_done: u64,
}

impl InForce {
    /// The same stretch, after the runs it has had.
    fn walks(&self, stretch: Stretch) -> Stretch {
        Stretch {
            runs_done: self.runs_done,
            ..stretch
        }
    }
}

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
            runs_done: it["runs_done"].as_u64().unwrap_or(0),
        };
        Some((name, schedule))
    });
    Ok(named.collect())
}

fn effects(
    asked: Vec<Asked>,
    mut found: BTreeMap<ScheduleName, InForce>,
    planned: &Planned,
) -> Vec<Effect> {
    let mut effects: Vec<Effect> = Vec::new();
    for Asked {
        origin,
        wanted,
        keep,
    } in asked
    {
        let own = wanted.iter().map(|it| {
            let old = found.remove(&it.name);
            effect(planned, (origin, it), old)
        });
        effects.extend(own);
        let gone = found
            .iter()
            .filter(|(name, schedule)| schedule.origin == Some(origin) && !keep.contains(*name));
        effects.extend(gone.map(|(name, schedule)| Effect {
            name: name.clone(),
            origin,
            what: What::Removed,
            firings: compare(
                schedule.rule.as_ref(),
                None,
                schedule.walks(planned.stretch),
            ),
            state: Some(schedule.state.clone()),
        }));
    }
    effects.sort_by(|a, b| a.name.cmp(&b.name));
    effects
}

fn effect(planned: &Planned, (origin, wanted): (Origin, &Wanted), old: Option<InForce>) -> Effect {
    let (name, stretch) = (wanted.name.clone(), planned.stretch);
    let new = planned.zones.ready(&name, wanted.definition.clone()).ok();
    let Some(old) = old else {
        return Effect {
            name,
            origin,
            what: What::Created,
            firings: compare(None, new.as_ref(), stretch),
            state: None,
        };
    };
    let stretch = old.walks(stretch);
    let (what, new) = match (old.origin, &old.definition) {
        (Some(other), _) if other != origin => (What::Refused(other), old.rule.as_ref()),
        (_, before) => {
            let changed = before.as_ref();
            let changed = changed.map(|before| changed_keys(before, &wanted.definition));
            let days = wanted.definition.calendars();
            let mut days: Vec<&str> = days.filter(|it| planned.changed.contains(*it)).collect();
            days.sort_unstable();
            days.dedup();
            let days = days.into_iter().map(|it| format!("calendar {it}"));
            let what = match changed.map(|keys| keys.into_iter().chain(days).collect()) {
                Some(keys) if Vec::is_empty(&keys) => What::Unchanged,
                keys => What::Changed(keys.unwrap_or_default()),
            };
            (what, new.as_ref())
        }
    };
    Effect {
        name,
        origin,
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

fn json_of(effects: &[Effect], reports: &[Report], stretch: Stretch) -> Value {
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
                "origin": effect.origin.as_str(),
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
        "problems": reports.iter().flat_map(Report::views).collect::<Vec<_>>(),
    })
}

fn show(effects: &[Effect], reports: &[Report], output: &mut Output) -> Result<()> {
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
    let errors = reports.iter().map(|report| report.render(Severity::Error));
    let errors: String = errors.collect();
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
    let name = match effect.origin {
        Origin::Dispatch => format!("{} (DISPATCH)", effect.name),
        Origin::File | Origin::Api => effect.name.to_string(),
    };
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
