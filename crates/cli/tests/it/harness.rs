//! A separate folder for every test, and a binary that sees nothing else.

use std::{
    fmt,
    io::Write,
    process::{Command, Output, Stdio},
};

/// A folder to run in, with its own environment.
pub(crate) struct Home {
    folder: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

/// What a run came to.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) data: String,
    pub(crate) notes: String,
}

impl Home {
    /// An empty folder; the user is called anna.
    pub(crate) fn new() -> Self {
        let environment = vec![("USER".to_owned(), "anna".to_owned())];
        Self {
            folder: tempfile::tempdir().unwrap(),
            environment,
        }
    }

    /// A folder with this configuration.
    pub(crate) fn with(toml: &str) -> Self {
        Self::new().file("almanack.toml", toml)
    }

    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.folder.path().join(name), text).unwrap();
        self
    }

    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Where its files are.
    pub(crate) fn path(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with_input(arguments, "")
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // Who answers while it reads would wait for a reader, and we for it, if both were one
        // thread.
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // Who does not read its input closes it; that is its right.
                let _ = stdin.write_all(input.as_bytes());
            });
            child.wait_with_output().unwrap().into()
        })
    }

    /// A line as a person types it into a shell.
    pub(crate) fn shell(&self, line: &str) -> Ran {
        self.shell_command(line).output().unwrap().into()
    }

    /// The same, for tests that wait for it themselves.
    pub(crate) fn shell_command(&self, line: &str) -> Command {
        let binary = std::path::Path::new(env!("CARGO_BIN_EXE_almanack"));
        let binaries = binary.parent().unwrap().display();
        let environment = self.environment.iter().map(|(name, value)| (name, value));
        let mut shell = Command::new("sh");
        shell
            .args(["-c", line])
            .current_dir(self.folder.path())
            .env_clear()
            .envs(environment)
            .env("PATH", format!("{binaries}:/usr/bin:/bin"));
        shell
    }

    /// The command, for tests that need its pipes in their own hands.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_almanack"));
        let environment = self.environment.iter().map(|(name, value)| (name, value));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .envs(environment);
        command
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            data: String::from_utf8(output.stdout).unwrap(),
            notes: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// The data, for runs that must work.
    pub(crate) fn expect_data(self) -> String {
        assert_eq!(self.code, 0, "{self}");
        self.data
    }

    /// One JSON value, for runs that must work.
    pub(crate) fn expect_json(self) -> serde_json::Value {
        serde_json::from_str(&self.expect_data()).unwrap()
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}exit {}", self.data, self.notes, self.code)
    }
}

/// The text without what changes from run to run: `TIME` for the present day's instants, `AGO` for
/// distances from now, and columns no wider than two blanks apart.
pub(crate) fn settled(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(settled_line).collect();
    lines.join("\n")
}

fn settled_line(line: &str) -> String {
    let cells: Vec<&str> = line
        .split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect();
    let cells: Vec<String> = cells.into_iter().map(settled_cell).collect();
    cells.join("  ")
}

fn settled_cell(cell: &str) -> String {
    let mut settled: Vec<String> = Vec::new();
    let mut words = cell.split(' ').peekable();
    while let Some(word) = words.next() {
        let bare = word.trim_matches(['(', ')']);
        let distance = |word: &str| {
            let word = word.trim_matches(['(', ')']);
            word.ends_with(['d', 'h', 'm', 's'])
                && word.len() > 1
                && word[..word.len() - 1]
                    .bytes()
                    .all(|byte| byte.is_ascii_digit())
        };
        if bare == "now" || bare == "in" && words.peek().is_some_and(|next| distance(next)) {
            while words.next_if(|next| distance(next)).is_some() {}
            settled.push("AGO".to_owned());
        } else if distance(word) {
            while words.next_if(|next| distance(next)).is_some() {}
            words.next_if(|next| next.starts_with("ago"));
            settled.push("AGO".to_owned());
        } else if is_date(word) && words.peek().is_some_and(|next| next.ends_with('Z')) {
            let time = words.next().unwrap_or_default();
            let fixed = word >= "2999";
            settled.push(if fixed {
                format!("{word} {time}")
            } else {
                "TIME".to_owned()
            });
        } else {
            settled.push(word.to_owned());
        }
    }
    settled.join(" ")
}

fn is_date(word: &str) -> bool {
    word.len() == 10
        && word.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}
