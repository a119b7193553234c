//! `almanack edition` as an operator uses it, with a whole outside on this machine: news, a model,
//! GitHub, Telegram.

mod commands;
mod configuration;
mod credentials;
mod destinations;
mod killed;
mod named;
mod newsletter;
mod prompts;
mod quality;
mod ticks;

use std::{net::Ipv4Addr, time::Duration};

use almanack_lab::{
    github::{self, setup},
    model,
    news::{self, site::Site},
    telegram::{self, state::Chat},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::harness::{Home, Ran};

const GITHUB_SECRET: &str = "s-renderer";
const READER_SECRET: &str = "s-reader";
const BOT: &str = "4242:AAhush-hush_0123456789abcdefghijkl";
const MODEL_KEY: &str = "sk-hush-hush";
const CHAT: &str = "@daily";

struct World {
    news: news::Running,
    model: model::Running,
    github: github::Running,
    telegram: telegram::Running,
    _stop: DropGuard,
}

impl World {
    async fn start() -> Self {
        Self::slow(Duration::ZERO).await
    }

    /// A world in which news take a while.
    async fn slow(latency: Duration) -> Self {
        let here = (Ipv4Addr::LOCALHOST, 0).into();
        let stop = CancellationToken::new();
        let mut site = news::Config::new(here, Site::new(7, 200));
        site.latency = latency;
        let mut github = github::Config::new(here);
        let repository = setup::Repository::new("acme", "news", Vec::new());
        github.setup.repositories.push(repository);
        github.setup.tokens = vec![
            setup::Token::new("renderer", GITHUB_SECRET, &["acme/news"]),
            setup::Token {
                contents: setup::Permission::Read,
                ..setup::Token::new("reader", READER_SECRET, &["acme/news"])
            },
        ];
        let chats = vec![
            Chat::channel(-1_001, "daily"),
            Chat::channel(-1_002, "alerts"),
        ];
        let chats = telegram::Config::new(here, BOT, chats);
        let model = model::Config::new(here, MODEL_KEY);
        Self {
            news: news::start(site, stop.clone()).await.unwrap(),
            model: model::start(model, stop.clone()).await.unwrap(),
            github: github::start(github, stop.clone()).await.unwrap(),
            telegram: telegram::start(chats, stop.clone()).await.unwrap(),
            _stop: stop.drop_guard(),
        }
    }

    /// Twelve stories from here, printed as they are.
    fn stories(&self) -> String {
        let news = self.news.url();
        format!(
            "[edition]\nstories = 12\nlanguage = \"en\"\n\n\
             [edition.source]\nfirebase_url = \"{news}\"\nalgolia_url = \"{news}\"\n\n\
             [sources]\nallow = [\"127.0.0.0/8\"]\n\n"
        )
    }

    /// The same, written by the model and sent everywhere.
    fn everything(&self, database: &str) -> Home {
        let (model, github) = (self.model.url(), self.github.url());
        let telegram = self.telegram.url();
        let toml = format!(
            "{}[database]\nurl = \"{database}\"\n\n\
             [edition.model]\nbase_url = \"{model}/v1\"\nname = \"m\"\nkey = \"env:MODEL_KEY\"\n\n\
             [github]\napi_url = \"{github}\"\n\n\
             [edition.github]\nrepository = \"acme/news\"\n\n\
             [edition.telegram]\nchat = \"{CHAT}\"\nbatch_size = 6\napi_url = \"{telegram}\"\n\n\
             [edition.directory]\npath = \"out\"\n\n\
             [alerts.telegram]\nchat = \"@alerts\"\ntoken = \"env:TELEGRAM_BOT_TOKEN\"\napi_url = \"{telegram}\"\n",
            self.stories()
        );
        Home::with(&toml)
            .set("GITHUB_TOKEN", GITHUB_SECRET)
            .set("TELEGRAM_BOT_TOKEN", BOT)
            .set("MODEL_KEY", MODEL_KEY)
    }

    fn file(&self, date: &str) -> Option<String> {
        let path = format!("_posts/{date}-daily.md");
        let file = self.github.handle.file("acme", "news", "main", &path)?;
        Some(String::from_utf8(file).unwrap())
    }
}

/// Runs while this thread's world answers.
async fn run(home: &Home, arguments: &[&str]) -> Ran {
    tokio::task::block_in_place(|| home.run(arguments))
}

/// The only edition's day.
fn date(home: &Home) -> String {
    let listed = home.run(&["edition", "list", "--json-lines"]).expect_json();
    listed["date"].as_str().unwrap().to_owned()
}

/// No secret of these tests is anywhere in what was written.
fn assert_hushed(ran: &Ran) {
    let reported = ran.to_string();
    for secret in [GITHUB_SECRET, READER_SECRET, "hush-hush"] {
        assert!(!reported.contains(secret), "{reported}");
    }
}
