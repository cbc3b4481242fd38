//! Bytes as text, a character for each: compact where they are ASCII, and never lossy.

use serde::{Deserialize, Deserializer, Serializer};

pub fn serialize<S: Serializer>(bytes: &[u8], out: S) -> Result<S::Ok, S::Error> {
    let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    out.serialize_str(&text)
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(from)?;
    let byte = |c| u8::try_from(u32::from(c)).map_err(serde::de::Error::custom);
    text.chars().map(byte).collect()
}
