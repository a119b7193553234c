//! A simulated outside on loopback: what `almanack demo` shows and what end-to-end tests use.
//!
//! Almanack decides when to try; a business service decides whether it takes effect. This crate is
//! that other half, in reading order:
//!
//! - [`article`]: the reference article service of RS-12, with audit, publish and an outbox;
//! - [`authors`]: people who write articles, move their publication and withdraw them;
//! - [`chaos`]: faults drawn from a seed, nodes that are hit by them, and what came of it;
//! - [`customer`]: somebody who puts tasks at a steady rate and knows what was promised;
//! - [`demo`]: the cast of `almanack demo`, and how it misbehaves;
//! - [`feeds`]: thousands of feeds on as many hosts, well-behaved, careless and hostile;
//! - [`figures`]: what measurements come to;
//! - [`flaky`]: how the service misbehaves when told to;
//! - [`github`]: GitHub, as far as Almanack calls it, with its limits and its bad days;
//! - [`hooks`]: partners who take webhooks, patient and impatient;
//! - [`news`]: a news site as an edition meets it: lists, search, comments, pages and page readers;
//! - [`model`]: a language model behind an OpenAI-compatible endpoint, diligent or not;
//! - [`telegram`]: Telegram's Bot API, with its rules of text and its limits;
//! - [`stand`]: the one stand-in that all of these are; [`rule`]: how often it misbehaves, to whom;
//! - [`webhook`]: how it knows that a call really comes from Almanack.
//!
//! INVARIANT: the crate knows Almanack only over HTTP, as any user's service would. It shares no
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
mod line;
pub mod model;
pub mod news;
pub mod reply;
pub mod rule;
pub mod stand;
pub mod telegram;
pub mod webhook;
