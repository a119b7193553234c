//! How often a client may try to sign in.
//!
//! A password can be guessed, so guessing must be slow; and guessing must not keep other users out
//! (SF-05). So everything is counted by the address that a try comes from, and nothing by a name
//! alone: however many attackers try however many names, a user at another address has all their
//! tries. Of each name an address has a few tries free, for those who mistype; every further one
//! makes the next wait longer, up to [`WAIT_MAX`]. Over all names an address has a bucket, which
//! bounds what guessing one password under many names can try and what it makes us hash. Tokens
//! have a separate bucket: they cannot be guessed, and their holder must get in while another
//! client at the same address tries passwords. A try that succeeds is given back: people who share
//! an address, because they share a router, do not pay for each other.
//!
//! A try counts when it is made, before the result is known, so that many at once are no way around
//! it. While a name waits, the right password is refused like a wrong one, because the difference
//! would be an answer. A try that is refused counts nowhere, so an attacker cannot make a wait
//! longer by trying again.
//!
//! What many addresses together can make us hash is bounded by the hashing
//! ([`super::password::Passwords`]).
//!
//! INVARIANT: what is remembered is bounded, however many come: [`ADDRESSES_MAX`] and
//! [`NAMES_MAX`], the oldest are forgotten.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv6Addr},
};

use jiff::{SignedDuration, Timestamp};

/// Tries of one name from one address that cost no wait.
pub const FREE_TRIES: u32 = 5;
/// The wait after the last free try; it doubles with every further one.
pub const WAIT_FIRST: SignedDuration = SignedDuration::from_mins(1);
/// The longest wait.
pub const WAIT_MAX: SignedDuration = SignedDuration::from_mins(15);
/// When the tries of a name are forgotten, after the last of them.
pub const FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_hours(1);
/// Tries at once from one address, over all names.
pub const TRIES_AT_ONCE: u32 = 10;
/// How often one of them comes back.
pub const TRY_BACK_EVERY: SignedDuration = SignedDuration::from_secs(6);
/// Addresses remembered.
pub const ADDRESSES_MAX: usize = 4_096;
/// Names remembered, over all addresses.
pub const NAMES_MAX: usize = 4_096;
/// Longest part of a name that is distinguished; no user's is longer.
const NAME_CHARS_MAX: usize = 100;

/// By what a client tries to sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By<'a> {
    /// With a password, under this name.
    Name(&'a str),
    Token,
}

/// Where a try comes from, as far as it is distinguished: an IPv4 address, or the /64 that one
/// customer of IPv6 has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Peer(IpAddr);

impl Peer {
    /// All clients at this address; those without one count as one.
    pub fn address(address: Option<IpAddr>) -> Self {
        match address.map(|address| address.to_canonical()) {
            Some(IpAddr::V6(v6)) => {
                let network = v6.to_bits() >> 64 << 64;
                Self(Ipv6Addr::from_bits(network).into())
            }
            Some(v4) => Self(v4),
            None => Self(Ipv6Addr::UNSPECIFIED.into()),
        }
    }
}

/// Tries so far.
#[derive(Debug, Default)]
pub struct Tries {
    names: BTreeMap<(Peer, String), NameTries>,
    addresses: BTreeMap<Peer, Buckets>,
}

/// Tries of one name.
#[derive(Debug, Clone, Copy)]
struct NameTries {
    count: u32,
    last_at: Timestamp,
}

/// Tries of one address.
#[derive(Debug)]
struct Buckets {
    passwords: Bucket,
    tokens: Bucket,
    last_at: Timestamp,
}

/// A bucket of tries that fills by itself.
#[derive(Debug, Default)]
struct Bucket {
    taken: u32,
    /// Since when tries come back.
    since: Option<Timestamp>,
}

