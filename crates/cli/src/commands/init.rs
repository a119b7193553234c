//! `almanack init`: a first configuration, from the answers to five questions.
//!
//! Every answer is checked by the rules of the configuration itself before the next question is
//! asked. The file is written once, complete, and only where there is none; the first user or token
//! is created after that, because it is stored in the database that the file names.

use std::{
    fs::File,
    io::{BufRead, ErrorKind, IsTerminal as _, Write as _},
    net::SocketAddr,
    path::Path,
};

use clap::ValueEnum as _;

use super::{token, user};
use crate::{
    commands::prelude::*,
    config::{
        FILE_DEFAULT,
        first::{self, Answers},
        report::Severity,
    },
};

/// Who may use the node first.
#[derive(Debug, Clone, PartialEq, Eq)]
enum First {
    Nobody,
    User(String),
    Token(String),
}

/// Writes the file, and creates the first user or token.
pub(super) fn run(
    given: &InitArguments,
    global: &Global,
    inputs: &Inputs,
    output: &mut Output,
) -> Done {
    let (path, _) = inputs.file();
    refuse(given, global, &path)?;
    let stdin = std::io::stdin();
    let has_terminal = stdin.is_terminal() && output.watched;
    if !given.yes && !has_terminal {
        return Err(Failure::usage("no terminal to ask questions on")
            .hint("answer by options and add --yes; `almanack init --help` lists them"));
    }
    let (answers, first) = Interview {
        input: stdin.lock(),
        output,
        asks: !given.yes,
    }
    .hold(given, global)?;
    write(&path, &first::text(&answers))?;
    let wrote = format!("wrote {}", path.display());
    if first == First::Nobody {
        output.say(&json!({ "wrote": path }), &wrote)?;
    } else {
        output.aside(&format!("{wrote}\n"));
        create(&first, given, (inputs, &path), output).map_err(|failure| {
            failure.during(&format!("{wrote}, but could not create the user or token"))
        })?;
    }
    output.aside(&next(&answers, &first, &path));
    Ok(Exit::Ok)
}

/// What cannot be done whatever the answers are.
fn refuse(given: &InitArguments, global: &Global, path: &Path) -> Result<()> {
    let InitArguments { user, password, .. } = given;
    if path.exists() {
        let what = format!("{} exists already; it is not overwritten", path.display());
        return Err(Failure::failed(what)
            .hint("edit it, or name another file: --config FILE; `almanack check` checks it"));
    }
    if !global.set.is_empty() {
        return Err(Failure::usage("--set: `init` writes no further keys")
            .hint("add them to the file once it is written"));
    }
    if password.password_stdin && !(given.yes && user.is_some()) {
        return Err(
            Failure::usage("--password-stdin needs --user NAME and --yes")
                .hint("standard input cannot hold a password and answers"),
        );
    }
    if user.is_some() && !password.password_stdin && !std::io::stdin().is_terminal() {
        return Err(Failure::usage("no terminal to ask for a password")
            .hint("pass it on standard input: --yes --password-stdin"));
    }
    let without_editions = |jobs: &Vec<Job>| !jobs.contains(&Job::Editions);
    if given.editions_to.is_some() && given.run.as_ref().is_some_and(without_editions) {
        return Err(Failure::usage("--editions-to needs `editions` among --run"));
    }
    Ok(())
}

/// Asks what no option has answered.
struct Interview<'a, I> {
    input: I,
    output: &'a mut Output,
    asks: bool,
}

