//! Categories in statements: the same comparison as [`almanack_core::source::category`].

/// Whether a category is in a folder, by whole names.
macro_rules! in_folder {
    ($category:literal, $folder:literal) => {
        concat!(
            "(",
            $category,
            " = ",
            $folder,
            " or substr(",
            $category,
            ", 1, length(",
            $folder,
            ") + 1) = ",
            $folder,
            " || '/')"
        )
    };
}
pub(crate) use in_folder;
