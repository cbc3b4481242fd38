//! A result in a file: there as a whole or not at all.

mod error;
mod place;

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use place::{Found, OutputPlace, PARQUET, START, is_catalog, is_result};
use rustix::fs::FileType;
use rustix::io::Errno;

use crate::file::trust;
use crate::heartbeat::current;
use crate::sys::attributes::{self, Attributes};
use crate::sys::stat::{self, Stat};
use crate::sys::statfs::{self, ServedBy};
use crate::sys::{names, open, sync, write};

pub use error::{Cause, OutputError};
pub use place::{PLAN, Replaced};

/// A file that appears under its name only when [`Output::finish`] succeeds.
///
/// Until then the report grows in a temporary file in the same folder, which goes when the value
/// is dropped. Devices, pipes and `/dev/stdout` cannot be replaced and are written directly.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    content: BufWriter<WatchedFile>,
    /// `None` if the file is written directly.
    temporary: Option<Box<Temporary>>,
}

/// A file that names itself before each call to a server or a daemon: a thread that watches this one knows what it
/// waits for. A disk may need minutes to write what waits for it, and no result of hours of work is given up for that.
#[derive(Debug)]
struct WatchedFile {
    file: File,
    path: PathBuf,
    is_local: bool,
}

impl WatchedFile {
    fn ask<T>(&self, call: impl FnOnce(&File) -> T) -> T {
        if !self.is_local {
            current::ask_about(self.path.as_os_str().as_bytes());
        }
        let answer = call(&self.file);
        current::rest();
        answer
    }
}

