//! `almanack user`.

use clap::{Args, Subcommand};

use super::ScopeName;

/// What to do with users.
#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Create a user who signs in to the dashboard by name and password
    Create {
        /// Name of the user; the history shows it
        name: String,
        /// What the user may do; each scope includes the ones before it, and `work` is for tokens
        #[arg(long, value_enum, default_value = "operate")]
        scope: ScopeName,
        #[command(flatten)]
        password: PasswordArguments,
    },
    /// Set a user's password, and sign the user out everywhere
    Password {
        /// Name of the user
        name: String,
        #[command(flatten)]
        password: PasswordArguments,
    },
    /// List users
    List,
    /// Remove a user, and sign the user out everywhere
    Remove {
        /// Name of the user
        name: String,
    },
}

/// Where the password comes from. Never an argument: every user of the machine can read those.
#[derive(Debug, Clone, Args)]
pub(crate) struct PasswordArguments {
    /// Read the password from the first line of standard input
    #[arg(long)]
    pub(crate) password_stdin: bool,
}