impl Tries {
    /// Takes a try, or answers when there will be one.
    pub fn take(&mut self, by: By<'_>, from: Peer, now: Timestamp) -> Result<(), Timestamp> {
        let By::Name(name) = by else {
            return self.buckets(from, now).tokens.take(now);
        };
        let key = (from, shortened(name));
        let tried = self.names.get(&key).map(|tried| tried.seen_at(now));
        if let Some(free_at) = tried.map(NameTries::free_at).filter(|at| now < *at) {
            return Err(free_at);
        }
        self.buckets(from, now).passwords.take(now)?;
        self.forget_names(now);
        let count = tried.map_or(0, |tried| tried.count).saturating_add(1);
        let last_at = now;
        self.names.insert(key, NameTries { count, last_at });
        Ok(())
    }

    /// Gives a try back: a client that knows the secret was not guessing.
    pub fn succeed(&mut self, by: By<'_>, from: Peer) {
        if let By::Name(name) = by {
            self.names.remove(&(from, shortened(name)));
        }
        if let Some(buckets) = self.addresses.get_mut(&from) {
            match by {
                By::Name(_) => buckets.passwords.give_back(),
                By::Token => buckets.tokens.give_back(),
            }
        }
    }

    fn buckets(&mut self, from: Peer, now: Timestamp) -> &mut Buckets {
        if self.addresses.len() >= ADDRESSES_MAX && !self.addresses.contains_key(&from) {
            forget_oldest(&mut self.addresses, |buckets| buckets.last_at);
        }
        let buckets = self.addresses.entry(from).or_insert_with(|| Buckets {
            passwords: Bucket::default(),
            tokens: Bucket::default(),
            last_at: now,
        });
        buckets.last_at = now;
        buckets
    }

    fn forget_names(&mut self, now: Timestamp) {
        self.names.retain(|_, tried| {
            *tried = tried.seen_at(now);
            now.duration_since(tried.last_at) < FORGOTTEN_AFTER
        });
        if self.names.len() >= NAMES_MAX {
            forget_oldest(&mut self.names, |tried| tried.last_at);
        }
    }
}

fn shortened(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).collect()
}

fn forget_oldest<K: Ord + Clone, V>(remembered: &mut BTreeMap<K, V>, at: fn(&V) -> Timestamp) {
    let oldest = remembered.iter().min_by_key(|(_, value)| at(value));
    if let Some(key) = oldest.map(|(key, _)| key.clone()) {
        remembered.remove(&key);
    }
}

impl NameTries {
    /// The same after a look at the clock: one that was set back must not make a wait longer.
    fn seen_at(self, now: Timestamp) -> Self {
        let last_at = self.last_at.min(now);
        Self { last_at, ..self }
    }

    fn free_at(self) -> Timestamp {
        let Some(over) = self.count.checked_sub(FREE_TRIES) else {
            return self.last_at;
        };
        let doubled = 2_i32.saturating_pow(over);
        let wait = WAIT_FIRST.saturating_mul(doubled).min(WAIT_MAX);
        self.last_at.saturating_add(wait).unwrap_or(self.last_at)
    }
}

impl Bucket {
    fn take(&mut self, now: Timestamp) -> Result<(), Timestamp> {
        let since = self.since.map_or(now, |since| since.min(now));
        let back = now.duration_since(since).as_secs() / TRY_BACK_EVERY.as_secs();
        let back = u32::try_from(back).unwrap_or(u32::MAX);
        self.taken = self.taken.saturating_sub(back);
        // The part of a try that has come back already is kept, unless nothing was missing.
        let later = i32::try_from(back).map(|back| since.saturating_add(TRY_BACK_EVERY * back));
        self.since = match later {
            Ok(Ok(later)) if self.taken > 0 => Some(later),
            _ => Some(now),
        };
        if self.taken >= TRIES_AT_ONCE {
            let free_at = self.since.unwrap_or(now).saturating_add(TRY_BACK_EVERY);
            return Err(free_at.unwrap_or(now));
        }
        self.taken += 1;
        Ok(())
    }

    fn give_back(&mut self) {
        self.taken = self.taken.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests;
