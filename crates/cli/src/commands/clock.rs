//! `almanack clock show|accept`

use almanack_adapters::clock::MachineTime;
use almanack_core::clock::{Doubt, Mark, Standing, TimeSource as _};
use almanack_core::lang::{Lang, Say};

use crate::commands::prelude::*;

/// Runs a command of `almanack clock`.
pub(super) async fn run(
    context: &CommandContext,
    command: &ClockCommand,
    output: &mut Output,
) -> Done {
    match command {
        ClockCommand::Show => show(context, output),
        ClockCommand::Accept => accept(context, output).await,
    }
}

/// The exit code is as for `doctor`.
fn show(context: &CommandContext, output: &mut Output) -> Done {
    let (now, machine_at) = (context.clock.now(), MachineTime::new().read().wall);
    let standing = context.clock.standing();
    let exit = match standing {
        Standing::Steady => Exit::Ok,
        Standing::InDoubt(_) => Exit::Failed,
    };
    if output.json {
        let doubt = match &standing {
            Standing::Steady => None,
            Standing::InDoubt(doubt) => Some(doubt.say(Lang::English)),
        };
        output.value(&json!({
            "now": now,
            "machine_at": machine_at,
            "doubt": doubt,
            "may_act": standing.may_act(),
            "may_delete": standing.may_delete(),
        }))?;
        return Ok(exit);
    }
    match standing {
        Standing::Steady => output.line(&format!("{now}; the machine's clock is trusted"))?,
        Standing::InDoubt(doubt) => {
            output.line(&format!("{now}; the machine shows {machine_at}"))?;
            output.line(&doubt.say(Lang::English))?;
            output.note(&format!("hint: {}\n", Doubt::HINT.0));
        }
    }
    Ok(exit)
}

async fn accept(context: &CommandContext, output: &mut Output) -> Done {
    if context.store.database_time().await?.is_some() {
        let what = "nodes on PostgreSQL use the database's clock, not this machine's";
        return Err(Failure::usage(what).hint("set the clock of the database's machine"));
    }
    let known = context.store.load_clock().await?;
    let mark = Mark::accept(&MachineTime::new(), known.as_ref());
    context.store.save_clock(&mark).await?;
    let at = mark.at;
    let sentence = format!("accepted: it is {at}; a running node follows at its next heartbeat");
    output.say(&json!({ "now": at }), &sentence)?;
    output.aside(
        "hint: if schedules were planned ahead of this time, run `almanack schedule rewind`\n",
    );
    Ok(Exit::Ok)
}
