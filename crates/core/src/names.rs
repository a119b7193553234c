//! Enums whose variants have names.
//!
//! A name is written once, beside its variant, and is the same in the store, the API, the metrics,
//! the logs and on the command line. A stored name never changes. Enums whose variants carry data
//! and whose names are not stored derive them by `strum` instead.

/// Declares such an enum with everything that reads or writes its names.
macro_rules! names {
    ($(#[$meta:meta])* pub enum $enum:ident {
        // A `literal` would reach the schema's derive in a group, which it does not look into.
        $($(#[$doc:meta])* $variant:ident = $name:tt,)+
    }) => {
        #[derive(serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        $(#[$meta])*
        pub enum $enum {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)+
        }

        impl $enum {
            /// All of them, in the order in which they are declared.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Its name, everywhere.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Reads a name.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|named| named.as_str() == text)
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
