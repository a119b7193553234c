//! `almanack radar`: the load of the coming hours, its herds, and what spreads them.

use crate::commands::prelude::*;

/// Characters of a picture.
const BARS: u64 = 48;
const SHADES: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Runs `almanack radar`.
pub(super) async fn run(
    at: &Connector<'_>,
    arguments: &RadarArguments,
    output: &mut Output,
) -> Done {
    let client = &at.open(DatabaseNeed::Existing).await?;
    match &arguments.command {
        Some(RadarCommand::Spread(given)) => spread(client, given, output).await,
        None => show(client, arguments, output).await,
    }
}

async fn show(client: &Client, given: &RadarArguments, output: &mut Output) -> Done {
    let call = Call::get(&["radar"]).query("hours", Some(given.hours));
    let answer = client.call(call.query("herd", Some(given.herd))).await?;
    if output.is_reported(&answer)? {
        return Ok(Exit::Ok);
    }
    let (radar, now) = (answer.value(), answer.now);
    let minutes = u64::from(given.hours) * 60;
    let step = minutes.div_ceil(BARS);
    for (title, list) in [("KIND", "kinds"), ("HOST", "hosts")] {
        let rows: Vec<Vec<Cell>> = items(&radar[list])
            .iter()
            .map(|load| row(load, minutes, step, now))
            .collect();
        if !rows.is_empty() {
            output.table(&[title, "STARTS", "BUSIEST MINUTE", "AT", "LOAD"], &rows)?;
            output.line("")?;
        }
    }
    if items(&radar["kinds"]).is_empty() {
        output.note("nothing starts in these hours\n");
        return Ok(Exit::Ok);
    }
    output.line(&format!("one character of LOAD is {step} min"))?;
    herds(&radar, now, output)?;
    missing(&radar["missing"], output);
    Ok(Exit::Ok)
}

fn row(load: &Value, minutes: u64, step: u64, now: Timestamp) -> Vec<Cell> {
    let ink = if load["internal"] == true {
        Ink::Faint
    } else {
        Ink::Plain
    };
    vec![
        plain(&load["name"], now).ink(ink),
        plain(&load["total"], now),
        plain(&load["peak"]["count"], now),
        at(&load["peak"]["at"], now),
        Cell::new(picture(&load["minutes"], minutes, step)),
    ]
}

/// Counts as bars of text; a bar that is not empty is never invisible.
fn picture(pairs: &Value, minutes: u64, step: u64) -> String {
    let mut bars = vec![0_u64; usize::try_from(minutes.div_ceil(step)).unwrap_or(0)];
    for pair in items(pairs) {
        let (minute, count) = (pair[0].as_u64(), pair[1].as_u64());
        let place = minute.and_then(|minute| usize::try_from(minute / step).ok());
        if let Some(bar) = place.and_then(|place| bars.get_mut(place)) {
            *bar += count.unwrap_or(0);
        }
    }
    let most = bars.iter().copied().max().unwrap_or(0).max(1);
    let shade = |count: u64| {
        let height = usize::try_from(count.saturating_mul(8).div_ceil(most)).unwrap_or(8);
        height
            .checked_sub(1)
            .map_or('·', |place| SHADES[place.min(7)])
    };
    bars.into_iter().map(shade).collect()
}

fn herds(radar: &Value, now: Timestamp, output: &mut Output) -> Result<()> {
    let herds = items(&radar["herds"]);
    let Some(first) = herds.first() else {
        let min = &radar["herd_min"];
        return output.line(&format!("no herds: no second has {min} or more starts"));
    };
    output.line("")?;
    let rows: Vec<Vec<Cell>> = herds
        .iter()
        .map(|herd| {
            vec![
                at(&herd["at"], now),
                plain(&herd["count"], now).ink(Ink::Notable),
                plain(&herd["times"], now),
                Cell::new(spread_of(&herd["spread"])),
                Cell::new(joined(items(&herd["members"]).iter().map(member))),
            ]
        })
        .collect();
    output.table(&["HERD AT", "STARTS", "TIMES", "SPREAD", "WHAT"], &rows)?;
    let at = text(&first["at"]);
    output.aside(&format!(
        "hint: almanack radar spread {at} shows what spreading the first one changes\n"
    ));
    Ok(())
}

fn spread_of(spread: &Value) -> String {
    match (spread["splay_s"].as_i64(), &spread["peak"]) {
        (Some(splay), peak) => format!("{}: at most {peak}/s", length(splay)),
        _ => "none".to_owned(),
    }
}

