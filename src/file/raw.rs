//! Bytes in JSON: as text where they are UTF-8, else in base64. No name is lost, and most can be read.

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A name: text where it is valid UTF-8, else its bytes in base64.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Name<'a> {
    /// As it is.
    Text(Cow<'a, str>),
    /// In base64.
    Bytes(Cow<'a, str>),
}

impl<'a> Name<'a> {
    /// Of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        match str::from_utf8(bytes) {
            Ok(text) => Self::Text(Cow::Borrowed(text)),
            Err(_) => Self::Bytes(Cow::Owned(BASE64_STANDARD.encode(bytes))),
        }
    }

    /// Of a path.
    pub fn of_path(path: &'a Path) -> Self {
        Self::new(path.as_os_str().as_bytes())
    }

    /// Of each of these.
    pub fn all(names: &'a [Vec<u8>]) -> Vec<Self> {
        names.iter().map(|name| Self::new(name)).collect()
    }

    /// `None` if what should be base64 is not.
    pub fn into_bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.into_owned().into_bytes()),
            Self::Bytes(encoded) => BASE64_STANDARD.decode(encoded.as_bytes()).ok(),
        }
    }
}

/// Writes a path as a [`Name`].
pub fn serialize_path<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    Name::of_path(path).serialize(to)
}

/// Any bytes, which are a [`Name`] in JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Raw(pub Vec<u8>);

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Name::new(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Name::deserialize(deserializer)?.into_bytes();
        bytes
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("the bytes of a name are not valid base64"))
    }
}
