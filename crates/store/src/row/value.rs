//! Values on their way into the store, in the words of both drivers: what a row is written with is
//! listed once.

use std::borrow::Cow;

use jiff::Timestamp;
use rusqlite::types::{ToSqlOutput, ValueRef};
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut};

use super::micros;

/// What a column is given.
#[derive(Debug)]
pub(crate) enum Value<'a> {
    Text(Option<Cow<'a, str>>),
    Big(Option<i64>),
    Real(Option<f64>),
    Bytes(Cow<'a, [u8]>),
}

/// The parameters of a statement, in its order.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::row::Value::from($value)),*] };
}
pub(crate) use values;

impl Value<'_> {
    /// The same for another thread.
    pub(crate) fn into_owned(self) -> Value<'static> {
        match self {
            Self::Text(text) => Value::Text(text.map(|text| Cow::Owned(text.into_owned()))),
            Self::Big(number) => Value::Big(number),
            Self::Real(number) => Value::Real(number),
            Self::Bytes(bytes) => Value::Bytes(Cow::Owned(bytes.into_owned())),
        }
    }
}

/// What a value is made of.
macro_rules! made_of {
    ($($type:ty: $given:ident => $value:expr;)*) => {$(
        impl<'a> From<$type> for Value<'a> {
            fn from($given: $type) -> Self {
                $value
            }
        }
    )*};
}

made_of! {
    &'a str: text => Self::Text(Some(Cow::Borrowed(text)));
    &'a String: text => Self::from(text.as_str());
    String: text => Self::Text(Some(Cow::Owned(text)));
    Option<&'a str>: text => Self::Text(text.map(Cow::Borrowed));
    &'a Option<String>: text => Self::from(text.as_deref());
    Option<String>: text => Self::Text(text.map(Cow::Owned));
    i64: number => Self::Big(Some(number));
    Option<i64>: number => Self::Big(number);
    i32: number => Self::Big(Some(number.into()));
    u32: count => Self::Big(Some(count.into()));
    bool: truth => Self::Big(Some(truth.into()));
    Timestamp: at => Self::Big(Some(micros(at)));
    Option<Timestamp>: at => Self::Big(at.map(micros));
    f64: number => Self::Real(Some(number));
    Option<f64>: number => Self::Real(number);
    &'a [u8]: bytes => Self::Bytes(Cow::Borrowed(bytes));
    Vec<u8>: bytes => Self::Bytes(Cow::Owned(bytes));
}

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self {
            Self::Text(Some(text)) => ValueRef::Text(text.as_bytes()),
            Self::Big(Some(number)) => ValueRef::Integer(*number),
            Self::Real(Some(number)) => ValueRef::Real(*number),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
            Self::Text(None) | Self::Big(None) | Self::Real(None) => ValueRef::Null,
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        column: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        // Each knows what it fits into; the type as a whole cannot say.
        match self {
            Self::Text(text) => text.as_deref().to_sql_checked(column, out),
            Self::Big(Some(number)) if *column == Type::INT4 => {
                i32::try_from(*number)?.to_sql(column, out)
            }
            Self::Big(number) => number.to_sql_checked(column, out),
            Self::Real(number) => number.to_sql_checked(column, out),
            Self::Bytes(bytes) => bytes.as_ref().to_sql_checked(column, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

/// One column of many rows, as PostgreSQL takes lists.
#[derive(Debug)]
pub(crate) struct List<'a>(Vec<Value<'a>>);

/// Rows of values, column by column.
pub(crate) fn lists<'a>(rows: impl IntoIterator<Item = Vec<Value<'a>>>) -> Vec<List<'a>> {
    let mut lists: Vec<List<'a>> = Vec::new();
    for row in rows {
        lists.resize_with(row.len(), || List(Vec::new()));
        for (list, value) in lists.iter_mut().zip(row) {
            list.0.push(value);
        }
    }
    lists
}

impl Value<'_> {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => text.as_deref(),
            _ => None,
        }
    }

    fn number(&self) -> Option<i64> {
        match self {
            Self::Big(number) => *number,
            _ => None,
        }
    }

    fn real(&self) -> Option<f64> {
        match self {
            Self::Real(number) => *number,
            _ => None,
        }
    }

    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

impl List<'_> {
    fn of<'a, T>(&'a self, read: fn(&'a Value<'a>) -> Option<T>) -> Vec<Option<T>> {
        self.0.iter().map(read).collect()
    }
}

impl ToSql for List<'_> {
    fn to_sql(
        &self,
        column: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match *column {
            Type::TEXT_ARRAY => self.of(Value::text).to_sql(column, out),
            Type::INT8_ARRAY => self.of(Value::number).to_sql(column, out),
            Type::INT4_ARRAY => {
                let numbers = self.0.iter().map(Value::number);
                let numbers = numbers.map(|number| number.map(i32::try_from).transpose());
                let numbers: Vec<Option<i32>> = numbers.collect::<Result<_, _>>()?;
                numbers.to_sql(column, out)
            }
            Type::FLOAT8_ARRAY => self.of(Value::real).to_sql(column, out),
            Type::BYTEA_ARRAY => self.of(Value::bytes).to_sql(column, out),
            _ => Err(format!("no list of ours is a {column}").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}
