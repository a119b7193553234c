//! TLS to PostgreSQL, with an authority made for the test.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use almanack_testkit::postgres::run;

use crate::{
    failures::postgres::Cluster,
    harness::{Home, Ran},
};

/// Makes an authority, and a certificate of it for this machine's `localhost`, in `folder`; answers the authority's.
fn make_certificates(folder: &Path) -> PathBuf {
    let openssl = |arguments: &str| {
        let mut command = Command::new("openssl");
        let done = command
            .args(arguments.split(' '))
            .current_dir(folder)
            .output();
        let done = done.expect("openssl is there");
        let told = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "openssl {arguments}: {told}");
    };
    let new = "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    openssl(&format!(
        "{new} -x509 -days 2 -keyout authority.key -out authority.pem -subj /CN=authority"
    ));
    openssl(&format!(
        "{new} -keyout server.key -out server.csr -subj /CN=localhost"
    ));
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost").unwrap();
    openssl(
        "x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 -extfile names -out server.crt",
    );
    folder.join("authority.pem")
}

/// Turns TLS on.
async fn offer_tls(cluster: &Cluster, folder: &Path) {
    let data = cluster.data();
    for (name, mode) in [("server.key", "600"), ("server.crt", "644")] {
        let file = data.join(name);
        std::fs::copy(folder.join(name), &file).unwrap();
        let owner = format!("--reference={}", data.display());
        for order in [["chmod", mode], ["chown", &owner]] {
            let done = Command::new(order[0]).arg(order[1]).arg(&file).status();
            assert!(done.unwrap().success(), "{order:?}");
        }
    }
    run(&cluster.url, "alter system set ssl = on").await;
    // From here on, whoever does not encrypt is refused.
    std::fs::write(
        data.join("pg_hba.conf"),
        "hostssl all all 127.0.0.1/32 trust\n",
    )
    .unwrap();
    run(&cluster.url, "select pg_reload_conf()").await;
}

#[tokio::test]
async fn a_connection_is_encrypted_and_the_server_proves_who_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (authority, cluster) = (make_certificates(folder.path()), Cluster::start());
    offer_tls(&cluster, folder.path()).await;
    let home = Home::new();
    let port = cluster.server().rsplit_once(':').unwrap().1;
    let ask = |host: &str, parameters: &str| -> Ran {
        let url = format!("postgres://postgres@{host}:{port}/postgres?{parameters}");
        home.run(&["task", "list", "--database", &url])
    };
    let root = format!("sslrootcert={}", authority.display());
    for (host, parameters, told) in [
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
            Some("sslmode=always is not known"),
        ),
        (
            "localhost",
            "sslmode=require&sslrootcert=/none.pem",
            Some("sslrootcert /none.pem"),
        ),
    ] {
        let ran = ask(host, parameters);
        match told {
            None => drop(ran.expect_data()),
            Some(told) => {
                assert_eq!(ran.code, 4, "{parameters}: {ran}");
                assert!(ran.notes.contains(told), "{parameters}: {ran}");
            }
        }
    }
}
