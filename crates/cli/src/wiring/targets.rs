//! Which targets this node fires at, by its configuration.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use almanack_adapters::{
    command::{self, Allowed, CommandLauncher, CommandSettings},
    github::{Github, GithubSettings, Token, WorkflowLauncher},
    webhook::WebhookLauncher,
};
use almanack_core::{edition::EDITION_TICK, plan::DISPATCH, store::Store, time::Clock};
use almanack_engine::{
    dispatch::{BACKOFF, DispatchHandler, StoredFirings, TaskLauncher},
    handlers::Handlers,
};

use super::{
    Outbound, behaviour, callback_handler, editions, equipment::Lasting, own_kind,
    secrets::ReleasedSecrets, share,
};
use crate::{
    config::{Settings, settings},
    failure::{Failure, Result},
};

/// The part of a node's slots that the firings of one schedule may have at once.
const FIRINGS_PART: usize = 4;
/// How long GitHub may take to answer.
const GITHUB_TIMEOUT: Duration = Duration::from_secs(30);
/// This program, even if its file was replaced since: it supervises its own commands.
const OWN_PROGRAM: &str = "/proc/self/exe";
/// How long a command that ran out of time may take to end by itself.
const STOP_GRACE: Duration = Duration::from_secs(5);

/// What handlers are made from.
#[derive(Clone, Copy)]
pub(super) struct Own<'a> {
    pub(super) settings: &'a Settings,
    pub(super) outbound: &'a Outbound,
    pub(super) lasting: &'a Lasting,
}

/// The handlers: firings go to their targets, everything else to its service.
pub(super) fn handlers(own: Own<'_>) -> Result<Handlers> {
    let (settings, outbound) = (own.settings, own.outbound);
    let Lasting { store, timing, .. } = own.lasting;
    let shared: Arc<dyn Clock> = timing.clock.clone();
    let otherwise = callback_handler(settings, outbound, Arc::clone(&shared));
    let ticks = editions::handler(EDITION_TICK, own);
    let ticks = ticks.into_iter().map(|handler| (EDITION_TICK, handler));
    let own_work = TaskLauncher {
        rescheduler: Arc::clone(&own.lasting.rescheduler),
        clock: Arc::clone(&shared),
        done_here: ticks.collect(),
    };
    let webhooks = webhooks(own, Arc::clone(&shared));
    let slots = settings.node.slots;
    let commands = commands(&settings.command, &own.lasting.environment, slots);
    let sleeper = Arc::clone(&timing.sleeper);
    let mut dispatch = DispatchHandler::new(Arc::clone(store), Arc::clone(&shared), sleeper)
        .with_firings_max(slots / FIRINGS_PART)
        .with("task", Arc::new(own_work))
        .with("webhook", Arc::new(webhooks))
        .with("command", Arc::new(commands));
    if let Some(workflows) = workflows(&settings.github, outbound, shared, store)? {
        dispatch = dispatch.with("workflow", Arc::new(workflows));
    }
    let kind = own_kind(DISPATCH)?;
    Ok(Handlers::new(Arc::new(otherwise))
        .with(kind.clone(), Arc::new(dispatch))
        .waiting(kind, BACKOFF))
}

fn webhooks(own: Own<'_>, clock: Arc<dyn Clock>) -> WebhookLauncher {
    let environment = &own.lasting.environment;
    WebhookLauncher {
        caller: own.outbound.caller(clock),
        behaviour: behaviour(own.settings),
        secrets: Arc::new(ReleasedSecrets::for_schedules(own.settings, environment)),
    }
}

/// Without a token, GitHub is not called.
fn workflows(
    github: &settings::Github,
    outbound: &Outbound,
    clock: Arc<dyn Clock>,
    store: &Arc<dyn Store>,
) -> Result<Option<WorkflowLauncher>> {
    let Some(token) = &github.token else {
        return Ok(None);
    };
    let settings = GithubSettings {
        base_url: github.api_url.clone(),
        token: Token::new(token.expose()),
        timeout: GITHUB_TIMEOUT,
    };
    let client = Github::new(outbound.client(), clock, &settings);
    let client = client.map_err(Failure::failed)?;
    let firings = StoredFirings(Arc::clone(store));
    let launcher = WorkflowLauncher::new(Arc::new(client));
    Ok(Some(launcher.looking(Arc::new(firings))))
}

fn commands(
    command: &settings::Command,
    environment: &BTreeMap<String, String>,
    slots: usize,
) -> CommandLauncher {
    let allowed = match (command.enabled, command.programs.as_slice()) {
        (false, _) => Allowed::Nothing,
        (true, []) => Allowed::Anything,
        (true, programs) => Allowed::Only(programs.to_vec()),
    };
    let lookup = |name: &str| environment.get(name).cloned();
    CommandLauncher::new(CommandSettings {
        allowed,
        directory: command.directory.clone(),
        environment: command::environment(&command.environment, lookup),
        stop_grace: STOP_GRACE,
        supervisor: Path::new(OWN_PROGRAM).exists().then(|| OWN_PROGRAM.into()),
        at_once_max: share(slots),
    })
}
