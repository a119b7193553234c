//! The commands of the lab.

use super::Example;

pub(super) const LAB: &[Example] = &[
    (
        "demo",
        &[
            "almanack demo",
            "almanack demo --for 5m --speed 600 --keep demo",
        ],
    ),
    (
        "world",
        &["almanack world feeds --feeds 100", "almanack world github"],
    ),
    (
        "world article-service",
        &[
            "almanack world article-service",
            "almanack world article-service --almanack-url http://127.0.0.1:8080",
        ],
    ),
    (
        "world github",
        &[
            "almanack world github",
            "almanack world github --setup github.json",
        ],
    ),
    (
        "world feeds",
        &[
            "almanack world feeds --feeds 100",
            "almanack world feeds --quiet --seed 7",
        ],
    ),
    (
        "world news",
        &["almanack world news --stories-per-day 200 --latency 200ms"],
    ),
    ("world model", &["almanack world model --latency-ms 500"]),
    (
        "world telegram",
        &["almanack world telegram --messages-per-minute 20"],
    ),
    (
        "bench",
        &[
            "almanack bench tasks",
            "almanack bench sources --sources 10000",
        ],
    ),
    (
        "bench tasks",
        &["almanack bench tasks --tasks 5000 --far 100000 --json"],
    ),
    (
        "bench schedules",
        &["almanack bench schedules --count 100000 --due 500"],
    ),
    (
        "bench sources",
        &["almanack bench sources --sources 10000 --seconds 10"],
    ),
    (
        "bench readers",
        &["almanack bench readers --tasks 100000 --lists 2000"],
    ),
    (
        "bench phase",
        &[
            "almanack bench phase setup",
            "almanack bench phase enqueue --tasks 5000",
        ],
    ),
    (
        "chaos",
        &[
            "almanack chaos --minutes 5 --set node.lease=5s",
            "almanack chaos --database postgres://localhost/almanack --nodes 3",
            "almanack chaos --minutes 10 --faults none --rate 800 --picture soak.svg",
        ],
    ),
];
