//! Compares the ground truth, which was known before the files were, with the files.

use std::collections::HashMap;
use std::path::Path;

use super::corpus::hashing::{Identity, identities};
use super::corpus::truth;

/// Compares a truth that was constructed with the bytes that are there; returns the number of files.
pub fn check_truth(dir: &Path) -> Result<usize, String> {
    let told = truth::read(&truth::path_for(dir)).map_err(|error| error.to_string())?;
    let mut found: HashMap<_, _> = identities(dir)
        .map_err(|error| error.to_string())?
        .into_iter()
        .collect();
    let mut identity_of: HashMap<Option<u64>, Identity> = HashMap::new();
    let mut set_of: HashMap<Identity, Option<u64>> = HashMap::new();
    let count = told.len();
    for (set, path) in told {
        let name = String::from_utf8_lossy(&truth::escape(&path)).into_owned();
        let identity = found
            .remove(&path)
            .ok_or_else(|| format!("{name} is not there"))?;
        let same_set = *identity_of.entry(set).or_insert(identity) == identity;
        let same_identity = *set_of.entry(identity).or_insert(set) == set;
        if !same_set || !same_identity || set.is_none() != (identity.0 == 0) {
            return Err(format!("{name} is in the wrong set"));
        }
    }
    match found.into_keys().next() {
        Some(path) => Err(format!(
            "{} is not in the truth",
            String::from_utf8_lossy(&truth::escape(&path))
        )),
        None => Ok(count),
    }
}
