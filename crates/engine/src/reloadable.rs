//! What may be exchanged while others work by it.
//!
//! Settings are immutable; what changes is which of them are in force. Work takes the settings in
//! force when it begins ([`Reloadable::get`]) and goes on by it to the end, so an exchange
//! ([`Reloadable::put`]) never pulls anything from under work that is under way. Clones share the
//! value: the writer and all readers hold the same.
//!
//! What must stay true: what belongs together is exchanged together, in one `Reloadable`.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

/// A value in force; a later reader may find another.
pub struct Reloadable<T>(Arc<RwLock<Arc<T>>>);

impl<T> Reloadable<T> {
    /// This one, for now.
    pub fn new(value: T) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(value))))
    }

    /// What is in force now.
    pub fn get(&self) -> Arc<T> {
        // Nothing is ever half written: what is behind the lock is one pointer.
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// This is in force from now on.
    pub fn put(&self, value: T) {
        let before = {
            let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *held, Arc::new(value))
        };
        // Outside the lock: what was in force may be long in leaving, like a connection that says
        // goodbye.
        drop(before);
    }
}

impl<T> Clone for Reloadable<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> From<T> for Reloadable<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for Reloadable<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: fmt::Debug> fmt::Debug for Reloadable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_began_goes_on_by_what_was_in_force_and_who_comes_later_finds_the_new() {
        let live = Reloadable::new(1);
        let (shared, begun) = (live.clone(), live.get());
        shared.put(2);
        assert_eq!((*begun, *live.get()), (1, 2));
    }
}
