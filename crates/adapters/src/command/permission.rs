//! Which commands a node may run.

use std::path::{Component, Path, PathBuf};

/// Which commands may run. The node's own configuration decides, never a schedule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Allowed {
    #[default]
    Nothing,
    Anything,
    /// These programs, and everything in these directories; full paths.
    Only(Vec<PathBuf>),
}

/// Why a command may not run, and what to change. Never echoes the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("commands are off on this node; set command.enabled = true to allow them")]
    Off,
    /// Not on the list.
    #[error(
        "this program is not in command.programs, which lists programs and directories by their full paths"
    )]
    NotListed,
    /// A bare name does not determine which file is run.
    #[error("command.programs is set, so the program must be written as a full path without `..`")]
    NotAFullPath,
}

impl Allowed {
    /// Whether `program` may run. Checks the path as written: only someone with write access can
    /// put a link into an allowed directory.
    pub(super) fn check(&self, program: &str) -> Result<(), Refused> {
        let program = Path::new(program);
        match self {
            Self::Nothing => Err(Refused::Off),
            Self::Anything => Ok(()),
            Self::Only(_) if !is_full(program) => Err(Refused::NotAFullPath),
            Self::Only(listed) => {
                let covers = |listed: &PathBuf| is_full(listed) && program.starts_with(listed);
                if listed.iter().any(covers) {
                    Ok(())
                } else {
                    Err(Refused::NotListed)
                }
            }
        }
    }
}

fn is_full(path: &Path) -> bool {
    path.is_absolute() && !path.components().any(|part| part == Component::ParentDir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dp_11_a_command_runs_only_if_the_node_allows_it() {
        let only = Allowed::Only(vec![
            "/opt/jobs".into(),
            "/usr/bin/true".into(),
            "rel".into(),
        ]);
        for (allowed, program, expected, why) in [
            (
                &Allowed::Nothing,
                "/usr/bin/true",
                Err(Refused::Off),
                "off by default",
            ),
            (&Allowed::Anything, "true", Ok(()), "found by PATH"),
            (&only, "/usr/bin/true", Ok(()), "listed"),
            (&only, "/opt/jobs/a/b.sh", Ok(()), "in a listed directory"),
            (
                &only,
                "/opt/jobs",
                Ok(()),
                "itself; running a directory fails by itself",
            ),
            (
                &only,
                "/opt/jobs-of-others/x",
                Err(Refused::NotListed),
                "only looks like it",
            ),
            (
                &only,
                "/usr/bin/true2",
                Err(Refused::NotListed),
                "another program",
            ),
            (
                &only,
                "/opt/jobs/../../bin/sh",
                Err(Refused::NotAFullPath),
                "leads out",
            ),
            (
                &only,
                "true",
                Err(Refused::NotAFullPath),
                "could be any file",
            ),
            (
                &only,
                "rel/x",
                Err(Refused::NotAFullPath),
                "a relative entry covers nothing",
            ),
            (
                &Allowed::Only(vec![]),
                "/bin/sh",
                Err(Refused::NotListed),
                "an empty list",
            ),
        ] {
            assert_eq!(allowed.check(program), expected, "{program}: {why}");
        }
    }
}
