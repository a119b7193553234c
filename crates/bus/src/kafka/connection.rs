//! How a cluster is reached, as settings of the client.

use rdkafka::{
    ClientConfig,
    error::{KafkaError, KafkaResult, RDKafkaErrorCode},
};

use super::settings::{Connection, Mechanism};
use crate::{Error, Tls};

impl Mechanism {
    fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::ScramSha256 => "SCRAM-SHA-256",
            Self::ScramSha512 => "SCRAM-SHA-512",
        }
    }
}

impl Connection {
    /// The settings of every client.
    pub(crate) fn client(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", self.brokers.join(","));
        config.set("client.id", "almanack");
        // A broker that is away is asked again soon enough, and not so often that the log fills. A
        // client that waits for a broker tries again after half the first of these, however long it
        // has been refused: with its own 100 ms, twenty times a second.
        config.set("reconnect.backoff.ms", "1000");
        config.set("reconnect.backoff.max.ms", "15000");
        // Covered by our own warning; each broken connection need not repeat it.
        config.set("log.connection.close", "false");
        let protocol = match (&self.tls, &self.sasl) {
            (None, None) => "plaintext",
            (Some(_), None) => "ssl",
            (None, Some(_)) => "sasl_plaintext",
            (Some(_), Some(_)) => "sasl_ssl",
        };
        config.set("security.protocol", protocol);
        if let Some(tls) = &self.tls {
            encrypt(&mut config, tls);
        }
        if let Some(sasl) = &self.sasl {
            config.set("sasl.mechanisms", sasl.mechanism.as_str());
            config.set("sasl.username", &sasl.username);
            config.set("sasl.password", sasl.password.expose());
        }
        config
    }

    /// The settings of a client that writes: a message counts as written when every replica in sync
    /// has it, once, and in order.
    pub(crate) fn producer(&self) -> ClientConfig {
        let mut config = self.client();
        config.set("acks", "all");
        config.set("enable.idempotence", "true");
        let within = self.confirm_within.as_millis();
        config.set("message.timeout.ms", within.to_string());
        // The broker decides how large is too large.
        config.set("message.max.bytes", "1000000000");
        config
    }
}

fn encrypt(config: &mut ClientConfig, tls: &Tls) {
    // The client's own OpenSSL was built elsewhere and knows nothing of where this machine keeps
    // its certificates.
    let ca = tls.ca.as_ref().map(|ca| ca.display().to_string());
    config.set("ssl.ca.location", ca.unwrap_or_else(|| "probe".to_owned()));
    if let Some((certificate, key)) = &tls.identity {
        config.set(
            "ssl.certificate.location",
            certificate.display().to_string(),
        );
        config.set("ssl.key.location", key.display().to_string());
    }
}

/// The client, or what is wrong with its settings.
pub(crate) fn created<T>(result: KafkaResult<T>) -> Result<T, Error> {
    result.map_err(|error| Error::Settings {
        bus: "Kafka",
        what: describe(&error),
    })
}

/// A peer that speaks another protocol, or hangs up, looks to the client like no peer.
const UNREACHABLE: &str = "no broker answers, or not as expected: in [events.kafka], check brokers, tls, and tls_certificate and tls_key if the brokers require a certificate";
const NOT_RECOGNISED: &str =
    "a broker refuses the login: check sasl, username and password in [events.kafka]";
const NOT_TRUSTED: &str = "no encrypted connection: in [events.kafka], check that tls_ca signed the brokers' certificates, that brokers has the names in their certificates, and tls_certificate and tls_key if the brokers require a certificate";

/// An error as text. The library's own text repeats the value of a setting, which may be the
/// password.
pub(crate) fn describe(error: &KafkaError) -> String {
    match error {
        KafkaError::ClientConfig(_, _, key, _) => format!("`{key}` has a value it does not accept"),
        other => trouble(other).map_or_else(|| other.to_string(), Trouble::describe),
    }
}

