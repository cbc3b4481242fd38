//! Bytes in JSON: as text where they are UTF-8, else in base64. No name is lost, and most can be read.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::ops::Deref;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// These bytes as a path.
pub fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// A name, as it is in JSON: text where it is valid UTF-8, else its bytes in base64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Name<'a>(pub &'a [u8]);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Spelled<'a> {
    Text(Cow<'a, str>),
    /// In base64.
    Bytes(Cow<'a, str>),
}

impl<'a> Name<'a> {
    /// Of a path.
    pub fn of_path(path: &'a Path) -> Self {
        Self(path.as_os_str().as_bytes())
    }

    /// Of each of these.
    pub fn all(names: &'a [Vec<u8>]) -> Vec<Self> {
        names.iter().map(|name| Self(name)).collect()
    }
}

impl Serialize for Name<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let spelled = match str::from_utf8(self.0) {
            Ok(text) => Spelled::Text(text.into()),
            Err(_) => Spelled::Bytes(BASE64_STANDARD.encode(self.0).into()),
        };
        spelled.serialize(to)
    }
}

/// Writes a path as a [`Name`].
pub fn serialize_path<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    Name::of_path(path).serialize(to)
}

/// Any bytes, which are a [`Name`] in JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Raw(pub Vec<u8>);

impl Deref for Raw {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Name(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Spelled::deserialize(deserializer)? {
            Spelled::Text(text) => Ok(Self(text.into_owned().into_bytes())),
            Spelled::Bytes(encoded) => {
                let bytes = BASE64_STANDARD.decode(encoded.as_bytes());
                let what = "the bytes of a name are not valid base64";
                bytes.map(Self).map_err(|_| D::Error::custom(what))
            }
        }
    }
}
