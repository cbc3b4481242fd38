//! How paths to folders are followed.

/// How paths are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathRules {
    /// Symbolic links below the roots are followed.
    pub follow: bool,
    /// A root that is another folder than when it was added is not opened.
    pub tied_roots: bool,
}
