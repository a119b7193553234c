//! Ports: where web servers listen, and where something else does.
//!
//! A service that reads line by line may read commands out of a request, so ports below 1024 other
//! than 80 and 443 are not called, nor are the well-known ports above. The list holds what is
//! common in a private network and does not speak HTTP; what does speak it, such as a search
//! engine's port, is a matter of ranges.

use super::Refusal;

/// The first port that an unprivileged process may listen on.
const OPEN_FROM: u16 = 1_024;

/// Ports from 1024 on where HTTP is never spoken, in order.
const SERVICES: &[(u16, &str)] = &[
    (1_080, "SOCKS proxies"),
    (1_433, "SQL Server"),
    (1_521, "Oracle"),
    (1_719, "H.323"),
    (1_720, "H.323"),
    (1_723, "PPTP"),
    (1_883, "MQTT"),
    (2_049, "NFS"),
    (3_306, "MySQL"),
    (3_389, "Remote Desktop"),
    (3_659, "Apple SASL"),
    (4_045, "the NFS lock daemon"),
    (4_190, "ManageSieve"),
    (4_222, "NATS"),
    (4_369, "Erlang's port mapper"),
    (5_060, "SIP"),
    (5_061, "SIP"),
    (5_432, "PostgreSQL"),
    (5_672, "AMQP"),
    (5_900, "VNC"),
    (6_000, "X11"),
    (6_379, "Redis"),
    (6_566, "SANE"),
    (6_665, "IRC"),
    (6_666, "IRC"),
    (6_667, "IRC"),
    (6_668, "IRC"),
    (6_669, "IRC"),
    (6_679, "IRC"),
    (6_697, "IRC"),
    (9_042, "Cassandra"),
    (9_092, "Kafka"),
    (10_080, "Amanda"),
    (11_211, "memcached"),
    (27_017, "MongoDB"),
    (61_616, "ActiveMQ"),
];

/// Whether HTTP may be spoken to this port.
pub(super) fn check(port: u16) -> Result<(), Refusal> {
    if matches!(port, 80 | 443) {
        return Ok(());
    }
    if port < OPEN_FROM {
        return Err(Refusal::Port { port });
    }
    match SERVICES.iter().find(|(taken, _)| *taken == port) {
        Some((_, service)) => Err(Refusal::Service { port, service }),
        None => Ok(()),
    }
}
