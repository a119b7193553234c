//! A call is accepted only with a recent signature of its exact bytes by the shared secret.

use almanack_lab::webhook::Secret;
use serde_json::Value;

use crate::support::{Almanack, World, answer, call_body};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

struct Signing<'a> {
    secret: &'a str,
    seconds_off: i64,
    body_signed: &'a str,
    body_sent: &'a str,
}

async fn call(world: &World, signing: Signing<'_>) -> (u16, Value) {
    let at = world.clock.after(signing.seconds_off).as_second();
    let secret = Secret::parse(signing.secret).unwrap();
    let signature = secret.sign("almanack-task-10-1", at, signing.body_signed.as_bytes());
    let request = world
        .request("/callbacks/audit")
        .header("content-type", "application/json")
        .header("idempotency-key", "almanack-task-10")
        .header("webhook-id", "almanack-task-10-1")
        .header("webhook-timestamp", at)
        .header("webhook-signature", format!("v1,AAAA {signature}"))
        .body(signing.body_sent.to_owned());
    answer(request).await
}

#[tokio::test]
async fn rs_12_a_call_that_cannot_be_trusted_is_answered_401_and_has_no_effect() {
    let almanack = Almanack::start([]).await;
    let signed = |config: &mut almanack_lab::article::Config| {
        config.webhook_secret = Some(SECRET.to_owned());
    };
    let world = World::start_with(&almanack.url, signed).await;
    let id = world.write().await;
    let body = call_body("audit", id, 1).to_string();
    let changed = body.replace("\"attempt\":1", "\"attempt\":2");
    let good = || Signing {
        secret: SECRET,
        seconds_off: 0,
        body_signed: &body,
        body_sent: &body,
    };

    for (why, signing) in [
        (
            "another secret",
            Signing {
                secret: OTHER,
                ..good()
            },
        ),
        (
            "body changed on the way",
            Signing {
                body_sent: &changed,
                ..good()
            },
        ),
        (
            "too old",
            Signing {
                seconds_off: -301,
                ..good()
            },
        ),
        (
            "from the future",
            Signing {
                seconds_off: 301,
                ..good()
            },
        ),
    ] {
        let (status, refused) = call(&world, signing).await;
        assert_eq!(
            (status, refused["code"].as_str()),
            (401, Some("untrusted")),
            "{why}"
        );
    }
    let (status, _) = world.call("audit", id, 1).await;
    assert_eq!(status, 401, "unsigned");
    assert_eq!(world.article(id).await["state"], "PENDING_AUDIT");

    let (status, answer) = call(&world, good()).await;
    assert_eq!(
        (status, answer["result"].as_str()),
        (200, Some("audit_success"))
    );
}