/// Logs what failed without harm: it is done again, or comes again.
pub(crate) fn log_harmless(result: KafkaResult<()>, what: &str) {
    if let Err(error) = result {
        tracing::debug!(events.bus = "kafka", error = describe(&error), "{what}");
    }
}

/// Why there is no usable connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// No broker can be talked to.
    Unreachable,
    /// Brokers answer, but refuse; their own reason is in the client's log line shortly before.
    Refused(&'static str),
}

impl Trouble {
    /// What to check.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Unreachable => UNREACHABLE.to_owned(),
            Self::Refused(why) => why.to_owned(),
        }
    }
}

/// The client has several codes for one trouble and gives them in turn.
pub(crate) fn trouble(error: &KafkaError) -> Option<Trouble> {
    match error.rdkafka_error_code()? {
        RDKafkaErrorCode::AllBrokersDown
        | RDKafkaErrorCode::BrokerTransportFailure
        | RDKafkaErrorCode::Resolve => Some(Trouble::Unreachable),
        RDKafkaErrorCode::Authentication
        | RDKafkaErrorCode::SaslAuthenticationFailed
        | RDKafkaErrorCode::UnsupportedSASLMechanism
        | RDKafkaErrorCode::IllegalSASLState => Some(Trouble::Refused(NOT_RECOGNISED)),
        RDKafkaErrorCode::SSL => Some(Trouble::Refused(NOT_TRUSTED)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use almanack_core::secret::Secret;
    use rdkafka::consumer::BaseConsumer;

    use super::*;
    use crate::kafka::{CONFIRM_WITHIN, Sasl};

    fn connection(password: &str) -> Connection {
        Connection {
            brokers: vec!["a:9092".to_owned(), "b:9092".to_owned()],
            tls: Some(Tls::default()),
            sasl: Some(Sasl {
                mechanism: Mechanism::ScramSha512,
                username: "almanack".to_owned(),
                password: Secret::new(password),
            }),
            confirm_within: CONFIRM_WITHIN,
        }
    }

    #[test]
    fn the_client_gets_its_addresses_and_credentials() {
        let plain = Connection {
            tls: None,
            sasl: None,
            ..connection("")
        };
        let protocol = |connection: &Connection| {
            let config = connection.client();
            config.get("security.protocol").map(str::to_owned)
        };
        assert_eq!(protocol(&plain).as_deref(), Some("plaintext"));
        let whole = connection("hunter2");
        assert_eq!(protocol(&whole).as_deref(), Some("sasl_ssl"));
        let config = whole.client();
        assert_eq!(config.get("bootstrap.servers"), Some("a:9092,b:9092"));
        assert_eq!(config.get("sasl.mechanisms"), Some("SCRAM-SHA-512"));
        let created: KafkaResult<BaseConsumer> = config.create();
        assert!(
            created.is_ok(),
            "the client accepts it: {:?}",
            created.err()
        );
    }

    #[test]
    fn without_configured_certificates_the_machine_s_are_used() {
        let mut connection = connection("hunter2");
        let trusted = |connection: &Connection| {
            let config = connection.client();
            config.get("ssl.ca.location").map(str::to_owned)
        };
        assert_eq!(trusted(&connection).as_deref(), Some("probe"));
        let ca = Some("/etc/kafka/ca.pem".into());
        connection.tls = Some(Tls { ca, identity: None });
        assert_eq!(trusted(&connection).as_deref(), Some("/etc/kafka/ca.pem"));
        connection.tls = None;
        assert_eq!(trusted(&connection), None);
    }

    #[test]
    fn no_password_is_in_an_error() {
        let connection = connection("hunter2");
        assert!(!format!("{connection:?} {:?}", connection.client()).contains("hunter2"));
        let mut config = connection.client();
        config.set("sasl.pasword", "hunter2");
        let created: KafkaResult<BaseConsumer> = config.create();
        let text = super::created(created).err().map(|error| error.to_string());
        let text = text.expect("there is no such setting");
        assert_eq!(
            text,
            "Kafka client: `sasl.pasword` has a value it does not accept"
        );
    }
}
