//! What nearly every command is made of: its arguments, a client or a desk, columns, and how it ends.

pub(super) use jiff::{SignedDuration, Timestamp};
pub(super) use serde_json::{Value, json};

pub(super) use super::{CommandContext, DatabaseNeed, checked, read_text, runtime, wait_for};
pub(super) use crate::{
    args::*,
    client::{Answer, Call, Client, Connector, List, Refusal, outcome},
    columns::*,
    config::{self, Inputs, Need, Settings},
    failure::{Done, Exit, Failure},
    output::{Cell, Ink, Output},
    when, wiring,
};
