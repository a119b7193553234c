//! `[sources]`: how often sources are checked, how politely, and how long what they bring is kept.

use almanack_core::{address::IpNet, lane::Pace, source::policy::Policy};
use jiff::SignedDuration;

use super::{
    super::{
        key::KeyPath,
        layer::Raw,
        reader::{Reader, Show},
        report::Problem,
        value::{self, Complaint, Read},
    },
    DAY_S,
    outbound::net,
    seconds,
};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// `[sources]`
#[derive(Debug, Clone)]
pub(crate) struct Sources {
    /// Networks that sources may be in besides public ones.
    pub(crate) allow: Vec<IpNet>,
    /// When sources are checked that have no policy of their own.
    pub(crate) policy: Policy,
    /// How many checks a source may cost a day, on average over all of them.
    pub(crate) checks_per_day: u32,
    /// The shortest gap between two checks of a source.
    pub(crate) floor: SignedDuration,
    /// The longest.
    pub(crate) ceiling: SignedDuration,
    /// The interval that takes over when learning is off or fails.
    pub(crate) interval: SignedDuration,
    /// For how many days entries are kept; 0 keeps them for ever.
    pub(crate) keep_days: u32,
    /// How many entries of a source are kept.
    pub(crate) keep_per_source: usize,
    /// How long one look may take in all.
    pub(crate) timeout: SignedDuration,
    /// Largest document, after decompression.
    pub(crate) body_bytes: usize,
    /// How hosts are asked.
    pub(crate) pace: Pace,
}

impl Sources {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let key = |name| KeyPath::plain("sources", name);
        let usual = Pace::default();
        let month = || value::duration(seconds(1..=30 * DAY_S));
        let hours = SignedDuration::from_hours;
        let read = Self {
            allow: reader.value(&key("allow"), Vec::new(), value::texts(net)),
            policy: reader.value(&key("policy"), Policy::Adaptive, policy),
            checks_per_day: reader.value(&key("checks_per_day"), 24, value::count(1..=1_440)),
            floor: reader.value(
                &key("floor"),
                SignedDuration::from_mins(15),
                value::duration(seconds(1..=DAY_S)),
            ),
            ceiling: reader.value(&key("ceiling"), hours(24), month()),
            interval: reader.value(&key("interval"), hours(1), month()),
            keep_days: reader.value(&key("keep_days"), 90, value::count(0..=36_500)),
            keep_per_source: reader.value(
                &key("keep_per_source"),
                500,
                value::count(1..=1_000_000),
            ),
            timeout: reader.value(
                &key("timeout"),
                SignedDuration::from_secs(30),
                value::duration(seconds(1..=300)),
            ),
            body_bytes: reader.value(
                &key("body_bytes"),
                8 * MIB,
                value::count(256 * KIB..=64 * MIB),
            ),
            pace: Pace {
                at_once: reader.value(
                    &key("host_concurrency"),
                    usual.at_once,
                    value::count(1..=100),
                ),
                ..reader.value(&key("host_pace"), Rate(usual), pace).0
            },
        };
        read.check(reader);
        read
    }

    fn check(&self, reader: &mut Reader<'_>) {
        let key = |name| KeyPath::plain("sources", name);
        if self.ceiling >= self.floor {
            return;
        }
        let place = reader.place(&key("ceiling"));
        let place = place.or_else(|| reader.place(&key("floor")));
        let what =
            "sources.ceiling is shorter than sources.floor, so no gap between checks would fit";
        reader
            .problems
            .push(Problem::error(what, place).hint("make ceiling the longer one"));
    }

    /// How long entries are kept; `None` keeps them.
    pub(crate) fn keep_for(&self) -> Option<SignedDuration> {
        (self.keep_days > 0).then(|| SignedDuration::from_secs(i64::from(self.keep_days) * DAY_S))
    }
}

impl Show for Policy {
    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}

fn policy(raw: &Raw) -> Read<Policy> {
    let text = value::text(raw)?;
    text.parse()
        .map_err(|unknown: almanack_core::source::policy::UnknownPolicy| {
            let told = unknown.to_string();
            let (what, hint) = told.split_once("; ").unwrap_or((&told, ""));
            Complaint::new(what, hint)
        })
}

/// So many requests within so long, written `5/10s`.
struct Rate(Pace);

impl Show for Rate {
    fn show(&self) -> String {
        let per = crate::when::show_duration(self.0.per);
        format!("\"{}/{per}\"", self.0.requests)
    }
}

fn pace(raw: &Raw) -> Read<Rate> {
    let example = "write how many requests within how long, like \"5/10s\" or \"60/1m\"";
    let text = value::text(raw)?;
    let refused = || Complaint::new(format!("`{text}` is not a pace"), example);
    let (requests, per) = text.split_once('/').ok_or_else(refused)?;
    let requests: usize = requests.trim().parse().map_err(|_| refused())?;
    let per = crate::when::parse_duration(per.trim()).map_err(|_| refused())?;
    let fits = (1..=10_000).contains(&requests) && seconds(1..=DAY_S).contains(&per);
    if !fits {
        let what = format!("`{text}` is out of range");
        return Err(Complaint::new(what, "1 to 10000 requests within 1s to 24h"));
    }
    Ok(Rate(Pace {
        requests,
        per,
        ..Pace::default()
    }))
}