impl<I: BufRead> Interview<'_, I> {
    fn hold(mut self, given: &InitArguments, global: &Global) -> Result<(Answers, First)> {
        let mut answers = Answers {
            database: "sqlite:almanack.db".to_owned(),
            listen: "127.0.0.1:8080".to_owned(),
            jobs: vec![Job::Tasks, Job::Schedules],
            editions_to: "editions".to_owned(),
        };
        if given.editions_to.is_some() {
            answers.jobs.push(Job::Editions);
        }
        let before = answers.clone();
        let question = "1/5 Database, sqlite:FILE or postgres://user@host/database";
        let asked = (
            global.database.as_deref(),
            question,
            before.database.as_str(),
        );
        answers.database = self.ask(asked, |text| {
            let database = text.to_owned();
            valid(Answers {
                database,
                ..before.clone()
            })
            .map(|it| it.database)
        })?;
        let question = "2/5 Address to listen on; 0.0.0.0 can be reached from other machines";
        let asked = (given.listen.as_deref(), question, before.listen.as_str());
        answers.listen = self.ask(asked, |text| {
            let listen = text.to_owned();
            valid(Answers {
                listen,
                ..before.clone()
            })
            .map(|it| it.listen)
        })?;
        let usual = names(&before.jobs);
        let question = "3/5 What to run: tasks, schedules, sources, editions";
        answers.jobs = match &given.run {
            Some(jobs) => jobs.clone(),
            None => self.ask((None, question, &usual), jobs)?,
        };
        if answers.jobs.contains(&Job::Editions) {
            let before = answers.clone();
            let question = "4/5 Where editions go: a folder, or the address of a webhook";
            let asked = (
                given.editions_to.as_deref(),
                question,
                before.editions_to.as_str(),
            );
            answers.editions_to = self.ask(asked, |text| {
                let editions_to = text.to_owned();
                valid(Answers {
                    editions_to,
                    ..before.clone()
                })
                .map(|it| it.editions_to)
            })?;
        }
        let first = match (&given.user, &given.token) {
            (Some(name), _) => First::User(name.clone()),
            (_, Some(name)) => First::Token(name.clone()),
            _ => {
                let question = "5/5 First user, by name, or first token, as token:NAME";
                self.ask((None, question, "nobody"), |text| Ok(who(text)))?
            }
        };
        Ok((answers, first))
    }

    /// An answer that can be read: the given one, what is typed, or the default. Only who types can
    /// be asked again.
    fn ask<T>(
        &mut self,
        (given, question, usual): (Option<&str>, &str, &str),
        read: impl Fn(&str) -> Result<T>,
    ) -> Result<T> {
        if let Some(given) = given {
            return read(given);
        }
        if !self.asks {
            return read(usual);
        }
        loop {
            self.output.note(&format!("{question} [{usual}]: "));
            let mut line = String::new();
            let length = self.input.read_line(&mut line);
            let length =
                length.map_err(|error| Failure::failed(format!("read answer: {error}")))?;
            if length == 0 {
                return Err(Failure::failed(
                    "the input ended before all questions; wrote nothing",
                ));
            }
            let typed = line.trim();
            match read(if typed.is_empty() { usual } else { typed }) {
                Ok(answer) => return Ok(answer),
                Err(failure) => self.output.note(&failure.text()),
            }
        }
    }
}

/// The answers, if a configuration of them is valid.
fn valid(answers: Answers) -> Result<Answers> {
    let text = first::text(&answers);
    let loaded = config::of_text(FILE_DEFAULT, text, &Inputs::default(), Need::Everything);
    let problems = loaded.report.problems.iter();
    let mut errors = problems.filter(|problem| problem.severity == Severity::Error);
    match errors.next() {
        Some(problem) => Err(Failure::usage(&problem.what).hinted(problem.hint.clone())),
        None => Ok(answers),
    }
}

fn jobs(text: &str) -> Result<Vec<Job>> {
    let words = text.split([',', ' ']).filter(|word| !word.is_empty());
    let job = |word: &str| {
        Job::from_str(word, true).map_err(|_| {
            Failure::usage(format!(
                "`{word}` is none of tasks, schedules, sources, editions"
            ))
            .hint("separate several by commas")
        })
    };
    words.map(job).collect()
}

fn names(jobs: &[Job]) -> String {
    let names = jobs.iter().filter_map(Job::to_possible_value);
    let names: Vec<String> = names.map(|it| it.get_name().to_owned()).collect();
    names.join(",")
}

fn who(text: &str) -> First {
    match text.strip_prefix("token:") {
        Some(name) => First::Token(name.trim().to_owned()),
        None if text == "nobody" => First::Nobody,
        None => First::User(text.to_owned()),
    }
}

/// Writes a file that was not there, even if it came a moment ago.
fn write(path: &Path, text: &str) -> Result<()> {
    let file = File::create_new(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        let failure = Failure::failed(format!("write {}: {error}", path.display()));
        match error.kind() {
            ErrorKind::NotFound => failure.hint("create its folder first"),
            _ => failure,
        }
    })
}

