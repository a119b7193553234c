//! An authority of a test's own, and certificates that it vouches for, made by the machine's
//! `openssl`.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
    process::Command,
};

/// How every key is made.
const NEW: &str = "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";

/// A folder with an authority in it; both go together.
pub struct Authority {
    folder: tempfile::TempDir,
}

/// Whose connections a server takes at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clients {
    Any,
    /// Of those who show a certificate of the server's own authority.
    Vouched,
}

/// A certificate and its key, as files.
#[derive(Debug, Clone)]
pub struct Identity {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Authority {
    /// Makes one that no client trusts yet.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = "-x509 -days 2 -keyout authority.key -out authority.pem -subj /CN=authority";
        openssl(folder.path(), &format!("{NEW} {made}"));
        Self { folder }
    }

    /// Its certificate: a client that trusts this file trusts all it issued.
    pub fn certificate(&self) -> PathBuf {
        self.path("authority.pem")
    }

    /// Issues a certificate for this name or IP address.
    pub fn vouch(&self, name: &str) -> Identity {
        let folder = self.folder.path();
        let asked = format!("{NEW} -keyout {name}.key -out {name}.csr -subj /CN={name}");
        openssl(folder, &asked);
        let sort = name.parse::<IpAddr>().map_or("DNS", |_| "IP");
        let names = format!("subjectAltName={sort}:{name}");
        std::fs::write(self.path(&format!("{name}.names")), names).unwrap();
        let by = "-CA authority.pem -CAkey authority.key -CAcreateserial -days 2";
        let signed = format!("x509 -req -in {name}.csr {by} -extfile {name}.names -out {name}.crt");
        openssl(folder, &signed);
        Identity {
            certificate: self.path(&format!("{name}.crt")),
            key: self.path(&format!("{name}.key")),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

fn openssl(folder: &Path, arguments: &str) {
    let mut command = Command::new("openssl");
    let done = command
        .args(arguments.split(' '))
        .current_dir(folder)
        .output();
    let done = done.expect("openssl is there");
    let output = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "openssl {arguments}: {output}");
}
