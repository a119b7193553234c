use std::sync::Mutex;

use almanack_core::{
    event::incoming::envelope::{Format, Others},
    reschedule::{DecisionId, Receipt, Rule},
    task::{Revision, TaskId},
};

use super::*;

const PUT: &str = r#"{"specversion":"1.0","id":"ID","source":"s","type":"almanack.task.put.v1","subject":"a:1","data":{"kind":"K","execute_at":"2026-01-05T08:00:00Z","revision":1}}"#;

fn message(id: &str, body: &str) -> Incoming {
    Incoming {
        bus: Bus::Kafka,
        channel: "t".to_owned(),
        place: id.to_owned(),
        headers: Vec::new(),
        key: None,
        body: body.replace("ID", id).into_bytes(),
    }
}

fn reading() -> Reading {
    Reading {
        format: Format::CloudEvents,
        others: Others::Skip,
        payload_bytes: 100,
    }
}

/// Answers by the script of each call, and remembers what it was asked.
struct Scripted {
    answers: Mutex<Vec<Vec<Answer>>>,
    asked: Mutex<Vec<Vec<String>>>,
}

impl Scripted {
    fn new(answers: Vec<Vec<Answer>>) -> Self {
        Self {
            answers: Mutex::new(answers),
            asked: Mutex::default(),
        }
    }
}

#[async_trait]
impl Intake for Scripted {
    async fn take(&self, requests: Vec<ChangeRequest>) -> Vec<Answer> {
        let ids = requests.into_iter().map(|request| request.id).collect();
        self.asked.lock().unwrap().push(ids);
        self.answers.lock().unwrap().remove(0)
    }
}

/// Takes letters once it is open.
#[derive(Default)]
struct DeadLetterBox {
    open: Mutex<bool>,
    /// Most bytes of body and headers, if there is a bound.
    bytes_max: Option<usize>,
    letters: Mutex<Vec<(String, String)>>,
    /// How long bodies were and how much of them came.
    cut: Mutex<Vec<(Option<usize>, usize)>>,
}

#[async_trait]
impl DeadLetters for DeadLetterBox {
    async fn bury(
        &self,
        message: &Incoming,
        reason: &str,
        cut: Option<usize>,
    ) -> Result<(), Refusal> {
        if !*self.open.lock().unwrap() {
            return Err(Refusal::NotNow("closed".to_owned()));
        }
        let headers = message.headers.iter();
        let headers: usize = headers.map(|(_, value)| value.len()).sum();
        let bytes = headers + message.body.len();
        if self.bytes_max.is_some_and(|most| bytes > most) {
            return Err(Refusal::TooLarge("too large".to_owned()));
        }
        self.cut.lock().unwrap().push((cut, message.body.len()));
        let letter = (message.place.clone(), reason.to_owned());
        self.letters.lock().unwrap().push(letter);
        Ok(())
    }
}

fn taken() -> Answer {
    let decision = DecisionId {
        task_id: TaskId(1),
        number: 1,
    };
    Answer::Taken(Receipt {
        decision,
        rule: Rule::Created,
        task_id: TaskId(1),
        cancelled_task_id: None,
        old_execute_at: None,
        execute_at: jiff::Timestamp::UNIX_EPOCH,
        revision: Revision(1),
    })
}

fn not_now() -> Answer {
    let reason = "the store is away".to_owned();
    Answer::NotNow { reason }
}

#[tokio::test]
async fn rs_10_only_what_is_not_settled_is_tried_again() {
    let refused = Answer::Refused {
        reason: "no\nkind".to_owned(),
    };
    let intake = Scripted::new(vec![vec![taken(), not_now(), refused], vec![taken()]]);
    let letters = DeadLetterBox::default();
    let other = PUT.replace("put.v1", "other.v1");
    let messages = vec![
        message("a", PUT),
        message("b", PUT),
        message("c", PUT),
        message("d", "{"),
        message("e", &other),
    ];
    let mut batch = Batch::read(Bus::Kafka, messages, &reading());
    let outcome = batch.round(&intake, &letters).await;
    assert_eq!(
        outcome,
        Err(Unsettled::Store("the store is away".to_owned()))
    );
    let outcome = batch.round(&intake, &letters).await;
    assert_eq!(outcome, Err(Unsettled::DeadLetters("closed".to_owned())));
    *letters.open.lock().unwrap() = true;
    assert_eq!(batch.round(&intake, &letters).await, Ok(()));
    assert_eq!(
        batch.round(&intake, &letters).await,
        Ok(()),
        "it stays settled"
    );
    assert_eq!(
        *intake.asked.lock().unwrap(),
        [vec!["a", "b", "c"], vec!["b"]]
    );
    let buried = letters.letters.lock().unwrap();
    assert_eq!(buried.len(), 2, "{buried:?}");
    assert_eq!(buried[0], ("c".to_owned(), "no kind".to_owned()));
    assert!(buried[1].1.contains("early"), "{buried:?}");
}

#[tokio::test]
async fn rs_10_an_answer_that_is_missing_settles_nothing() {
    let intake = Scripted::new(vec![vec![taken()]]);
    let letters = DeadLetterBox::default();
    let messages = vec![message("a", PUT), message("b", PUT)];
    let mut batch = Batch::read(Bus::Kafka, messages, &reading());
    let outcome = batch.round(&intake, &letters).await;
    assert!(matches!(outcome, Err(Unsettled::Store(_))), "{outcome:?}");
}

#[tokio::test]
async fn rs_10_a_dead_letter_that_is_too_large_is_cut_and_stops_nothing() {
    let large = "x".repeat(KEPT_BYTES_MAX + 1);
    for (header_bytes, bytes_max, expected, why) in [
        (0, KEPT_BYTES_MAX + 1, (None, KEPT_BYTES_MAX + 1), "it fits"),
        (
            0,
            KEPT_BYTES_MAX,
            (Some(KEPT_BYTES_MAX + 1), KEPT_BYTES_MAX),
            "the beginning of it fits",
        ),
        (
            KEPT_BYTES_MAX,
            KEPT_BYTES_MAX,
            (Some(KEPT_BYTES_MAX + 1), 0),
            "its headers are too large as well",
        ),
    ] {
        let letters = DeadLetterBox {
            open: Mutex::new(true),
            bytes_max: Some(bytes_max),
            ..DeadLetterBox::default()
        };
        let mut message = message("a", &large);
        message.headers = vec![("x".to_owned(), vec![b'y'; header_bytes])];
        let mut batch = Batch::read(Bus::Kafka, vec![message], &reading());
        let settled = batch.round(&Scripted::new(Vec::new()), &letters).await;
        assert_eq!(settled, Ok(()), "{why}");
        assert_eq!(*letters.cut.lock().unwrap(), [expected], "{why}");
    }
}
