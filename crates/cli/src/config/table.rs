//! The table of settings: name, type and meaning of each key. Written once, in `settings/`.
//!
//! ```text
//!   settings! { struct Node { slots: usize = count(1..=10_000).default(64).reloadable(); … } }
//!        ├─► the struct, and how it is read out of the layers
//!        ├─► which of its values a running node adopts
//!        └─► Keys ─► known names, variables, `check`, the settings page, the reference, the JSON Schema
//! ```
//!
//! The two lines above a key are its description in English and in Chinese. A [`Form`] defines how
//! a value is written, a [`Setting`] adds the default. What concerns several keys at once is a
//! function beside the section.

use std::{borrow::Cow, ops::RangeInclusive, path::PathBuf};

use almanack_core::secret::{COVER, Secret};
use jiff::SignedDuration;

use super::{
    key::{Key, KeyPath},
    layer::Given,
    reader::{Reader, Show},
    report::Problem,
    value::{self, Read},
};

/// The words that a value may be; none for any text.
pub(crate) type Words = Cow<'static, [&'static str]>;

/// What a value looks like in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    Text,
    /// A web address of which only the host may be shown: the rest may be a secret, so the address
    /// may be kept where secrets are.
    Address,
    /// Where a secret is kept.
    Secret,
    Duration(SignedDuration, SignedDuration),
    Count(i64, i64),
    /// A number from 0 to 1, in quotes.
    Share,
    Truth,
    Choice(Words),
    TruthOrChoice(Words),
    Texts(Words),
    TextByName,
    /// Texts by name, of which each may be a secret.
    Headers,
    /// A time with its offset.
    Instant,
    Anything,
    /// A table whose keys depend on its type.
    Target,
    /// How a schedule retries.
    Retry,
    /// A table whose keys depend on how a source is read.
    Reading,
}

/// The default of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Usual {
    /// This value, as it would be written in the file.
    Value(String),
    /// No value; what happens then.
    Unset(&'static str),
    /// A value that depends on other keys; how.
    Depends(&'static str),
}

/// How a value is written: what it looks like, how it is read, and how it is shown.
pub(crate) struct Form<T> {
    shape: Shape,
    pub(super) read: Parse<T>,
    pub(super) show: fn(&T) -> String,
}

type Parse<T> = Box<dyn FnOnce(&Given) -> Read<T>>;
type Reading<T> = Box<dyn FnOnce(&mut Reader<'_>, &KeyPath, Option<T>) -> T>;

/// A form and its default.
pub(crate) struct Setting<T> {
    /// The key, but for its name and its description.
    pub(crate) key: Key,
    read: Reading<T>,
}

impl<T: Show + 'static> Form<T> {
    /// A form of this shape.
    pub(crate) fn new(
        shape: Shape,
        read: impl FnOnce(&super::layer::Raw) -> Read<T> + 'static,
    ) -> Self {
        Self::placed(shape, |given| read(&given.raw))
    }

    /// The same, if it matters where the value comes from.
    pub(crate) fn placed(shape: Shape, read: impl FnOnce(&Given) -> Read<T> + 'static) -> Self {
        Self {
            shape,
            read: Box::new(read),
            show: T::show,
        }
    }
}

impl<T: 'static> Form<T> {
    /// Defaults to this value.
    pub(crate) fn default(self, default: T) -> Setting<T> {
        let usual = Usual::Value((self.show)(&default));
        Setting::new(self.shape.clone(), usual, move |reader, path, computed| {
            let default = computed.unwrap_or(default);
            let shown = (self.show)(&default);
            reader.value(path, self, shown).unwrap_or(default)
        })
    }

    /// No default; `text` describes what happens then.
    pub(crate) fn unset(self, text: &'static str) -> Setting<Option<T>> {
        let usual = Usual::Unset(text);
        Setting::new(self.shape.clone(), usual, move |reader, path, _| {
            reader.value(path, self, text.to_owned())
        })
    }
}

impl<T: 'static> Setting<T> {
    fn new(
        shape: Shape,
        usual: Usual,
        read: impl FnOnce(&mut Reader<'_>, &KeyPath, Option<T>) -> T + 'static,
    ) -> Self {
        let key = Key {
            section: "",
            name: "",
            words: [""; 2],
            shape,
            usual,
            aliases: &[],
            reloadable: false,
        };
        Self {
            key,
            read: Box::new(read),
        }
    }

    /// Reads it at `path`; `computed` replaces the default.
    pub(crate) fn read(self, reader: &mut Reader<'_>, path: &KeyPath, computed: Option<T>) -> T {
        (self.read)(reader, path, computed)
    }

    /// A running node adopts a changed value.
    pub(crate) fn reloadable(mut self) -> Self {
        self.key.reloadable = true;
        self
    }

    /// Variables of the original setup set it, too.
    pub(crate) fn also(mut self, aliases: &'static [&'static str]) -> Self {
        self.key.aliases = aliases;
        self
    }

    /// How the default depends on other keys.
    pub(crate) fn depends(mut self, how: &'static str) -> Self {
        self.key.usual = Usual::Depends(how);
        self
    }

    /// What it is used as, where that is not what is written.
    pub(crate) fn map<U: 'static>(self, change: impl FnOnce(T) -> U + 'static) -> Setting<U> {
        let Self { key, read } = self;
        let read: Reading<U> = Box::new(move |reader, path, _| change(read(reader, path, None)));
        Setting { key, read }
    }
}

