//! Numbers of classes.

/// Number of a class in its join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassId(pub u32);
