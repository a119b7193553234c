//! A task as its program sees it, and the program's end as a report.

use std::{fmt, io::Write as _};

use almanack_adapters::command::ProgramEnd;
use almanack_core::{
    run_log::{KnownSecrets, Redactor, RunLog},
    task::{TaskId, Term},
    work::{HeldTask, WorkReport, outcome_of_exit},
};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A task that the node handed out; the payload is kept byte for byte.
#[derive(Deserialize)]
struct Wire<'a> {
    task_id: TaskId,
    term: Term,
    kind: String,
    subject: String,
    attempt: u32,
    execute_at: String,
    #[serde(borrow)]
    payload: &'a RawValue,
}

pub(super) struct TakenTask {
    held: HeldTask,
    kind: String,
    subject: String,
    attempt: u32,
    execute_at: String,
    pub(super) payload: String,
}

impl TakenTask {
    pub(super) fn read(text: &str) -> Option<Self> {
        let wire: Wire<'_> = serde_json::from_str(text).ok()?;
        Some(Self {
            held: HeldTask {
                task_id: wire.task_id,
                term: wire.term,
            },
            kind: wire.kind,
            subject: wire.subject,
            attempt: wire.attempt,
            execute_at: wire.execute_at,
            payload: wire.payload.get().to_owned(),
        })
    }

    pub(super) fn held(&self) -> HeldTask {
        self.held
    }

    /// What the program finds in its environment.
    pub(super) fn variables(&self) -> [(&'static str, String); 6] {
        [
            ("ALMANACK_TASK_ID", self.held.task_id.to_string()),
            ("ALMANACK_TERM", self.held.term.0.to_string()),
            ("ALMANACK_KIND", self.kind.clone()),
            ("ALMANACK_SUBJECT", self.subject.clone()),
            ("ALMANACK_ATTEMPT", self.attempt.to_string()),
            ("ALMANACK_EXECUTE_AT", self.execute_at.clone()),
        ]
    }
}

impl fmt::Display for TakenTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, subject, attempt) = (&self.kind, &self.subject, self.attempt);
        write!(f, "{kind} {subject} attempt {attempt}")
    }
}

/// What the program's end says about its task.
pub(super) fn report_of(held: HeldTask, end: &ProgramEnd) -> WorkReport {
    WorkReport {
        task_id: held.task_id,
        term: held.term,
        outcome: outcome_of_exit(end.code),
        at: None,
        retry_after_s: None,
        detail: Some(end.detail.clone()),
    }
}

/// That in a few words, without the output.
pub(super) fn summary(end: &ProgramEnd) -> String {
    let outcome = outcome_of_exit(end.code);
    match end.code {
        Some(code) => format!("{outcome} (exit code {code})"),
        None => outcome.to_string(),
    }
}

/// Shows what a program prints, without the secrets that the worker knows.
pub(super) struct Shown(Redactor);

impl Shown {
    pub(super) fn new(secrets: &KnownSecrets) -> Self {
        Self(secrets.redactor())
    }
}

/// A reader of our output that has gone away stops no program.
fn show(clean: &[u8]) {
    let mut output = std::io::stdout().lock();
    let _ = output.write_all(clean);
    let _ = output.flush();
}

#[async_trait]
impl RunLog for Shown {
    fn write(&mut self, printed: &[u8]) -> Vec<u8> {
        let clean = self.0.pass(printed);
        show(&clean);
        clean
    }

    async fn end(&mut self) -> Vec<u8> {
        let clean = self.0.end();
        show(&clean);
        clean
    }
}