impl Setting<Option<PathBuf>> {
    /// A relative path starts where the file is.
    pub(crate) fn beside_file(self) -> Self {
        let Self { key, read } = self;
        let read: Reading<Option<PathBuf>> = Box::new(move |reader, path, _| {
            let given = read(reader, path, None)?;
            Some(reader.base.join(given))
        });
        Self { key, read }
    }
}

/// A section of the file.
pub(crate) struct Listed {
    pub(crate) name: &'static str,
    /// What it is about.
    pub(crate) about: &'static str,
    pub(crate) keys: Vec<Key>,
}

/// Keys that are read together.
pub(crate) trait Group: Sized {
    /// The description of each.
    fn keys(section: &'static str) -> Vec<Key>;
    /// Reads all of them; `which` says of which of several tables.
    fn read_of(reader: &mut Reader<'_>, section: &'static str, which: Option<&str>) -> Self;
    /// These, with what a running node adopts of `after`.
    fn adopted(&self, after: &Self) -> Self;

    /// Reads all of them in a section that there is once.
    fn read_in(reader: &mut Reader<'_>, section: &'static str) -> Self {
        Self::read_of(reader, section, None)
    }
}

/// Keys that form a section.
pub(crate) trait Section: Group {
    /// Its name.
    const NAME: &'static str;
    /// Everything about it, with the keys of further groups in it.
    fn listed() -> Listed;

    /// Reads it.
    fn read(reader: &mut Reader<'_>) -> Self {
        Self::read_in(reader, Self::NAME)
    }
}

/// Keys that are read together: `name: type = setting;` below its description in English and in
/// Chinese. `=> |reader| …` computes the default from what was read before. `in "section" + Other`
/// makes them a section that also has the keys of `Other`.
macro_rules! settings {
    ($(#[doc = $about:literal])+ $vis:vis struct $struct:ident in $section:literal $(+ $group:ident)* {
        $($keys:tt)+
    }) => {
        settings! { $(#[doc = $about])+ $vis struct $struct { $($keys)+ } }

        impl $crate::config::table::Section for $struct {
            const NAME: &'static str = $section;

            fn listed() -> $crate::config::table::Listed {
                let groups = [Self::keys(Self::NAME) $(, $group::keys(Self::NAME))*];
                $crate::config::table::Listed {
                    name: Self::NAME,
                    about: [$($about),+][0].trim(),
                    keys: groups.into_iter().flatten().collect(),
                }
            }
        }
    };
    ($(#[doc = $about:literal])* $vis:vis struct $struct:ident {
        $(
            #[doc = $en:literal]
            #[doc = $zh:literal]
            $name:ident: $type:ty = $setting:expr $(=> $computed:expr)?;
        )+
    }) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone)]
        $vis struct $struct {
            $(#[doc = $en] $vis $name: $type,)+
        }

        impl $crate::config::table::Group for $struct {
            fn keys(section: &'static str) -> Vec<$crate::config::key::Key> {
                vec![$({
                    let setting: $crate::config::table::Setting<$type> = $setting;
                    $crate::config::key::Key {
                        section,
                        name: stringify!($name),
                        words: [$en, $zh].map(str::trim),
                        ..setting.key
                    }
                }),+]
            }

            fn read_of(
                reader: &mut $crate::config::reader::Reader<'_>,
                section: &'static str,
                which: Option<&str>,
            ) -> Self {
                $(
                    let path = $crate::config::key::KeyPath::in_table(section, which, stringify!($name));
                    let computed = settings!(@computed reader, $type $(, $computed)?);
                    let setting: $crate::config::table::Setting<$type> = $setting;
                    let $name = setting.read(reader, &path, computed);
                )+
                Self { $($name),+ }
            }

            fn adopted(&self, after: &Self) -> Self {
                Self {
                    $($name: {
                        let setting: $crate::config::table::Setting<$type> = $setting;
                        if setting.key.reloadable { after } else { self }.$name.clone()
                    },)+
                }
            }
        }
    };
    (@computed $reader:ident, $type:ty) => { None };
    (@computed $reader:ident, $type:ty, $computed:expr) => {
        Some($crate::config::table::computed::<$type>($reader, $computed))
    };
}
pub(crate) use settings;

/// The sections of a module, in the order they are shown; after a `;` those of modules inside of
/// it, and so on.
macro_rules! sections {
    ($($section:ident),+ $(; $module:ident)* $(=> $last:ident)?) => {
        pub(in $crate::config) fn sections() -> Vec<$crate::config::table::Listed> {
            let all = [
                vec![$($section::listed()),+],
                $($module::sections(),)*
                $(vec![$last::listed()],)?
            ];
            all.into_iter().flatten().collect()
        }
    };
}
pub(crate) use sections;

/// A default that is computed.
pub(crate) fn computed<T>(reader: &Reader<'_>, compute: impl FnOnce(&Reader<'_>) -> T) -> T {
    compute(reader)
}