impl Write for WatchedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.ask(|mut file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output {
    /// Makes sure that the file can be written, before any work is done for it. A new file that root makes is
    /// for root only: it may name files of users who need not know of each other. An existing file that is not empty
    /// is replaced only if it is an earlier result.
    pub fn create(path: &Path, replaced: Replaced) -> Result<Self, OutputError> {
        Self::open(path, replaced).map_err(|cause| OutputError {
            path: path.to_owned(),
            cause,
        })
    }

    /// Names the file in an error that came out of writing to it.
    pub fn error(&self, cause: io::Error) -> OutputError {
        OutputError {
            path: self.path.clone(),
            cause: cause.into(),
        }
    }

    /// Puts the result in its place, after all of it has reached the disk.
    pub fn finish(self) -> Result<(), OutputError> {
        let Self {
            path,
            content,
            temporary,
        } = self;
        let content = content.into_inner().map_err(io::IntoInnerError::into_error);
        let finished = content.map_err(Cause::from).and_then(|content| {
            temporary.map_or(Ok(()), |mut temporary| {
                put_in_place(&content, &mut temporary)
            })
        });
        finished.map_err(|cause| OutputError { path, cause })
    }

    fn open(path: &Path, replaced: Replaced) -> Result<Self, Cause> {
        let output = |file: OwnedFd, is_local, temporary: Option<Temporary>| {
            let content = WatchedFile {
                file: file.into(),
                path: path.to_owned(),
                is_local,
            };
            Ok(Self {
                path: path.to_owned(),
                content: BufWriter::with_capacity(BUFFER, content),
                temporary: temporary.map(Box::new),
            })
        };
        let direct = |file| output(file, true, None);
        let place = match place::find(path)? {
            Found::Open(file) => return direct(file),
            Found::Name(place) => OutputPlace { replaced, ..place },
        };
        let mut mode = if trust::me() == 0 { 0o600 } else { 0o666 };
        let mut kept = None;
        if let Some((stat, access)) = &place.existing {
            if stat.kind != FileType::RegularFile {
                return direct(special(&place, stat, access)?);
            }
            replaceable(&place, stat, access)?;
            // Whoever owns the folder may have given it an ACL that new files inherit.
            let is_ours = access.uid == trust::me() && stat.links == 1;
            if is_ours && trust::is_ours_or_roots(place.access.uid) {
                kept = Some(*access);
                mode = 0o600;
            }
        }
        let (temporary, content) = Temporary::beside(place, mode)?;
        if let Some(kept) = kept {
            // Rights that were given to one group are not for another one.
            let group = attributes::set_owner(&content, None, kept.gid);
            let mode = kept.mode & if group.is_ok() { 0o777 } else { 0o707 };
            attributes::set_mode(&content, mode)?;
        }
        let is_local = statfs::served_by(&content) != ServedBy::Others;
        output(content, is_local, Some(temporary))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.content.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.content.flush()
    }
}

const BUFFER: usize = 1 << 16;

fn put_in_place(content: &WatchedFile, temporary: &mut Temporary) -> Result<(), Cause> {
    content.ask(File::sync_all)?;
    content.ask(|file| temporary.replace(file))?;
    // The result is in place. If the folder cannot be synced (some file systems do
    // not know how), a power cut may bring the old one back, as a whole.
    let _ = content.ask(|_| sync::folder(&temporary.place.folder));
    Ok(())
}

/// Opens what is neither a file nor a folder.
fn special(place: &OutputPlace, stat: &Stat, access: &Attributes) -> Result<OwnedFd, Cause> {
    // Users cannot make devices.
    let anybody_makes = matches!(stat.kind, FileType::Fifo | FileType::Socket);
    let is_ours = trust::is_ours_or_roots(access.uid) && stat.links == 1;
    if anybody_makes && !place.is_safe() && !is_ours {
        return Err(Cause::Fifo);
    }
    // A FIFO is opened when a program reads it.
    let file = open::for_appending(&place.folder, &place.name, false)?;
    let now = stat::descriptor(&file)?;
    if (now.dev, now.ino) == (stat.dev, stat.ino) {
        Ok(file)
    } else {
        Err(Cause::Replaced)
    }
}

/// Makes sure that a file may be replaced: it is empty or an earlier result, and whoever write-protected it expects
/// that nobody can, while replacing needs no permission on the file itself.
fn replaceable(place: &OutputPlace, stat: &Stat, access: &Attributes) -> Result<(), Cause> {
    if stat.links > 1 && !place.is_safe() {
        return Err(Cause::SeveralNames);
    }
    drop(open::for_writing(&place.folder, &place.name)?);
    // What the rename would say at the end.
    let owners = [place.access.uid, access.uid];
    let is_sticky = trust::is_sticky(&place.access);
    if is_sticky && !trust::is_root() && !owners.contains(&trust::me()) {
        return Err(Errno::PERM.into());
    }
    if stat.size == 0 || is_ours(place).unwrap_or(false) {
        Ok(())
    } else {
        Err(Cause::NotOurs)
    }
}

/// True if the existing file is an earlier result, by the bytes at its start, or those at the end of a catalog.
fn is_ours(place: &OutputPlace) -> io::Result<bool> {
    let mut file = File::from(open::file(&place.folder, &place.name, false)?);
    let mut bytes = Vec::new();
    (&file).take(START).read_to_end(&mut bytes)?;
    if !bytes.starts_with(PARQUET) {
        return Ok(place.replaced == Replaced::Reports && is_result(&bytes));
    }
    let from = file.metadata()?.len().saturating_sub(START);
    file.seek(SeekFrom::Start(from))?;
    bytes.clear();
    file.take(START).read_to_end(&mut bytes)?;
    Ok(place.replaced == Replaced::Catalogs && is_catalog(&bytes))
}

/// A file beside the place of a result, which goes with the value unless it gets that name. Where the file system can,
/// it has no name until then, and nothing is left of it however the process ends.
#[derive(Debug)]
struct Temporary {
    /// Where the result goes.
    place: OutputPlace,
    name: CString,
    is_there: bool,
}

impl Temporary {
    /// Makes one, for its owner or as the mode says.
    fn beside(place: OutputPlace, mode: u32) -> Result<(Self, OwnedFd), Cause> {
        let random = RandomState::new().hash_one(mode);
        let name = CString::new(format!(".seekless-{random:016x}")).unwrap_or_default();
        // Without /proc, the file could not get a name at the end.
        let unnamed = if Path::new("/proc/self/fd").exists() {
            write::without_name(&place.folder, mode)?
        } else {
            None
        };
        let is_there = unnamed.is_none();
        let file = match unnamed {
            Some(file) => file,
            None => write::create_with(&place.folder, &name, mode)?,
        };
        let temporary = Self {
            place,
            name,
            is_there,
        };
        Ok((temporary, file))
    }

    /// Gives the file the name of the place, if that name is free or may still be replaced.
    fn replace(&mut self, file: &File) -> Result<(), Cause> {
        let place = &self.place;
        if !self.is_there {
            names::link_open_file(file, &place.folder, &self.name)?;
            self.is_there = true;
        }
        let done = match attributes::entry(&place.folder, &place.name) {
            Err(Errno::NOENT) => {
                names::rename_no_replace(&place.folder, &self.name, &place.folder, &place.name)
            }
            Ok((stat, access)) if may_go(place, &stat, &access) => {
                names::rename(&place.folder, &self.name, &place.name)
            }
            Ok(_) => Err(Errno::EXIST),
            Err(error) => Err(error),
        };
        match done {
            Err(Errno::EXIST) => {
                self.is_there = false;
                let folder = open::path_of(&place.folder).unwrap_or_default();
                let folder = PathBuf::from(OsString::from_vec(folder));
                let name = OsStr::from_bytes(self.name.to_bytes());
                Err(Cause::Changed(folder.join(name)))
            }
            Err(error) => Err(error.into()),
            Ok(()) => {
                self.is_there = false;
                Ok(())
            }
        }
    }
}

fn may_go(place: &OutputPlace, stat: &Stat, access: &Attributes) -> bool {
    stat.kind == FileType::RegularFile && replaceable(place, stat, access).is_ok()
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.is_there {
            let _ = names::remove(&self.place.folder, &self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    type Tested = Result<(), Box<dyn std::error::Error>>;

    fn write(path: &Path, content: &[u8]) -> Result<(), OutputError> {
        let mut output = Output::create(path, Replaced::Reports)?;
        output
            .write_all(content)
            .map_err(|cause| output.error(cause))?;
        output.finish()
    }

    fn names_in(folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
        fs::read_dir(folder)?
            .map(|entry| Ok(entry?.file_name()))
            .collect()
    }

    #[test]
    fn a_file_that_appears_or_changes_meanwhile_is_not_replaced() -> Tested {
        for (before, after) in [
            (None, Some("a letter")),
            (Some("# seekless 1"), Some("a letter")),
            (Some("# seekless 1"), None),
            (None, None),
        ] {
            let folder = tempfile::tempdir()?;
            let path = folder.path().join("report");
            if let Some(before) = before {
                fs::write(&path, before)?;
            }
            let mut output = Output::create(&path, Replaced::Reports)?;
            output.write_all(b"report")?;
            let _missing = fs::remove_file(&path);
            let Some(after) = after else {
                output.finish()?;
                assert_eq!(fs::read(&path)?, b"report");
                assert_eq!(names_in(folder.path())?, ["report"]);
                continue;
            };
            fs::write(&path, after)?;
            let said = output.finish().expect_err("not replaced").to_string();
            assert_eq!(fs::read_to_string(&path)?, after);
            let (what, kept) = said.split_once("; the result is in ").ok_or("no path")?;
            assert!(
                what.ends_with("created or changed it during the run"),
                "{said}"
            );
            assert_eq!(fs::read(kept)?, b"report");
        }
        Ok(())
    }

    #[test]
    fn an_existing_file_keeps_its_mode_and_its_links_name() -> Tested {
        let folder = tempfile::tempdir()?;
        let (path, link) = (folder.path().join("report"), folder.path().join("link"));
        fs::write(&path, "# seekless old and longer")?;
        fs::set_permissions(&path, Permissions::from_mode(0o640))?;
        symlink("report", &link)?;
        write(&link, b"new")?;
        assert_eq!(fs::read(&path)?, b"new");
        assert_eq!(fs::metadata(&path)?.mode() & 0o7777, 0o640);
        assert!(fs::symlink_metadata(&link)?.is_symlink());
        Ok(())
    }

    #[test]
    fn a_new_file_has_the_usual_mode_and_that_of_root_is_roots_only() -> Tested {
        let folder = tempfile::tempdir()?;
        let path = |name| folder.path().join(name);
        fs::write(path("usual"), "")?;
        write(&path("report"), b"")?;
        let mode = |name| fs::metadata(path(name)).map(|now| now.mode() & 0o7777);
        let usual = mode("usual")?;
        let is_root = trust::me() == 0;
        assert_eq!(mode("report")?, if is_root { 0o600 } else { usual });
        Ok(())
    }

    #[test]
    fn what_a_link_names_is_made_and_other_names_of_a_file_stay_as_they_are() -> Tested {
        let folder = tempfile::tempdir()?;
        let path = |name| folder.path().join(name);
        symlink("new", path("link"))?;
        write(&path("link"), b"# seekless 1")?;
        assert_eq!(fs::read(path("new"))?, b"# seekless 1");
        assert!(path("link").is_symlink());
        fs::hard_link(path("new"), path("second"))?;
        write(&path("second"), b"another")?;
        assert_eq!(fs::read(path("new"))?, b"# seekless 1");
        assert_eq!(fs::read(path("second"))?, b"another");
        Ok(())
    }

    #[test]
    fn what_cannot_be_written_is_named_with_a_way_out() -> Tested {
        let folder = tempfile::tempdir()?;
        let missing = folder.path().join("no\nsuch/report");
        let letter = tempfile::NamedTempFile::new()?;
        fs::write(&letter, "a letter")?;
        for (path, parts) in [
            (
                Path::new("/dev/full"),
                ["/dev/full: No space left", "; free some space"],
            ),
            (&missing, ["no\\nsuch/report: No such file", "such first"]),
            (folder.path(), [": Is a directory", "/duplicates.txt"]),
            (
                letter.path(),
                [": it exists, and ", "; choose another name"],
            ),
        ] {
            let said = write(path, b"report").map_err(|error| error.to_string());
            let Err(said) = said else {
                return Err("should fail".into());
            };
            assert!(parts.iter().all(|part| said.contains(part)), "{said}");
            assert!(!said.contains(".seekless-"), "{said}");
        }
        assert!(names_in(folder.path())?.is_empty());
        Ok(())
    }

    #[test]
    fn what_is_open_already_or_no_file_is_written_and_not_replaced() -> Tested {
        write(Path::new("/dev/null"), b"report")?;
        assert!(!fs::metadata("/dev/null")?.is_file());
        let mut shells = tempfile::NamedTempFile::new()?;
        shells.write_all(b"before, ")?;
        let descriptor = format!("/proc/self/fd/{}", shells.as_file().as_raw_fd());
        write(Path::new(&descriptor), b"report")?;
        assert_eq!(fs::read(shells.path())?, b"before, report");
        Ok(())
    }
}