fn create(
    first: &First,
    given: &InitArguments,
    (inputs, path): (&Inputs, &Path),
    output: &mut Output,
) -> Done {
    let inputs = Inputs {
        file: Some(path.to_owned()),
        flags: Vec::new(),
        ..inputs.clone()
    };
    let at = Connector {
        server: None,
        inputs: &inputs,
    };
    let scope = ScopeName::Admin;
    match first {
        First::Nobody => Ok(Exit::Ok),
        First::User(name) => {
            let command = UserCommand::Create {
                name: name.clone(),
                scope,
                password: given.password.clone(),
            };
            wait_for(user::run(&at, &command, output))
        }
        First::Token(name) => {
            let command = TokenCommand::Create {
                name: name.clone(),
                scope,
                expires: None,
            };
            wait_for(token::run(&at, &command, output))
        }
    }
}

/// What to do now.
fn next(answers: &Answers, first: &First, path: &Path) -> String {
    let file = if path == Path::new(FILE_DEFAULT) {
        String::new()
    } else {
        format!(" --config {}", path.display())
    };
    let listen = answers.listen.parse::<SocketAddr>().ok();
    let is_open = listen.is_some_and(|listen| !listen.ip().is_loopback());
    let user = if is_open && *first == First::Nobody {
        let listen = &answers.listen;
        format!(
            "{listen} can be reached from other machines: create a user before you serve: \
             almanack user create NAME --scope admin{file}\n"
        )
    } else {
        String::new()
    };
    format!(
        "{user}next: `almanack check{file}` shows what is in force, `almanack serve{file}` runs it\n"
    )
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::output;

    /// What an interview comes to, and what it asked.
    fn interview(options: &[&str], typed: Option<&str>) -> (Result<(Answers, First)>, String) {
        let line = ["almanack", "init"].iter().chain(options);
        let arguments = Arguments::try_parse_from(line).unwrap();
        let Command::Init(given) = &arguments.command else {
            panic!("not init")
        };
        let (mut output, paper) = output::tests::output(false);
        let held = Interview {
            input: typed.unwrap_or_default().as_bytes(),
            output: &mut output,
            asks: typed.is_some(),
        }
        .hold(given, &arguments.global);
        (held, output::tests::written(&paper))
    }

    #[test]
    fn what_is_typed_is_what_is_configured_and_nonsense_is_asked_again() {
        let typed =
            "mysql://x\nsqlite:b.db\n8080\n127.0.0.1:9\ntasks, edtions\neditions\nposts\nanna\n";
        let (held, shown) = interview(&[], Some(typed));
        let (answers, first) = held.unwrap();
        assert_eq!(
            (answers.database.as_str(), answers.listen.as_str()),
            ("sqlite:b.db", "127.0.0.1:9")
        );
        assert_eq!(
            (answers.jobs, answers.editions_to.as_str()),
            (vec![Job::Editions], "posts")
        );
        assert_eq!(first, First::User("anna".to_owned()));
        for complaint in [
            "is not a database",
            "`edtions` is none of",
            "error: server.listen",
        ] {
            assert!(shown.contains(complaint), "{complaint}: {shown}");
        }
    }

    #[test]
    fn options_are_not_asked_for_and_yes_asks_nothing() {
        let options = [
            "--yes",
            "--listen",
            "0.0.0.0:80",
            "--run",
            "sources,editions",
            "--token",
            "ci",
        ];
        let (held, shown) = interview(&options, None);
        let (answers, first) = held.unwrap();
        assert_eq!(
            (answers.listen.as_str(), shown.as_str()),
            ("0.0.0.0:80", "")
        );
        assert_eq!(answers.jobs, [Job::Sources, Job::Editions]);
        assert_eq!(first, First::Token("ci".to_owned()));
        let (held, shown) = interview(&["--run", "tasks", "--user", "anna"], Some("\n\n"));
        assert_eq!(held.unwrap().0.database, "sqlite:almanack.db");
        assert!(!shown.contains("3/5") && !shown.contains("5/5"), "{shown}");
    }

    #[test]
    fn an_option_that_cannot_be_read_or_an_early_end_stops_it() {
        let (held, _) = interview(&["--yes", "--listen", "everywhere"], None);
        assert!(held.unwrap_err().text().contains("server.listen"));
        let (held, _) = interview(&[], Some("sqlite:a.db\n"));
        assert!(held.unwrap_err().text().contains("wrote nothing"));
    }
}
