//! `almanack import … --apply`: the schedules are written, as `almanack schedule put` would.
//!
//! Each is written for itself: one that is refused costs the others nothing. Names come from the
//! text, so importing it again finds its own schedules and changes nothing. What a definition does
//! not hold, the address that jobs ping and a pause, is carried over to what is new: whoever has
//! changed it here since is not overruled.

use almanack_core::{
    import::{Besides, Difference, Import},
    plan::{Definition, changed_keys},
};

use crate::commands::{monitor::new_key, prelude::*};

/// What became of one schedule.
pub(super) struct Applied {
    name: String,
    effect: Effect,
}

enum Effect {
    Created,
    Changed(Vec<String>),
    Unchanged,
    Refused(String),
}

impl Applied {
    pub(super) fn is_refused(&self) -> bool {
        matches!(self.effect, Effect::Refused(_))
    }

    pub(super) fn json(&self) -> Value {
        match &self.effect {
            Effect::Changed(keys) => json!({ "what": self.what(), "keys": keys }),
            Effect::Refused(why) => json!({ "what": self.what(), "why": why }),
            Effect::Created | Effect::Unchanged => json!({ "what": self.what() }),
        }
    }

    fn what(&self) -> &'static str {
        match &self.effect {
            Effect::Created => "created",
            Effect::Changed(_) => "changed",
            Effect::Unchanged => "unchanged",
            Effect::Refused(_) => "refused",
        }
    }
}

/// Writes all schedules of the import.
pub(super) async fn run(at: &Connector<'_>, import: &Import) -> Result<Vec<Applied>> {
    let client = at.open(DatabaseNeed::new_if(true)).await?;
    let mut applied = Vec::new();
    for imported in &import.schedules {
        let name = imported.name.to_string();
        let mut effect = put(&client, &name, &imported.definition).await?;
        if matches!(effect, Effect::Created)
            && let Err(why) = carry_over(&client, &name, &imported.besides).await?
        {
            effect = Effect::Refused(why);
        }
        applied.push(Applied { name, effect });
    }
    Ok(applied)
}

/// Takes back what was said of schedules that are new: it has been carried over.
pub(super) fn settle(applied: &[Applied], import: &mut Import) {
    for (applied, imported) in applied.iter().zip(&mut import.schedules) {
        if matches!(applied.effect, Effect::Created) {
            let carried = |it: &Difference| matches!(it, Difference::PingKey | Difference::Paused);
            imported.differences.retain(|it| !carried(it));
        }
    }
}

/// What a definition does not hold; or why the node refused it.
async fn carry_over(
    client: &Client,
    name: &str,
    besides: &Besides,
) -> Result<std::result::Result<(), String>> {
    let key = besides
        .ping_key
        .as_ref()
        .map(|key| new_key(name, Some(key.expose())));
    let pause = besides.is_paused.then(|| {
        let note = json!({ "note": "paused where it was imported from" });
        Call::post(&["schedules", name, "pause"]).json(&note)
    });
    for call in key.into_iter().chain(pause) {
        if let Err(refusal) = client.try_call(call).await? {
            return Ok(Err(refusal.failure().parts().0));
        }
    }
    Ok(Ok(()))
}

async fn put(client: &Client, name: &str, definition: &Definition) -> Result<Effect> {
    let path = ["schedules", name];
    let before = client.find(Call::get(&path)).await?;
    let before = before.map(|found| found.value());
    let before = before.filter(|found| found["state"] != "removed");
    let answer = client
        .try_call(Call::put(&path).json(&json!(definition)))
        .await?;
    let after = match answer {
        Ok(answer) => answer.value(),
        Err(refusal) => return Ok(Effect::Refused(refusal.failure().parts().0)),
    };
    let Some(before) = before else {
        return Ok(Effect::Created);
    };
    if before["revision"] == after["revision"] {
        return Ok(Effect::Unchanged);
    }
    let earlier = Definition::from_json(&before["definition"].to_string());
    let keys = earlier.map(|earlier| changed_keys(&earlier, definition));
    Ok(Effect::Changed(keys.unwrap_or_default()))
}

/// One line for each schedule.
pub(super) fn show(applied: &[Applied], output: &mut Output) -> Result<()> {
    for it in applied {
        let (ink, more) = match &it.effect {
            Effect::Created => (Ink::Good, String::new()),
            Effect::Changed(keys) => (Ink::Notable, format!(" ({})", keys.join(", "))),
            Effect::Unchanged => (Ink::Faint, String::new()),
            Effect::Refused(why) => (Ink::Bad, format!(": {why}")),
        };
        let what = output.paint(ink, it.what());
        output.line(&format!("{what} {}{more}", it.name))?;
    }
    Ok(())
}
