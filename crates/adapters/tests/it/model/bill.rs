//! What requests cost: counted before they leave, corrected by their answers (ED-44).

use almanack_core::edition::allowance::{Money, Price};

use super::*;

fn priced(_: &mut Config, settings: &mut Settings) {
    settings.price = Some(Price {
        input: Money(1_000_000),
        output: Money(2_000_000),
    });
}

#[tokio::test]
async fn ed_44_a_request_is_counted_with_the_most_it_can_cost_and_then_with_what_it_did() {
    let fixture = Fixture::open_with(priced).await;
    let (_, spend) = fixture.titles(&titles()).await;
    let requests = fixture.bill.requests();
    let [(most, Some(actual))] = requests[..] else {
        panic!("{requests:?}");
    };
    assert_eq!(
        (actual.tokens_in, actual.tokens_out),
        (spend.tokens_in, spend.tokens_out)
    );
    assert_eq!(actual.cost, Money(spend.tokens_in + 2 * spend.tokens_out));
    assert!(actual.tokens_in > 0 && actual.tokens_in <= most.tokens_in);
    assert!(actual.tokens_out > 0 && actual.tokens_out <= most.tokens_out);
    assert!(actual.cost < most.cost);
}

#[tokio::test]
async fn ed_44_every_try_is_counted_by_whether_a_service_may_charge_for_it() {
    let limited = Effect::Limited {
        retry_after_s: None,
        as_date: false,
    };
    for (effect, is_charged, why) in [
        (Effect::Status(500), false, "it refused"),
        (limited, false, "it refused"),
        (Effect::DropReply, true, "it may have worked on it"),
        (Effect::NotJson, true, "it answered something"),
    ] {
        let fixture = Fixture::open().await;
        fixture.disturb(Kind::Titles, When::Next(1), effect);
        fixture.titles(&titles()).await;
        let requests = fixture.bill.requests();
        assert_eq!(requests.len(), 2, "{effect:?}");
        let (most, first) = requests[0];
        let expected = if is_charged { most } else { Usage::default() };
        assert_eq!(first, Some(expected), "{effect:?}: {why}");
        assert!(requests[1].1.unwrap().tokens() > 0, "the second try");
    }
}

#[tokio::test]
async fn ed_44_without_a_count_of_the_service_tokens_are_estimated() {
    let body = r#"{"choices":[{"message":{"content":"It is twelve."}}]}"#;
    let bill = Arc::new(Bill::default());
    let (writer, _) = at_a_billed_service(StatusCode::OK, body, Arc::clone(&bill)).await;
    let text = Text::article("Tides.");
    writer
        .summary(text, Length::Full, &Budget::new(1))
        .await
        .unwrap();
    let (most, actual) = bill.requests()[0];
    let actual = actual.unwrap();
    assert_eq!(actual.tokens_out, 5, "thirteen bytes");
    assert!(actual.tokens_in > 50 && 2 * actual.tokens_in < most.tokens_in);
}

#[tokio::test]
async fn ed_44_what_a_cap_refuses_is_not_sent_and_not_tried_again() {
    let bill = Bill {
        at_most: Some(1),
        ..Bill::default()
    };
    let fixture = Fixture::open_billed(bill, |_, _| {}).await;
    fixture.titles(&titles()).await;
    let budget = Budget::new(45);
    let failure = fixture.writer.titles(&titles(), &budget).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Capped);
    assert_eq!((budget.spent(), fixture.handle().total()), (0, 1));
    assert!(fixture.waits().is_empty());
}
