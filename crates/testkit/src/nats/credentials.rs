//! Credentials as a NATS operator gives them out: an operator vouches for accounts, an account for
//! users, each by a signed token.
//!
//! A user shows its token and signs what the server asks with the key that the token names; the
//! server knows the operator alone.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use nkeys::KeyPair;
use serde_json::{Value, json};

use super::Access;

/// An operator with one account, and the account that a server keeps for itself.
pub struct Operator {
    own: KeyPair,
    account: KeyPair,
    system: KeyPair,
}

impl Operator {
    /// Makes one that no server knows yet.
    pub fn new() -> Self {
        Self {
            own: KeyPair::new_operator(),
            account: KeyPair::new_account(),
            system: KeyPair::new_account(),
        }
    }

    /// A server that knows the operator, and a new user of the account.
    pub fn access(&self) -> Access {
        Access::Credentials {
            known: self.configuration(),
            text: self.credentials(),
        }
    }

    /// The text of a credentials file.
    fn credentials(&self) -> String {
        let user = KeyPair::new_user();
        let may = json!({
            "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1, "type": "user", "version": 2,
        });
        let token = token(&self.account, &user, &may);
        let seed = user.seed().unwrap();
        format!(
            "-----BEGIN NATS USER JWT-----
{token}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
{seed}
------END USER NKEY SEED------
"
        )
    }

    /// The configuration of a server that knows the operator.
    fn configuration(&self) -> String {
        let known = json!({ "type": "operator", "version": 2 });
        let operator = token(&self.own, &self.own, &known);
        let (system, account) = (self.system.public_key(), self.account.public_key());
        let stores =
            json!({ "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1 });
        format!(
            "operator: {operator}
system_account: {system}
resolver: MEMORY
resolver_preload {{
  {system}: {}
  {account}: {}
}}
",
            self.account_token(&self.system, &json!({})),
            self.account_token(&self.account, &stores)
        )
    }

    fn account_token(&self, account: &KeyPair, stores: &Value) -> String {
        let mut limits = json!({
            "subs": -1, "data": -1, "payload": -1, "conn": -1, "leaf": -1, "imports": -1, "exports": -1, "wildcards": true,
        });
        for (name, limit) in stores.as_object().into_iter().flatten() {
            limits[name] = limit.clone();
        }
        let account_claims = json!({ "limits": limits, "type": "account", "version": 2 });
        token(&self.own, account, &account_claims)
    }
}

impl Default for Operator {
    fn default() -> Self {
        Self::new()
    }
}

/// What one says about another, signed.
fn token(issuer: &KeyPair, subject: &KeyPair, claims: &Value) -> String {
    let header = json!({ "typ": "JWT", "alg": "ed25519-nkey" });
    let (issuer_key, subject_key) = (issuer.public_key(), subject.public_key());
    let claims = json!({
        "jti": "one", "iat": 1, "iss": issuer_key, "sub": subject_key, "name": "almanack", "nats": claims,
    });
    let encode = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
    let said = format!("{}.{}", encode(&header), encode(&claims));
    let signature = issuer.sign(said.as_bytes()).unwrap();
    format!("{said}.{}", URL_SAFE_NO_PAD.encode(signature))
}
