use super::*;

/// The key, message and signature published with the Standard Webhooks reference libraries.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const AT: i64 = 1_614_265_330;
const BODY: &[u8] = br#"{"test": 2432232314}"#;
const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

fn check(signatures: &str, timestamp: i64, body: &[u8], now: i64) -> Result<(), Error> {
    let secret = Secret::parse(SECRET).unwrap();
    let now = Timestamp::from_second(now).unwrap();
    secret.verify(
        Signed {
            id: ID,
            timestamp,
            signatures,
        },
        body,
        now,
    )
}

#[test]
fn the_published_example_is_signed_and_trusted() {
    assert_eq!(Secret::parse(SECRET).unwrap().sign(ID, AT, BODY), SIGNATURE);
    assert_eq!(check(SIGNATURE, AT, BODY, AT), Ok(()));
}

#[test]
fn one_good_signature_among_several_is_enough() {
    let several = format!("v1,AAAA v2,whatever {SIGNATURE}");
    assert_eq!(check(&several, AT, BODY, AT), Ok(()));
}

#[test]
fn whatever_was_changed_on_the_way_is_refused() {
    assert_eq!(check(SIGNATURE, AT, b"{}", AT), Err(Error::Signature));
    assert_eq!(check(SIGNATURE, AT + 1, BODY, AT), Err(Error::Signature));
    assert_eq!(check("", AT, BODY, AT), Err(Error::Signature));
    assert_eq!(check("v1,", AT, BODY, AT), Err(Error::Signature));
    assert_eq!(
        check(&SIGNATURE.replace("v1", "v2"), AT, BODY, AT),
        Err(Error::Signature)
    );
}

#[test]
fn a_timestamp_may_be_five_minutes_off_and_no_more() {
    assert_eq!(check(SIGNATURE, AT, BODY, AT + 300), Ok(()));
    assert_eq!(check(SIGNATURE, AT, BODY, AT - 300), Ok(()));
    assert_eq!(check(SIGNATURE, AT, BODY, AT + 301), Err(Error::Timestamp));
    assert_eq!(check(SIGNATURE, AT, BODY, AT - 301), Err(Error::Timestamp));
    assert_eq!(check(SIGNATURE, i64::MIN, BODY, AT), Err(Error::Timestamp));
}

#[test]
fn a_secret_of_another_shape_is_refused_and_a_good_one_is_not_printed() {
    for text in ["", "MfKQ9r8G", "whsec_", "whsec_***"] {
        assert_eq!(Secret::parse(text).unwrap_err(), Error::Secret, "{text:?}");
    }
    assert_eq!(format!("{:?}", Secret::parse(SECRET).unwrap()), "Secret(…)");
}
