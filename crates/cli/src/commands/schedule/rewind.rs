//! `almanack schedule rewind [NAME]`

use almanack_core::{plan::ScheduleName, store::ScheduleFilter};
use serde_json::json;

use super::{Desk, acts, all as every, name, next_of};
use crate::{
    failure::{Exit, Failure},
    output::Output,
};

pub(super) async fn run(
    desk: &Desk,
    given: Option<&str>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let Some(given) = given else {
        return all(desk, output).await;
    };
    let name = name(given)?;
    let done = desk.schedules().rewind(&name, &desk.origin).await?;
    let told = format!("rewound {name}{}", next_of(&done.schedule, desk));
    acts::tell(&done, &told, output)
}

async fn all(desk: &Desk, output: &mut Output) -> Result<Exit, Failure> {
    let (schedules, mut rewound) = (desk.schedules(), Vec::new());
    for name in ahead(desk).await? {
        let done = schedules.rewind(&name, &desk.origin).await?;
        if done.edited.is_some() {
            rewound.push(name);
        }
    }
    if output.json {
        output.value(&json!({ "rewound": rewound }))?;
    } else if rewound.is_empty() {
        output.line("no schedule is planned ahead of its time")?;
    } else {
        let names: Vec<&str> = rewound.iter().map(ScheduleName::as_str).collect();
        output.line(&format!("rewound {}", names.join(", ")))?;
    }
    Ok(Exit::Ok)
}

async fn ahead(desk: &Desk) -> Result<Vec<ScheduleName>, Failure> {
    let (schedules, found) = (
        desk.schedules(),
        every(desk, ScheduleFilter::default()).await?,
    );
    let ahead = found.into_iter().filter(|it| schedules.is_ahead(it));
    Ok(ahead.map(|schedule| schedule.name).collect())
}
