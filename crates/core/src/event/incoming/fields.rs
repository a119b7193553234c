//! The names of a struct's fields, as its reader knows them.
//!
//! A list kept beside the struct would be a second description of it.

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, Visitor, value::Error},
    forward_to_deserialize_any,
};

/// The fields of a struct that derives its reader.
pub(super) fn of<T: Deserialize<'static>>() -> &'static [&'static str] {
    let mut fields: &'static [&'static str] = &[];
    // The reader hands its list over and gets nothing to read.
    let _ = T::deserialize(Listener(&mut fields));
    fields
}

struct Listener<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Listener<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("not a struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(Error::custom("only the names are wanted"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use crate::event::incoming::{cancel_fields, put_fields};

    #[test]
    fn the_fields_of_a_request_are_those_that_its_reader_knows() {
        for field in ["kind", "execute_at", "revision", "payload", "priority"] {
            assert!(put_fields().contains(&field), "{field}");
        }
        assert_eq!(cancel_fields(), ["kind", "revision"]);
    }
}
