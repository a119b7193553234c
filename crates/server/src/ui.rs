//! The dashboard: what ran, what runs, what will run, and why; for people, in a browser.
//!
//! Pages are rendered here, whole, from what the API's own functions answer; links and forms are all they need, and a
//! small script keeps them live. What must stay true:
//!
//! - Every page says everything without the script, without colour and without a picture.
//! - A page looks through the store and changes through the engine, like the API; it decides nothing of its own.
//! - Nothing is loaded from elsewhere, and no text of others is markup: maud escapes what it is given.
//! - Every word stands in both languages, side by side ([`say`](lang::say)), so that none can be forgotten.

pub(crate) mod lang;
