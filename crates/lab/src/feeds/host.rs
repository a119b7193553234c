//! Hosts: every address under 127.0.0.0/8 is one.
//!
//! The server listens on all of them at once, so a client sees thousands of hosts that differ in
//! their address, with its own connections, limits and failures, on one machine and without DNS.

use std::net::Ipv4Addr;

/// Last octets run from 1 to 254, so that no host looks like a network or broadcast address.
const PER_OCTET: u32 = 254;
/// The address of a host: 127.1.1.1 is the first. `None` once 127.0.0.0/8 is used up.
pub fn address(host: u32) -> Option<Ipv4Addr> {
    let (rest, last) = (host / PER_OCTET, host % PER_OCTET);
    let (second, third) = (rest / PER_OCTET, rest % PER_OCTET);
    let octet = |number: u32| u8::try_from(number + 1).ok().filter(|it| *it < 255);
    Some(Ipv4Addr::new(
        127,
        octet(second)?,
        octet(third)?,
        octet(last)?,
    ))
}

/// The host of an address; none for 127.0.0.1 and its like, and none outside loopback.
pub fn host_at(address: Ipv4Addr) -> Option<u32> {
    let [127, second, third, last] = address.octets() else {
        return None;
    };
    let index = |octet: u8| u32::from(octet).checked_sub(1).filter(|it| *it < PER_OCTET);
    Some((index(second)? * PER_OCTET + index(third)?) * PER_OCTET + index(last)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_hosts_are_each_others_inverse() {
        assert_eq!(address(0), Some(Ipv4Addr::new(127, 1, 1, 1)));
        assert_eq!(address(253), Some(Ipv4Addr::new(127, 1, 1, 254)));
        assert_eq!(address(254), Some(Ipv4Addr::new(127, 1, 2, 1)));
        for host in (0..16_387_064).step_by(9973) {
            let address = address(host).unwrap();
            assert!(address.is_loopback());
            assert_eq!(host_at(address), Some(host));
        }
        assert_eq!(address(16_387_064), None, "127.0.0.0/8 is used up");
    }

    #[test]
    fn addresses_that_are_no_hosts_are_distinguished() {
        for other in ["127.0.0.1", "127.1.0.1", "127.1.1.255", "10.1.1.1"] {
            assert_eq!(host_at(other.parse().unwrap()), None, "{other}");
        }
    }
}
