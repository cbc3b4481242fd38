//! What a file has besides its content.

use std::ffi::CString;

/// The attributes of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Permission bits, with set-user-ID, set-group-ID and sticky.
    pub mode: u32,
    /// Owner and group.
    pub owner: (u32, u32),
    /// Last modification, nanoseconds since 1970.
    pub modified_ns: i64,
    /// Names and values of the extended attributes that this process may see, in order.
    pub extended: Box<[(CString, Vec<u8>)]>,
}
