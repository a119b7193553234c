//! Simulated upstreams on loopback, for `almanack demo` and end-to-end tests.
//!
//! Almanack decides when to try; a business service decides whether it takes effect. This crate is
//! that other half, in reading order:
//!
//! - [`article`]: the reference article service of RS-12, with audit, publish and an outbox;
//! - [`authors`]: authors who write, reschedule and withdraw articles;
//! - [`chaos`]: faults drawn from a seed, the nodes they are injected into, and the results;
//! - [`customer`]: a client that creates tasks at a steady rate and knows what was promised;
//! - [`demo`]: the upstreams of `almanack demo`, and how they misbehave;
//! - [`feeds`]: thousands of feeds on as many hosts, well-behaved, careless and hostile;
//! - [`figures`]: figures of measurements;
//! - [`flaky`]: injected faults of the article service;
//! - [`github`]: GitHub, as far as Almanack calls it, with its limits and faults;
//! - [`hooks`]: partners that receive webhooks, reliable or not;
//! - [`hub`]: a publisher with a WebSub hub, fair, silent or lying;
//! - [`news`]: a news site as an edition meets it: lists, search, comments, pages and page readers;
//! - [`model`]: a language model behind an OpenAI-compatible endpoint, correct or faulty;
//! - [`smtp`]: a mail server, with refusals and cuts;
//! - [`telegram`]: Telegram's Bot API, with its rules of text and its limits;
//! - [`stand`]: the server that all of these share; [`rule`]: which requests get a fault, and how
//!   often;
//! - [`webhook`]: how a call from Almanack is verified.
//!
//! INVARIANT: the crate knows Almanack only over HTTP and SMTP, as any user's service would. It shares no
//! code with it, so that a mistake on one side cannot hide behind the same mistake on the other.

pub mod article;
pub mod authors;
pub mod chance;
pub mod chaos;
pub mod client;
pub mod clock;
pub mod customer;
pub mod demo;
pub mod feeds;
pub mod figures;
mod fingerprint;
pub mod flaky;
pub mod github;
pub mod hooks;
pub mod hub;
mod line;
pub mod model;
pub mod news;
pub mod reply;
pub mod rule;
pub mod smtp;
pub mod stand;
pub mod telegram;
pub mod webhook;
