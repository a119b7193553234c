//! `[alerts]` and the sections inside it: what people are told about, when, and by which channels; `[heartbeat]` beside it.

mod channel;

use almanack_core::{
    alert::{Severity, decide::Manner, facts::Bounds, quiet::Quiet},
    secret::Secret,
};
use almanack_engine::watch::WatchSettings;
use jiff::{SignedDuration, civil::Time, tz::TimeZone};

use super::{
    super::{
        key::KeyPath,
        layer::Raw,
        reader::{Reader, Show},
        value::{self, Complaint, Read},
    },
    DAY_S, seconds,
};
pub(crate) use channel::{AlertChannel, AlertWay};

const SECTION: &str = "alerts";
/// A pebibyte: nobody has such a disk, and everybody meant something else.
const DISK_FREE_MAX: u64 = 1 << 50;
/// Most minutes of a day.
const MINUTE_MAX: i8 = 59;

/// What people are told, and how.
#[derive(Debug, Clone)]
pub(crate) struct Alerts {
    /// From one look to the next.
    pub(crate) every: SignedDuration,
    /// When something is wrong.
    pub(crate) bounds: Bounds,
    /// How people want to hear of it.
    pub(crate) manner: Manner,
    /// The language of messages, as a tag; that of editions where nobody says.
    pub(crate) language: Option<String>,
    /// Who is told.
    pub(crate) channels: Vec<AlertChannel>,
}

impl Alerts {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let usual = WatchSettings::default();
        Self {
            every: reader.value(&key("every"), usual.every, period(1, 300)),
            bounds: bounds(reader),
            manner: Manner {
                calm: reader.value(&key("calm"), usual.manner.calm, period(0, 3_600)),
                quiet: quiet(reader),
            },
            language: reader.optional(&key("language"), "(the edition's, or English)", value::text),
            channels: channel::read_all(reader),
        }
    }
}

fn key(name: &'static str) -> KeyPath {
    KeyPath::plain(SECTION, name)
}

fn period(least_s: i64, most_s: i64) -> impl Fn(&Raw) -> Read<SignedDuration> {
    value::duration(seconds(least_s..=most_s))
}

fn bounds(reader: &mut Reader<'_>) -> Bounds {
    let usual = Bounds::default();
    Bounds {
        missing: reader.value(&key("missing_after"), usual.missing, period(1, DAY_S)),
        late: reader.value(&key("late_after"), usual.late, period(1, DAY_S)),
        stuck: reader.value(&key("stuck_after"), usual.stuck, period(1, 30 * DAY_S)),
        unclaimed: reader.value(&key("unclaimed_after"), usual.unclaimed, period(1, DAY_S)),
        failing: reader.value(&key("failing_after"), usual.failing, value::count(1..=20)),
        gone: reader.value(&key("gone_after"), usual.gone, period(10, DAY_S)),
        disconnected: reader.value(
            &key("disconnected_after"),
            usual.disconnected,
            period(1, DAY_S),
        ),
        disk_free_bytes: reader.value(
            &key("disk_free_bytes"),
            usual.disk_free_bytes,
            value::count(0..=DISK_FREE_MAX),
        ),
        budget_percent: reader.value(
            &key("budget_percent"),
            usual.budget_percent,
            value::count(10..=1_000),
        ),
    }
}

/// Hours of the wall, from and until.
struct Hours {
    from: Time,
    until: Time,
}

impl Show for Hours {
    fn show(&self) -> String {
        let clock = |time: Time| format!("{:02}:{:02}", time.hour(), time.minute());
        format!("\"{}-{}\"", clock(self.from), clock(self.until))
    }
}

fn quiet(reader: &mut Reader<'_>) -> Option<Quiet> {
    let hours = reader.optional(&key("quiet"), "(none)", hours);
    let zone = reader.value(&key("quiet_tz"), "UTC".to_owned(), zone_name);
    let except = reader.value(
        &key("quiet_except"),
        Except(Some(Severity::Critical)),
        except,
    );
    let hours = hours?;
    Some(Quiet {
        from: hours.from,
        until: hours.until,
        zone: TimeZone::get(&zone).unwrap_or(TimeZone::UTC),
        except: except.0,
    })
}

fn hours(raw: &Raw) -> Read<Hours> {
    let text = value::text(raw)?;
    let read = text.split_once('-').and_then(|(from, until)| {
        Some(Hours {
            from: wall_time(from.trim())?,
            until: wall_time(until.trim())?,
        })
    });
    match read {
        Some(hours) if hours.from == hours.until => Err(Complaint::new(
            format!("`{text}` begins when it ends"),
            "for example \"22:00-07:00\"; leave it out where no hour is quiet",
        )),
        Some(hours) => Ok(hours),
        None => Err(Complaint::new(
            format!("`{text}` is no span of hours"),
            "for example \"22:00-07:00\"",
        )),
    }
}

fn wall_time(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    let minute = minute
        .parse()
        .ok()
        .filter(|it| (0..=MINUTE_MAX).contains(it))?;
    Time::new(hour.parse().ok()?, minute, 0, 0).ok()
}

fn zone_name(raw: &Raw) -> Read<String> {
    let name = value::text(raw)?;
    match TimeZone::get(&name) {
        Ok(_) => Ok(name),
        Err(_) => Err(Complaint::new(
            format!("`{name}` is not a time zone"),
            "for example \"Europe/Berlin\" or \"UTC\"",
        )),
    }
}

/// What is told in quiet hours too.
#[derive(Clone, Copy)]
struct Except(Option<Severity>);

impl Show for Except {
    fn show(&self) -> String {
        format!("\"{}\"", self.0.map_or("nothing", Severity::as_str))
    }
}

fn except(raw: &Raw) -> Read<Except> {
    const WORDS: &[(&str, Except)] = &[
        ("critical", Except(Some(Severity::Critical))),
        ("nothing", Except(None)),
    ];
    value::choice(WORDS)(raw)
}

/// `[heartbeat]`: who outside hears that this node lives.
#[derive(Debug, Clone)]
pub(crate) struct Heartbeat {
    /// The address, which is the secret; none where nobody listens.
    pub(crate) url: Option<Secret>,
    /// No oftener than this.
    pub(crate) every: SignedDuration,
    /// Whether it is asked by POST.
    pub(crate) post: bool,
}

impl Heartbeat {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let key = |name| KeyPath::plain("heartbeat", name);
        let minute = SignedDuration::from_mins(1);
        Self {
            url: secret_address(reader, &key("url"), "(nobody hears it)"),
            every: reader.value(&key("every"), minute, period(1, DAY_S)),
            post: reader.value(&key("method"), Method(false), method).0,
        }
    }
}

/// How a listener is asked: by POST, or by GET.
#[derive(Clone, Copy)]
struct Method(bool);

impl Show for Method {
    fn show(&self) -> String {
        format!("\"{}\"", if self.0 { "post" } else { "get" })
    }
}

fn method(raw: &Raw) -> Read<Method> {
    const WORDS: &[(&str, Method)] = &[("get", Method(false)), ("post", Method(true))];
    value::choice(WORDS)(raw)
}

/// An address that is itself the secret.
fn secret_address(reader: &mut Reader<'_>, path: &KeyPath, unset: &str) -> Option<Secret> {
    let found = reader.secret(path, unset)?;
    let shaped = url::Url::parse(found.expose().trim()).ok();
    let shaped = shaped.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if let Some(url) = shaped {
        return Some(Secret::new(url.as_str()));
    }
    let hint = "it begins with https:// and a host";
    let what = "what is kept there is no web address";
    reader.complain(path, Complaint::new(what, hint))
}
