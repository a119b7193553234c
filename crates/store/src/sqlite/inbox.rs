//! SQLite has no inbox: no other process can call a function in a transaction of its own here.

use almanack_core::store::{InboxDecider, InboxTaken, Result};

use super::Sqlite;
use crate::{database::Inbox, nudge::Nudger};

impl Inbox for Sqlite {
    async fn take_inbox(&self, _: &dyn InboxDecider, _: usize) -> Result<InboxTaken> {
        Ok(InboxTaken::default())
    }

    fn inbox_nudger(&self) -> Option<&Nudger> {
        None
    }
}
