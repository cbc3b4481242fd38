//! Which of several files with the same content is the original, without a rule of the user's.

use std::cmp::Ordering;

/// The default preference for a name among the names of a set; the least is best. If two are equal, the path decides,
/// [part by part](ByParts). A file is preferred by the best of its names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Preference {
    /// It lies in a trash, and is lost when the trash is emptied.
    pub in_trash: bool,
    /// The file is hidden or a program manages it: actions leave it alone.
    pub is_managed: bool,
    /// The place of its folder among the given paths ([`DirTable::given`](super::DirTable::given)).
    pub given: u32,
    /// Marks of a copy on the name ([`CopyMarks`](super::CopyMarks)).
    pub marks: u8,
    /// Last modification of the file, nanoseconds since 1970.
    pub mtime_ns: i64,
}

impl Preference {
    /// Why one name is preferred to another one, in a few words.
    pub fn reason(&self, other: &Self) -> &'static str {
        match () {
            () if self.in_trash != other.in_trash => "not in a trash",
            () if self.is_managed != other.is_managed => "not hidden or managed by a program",
            () if self.given != other.given => "in the folder given first",
            () if self.marks != other.marks => "best-name",
            () if self.mtime_ns != other.mtime_ns => "oldest",
            () => "first by path",
        }
    }
}

/// A path that is compared part by part, each byte by byte: what lies in `Photos` comes before what lies in
/// `Photos copy`, although a blank comes before a slash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByParts<'p>(pub &'p [u8]);

impl Ord for ByParts<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let equal = self.0.iter().zip(other.0).take_while(|(x, y)| x == y);
        let apart = equal.count();
        let next = |path: &[u8]| path.get(apart).map(|&byte| (byte != b'/', byte));
        next(self.0).cmp(&next(other.0))
    }
}

impl PartialOrd for ByParts<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
