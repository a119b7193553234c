//! Hostile addresses, one per row, and the laws of ranges.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::*;

const KEY: &str = "outbound.allow";

fn guard(allow: &[&str]) -> Guard {
    let allow = allow.iter().map(|net| parse_net(net).unwrap());
    Guard::new(allow.collect(), KEY)
}

/// What happens to an address whose name, if it has one, leads to `resolved`.
fn verdict(guard: &Guard, text: &str, resolved: &[&str]) -> String {
    let outcome = parse(text).and_then(|url| {
        let named = || resolved.iter().map(|ip| ip.parse().unwrap()).collect();
        let ips: Vec<IpAddr> = literal(&url).map_or_else(named, |ip| vec![ip]);
        assert!(
            !ips.is_empty(),
            "{text}: a name in this table needs what it leads to"
        );
        guard.check_addresses(&ips)
    });
    match outcome {
        Ok(ips) => format!("{ips:?}"),
        Err(Refusal::Range { ip, .. }) => format!("range {ip}"),
        Err(Refusal::Unreadable) => "unreadable".to_owned(),
        Err(Refusal::Scheme) => "scheme".to_owned(),
        Err(Refusal::Userinfo) => "userinfo".to_owned(),
        Err(Refusal::LocalName { .. }) => "local name".to_owned(),
        Err(Refusal::Port { .. } | Refusal::Service { .. }) => "port".to_owned(),
    }
}

/// Addresses that name an IP in a way that hides it, or one of a range that is not public.
const LITERALS: &[(&str, &str)] = &[
    ("http://127.0.0.1/", "range 127.0.0.1"),
    ("http://127.0.0.1./", "range 127.0.0.1"),
    ("http://127.1/", "range 127.0.0.1"),
    ("http://127.0.1/", "range 127.0.0.1"),
    ("http://2130706433/", "range 127.0.0.1"),
    ("http://0x7f000001/", "range 127.0.0.1"),
    ("http://0x7f.1/", "range 127.0.0.1"),
    ("http://0X7F.0.0.0x1/", "range 127.0.0.1"),
    ("http://0177.0.0.1/", "range 127.0.0.1"),
    ("http://017700000001/", "range 127.0.0.1"),
    ("http://00000177.1/", "range 127.0.0.1"),
    ("http://127.255.255.254/", "range 127.255.255.254"),
    ("http://0/", "range 0.0.0.0"),
    ("http://0.0.0.0:8080/", "range 0.0.0.0"),
    ("http://%31%32%37.0.0.1/", "range 127.0.0.1"),
    ("http://１２７.０.０.１/", "range 127.0.0.1"),
    ("http://①②⑦.⓪.⓪.①/", "range 127.0.0.1"),
    ("http://127。0。0。1/", "range 127.0.0.1"),
    ("http:127.0.0.1/", "range 127.0.0.1"),
    ("http:///127.0.0.1/", "range 127.0.0.1"),
    ("http:\\\\127.0.0.1\\x", "range 127.0.0.1"),
    (" http://127.0.0.1/ ", "range 127.0.0.1"),
    ("ht\ttp://127.0\n.0.1/", "range 127.0.0.1"),
    ("HTTP://127.0.0.1/", "range 127.0.0.1"),
    ("http://127.0.0.1#@news.example.org/", "range 127.0.0.1"),
    ("http://127.0.0.1\\@news.example.org/", "range 127.0.0.1"),
    ("http://127.0.0.1?@news.example.org/", "range 127.0.0.1"),
    ("http://10.1.2.3/", "range 10.1.2.3"),
    ("http://012.1.2.3/", "range 10.1.2.3"),
    ("http://172.16.0.1/", "range 172.16.0.1"),
    ("http://172.31.255.255/", "range 172.31.255.255"),
    ("http://192.168.1.1/", "range 192.168.1.1"),
    (
        "http://169.254.169.254/latest/meta-data/",
        "range 169.254.169.254",
    ),
    ("http://0xa9fea9fe/", "range 169.254.169.254"),
    ("http://2852039166/", "range 169.254.169.254"),
    ("http://100.100.100.200/", "range 100.100.100.200"),
    ("http://168.63.129.16/", "range 168.63.129.16"),
    ("http://192.0.0.192/", "range 192.0.0.192"),
    ("http://192.0.2.1/", "range 192.0.2.1"),
    ("http://198.18.0.1/", "range 198.18.0.1"),
    ("http://198.19.255.255/", "range 198.19.255.255"),
    ("http://198.51.100.7/", "range 198.51.100.7"),
    ("http://203.0.113.7/", "range 203.0.113.7"),
    ("http://224.0.0.251/", "range 224.0.0.251"),
    ("http://240.0.0.1/", "range 240.0.0.1"),
    ("http://255.255.255.255/", "range 255.255.255.255"),
    ("http://4294967295/", "range 255.255.255.255"),
    ("http://[::]/", "range ::"),
    ("http://[::1]/", "range ::1"),
    ("http://[0:0:0:0:0:0:0:1]/", "range ::1"),
    ("http://[::ffff:127.0.0.1]/", "range 127.0.0.1"),
    ("http://[::ffff:7f00:1]/", "range 127.0.0.1"),
    ("http://[::ffff:a9fe:a9fe]/", "range 169.254.169.254"),
    ("http://[0:0:0:0:0:ffff:10.0.0.1]/", "range 10.0.0.1"),
    ("http://[::127.0.0.1]/", "range ::7f00:1"),
    ("http://[::ffff:0:127.0.0.1]/", "range ::ffff:0:7f00:1"),
    ("http://[64:ff9b::7f00:1]/", "range 64:ff9b::7f00:1"),
    ("http://[64:ff9b:1::a00:1]/", "range 64:ff9b:1::a00:1"),
    ("http://[2002:7f00:1::]/", "range 2002:7f00:1::"),
    ("http://[2001:0:7f00:1::]/", "range 2001:0:7f00:1::"),
    ("http://[100::1]/", "range 100::1"),
    ("http://[2001:db8::1]/", "range 2001:db8::1"),
    ("http://[3fff::1]/", "range 3fff::1"),
    ("http://[fc00::1]/", "range fc00::1"),
    ("http://[fd00:ec2::254]/", "range fd00:ec2::254"),
    ("http://[fe80::1]/", "range fe80::1"),
    ("http://[fec0::1]/", "range fec0::1"),
    ("http://[ff02::1]/", "range ff02::1"),
    ("http://[5f00::1]/", "range 5f00::1"),
    ("http://[4000::1]/", "range 4000::1"),
];