fn length(seconds: i64) -> String {
    when::show_duration(SignedDuration::from_secs(seconds))
}

fn member(member: &Value) -> String {
    let (tasks, schedules) = (member["tasks"].as_u64(), member["schedules"].as_u64());
    let mut what = text(&member["kind"]);
    if let Some(host) = member["host"].as_str() {
        what = format!("{what} at {host}");
    }
    let tasks = tasks.filter(|tasks| *tasks > 0);
    let schedules = schedules.filter(|schedules| *schedules > 0);
    let tasks = tasks.map(|count| counted(count, "task", "tasks"));
    let schedules = schedules.map(|count| counted(count, "schedule", "schedules"));
    let counts: Vec<String> = tasks.into_iter().chain(schedules).collect();
    format!("{what} ({})", counts.join(" and "))
}

/// What is not counted or not shown.
fn missing(missing: &Value, output: &mut Output) {
    for cut in items(&missing["tasks"]) {
        let (kind, from) = (text(&cut["kind"]), instant_of(&cut["from"]));
        output.warn(&format!(
            "too many tasks of kind {kind}: counted until {from} only"
        ));
    }
    if missing["schedules"].as_u64().is_some_and(|count| count > 0) {
        output.warn("too many slots of schedules: not all are counted");
    }
    for what in ["kinds", "hosts", "herds"] {
        if let Some(count @ 1..) = missing[what].as_u64() {
            output.warn(&format!("{count} further {what} are not shown"));
        }
    }
}

async fn spread(client: &Client, given: &SpreadArguments, output: &mut Output) -> Done {
    let splay = given.splay.as_deref();
    let splay = splay.map(|text| duration("--splay", text)).transpose()?;
    let at = when::parse_at(&given.at, client.now()).map_err(|unclear| unclear.of("AT"))?;
    let mut body = json!({ "at": at, "dry_run": !given.yes });
    if let Some(splay) = splay {
        body["splay_s"] = splay.as_secs().into();
    }
    let answer = client
        .call(Call::post(&["radar", "spread"]).json(&body))
        .await?;
    output.show(&answer, |output, done| {
        output.line(&sentence(&done))?;
        for it in items(&done["managed"]) {
            let (name, write) = (text(&it["schedule"]), text(&it["write"]));
            output.line(&format!("{name} belongs to a file; write there: {write}"))?;
        }
        for it in items(&done["refused"]) {
            let (name, why) = (text(&it["schedule"]), text(&it["why"]));
            output.warn(&format!("{name} was not changed: {why}"));
        }
        let refused = done["tasks_refused"].as_u64().unwrap_or(0);
        if refused > 0 {
            let tasks = counted(refused, "waiting task was", "waiting tasks were");
            output.warn(&format!(
                "{tasks} not moved: they would expire at their new times"
            ));
        }
        let left = [&done["tasks_left"], &done["schedules_left"]];
        let left: u64 = left.iter().filter_map(|count| count.as_u64()).sum();
        if done["dry_run"] == true {
            output.aside("hint: nothing was changed; add --yes to spread it\n");
        } else if left > 0 {
            output.aside(&format!(
                "hint: {left} are left; run the same command again\n"
            ));
        }
        Ok(())
    })
}

fn sentence(done: &Value) -> String {
    let schedules = u64::try_from(items(&done["schedules"]).len()).unwrap_or(u64::MAX);
    let schedules = counted(schedules, "schedule", "schedules");
    let tasks = counted(
        done["tasks"].as_u64().unwrap_or(0),
        "waiting task",
        "waiting tasks",
    );
    let splay = length(done["splay_s"].as_i64().unwrap_or(0));
    let would = if done["dry_run"] == true {
        "would spread"
    } else {
        "spread"
    };
    let at = instant_of(&done["at"]);
    format!("{would} {at} over {splay}: {schedules} and {tasks}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_high_as_its_share_and_never_invisible() {
        for (pairs, drawn) in [
            (json!([]), "···"),
            (json!([[0, 1], [179, 1_000]]), "▁·█"),
            (json!([[0, 4], [59, 4], [60, 4]]), "█▄·"),
            (json!([[500, 9]]), "···"),
        ] {
            assert_eq!(picture(&pairs, 180, 60), drawn, "{pairs}");
        }
    }
}