/// Values that are written as words; the first word of a value is how it is shown.
pub(crate) trait Choice: Copy + PartialEq + 'static {
    /// Every word.
    const WORDS: &'static [(&'static str, Self)];
}

impl<T: Choice> Show for T {
    fn show(&self) -> String {
        let found = T::WORDS.iter().find(|(_, value)| value == self);
        format!("\"{}\"", found.map_or("", |(word, _)| word))
    }
}

/// The words of types that are written as words.
macro_rules! words {
    ($($type:ty { $($word:literal = $value:expr),+ $(,)? })+) => {
        $(impl $crate::config::table::Choice for $type {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, $value)),+];
        })+
    };
}
pub(crate) use words;

/// The words themselves.
pub(crate) fn names<T: Choice>() -> Words {
    T::WORDS.iter().map(|(word, _)| *word).collect()
}

/// Text that is not empty.
pub(crate) fn text() -> Form<String> {
    Form::new(Shape::Text, value::text)
}

/// Text that means something.
pub(crate) fn text_as<T: Show + 'static>(mean: impl FnOnce(&str) -> Read<T> + 'static) -> Form<T> {
    Form::new(Shape::Text, |raw| mean(&value::text(raw)?))
}

/// A file or a folder.
pub(crate) fn path() -> Form<PathBuf> {
    text_as(|text| Ok(PathBuf::from(text)))
}

/// A duration within bounds.
pub(crate) fn duration(least: SignedDuration, most: SignedDuration) -> Form<SignedDuration> {
    Form::new(Shape::Duration(least, most), value::duration(least..=most))
}

/// A whole number within bounds.
pub(crate) fn count<T>(bounds: RangeInclusive<T>) -> Form<T>
where
    T: TryFrom<i64> + TryInto<i64> + Copy + PartialOrd + std::fmt::Display + Show + 'static,
{
    let whole = |bound: T| bound.try_into().unwrap_or(i64::MAX);
    let shape = Shape::Count(whole(*bounds.start()), whole(*bounds.end()));
    Form::new(shape, value::count(bounds))
}

/// `true` or `false`.
pub(crate) fn truth() -> Form<bool> {
    Form::new(Shape::Truth, value::truth)
}

/// One of a few words.
pub(crate) fn choice<T: Choice>() -> Form<T> {
    Form::new(Shape::Choice(names::<T>()), value::choice(T::WORDS))
}

/// A list of texts that each mean something.
pub(crate) fn texts<T: Show + 'static>(item: impl Fn(&str) -> Read<T> + 'static) -> Form<Vec<T>> {
    Form::new(Shape::Texts(Words::default()), value::texts(item))
}

/// A list of some of a few words.
pub(crate) fn words_of<T: Show + 'static>(
    words: impl IntoIterator<Item = &'static str>,
    item: impl Fn(&str) -> Read<T> + 'static,
) -> Form<Vec<T>> {
    Form::new(
        Shape::Texts(words.into_iter().collect()),
        value::texts(item),
    )
}

/// A web address of which only the host may be shown.
pub(crate) fn address() -> Form<String> {
    Form::new(Shape::Address, |raw| {
        value::web_address(raw).map(String::from)
    })
}

/// A secret that is used as it is.
pub(crate) fn secret() -> Form<Secret> {
    kept(|text| Ok(Secret::new(text)))
}

/// A secret that is used as something else.
pub(crate) fn kept<T>(mean: impl FnOnce(&str) -> Read<T> + 'static) -> Form<T> {
    Form {
        shape: Shape::Secret,
        read: Box::new(|given| mean(&value::text(&given.raw)?)),
        show: |_| COVER.to_owned(),
    }
}

/// A secret that something reads, or the reason why it cannot, with this advice.
pub(crate) fn kept_as<T: 'static, E: std::fmt::Display + 'static>(
    parse: fn(&str) -> Result<T, E>,
    hint: &'static str,
) -> Form<T> {
    kept(move |text| parse(text).map_err(|error| Problem::new(error.to_string(), hint)))
}

pub(crate) const fn millis(count: i64) -> SignedDuration {
    SignedDuration::from_millis(count)
}

pub(crate) const fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

pub(crate) const fn minutes(count: i64) -> SignedDuration {
    SignedDuration::from_mins(count)
}

pub(crate) const fn hours(count: i64) -> SignedDuration {
    SignedDuration::from_hours(count)
}

pub(crate) const fn days(count: i64) -> SignedDuration {
    hours(24 * count)
}
