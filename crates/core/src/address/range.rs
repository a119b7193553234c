//! Ranges: which addresses are not public, and what to call them.
//!
//! From the special-purpose registries of IANA. IPv6 is closed by default: public addresses are
//! those of `2000::/3` that are not named here, so a range that is assigned one day is refused
//! until this list names it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range by its first address and the length of its prefix.
type Range<T> = (T, u32, Words);
/// What such an address is called, in both languages.
pub(super) type Words = (&'static str, &'static str);

const PRIVATE: Words = ("a private network address", "内网地址");
const LOOPBACK: Words = ("a loopback address", "环回地址");
const LINK_LOCAL: Words = ("a link-local address", "链路本地地址");
const DOCUMENTATION: Words = ("a documentation address", "文档示例地址");
const BENCHMARK: Words = ("a benchmarking address", "基准测试地址");
const MULTICAST: Words = ("a multicast address", "组播地址");
const RESERVED: Words = ("a reserved address", "保留地址");
const UNSPECIFIED: Words = ("the unspecified address", "未指定地址");
const PROTOCOL: Words = ("a special-purpose address", "特殊用途地址");
const TRANSLATED: Words = (
    "an address with an embedded IPv4 address",
    "内嵌 IPv4 的地址",
);

const V4: &[Range<Ipv4Addr>] = &[
    (Ipv4Addr::UNSPECIFIED, 8, UNSPECIFIED),
    (Ipv4Addr::new(10, 0, 0, 0), 8, PRIVATE),
    (
        Ipv4Addr::new(100, 64, 0, 0),
        10,
        ("a carrier-grade NAT address", "运营商级 NAT 地址"),
    ),
    (Ipv4Addr::new(127, 0, 0, 0), 8, LOOPBACK),
    // A public address by the registry, but inside one large cloud it is the host's own control
    // service.
    (
        Ipv4Addr::new(168, 63, 129, 16),
        32,
        ("a cloud's own service", "云平台自身的服务"),
    ),
    (Ipv4Addr::new(169, 254, 0, 0), 16, LINK_LOCAL),
    (Ipv4Addr::new(172, 16, 0, 0), 12, PRIVATE),
    (Ipv4Addr::new(192, 0, 0, 0), 24, PROTOCOL),
    (Ipv4Addr::new(192, 0, 2, 0), 24, DOCUMENTATION),
    (Ipv4Addr::new(192, 88, 99, 0), 24, RESERVED),
    (Ipv4Addr::new(192, 168, 0, 0), 16, PRIVATE),
    (Ipv4Addr::new(198, 18, 0, 0), 15, BENCHMARK),
    (Ipv4Addr::new(198, 51, 100, 0), 24, DOCUMENTATION),
    (Ipv4Addr::new(203, 0, 113, 0), 24, DOCUMENTATION),
    (Ipv4Addr::new(224, 0, 0, 0), 4, MULTICAST),
    (Ipv4Addr::new(240, 0, 0, 0), 4, RESERVED),
];

const V6: &[Range<Ipv6Addr>] = &[
    (Ipv6Addr::UNSPECIFIED, 128, UNSPECIFIED),
    (Ipv6Addr::LOCALHOST, 128, LOOPBACK),
    (v6(0, 0), 96, TRANSLATED),
    (v6(0x64, 0xff9b), 96, TRANSLATED),
    (
        Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0),
        48,
        TRANSLATED,
    ),
    (v6(0x100, 0), 64, ("a discard-only address", "仅丢弃地址")),
    (v6(0x2001, 0), 32, TRANSLATED),
    (v6(0x2001, 0), 23, PROTOCOL),
    (v6(0x2001, 0xdb8), 32, DOCUMENTATION),
    (v6(0x2002, 0), 16, TRANSLATED),
    (v6(0x3fff, 0), 20, DOCUMENTATION),
    (v6(0xfc00, 0), 7, PRIVATE),
    (v6(0xfe80, 0), 10, LINK_LOCAL),
    (v6(0xfec0, 0), 10, PRIVATE),
    (v6(0xff00, 0), 8, MULTICAST),
];

/// The part of IPv6 that public addresses are taken from.
const V6_PUBLIC: Range<Ipv6Addr> = (v6(0x2000, 0), 3, ("", ""));

const fn v6(first: u16, second: u16) -> Ipv6Addr {
    Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0)
}

/// What a special address is; `None` for a public one. Expects the canonical form.
pub(super) fn special(ip: IpAddr) -> Option<Words> {
    match ip {
        IpAddr::V4(ip) => V4
            .iter()
            .find(|range| in_v4(range, ip))
            .map(|(.., what)| *what),
        IpAddr::V6(ip) => {
            let named = V6
                .iter()
                .find(|range| in_v6(range, ip))
                .map(|(.., what)| *what);
            named.or_else(|| (!in_v6(&V6_PUBLIC, ip)).then_some(RESERVED))
        }
    }
}

fn in_v4((first, length, _): &Range<Ipv4Addr>, ip: Ipv4Addr) -> bool {
    (first.to_bits() ^ ip.to_bits()).leading_zeros() >= *length
}

fn in_v6((first, length, _): &Range<Ipv6Addr>, ip: Ipv6Addr) -> bool {
    (first.to_bits() ^ ip.to_bits()).leading_zeros() >= *length
}