#[test]
fn ss_14_an_ip_is_found_however_it_is_written() {
    let guard = guard(&[]);
    for (text, expected) in LITERALS {
        assert_eq!(verdict(&guard, text, &[]), *expected, "{text:?}");
    }
}

#[test]
fn ss_14_what_is_not_plainly_of_the_web_is_refused() {
    let guard = guard(&[]);
    for (text, expected) in [
        ("", "unreadable"),
        ("news.example.org/feed", "unreadable"),
        ("//127.0.0.1/", "unreadable"),
        ("http://", "unreadable"),
        ("http://[fe80::1%25eth0]/", "unreadable"),
        ("http://[fe80::1%eth0]/", "unreadable"),
        ("http://[::1", "unreadable"),
        ("http://256.0.0.1/", "unreadable"),
        ("http://127.0.0.1.0x/", "unreadable"),
        ("http://1.2.3.4.5/", "unreadable"),
        ("http://a b/", "unreadable"),
        ("http://news.example.org:65536/", "unreadable"),
        ("http://news.example.org%00.example.net/", "unreadable"),
        ("http://news.example.org%2f@127.0.0.1/", "userinfo"),
        ("http://news.example.org@127.0.0.1/", "userinfo"),
        ("http://a:b@127.0.0.1/", "userinfo"),
        ("http://:b@news.example.org/", "userinfo"),
        ("http://token@news.example.org/", "userinfo"),
        ("file:///etc/passwd", "scheme"),
        ("ftp://news.example.org/", "scheme"),
        ("gopher://127.0.0.1:6379/_x", "scheme"),
        ("dict://127.0.0.1:11211/stats", "scheme"),
        ("ldap://127.0.0.1/", "scheme"),
        ("data:text/xml,<rss/>", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("jar:http://127.0.0.1!/", "scheme"),
        ("unix:/var/run/docker.sock", "scheme"),
        ("ws://127.0.0.1/", "scheme"),
        ("http://news.example.org:0/", "port"),
        ("http://news.example.org:22/", "port"),
        ("http://news.example.org:25/", "port"),
        ("https://news.example.org:993/", "port"),
        ("http://news.example.org:6379/", "port"),
        ("http://news.example.org:11211/", "port"),
        ("http://127.0.0.1:5432/", "port"),
    ] {
        assert_eq!(verdict(&guard, text, &[]), expected, "{text:?}");
    }
}

#[test]
fn ss_14_a_name_is_judged_by_where_it_leads() {
    let guard = guard(&[]);
    for (text, resolved, expected) in [
        ("http://localhost/", &["127.0.0.1"][..], "range 127.0.0.1"),
        ("http://localhost./", &["::1", "127.0.0.1"], "range ::1"),
        ("http://LOCALHOST:8080/", &["::1"], "range ::1"),
        ("http://a.localhost/", &["127.0.0.1"], "range 127.0.0.1"),
        (
            "http://metadata.google.internal/",
            &["169.254.169.254"],
            "range 169.254.169.254",
        ),
        (
            "http://127.0.0.1.nip.io/",
            &["127.0.0.1"],
            "range 127.0.0.1",
        ),
        ("http://ⓛocalhost/", &["127.0.0.1"], "range 127.0.0.1"),
        ("http://nеws.example.org/", &["10.0.0.1"], "range 10.0.0.1"),
        (
            "http://mapped.example.org/",
            &["::ffff:10.0.0.1"],
            "range 10.0.0.1",
        ),
        ("http://intranet/", &["192.168.0.9"], "range 192.168.0.9"),
        // Both ways: only what is public is connected to.
        (
            "http://both.example.org/",
            &["10.0.0.1", "93.184.215.14"],
            "[93.184.215.14]",
        ),
        (
            "https://news.example.org/",
            &["93.184.215.14"],
            "[93.184.215.14]",
        ),
        (
            "https://six.example.org/",
            &["2606:4700::1111"],
            "[2606:4700::1111]",
        ),
        (
            "http://news.example.org:8080/",
            &["93.184.215.14"],
            "[93.184.215.14]",
        ),
    ] {
        assert_eq!(verdict(&guard, text, resolved), expected, "{text:?}");
    }
}

#[test]
fn ss_14_what_is_allowed_is_allowed_and_nothing_beside_it() {
    let guard = guard(&["10.0.0.0/8", "192.168.1.7", "fd00::/8"]);
    for (text, expected) in [
        ("http://10.9.8.7/", "[10.9.8.7]"),
        ("http://[::ffff:10.9.8.7]/", "[::ffff:10.9.8.7]"),
        ("http://192.168.1.7/", "[192.168.1.7]"),
        ("http://[fd12::1]/", "[fd12::1]"),
        ("http://192.168.1.8/", "range 192.168.1.8"),
        ("http://127.0.0.1/", "range 127.0.0.1"),
        ("http://[fc12::1]/", "range fc12::1"),
        ("http://10.9.8.7:22/", "port"),
        ("ftp://10.9.8.7/", "scheme"),
        ("http://a@10.9.8.7/", "userinfo"),
    ] {
        assert_eq!(verdict(&guard, text, &[]), expected, "{text:?}");
    }
    for wrong in ["", "10.0.0.0/33", "example.org", "10.0.0/8", "::/129"] {
        assert_eq!(parse_net(wrong), None, "{wrong}");
    }
}

#[test]
fn ss_14_a_refusal_says_what_to_do_and_no_more_of_the_address_than_it_must() {
    let guard = guard(&[]);
    let ip = literal(&parse("http://[::ffff:10.0.0.7]/a?token=s3cr3t").unwrap()).unwrap();
    insta::assert_snapshot!(
        guard.check_address(ip).unwrap_err(),
        @r#"10.0.0.7 is a private network address, and only public addresses are called; if it is yours to be called, add it to `outbound.allow`, like ["10.0.0.7/32"]"#
    );
    for text in [
        "http://user:s3cr3t@news.example.org/",
        "ftp://news.example.org/?s3cr3t",
        "http://news.example.org:22/s3cr3t",
        "http://news.example.org:6379/?s3cr3t",
        "http://[s3cr3t/",
    ] {
        let message = parse(text).unwrap_err().to_string();
        assert!(!message.contains("s3cr3t"), "{message}");
    }
}

#[test]
fn ss_14_an_origin_is_scheme_host_and_port() {
    let origin = |text: &str| Origin::of(&Url::parse(text).unwrap()).unwrap();
    assert_eq!(origin("http://NAS:80/a"), origin("http://nas/b?c"));
    assert_eq!(origin("http://0x7f.1:9/"), origin("http://127.0.0.1:9/"));
    for other in ["https://nas/", "http://nas:8080/", "http://nas.lan/"] {
        assert_ne!(origin("http://nas/"), origin(other), "{other}");
    }
}

proptest! {
    /// The standard library knows some of these ranges too; where it does, it must agree.
    #[test]
    fn ss_14_no_private_v4_address_is_public_in_any_of_its_forms(bits: u32) {
        let ip = Ipv4Addr::from_bits(bits);
        let known = ip.is_private() || ip.is_loopback() || ip.is_link_local() || ip.is_multicast()
            || ip.is_unspecified() || ip.is_documentation() || ip.is_broadcast();
        let refused = guard(&[]).check_address(ip.into()).is_err();
        prop_assert!(refused || !known, "{ip}");
        let mapped = guard(&[]).check_address(ip.to_ipv6_mapped().into()).is_err();
        prop_assert_eq!(mapped, refused, "mapped {}", ip);
        for written in [format!("{bits}"), format!("{bits:#x}"), format!("0{bits:o}")] {
            let url = Url::parse(&format!("http://{written}/")).unwrap();
            prop_assert_eq!(literal(&url), Some(IpAddr::from(ip)), "{}", written);
        }
    }

    #[test]
    fn ss_14_only_global_unicast_is_public_in_v6(bits: u128) {
        let ip = Ipv6Addr::from_bits(bits);
        if ip.to_ipv4_mapped().is_none() && guard(&[]).check_address(ip.into()).is_ok() {
            prop_assert_eq!(ip.segments()[0] >> 13, 1, "{}", ip);
        }
    }

    #[test]
    fn ss_14_no_text_makes_it_panic(text in ".{0,60}") {
        if let Ok(url) = parse(&text) {
            literal(&url).map(|ip| guard(&[]).check_address(ip));
        }
    }
}

/// What is put today and refused when it is called, months later, is refused today.
#[test]
fn rs_11_what_may_never_be_called_is_known_when_it_is_put() {
    let own = Url::parse("http://10.0.0.7:8080/hooks").unwrap();
    let guard = Guard::new(vec![parse_net("10.1.0.0/16").unwrap()], "outbound.allow");
    let reach = Reach::new(guard, Origin::of(&own).into_iter().collect());
    for refused in [
        "http://10.0.0.1/",
        "http://127.0.0.1:8081/x",
        "http://0x7f.1/",
        "http://localhost/",
        "http://LOCALHOST:9000/",
        "http://a.localhost./",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://169.254.169.254/latest",
        "http://10.0.0.7:9090/hooks",
        "https://a.example:22/",
        "ftp://a.example/",
        "http://user@a.example/",
    ] {
        assert!(reach.check(refused).is_err(), "{refused}");
    }
    for called in [
        "https://a.example/p?q=1",
        "http://93.184.215.14/",
        "http://10.1.2.3/",
        "http://10.0.0.7:8080/other",
        "http://localhost.example/",
    ] {
        assert_eq!(reach.check(called), Ok(()), "{called}");
    }
}

#[test]
fn ss_14_an_untrusted_link_is_passed_on_if_it_is_public() {
    for (text, passed, with_networks) in [
        ("https://news.example.org/a?b=c", true, true),
        ("http://news.example.org:81/", true, true),
        ("http://169.254.169.254/latest/meta-data/", false, false),
        ("http://0xa9fea9fe/", false, false),
        ("http://[::ffff:10.1.2.3]/", false, true),
        ("http://10.1.2.3/wiki", false, true),
        ("http://localhost:8080/", false, true),
        ("http://metadata.google.internal/", false, true),
        ("http://printer.local./", false, true),
        ("http://wiki/", false, true),
        ("javascript:alert(1)", false, false),
        ("data:text/html,x", false, false),
        ("file:///etc/passwd", false, false),
        ("https://user:secret@news.example.org/", false, false),
        ("not an address", false, false),
    ] {
        let judged = |allow: &[&str]| guard(allow).check_link(text).is_ok();
        assert_eq!(judged(&[]), passed, "{text}");
        assert_eq!(judged(&["10.0.0.0/8"]), with_networks, "{text}");
    }
}
