//! The GitHub Actions host as real processes: two chains and the guard against a simulated GitHub.
//!
//! The oracle is what GitHub received. A lock says that a slot was taken, a dispatch that it was
//! fired: from the first lock of a line to its last there must be no gap, and as many dispatches as
//! locks.

mod budget;
mod faults;
mod guard;
mod life;
mod stage;
mod words;
mod workflows;
