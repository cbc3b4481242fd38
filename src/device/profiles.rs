//! The profiles that a user saved.
//!
//! One file of JSON for each disk (or set of disks), named after its identity, in a folder of the
//! user's. It is written as a whole or not at all. A file that makes no sense is an error for
//! whoever asks, never a reason to read a disk in a strange way.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::identity::Identity;
use super::profile::{Profile, ProfileError};
use super::volume::Volume;
use crate::file::{OwnFolder, RouteError};

/// Longest readable part of a file's name; most file systems allow 255 bytes in all.
const NAME_BYTES: usize = 180;

/// The folder of a user's profiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profiles {
    folder: PathBuf,
}

impl Profiles {
    /// The profiles in this folder, which need not be there.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The file of a disk's profile, whether or not it is there.
    pub fn path_of(&self, identity: &Identity) -> PathBuf {
        self.folder.join(file_name(&identity.to_string()))
    }

    /// The saved profile of the disks under this volume, if there is one.
    ///
    /// # Errors
    /// If there is a file for them that cannot be used.
    pub fn load_for(&self, volume: &Volume) -> Result<Option<Profile>, ProfileError> {
        let Some(identity) = volume.identity() else {
            return Ok(None);
        };
        let path = self.path_of(&identity);
        let text = match self.read(&path) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(None),
            // Where there is no profile, nothing is missed.
            Err(RouteError::Untrusted(_)) if path.symlink_metadata().is_err() => return Ok(None),
            Err(error) => return Err(ProfileError::unused(path, refused(error))),
        };
        let profile: Profile = match serde_json::from_slice(&text) {
            Ok(profile) => profile,
            Err(error) => return Err(ProfileError::bad(path, &error.to_string())),
        };
        if let Some(why) = profile.nonsense() {
            return Err(ProfileError::bad(path, &why));
        }
        if profile.identity != identity {
            let why = format!("it is for {}, not {identity}", profile.identity);
            return Err(ProfileError::bad(path, &why));
        }
        Ok(Some(profile))
    }

    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, RouteError> {
        let name = path.file_name().and_then(|name| name.to_str());
        let (Some(folder), Some(name)) = (OwnFolder::open(&self.folder)?, name) else {
            return Ok(None);
        };
        let mut text = Vec::new();
        match folder.read(name) {
            Err(RouteError::Io(error)) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file?.read_to_end(&mut text)?,
        };
        Ok(Some(text))
    }

    /// Saves a profile in place of the disk's older one; returns its file.
    ///
    /// # Errors
    /// If the numbers make no sense or the file cannot be written; then the older one is
    /// untouched.
    pub fn save(&self, profile: &Profile) -> Result<PathBuf, ProfileError> {
        let path = self.path_of(&profile.identity);
        if let Some(why) = profile.nonsense() {
            return Err(ProfileError::unsaved(path, io::Error::other(why)));
        }
        match self.replace(&path, profile) {
            Ok(()) => Ok(path),
            Err(error) => Err(ProfileError::unsaved(path, refused(error))),
        }
    }

    fn replace(&self, path: &Path, profile: &Profile) -> Result<(), RouteError> {
        // Nobody else can change where the path leads from here on.
        OwnFolder::make(&self.folder)?;
        let mut text = serde_json::to_vec_pretty(profile).map_err(io::Error::from)?;
        text.push(b'\n');
        let mut file = NamedTempFile::new_in(&self.folder)?;
        file.write_all(&text)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(File::open(&self.folder)?.sync_all()?)
    }
}

/// The reason for distrust with advice, or the error of the system.
fn refused(error: RouteError) -> io::Error {
    match error {
        RouteError::Untrusted(why) => {
            io::Error::other(format!("{why}: {}", why.way_out("XDG_CONFIG_HOME")))
        }
        RouteError::Io(error) => error,
    }
}

/// A file name that says which disk is meant and is different for each.
fn file_name(identity: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let replaced = |c: char| if plain(c) { c } else { '_' };
    let mut name: String = identity.chars().map(replaced).collect();
    if name != identity || name.len() > NAME_BYTES || !name.starts_with(char::is_alphanumeric) {
        name.truncate(NAME_BYTES);
        name = format!("{name}-{:016x}", fnv1a(identity.as_bytes()));
    }
    format!("{}.json", name.trim_start_matches(['.', '-']))
}

/// FNV-1a: a hash that stays what it is, for names that must be found again.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::device::{Cost, Measured, Order, Pools};

    fn profile(identity: &str) -> Profile {
        let identity = serde_json::from_str(identity).expect("a list of names");
        let measured = Measured {
            at: "2026-11-21T05:00:00Z".to_owned(),
            by: "seekless 0.1.0".to_owned(),
            from: "/mnt/photos in 30 s".to_owned(),
        };
        let pools = Pools {
            random_threads: 1,
            depth: 8,
            sequential_streams: 1,
            order: Order::Physical,
        };
        let mut profile = Profile::new(identity, pools, measured);
        profile.cost = Some(Cost {
            seek_us: 12_000,
            bytes_per_second: 150_000_000,
        });
        profile
    }

    #[test]
    fn file_names_tell_the_disk_and_never_meet() {
        assert_eq!(
            file_name("naa.5000c500a1b2c3d4"),
            "naa.5000c500a1b2c3d4.json"
        );
        let long = "naa.5000c500a1b2c3d4, ".repeat(40);
        let names: Vec<_> = ["a b", "a_b", "a/b", "../b", "//b", "..", ".", "", &long]
            .iter()
            .map(|identity| file_name(identity))
            .collect();
        for name in &names {
            assert!(name.len() < 255, "{name}");
            assert!(!name.starts_with('.') && !name.contains('/'), "{name}");
        }
        let mut different = names.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), names.len(), "{names:?}");
    }

    #[test]
    fn a_hash_in_a_name_is_the_same_for_ever() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn what_is_saved_replaces_the_older_one_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let profiles = Profiles::at(folder.path().join("not/yet/there"));
        let mut newer = profile(r#"["naa.5"]"#);
        let path = profiles.save(&newer).expect("saved");
        newer.pools.depth = 16;
        assert_eq!(profiles.save(&newer).expect("saved again"), path);
        let text = fs::read(&path).expect("it is there");
        assert_eq!(
            serde_json::from_slice::<Profile>(&text).expect("whole"),
            newer
        );
        let files = fs::read_dir(path.parent().expect("a folder")).expect("listed");
        assert_eq!(files.count(), 1);
    }

    #[test]
    fn nothing_is_saved_where_others_may_write() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let open_to_all = fs::Permissions::from_mode(0o777);
        fs::set_permissions(folder.path(), open_to_all).expect("mode");
        let error = Profiles::at(folder.path()).save(&profile(r#"["naa.5"]"#));
        let error = error.expect_err("refused").to_string();
        assert!(error.contains("chmod go-w"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 0);
    }

    #[test]
    fn numbers_without_sense_are_neither_saved_nor_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let profiles = Profiles::at(folder.path());
        let mut bad = profile(r#"["naa.5"]"#);
        bad.pools.depth = 0;
        let error = profiles.save(&bad).expect_err("refused");
        assert!(error.to_string().contains("depth is 0"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 0);
    }
}
