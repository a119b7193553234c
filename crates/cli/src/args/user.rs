//! `almanack user`.

use clap::{Args, Subcommand};

use super::ScopeName;

/// What to do with users.
#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Make somebody who signs in to the dashboard by name and password
    Create {
        /// What to call them; the history shows this name
        name: String,
        /// What they may do; a larger scope includes the smaller ones
        #[arg(long, value_enum, default_value = "operate")]
        scope: ScopeName,
        #[command(flatten)]
        password: PasswordArguments,
    },
    /// Set somebody's password anew, which signs them out everywhere
    Password {
        /// Their name
        name: String,
        #[command(flatten)]
        password: PasswordArguments,
    },
    /// List users
    List,
    /// Remove somebody, and sign them out everywhere
    Remove {
        /// Their name
        name: String,
    },
}

/// Where the password comes from. Never an argument: every user of the machine can read those.
#[derive(Debug, Args)]
pub(crate) struct PasswordArguments {
    /// Read the password from the first line of the input instead of asking for it
    #[arg(long)]
    pub(crate) password_stdin: bool,
}
