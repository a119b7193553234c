//! Models that stand in for each other (ED-44).

use almanack_adapters::model::FallbackModels;

use super::*;

/// Fails as it was set up, or answers with its name.
struct Scripted {
    name: &'static str,
    failure: Option<Failure>,
    asked: Arc<Mutex<Vec<&'static str>>>,
}

#[async_trait]
impl Writer for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    async fn titles(
        &self,
        titles: &[String],
        budget: &Arc<Budget>,
    ) -> Result<Option<Vec<Option<String>>>, Failure> {
        match self.summary(Text::article(""), Length::Full, budget).await {
            Ok(name) => Ok(Some(vec![Some(name); titles.len()])),
            Err(failure) if failure.class == FailureClass::Unusable => {
                Ok(Some(vec![None; titles.len()]))
            }
            Err(failure) => Err(failure),
        }
    }

    async fn summary(&self, _: Text<'_>, _: Length, _: &Arc<Budget>) -> Result<String, Failure> {
        self.asked.lock().unwrap().push(self.name);
        match &self.failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(self.name.to_owned()),
        }
    }

    async fn judge(
        &self,
        titles: &[String],
        _: Sensitivity,
        budget: &Arc<Budget>,
    ) -> Result<Vec<bool>, Failure> {
        let answered = self.summary(Text::article(""), Length::Full, budget).await;
        answered.map(|_| vec![true; titles.len()])
    }
}

/// A clock that is set by hand.
struct Dial(Mutex<Timestamp>);

impl Clock for Dial {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

struct Chain {
    models: FallbackModels,
    dial: Arc<Dial>,
    asked: Arc<Mutex<Vec<&'static str>>>,
}

/// Models called a, b, …, each with how it fails.
fn chain(failures: Vec<Option<Failure>>) -> Chain {
    let (asked, dial) = (Arc::default(), Arc::new(Dial(Mutex::new(Fixed.now()))));
    let models = ["a", "b", "c"].into_iter().zip(failures);
    let models = models.map(|(name, failure)| -> Box<dyn Writer> {
        Box::new(Scripted {
            name,
            failure,
            asked: Arc::clone(&asked),
        })
    });
    let models = FallbackModels::new(dial.clone(), models.collect());
    Chain {
        models,
        dial,
        asked,
    }
}

impl Chain {
    async fn ask(&self) -> (Result<String, Failure>, Vec<&'static str>) {
        let text = Text::article("A text.");
        let budget = Budget::new(9);
        let answered = self.models.summary(text, Length::Full, &budget).await;
        (answered, std::mem::take(&mut *self.asked.lock().unwrap()))
    }

    fn wait(&self, seconds: i64) {
        *self.dial.0.lock().unwrap() += SignedDuration::from_secs(seconds);
    }
}

fn fails(class: FailureClass) -> Failure {
    Failure::new(class, class.as_str())
}

fn later(seconds: i64) -> Failure {
    Failure {
        retry_after: Some(SignedDuration::from_secs(seconds)),
        ..Failure::new(FailureClass::RateLimited, "later")
    }
}

#[tokio::test]
async fn ed_44_the_next_model_answers_where_one_cannot() {
    for class in [
        FailureClass::RateLimited,
        FailureClass::Transient,
        FailureClass::Credentials,
        FailureClass::Refused,
        FailureClass::Unusable,
    ] {
        let chain = chain(vec![Some(fails(class)), None]);
        let (answered, asked) = chain.ask().await;
        assert_eq!(answered.as_deref(), Ok("b"), "{class:?}");
        assert_eq!(asked, ["a", "b"], "{class:?}");
    }
}

#[tokio::test]
async fn ed_44_no_other_model_is_asked_past_a_budget_or_a_cap() {
    for class in [FailureClass::Spent, FailureClass::Capped] {
        let chain = chain(vec![Some(fails(class)), None]);
        let (answered, asked) = chain.ask().await;
        assert_eq!(answered.unwrap_err().class, class);
        assert_eq!(asked, ["a"], "{class:?}");
    }
}

#[tokio::test]
async fn ed_44_a_model_that_is_out_rests_until_it_may_answer_again() {
    let chain = chain(vec![
        Some(later(300)),
        Some(fails(FailureClass::Transient)),
        None,
    ]);
    assert_eq!(chain.ask().await.1, ["a", "b", "c"]);
    assert_eq!(chain.ask().await.1, ["c"], "both rest");
    chain.wait(60);
    assert_eq!(
        chain.ask().await.1,
        ["b", "c"],
        "a minute, where none is said"
    );
    chain.wait(240);
    assert_eq!(chain.ask().await.1, ["a", "b", "c"], "as long as it said");
    let text_of_its_own = self::chain(vec![Some(fails(FailureClass::Refused)), None]);
    for _ in 0..2 {
        let asked = text_of_its_own.ask().await.1;
        assert_eq!(
            asked,
            ["a", "b"],
            "a text that was refused says nothing of others"
        );
    }
}

/// The last one is asked however often it fails: there is nobody else.
#[tokio::test]
async fn ed_44_where_all_fail_the_failure_says_when_to_come_again() {
    let chain = chain(vec![
        Some(fails(FailureClass::Credentials)),
        Some(later(90)),
    ]);
    for expected in [&["a", "b"][..], &["b"]] {
        let (answered, asked) = chain.ask().await;
        let failure = answered.unwrap_err();
        let may_pass = [FailureClass::RateLimited, FailureClass::Transient];
        assert!(may_pass.contains(&failure.class), "{failure:?}");
        assert!(failure.retry_after.unwrap() <= SignedDuration::from_secs(90));
        assert_eq!(asked, expected);
    }
    let refused = self::chain(vec![
        Some(fails(FailureClass::Refused)),
        Some(fails(FailureClass::Unusable)),
    ]);
    let failure = refused.ask().await.0.unwrap_err();
    assert_eq!(failure.class, FailureClass::Refused, "the first model's");
}

#[tokio::test]
async fn ed_44_a_model_that_translates_nothing_has_not_answered() {
    let titles = ["One".to_owned(), "Two".to_owned()];
    let of = async |failures| {
        let chain = chain(failures);
        chain.models.titles(&titles, &Budget::new(9)).await
    };
    let named = |name: &str| Ok(Some(vec![Some(name.to_owned()); 2]));
    let unusable = || Some(fails(FailureClass::Unusable));
    assert_eq!(of(vec![unusable(), None]).await, named("b"));
    assert_eq!(
        of(vec![unusable(), unusable()]).await,
        Ok(Some(vec![None; 2])),
        "missing, so that their stories fail each for itself"
    );
}

/// The real thing: a model that is out, and one beside it.
#[tokio::test]
async fn ed_44_a_model_that_is_out_is_stood_in_for() {
    let first = Fixture::open_with(|_, settings| settings.tries_more = 0).await;
    let second = Fixture::open().await;
    first.disturb(Kind::Summary, When::Always, Effect::Status(502));
    let writers: Vec<Box<dyn Writer>> = vec![Box::new(first.writer), Box::new(second.writer)];
    let models = FallbackModels::new(Arc::new(Fixed), writers);
    let text = Text::article("The engine is fast. It was rewritten in a year.");
    let summary = models.summary(text, Length::Full, &Budget::new(9)).await;
    assert!(!summary.unwrap().is_empty());
    assert_eq!(second.bill.requests().len(), 1);
}
