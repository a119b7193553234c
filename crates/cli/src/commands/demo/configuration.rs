//! The demo's configuration: an ordinary file, plus what only a fast clock needs.
//!
//! The file also works with `almanack serve`. Leases and timeouts that must be long because the
//! clock is fast are overridden in memory: at normal speed they would only be slow.

use std::{collections::BTreeMap, fs, path::Path};

use almanack_adapters::alert::Language;
use almanack_lab::demo::{
    ALERTS, BOT_TOKEN, CHANNEL, FLAKY_HOOK, KEY, Outside, REPOSITORY, SLOW_HOOK, WORKFLOW,
};

use super::{folder::Folder, plan::Plan};
use crate::{
    commands::checked,
    config::{self, Inputs, Need, Settings, settings::DefaultEdition},
    failure::Result,
    when::show_duration,
};

/// The node's name.
const NODE: &str = "demo";
/// The file's name.
pub(super) const FILE: &str = "almanack.toml";
/// The kind of the task that a schedule creates, and the hook its callback calls.
pub(super) const OWN_KIND: &str = "NEWSLETTER_SEND";
const NEWSLETTER_HOOK: &str = "newsletter";
/// A hook that behaves.
const FRONT_PAGE_HOOK: &str = "front-page";

/// Writes the configuration and the files it refers to into its folder.
pub(super) fn write(folder: &Folder, plan: &Plan, outside: &Outside) -> Result<()> {
    let path = folder.path();
    let parts = [
        head(path, plan),
        edition(path, plan, outside),
        schedules(plan, outside),
    ];
    let wrote = fs::write(path.join("model.key"), KEY)
        .and_then(|()| fs::write(path.join("github.token"), KEY))
        .and_then(|()| fs::write(path.join("telegram.token"), BOT_TOKEN))
        .and_then(|()| fs::create_dir_all(path.join("site")))
        .and_then(|()| fs::write(path.join(FILE), parts.join("\n")));
    wrote.map_err(|error| folder.failed(&error))
}

/// Reads it as `serve` does, and overrides what a fast clock needs.
pub(super) fn load(folder: &Folder, plan: &Plan, listen: &str) -> Result<(Settings, Inputs)> {
    let flags = [
        ["--listen", "server.listen", listen],
        // No load balancer to wait for, and the user waits for the end.
        ["--set", "server.shutdown_delay", "0s"],
        ["demo", "node.name", NODE],
    ];
    let inputs = Inputs {
        environment: BTreeMap::new(),
        file: Some(folder.path().join(FILE)),
        flags: flags.map(|flag| flag.map(str::to_owned).into()).into(),
    };
    let mut settings = checked(config::load(&inputs, Need::Everything))?;
    settings.node.lease = plan.lease();
    settings.node.drain = plan.drain();
    settings.alerts.every = plan.watch_every();
    plan.widen(&mut settings.alerts.bounds);
    if let DefaultEdition::On(edition) = &mut settings.editions.default {
        edition.rules.batch_time = plan.batch_time();
        edition.rules.delivery_time = plan.delivery_time();
    }
    Ok((settings, inputs))
}

fn head(folder: &Path, plan: &Plan) -> String {
    let database = toml_text(&format!("sqlite:{}", folder.join("almanack.db").display()));
    format!(
        "# Written by `almanack demo`. `almanack serve --config FILE` opens the same database.\n\
         # The simulated services end with the demo; calls to them then fail.\n\
         [database]\n\
         url = {database}\n\n\
         [outbound]\n\
         allow = [\"127.0.0.1\"]        # callback URLs of the article service\n\n\
         [sources]\n\
         allow = [\"127.0.0.0/8\"]      # each feed's host is a loopback address\n\
         floor = \"{floor}\"\n\
         checks_per_day = {checks}\n\
         timeout = \"3s\"\n\
         host_pace = \"20/1s\"\n\n\
         [retry]\n\
         base = \"1s\"\n\
         cap = \"4s\"\n\n\
         [callback]\n\
         timeout = \"30s\"\n\n\
         [schedules]\n\
         reload = \"{reload}\"\n\n\
         [log]\n\
         level = \"error\"\n",
        floor = show_duration(plan.floor()),
        checks = plan.checks_per_day(),
        reload = show_duration(plan.reload()),
    )
}

