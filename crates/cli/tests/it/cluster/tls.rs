//! TLS to PostgreSQL, with an authority made for the test.

use std::{path::Path, process::Command};

use almanack_testkit::{
    authority::{Authority, Identity},
    postgres::run,
};

use crate::{
    failures::postgres::Cluster,
    harness::{Home, Ran},
};

async fn offer_tls(cluster: &Cluster, server: &Identity) {
    let data = cluster.data();
    let files: [(&Path, &str, &str); 2] = [
        (&server.key, "server.key", "600"),
        (&server.certificate, "server.crt", "644"),
    ];
    for (from, name, mode) in files {
        let file = data.join(name);
        std::fs::copy(from, &file).unwrap();
        let owner = format!("--reference={}", data.display());
        for order in [["chmod", mode], ["chown", &owner]] {
            let done = Command::new(order[0]).arg(order[1]).arg(&file).status();
            assert!(done.unwrap().success(), "{order:?}");
        }
    }
    run(&cluster.url, "alter system set ssl = on").await;
    // From here on, unencrypted connections are refused.
    std::fs::write(
        data.join("pg_hba.conf"),
        "hostssl all all 127.0.0.1/32 trust\n",
    )
    .unwrap();
    run(&cluster.url, "select pg_reload_conf()").await;
}

#[tokio::test]
async fn a_connection_is_encrypted_and_the_server_proves_who_it_is() {
    let (authority, cluster) = (Authority::new(), Cluster::start());
    offer_tls(&cluster, &authority.vouch("localhost")).await;
    let home = Home::new();
    let port = cluster.server().rsplit_once(':').unwrap().1;
    let ask = |host: &str, parameters: &str| -> Ran {
        let url = format!("postgres://postgres@{host}:{port}/postgres?{parameters}");
        home.run(&["task", "list", "--database", &url])
    };
    let root = format!("sslrootcert={}", authority.certificate().display());
    for (host, parameters, reported) in [
        ("localhost", "sslmode=prefer", None),
        ("localhost", &format!("sslmode=verify-full&{root}"), None),
        ("localhost", &format!("sslmode=require&{root}"), None),
        // Neither an unknown authority nor another name passes, whatever it is called.
        (
            "localhost",
            "sslmode=require",
            Some("invalid peer certificate"),
        ),
        (
            "localhost",
            "sslmode=verify-full",
            Some("invalid peer certificate"),
        ),
        (
            "127.0.0.1",
            &format!("sslmode=require&{root}"),
            Some("not valid for name"),
        ),
        ("localhost", "sslmode=disable", Some("no encryption")),
        (
            "localhost",
            "sslmode=always",
            Some("unknown sslmode=always"),
        ),
        (
            "localhost",
            "sslmode=require&sslrootcert=/none.pem",
            Some("sslrootcert /none.pem"),
        ),
    ] {
        let ran = ask(host, parameters);
        match reported {
            None => drop(ran.expect_data()),
            Some(reported) => {
                assert_eq!(ran.code, 4, "{parameters}: {ran}");
                assert!(ran.notes.contains(reported), "{parameters}: {ran}");
            }
        }
    }
}
