use super::*;

fn failed(kind: ConnectErrorKind) -> Event {
    Event::ClientError(ClientError::Other(kind.to_string()))
}

/// A server that was tried, and what became of that.
fn tried(error: &ConnectError) -> Server {
    Server {
        addr: "nats://127.0.0.1:9".parse().unwrap(),
        failed_attempts: 1,
        did_connect: true,
        is_discovered: false,
        last_error: Some(error.to_string()),
    }
}

/// Errors of tries, what they are about, and what is shown of the reason.
fn errors() -> Vec<(ConnectError, &'static str, &'static str)> {
    let handshake = |error| ConnectError::from(io::Error::new(io::ErrorKind::InvalidData, error));
    let certificate = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
    let alert = rustls::Error::AlertReceived(rustls::AlertDescription::CertificateRequired);
    let no_tls = rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType);
    let missing = io::Error::from(io::ErrorKind::NotFound);
    let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
    vec![
        (handshake(certificate), NOT_TRUSTED, "(invalid peer"),
        (handshake(alert), NOT_TRUSTED, "CertificateRequired"),
        (handshake(no_tls), NOT_TRUSTED, "InvalidContentType"),
        (ConnectError::from(refused), UNREACHABLE, "(connection ref"),
        (
            ConnectError::with_source(ConnectErrorKind::Tls, missing),
            NO_FILES,
            "not found",
        ),
        (
            ConnectError::new(ConnectErrorKind::AuthorizationViolation),
            NOT_RECOGNISED,
            "",
        ),
        (
            ConnectError::new(ConnectErrorKind::TimedOut),
            UNREACHABLE,
            "",
        ),
    ]
}

#[test]
fn a_try_that_failed_says_what_to_look_at() {
    for (error, expected, reason) in errors() {
        let error_text = error_text(&error);
        assert!(error_text.starts_with(expected), "{error_text}");
        assert!(error_text.contains(reason), "{error_text}");
    }
}

#[test]
fn a_client_that_lost_its_server_says_the_same() {
    for (error, expected, _) in errors() {
        let line = Line::default();
        line.hear(&Event::Disconnected);
        line.look_back(&[]);
        line.hear(&failed(error.kind()));
        assert!(line.trouble().is_some(), "as much as is known at once");
        line.look_back(&[tried(&error)]);
        let trouble = line.trouble().unwrap();
        assert!(trouble.starts_with(expected), "{trouble}");
        assert_eq!(trouble, error_text(&error));
    }
}

#[test]
fn a_client_that_lost_its_server_keeps_why() {
    let line = Line::default();
    line.hear(&Event::Disconnected);
    assert_eq!(line.trouble(), None);
    line.hear(&failed(ConnectErrorKind::Dns));
    assert_eq!(line.trouble().as_deref(), Some(UNREACHABLE));
    line.hear(&Event::LameDuckMode);
    assert_eq!(
        line.trouble().as_deref(),
        Some(UNREACHABLE),
        "that is another matter"
    );
    line.hear(&Event::ServerError(ServerError::AuthorizationViolation));
    assert_eq!(line.trouble().as_deref(), Some(NOT_RECOGNISED));
    line.hear(&Event::Connected);
    assert_eq!(line.trouble(), None);
}

#[test]
fn what_failed_before_the_connection_was_lost_is_over() {
    let line = Line::default();
    let other = tried(&ConnectError::new(ConnectErrorKind::TimedOut));
    line.look_back(std::slice::from_ref(&other));
    assert_eq!(line.trouble(), None, "it was another server of the cluster");
    line.look_back(&[other]);
    assert!(line.trouble().is_some(), "it was tried again");
}

#[test]
fn each_complaint_is_new_once() {
    let logged = LoggedOnce::default();
    assert!(!logged.forget());
    assert_eq!(
        [logged.is_new("a"), logged.is_new("b"), logged.is_new("a")],
        [true, true, false]
    );
    assert!(logged.forget());
    assert!(logged.is_new("a"));
}