fn edition(folder: &Path, plan: &Plan, outside: &Outside) -> String {
    let (news, model) = (outside.news.url(), outside.model.url());
    let (github, telegram) = (outside.github.url(), outside.telegram.url());
    let (owner, name) = REPOSITORY;
    let site = toml_text(&folder.join("site").display().to_string());
    let (ticks, zone, chain) = (plan.ticks(), plan.zone, plan.chain);
    let (title, language) = match plan.language {
        Language::English => ("The Demo Daily", "en"),
        Language::Chinese => ("演示日报", "zh-CN"),
    };
    format!(
        "[edition]\n\
         title = \"{title}\"\n\
         language = \"{language}\"\n\
         schedule = \"{ticks}\"\n\
         tz = \"{zone}\"             # where it was morning when the demo started\n\
         stories = 24\n\
         batch_size = 6\n\
         chain = {chain}\n\n\
         [edition.source]\n\
         firebase_url = \"{news}\"\n\
         algolia_url = \"{news}\"\n\n\
         [edition.model]\n\
         base_url = \"{model}/v1\"\n\
         name = \"world\"\n\
         key = \"file:model.key\"\n\n\
         [github]\n\
         api_url = \"{github}\"\n\
         token = \"file:github.token\"\n\n\
         [edition.github]\n\
         repository = \"{owner}/{name}\"\n\n\
         [edition.telegram]\n\
         chat = \"{CHANNEL}\"\n\
         token = \"file:telegram.token\"\n\
         batch_size = 6\n\
         api_url = \"{telegram}\"\n\n\
         [edition.directory]\n\
         path = {site}\n\n\
         [alerts.telegram]\n\
         chat = \"{ALERTS}\"\n\
         token = \"file:telegram.token\"\n\
         api_url = \"{telegram}\"\n"
    )
}

/// A variety of zones, expressions and targets, and two schedules that fail.
fn schedules(plan: &Plan, outside: &Outside) -> String {
    let hook = |name: &str| {
        format!(
            "{{ type = \"webhook\", url = \"{}\" }}",
            outside.hooks.hook_url(name)
        )
    };
    let (owner, name) = REPOSITORY;
    let workflow = format!(
        "{{ type = \"workflow\", repository = \"{owner}/{name}\", workflow = \"{WORKFLOW}\" }}"
    );
    let task =
        format!("{{ type = \"task\", kind = \"{OWN_KIND}\", subject = \"newsletter:{{slot}}\" }}");
    let all = [
        (
            "front-page",
            plan.every(10),
            "Europe/Berlin",
            hook(FRONT_PAGE_HOOK),
        ),
        ("site-build", plan.every(15), "Asia/Shanghai", workflow),
        ("newsletter", plan.every(20), "America/New_York", task),
        (
            "partner-sync",
            plan.every(12),
            "Asia/Kolkata",
            hook(FLAKY_HOOK),
        ),
        ("archive", plan.every_exactly(6), "UTC", hook(SLOW_HOOK)),
        (
            "weekday-report",
            "0 9 * * 1-5".to_owned(),
            "Europe/London",
            hook(FRONT_PAGE_HOOK),
        ),
    ];
    let tables = all.map(|(name, expression, zone, target)| {
        format!(
            "[[schedule]]\nname = \"{name}\"\nexpression = \"{expression}\"\ntz = \"{zone}\"\ntarget = {target}\n"
        )
    });
    let callback = outside.hooks.hook_url(NEWSLETTER_HOOK);
    format!(
        "[kinds.{OWN_KIND}]\nurl = \"{callback}\"\n\n{}",
        tables.join("\n")
    )
}

/// A TOML string; folders may have any name.
fn toml_text(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
