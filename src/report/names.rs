//! Bytes of a name as a field of JSON: a [`Name`].

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::file::{Name, Raw};

pub fn serialize<S: Serializer>(name: &[u8], to: S) -> Result<S::Ok, S::Error> {
    Name::new(name).serialize(to)
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    Raw::deserialize(from).map(|name| name.0)
}

/// An array of names.
pub mod several {
    use super::*;

    pub fn serialize<S: Serializer>(names: &[Vec<u8>], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(names.iter().map(|name| Name::new(name)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Vec<u8>>, D::Error> {
        let names: Vec<Raw> = Vec::deserialize(from)?;
        Ok(names.into_iter().map(|name| name.0).collect())
    }
}
