//! Imports that nearly every command needs: arguments, client, context, columns and exit codes.

pub(super) use jiff::{SignedDuration, Timestamp};
pub(super) use serde_json::{Value, json};

pub(super) use super::{
    CommandContext, DatabaseNeed, FILE_BYTES_MAX, checked, confirmed, duration, read_bytes,
    read_text, runtime, wait_for,
};
pub(super) use crate::{
    args::*,
    client::{Answer, Call, Client, Connector, List, Refusal, outcome},
    columns::*,
    config::{self, Inputs, Need, Settings},
    failure::{Done, Exit, Failure, Result},
    output::{Cell, Ink, Output},
    when, wiring,
};
