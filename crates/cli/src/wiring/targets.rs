//! Which targets this node fires at, by its configuration.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use almanack_adapters::{
    command::{self, Allowed, CommandLauncher, CommandSettings},
    github::{Github, GithubSettings, ReportsRuns, Token, WorkflowLauncher},
    ping_sender::HttpPingSender,
    webhook::{ReportAddress, WebhookLauncher},
};
use almanack_core::{
    bulk::BULK_CHANGE,
    edition::EDITION_TICK,
    plan::{DISPATCH, PING_DELIVERY},
    run_log::{KnownSecrets, RunLogs},
    secret::Secret,
    store::Store,
    time::Clock,
};
use almanack_engine::{
    bulk::{BulkHandler, STEP_ROWS},
    dispatch::{BACKOFF, DispatchHandler, StoredFirings, TaskLauncher},
    handlers::Handlers,
    ping_delivery::PingDeliveryHandler,
    run_log::RunLogKeeper,
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
    let secrets = ReleasedSecrets::for_callbacks(settings, &own.lasting.environment);
    let clock = Arc::clone(&shared);
    let otherwise = callback_handler(settings, outbound, clock, Arc::new(secrets));
    let ticks = editions::handler(EDITION_TICK, own);
    let ticks = ticks.into_iter().map(|handler| (EDITION_TICK, handler));
    let own_work = TaskLauncher {
        rescheduler: Arc::clone(&own.lasting.rescheduler),
        store: Arc::clone(store),
        clock: Arc::clone(&shared),
        done_here: ticks.collect(),
    };
    let logs: Arc<dyn RunLogs> = Arc::new(run_logs(own));
    let webhooks = webhooks(own, Arc::clone(&shared), Arc::clone(&logs));
    let slots = settings.node.slots;
    let commands = commands(&settings.command, &own.lasting.environment, slots);
    let commands = commands.logging(Arc::clone(&logs));
    let sleeper = Arc::clone(&timing.sleeper);
    let mut dispatch = DispatchHandler::new(Arc::clone(store), Arc::clone(&shared), sleeper)
        .with_firings_max(slots / FIRINGS_PART)
        .with("task", Arc::new(own_work))
        .with("webhook", Arc::new(webhooks))
        .with("command", Arc::new(commands));
    if let Some(workflows) = workflows(&settings.github, outbound, shared, store)? {
        let workflows = ReportsRuns::new(Arc::new(workflows), logs, &settings.github.api_url);
        dispatch = dispatch.with("workflow", Arc::new(workflows));
    }
    let kind = own_kind(DISPATCH)?;
    let mut handlers = Handlers::new(Arc::new(otherwise));
    for (kind, of_kind) in &settings.kinds {
        if let Some(backoff) = of_kind.backoff(settings.retry) {
            handlers = handlers.waiting(kind.clone(), backoff);
        }
    }
    let bulks = BulkHandler {
        store: Arc::clone(store),
        clock: timing.clock.clone(),
        step_rows: STEP_ROWS,
    };
    Ok(handlers
        .waking(&dispatch)
        .with(kind.clone(), Arc::new(dispatch))
        .with(own_kind(PING_DELIVERY)?, Arc::new(pings(own)))
        .with(own_kind(BULK_CHANGE)?, Arc::new(bulks))
        .waiting(kind, BACKOFF))
}

/// Calls about firings.
fn pings(own: Own<'_>) -> PingDeliveryHandler {
    let Lasting { store, timing, .. } = own.lasting;
    let clock: Arc<dyn Clock> = timing.clock.clone();
    let sender = HttpPingSender {
        client: own.outbound.client(),
        clock: Arc::clone(&clock),
        secrets: Arc::new(ReleasedSecrets::for_schedules(
            own.settings,
            &own.lasting.environment,
        )),
    };
    PingDeliveryHandler {
        store: Arc::clone(store),
        clock,
        sender: Arc::new(sender),
    }
}

/// Written through other connections than those that claim.
pub(super) fn run_logs(own: Own<'_>) -> RunLogKeeper {
    let (settings, lasting) = (own.settings, own.lasting);
    let listed = settings.command.environment.iter();
    let listed = listed.filter_map(|name| lasting.environment.get(name));
    // What a webhook was sent in a header may come back in its answer.
    let released = |name: &str| {
        let reference = format!("env:{name}");
        let mut released = settings.schedules.secrets.iter();
        released.any(|it| it.covers(&reference))
    };
    let sent = lasting.environment.iter();
    let sent = sent.filter_map(|(name, value)| released(name).then_some(value));
    let read = listed.chain(sent).map(|value| Secret::new(value));
    let secrets = KnownSecrets::new(settings.secrets().chain(read));
    let clock: Arc<dyn Clock> = lasting.timing.clock.clone();
    let times = (clock, Arc::clone(&lasting.timing.sleeper));
    let store = Arc::clone(&lasting.changes);
    RunLogKeeper::new(store, times, settings.limits.run_log_bytes, secrets)
}

fn webhooks(own: Own<'_>, clock: Arc<dyn Clock>, logs: Arc<dyn RunLogs>) -> WebhookLauncher {
    let settings = own.settings;
    let behaviour = behaviour(settings);
    let caller = own.outbound.caller(clock);
    let reports = super::public_url(settings).zip(settings.callback.secret.clone());
    let reports = reports.map(|(base, key)| ReportAddress { base, key });
    WebhookLauncher {
        caller,
        behaviour,
        reports,
        logs,
        secrets: Arc::new(ReleasedSecrets::for_schedules(
            settings,
            &own.lasting.environment,
        )),
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
