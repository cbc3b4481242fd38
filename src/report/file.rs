//! A report in a file: there as a whole or not at all.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use super::escape::escape;

/// Says why the report could not be put into its file, and what may help.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the report to {}: {cause}{}", shown(.path), way_out(.path, .cause))]
pub struct OutputError {
    /// The file as the user named it.
    pub path: PathBuf,
    /// What the system said.
    pub cause: io::Error,
}

/// A file that appears under its name only when [`Output::finish`] succeeds.
///
/// Until then the report grows in a temporary file in the same folder, which goes when the value
/// is dropped. Devices, pipes and `/dev/stdout` cannot be replaced and are written directly.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Replace {
        content: BufWriter<File>,
        temporary: TempPath,
        /// Where the name leads when it is a symbolic link.
        file: PathBuf,
    },
    Direct(BufWriter<File>),
}

impl Output {
    /// Makes sure that the file can be written, before any work is done for it.
    pub fn create(path: &Path) -> Result<Self, OutputError> {
        let path = path.to_owned();
        match Target::open(&path) {
            Ok(target) => Ok(Self { path, target }),
            Err(cause) => Err(OutputError { path, cause }),
        }
    }

    /// Names the file in an error that came out of writing to it.
    pub fn error(&self, cause: io::Error) -> OutputError {
        OutputError {
            path: self.path.clone(),
            cause,
        }
    }

    /// Puts the report in its place, after all of it has reached the disk.
    pub fn finish(self) -> Result<(), OutputError> {
        let path = self.path;
        self.target
            .finish()
            .map_err(|cause| OutputError { path, cause })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Replace { content, .. } => content.write(bytes),
            Target::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Replace { content, .. } => content.flush(),
            Target::Direct(file) => file.flush(),
        }
    }
}

const BUFFER: usize = 1 << 16;

impl Target {
    fn open(path: &Path) -> io::Result<Self> {
        let existing = match fs::metadata(path) {
            Ok(existing) => Some(existing),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let replaceable = existing
            .as_ref()
            .is_none_or(|found| found.is_file() || found.is_dir());
        if !replaceable || is_own_descriptor(path) {
            // Appending spares what a shell's >> has there already.
            let file = OpenOptions::new().append(true).open(path)?;
            return Ok(Self::Direct(BufWriter::with_capacity(BUFFER, file)));
        }
        let file = match &existing {
            Some(_) => {
                // Replacing needs no permission on the file itself; ask for it all the same, as
                // whoever wrote-protected it expects. A folder is refused here, too.
                OpenOptions::new().write(true).open(path)?;
                fs::canonicalize(path)?
            }
            None => path.to_owned(),
        };
        let (content, temporary) = create_beside(&file)?.into_parts();
        if let Some(found) = existing {
            // Only root can give a file away; anyone else owns the new file, as with an editor.
            let _ = fchown(&content, Some(found.uid()), Some(found.gid()));
            content.set_permissions(Permissions::from_mode(found.mode() & 0o7777))?;
        }
        Ok(Self::Replace {
            content: BufWriter::with_capacity(BUFFER, content),
            temporary,
            file,
        })
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Direct(mut file) => file.flush(),
            Self::Replace {
                content,
                temporary,
                file,
            } => {
                let content = content.into_inner();
                content
                    .map_err(io::IntoInnerError::into_error)?
                    .sync_all()?;
                temporary.persist(&file)?;
                // The report is in place. If the folder cannot be synced (some file systems do
                // not know how), a power cut may bring the old report back, as a whole.
                let _ = File::open(folder_of(&file)).and_then(|folder| folder.sync_all());
                Ok(())
            }
        }
    }
}

/// Makes a temporary file in the folder of `file`, with the permissions of any new file.
fn create_beside(file: &Path) -> io::Result<NamedTempFile<File>> {
    // tempfile puts the temporary name into its errors, which tells the user nothing.
    let mut code = None;
    tempfile::Builder::new()
        .prefix(".seekless-")
        .make_in(folder_of(file), |path| {
            let mut options = OpenOptions::new();
            let opened = options.write(true).create_new(true).open(path);
            opened.inspect_err(|error| code = error.raw_os_error())
        })
        .map_err(|error| code.map_or(error, io::Error::from_raw_os_error))
}

/// `/dev/stdout` may lead to a regular file, but that file is the shell's and stays.
fn is_own_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stdout")
        || path == Path::new("/dev/stderr")
        || path.starts_with("/dev/fd")
        || path.starts_with("/proc")
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn shown(path: &Path) -> String {
    escape(path.as_os_str().as_encoded_bytes()).into_owned()
}

fn way_out(path: &Path, cause: &io::Error) -> String {
    use io::ErrorKind::{
        IsADirectory, NotFound, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
    };
    match cause.kind() {
        StorageFull | QuotaExceeded => "; free some space or choose another disk".to_owned(),
        NotFound => format!("; make the folder {} first", shown(folder_of(path))),
        IsADirectory => {
            format!(
                "; name a file in it, as in {}",
                shown(&path.join("duplicates.txt"))
            )
        }
        PermissionDenied | ReadOnlyFilesystem => {
            "; choose a file and folder that you may write to".to_owned()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::symlink;

    use super::*;

    type Tested = Result<(), Box<dyn std::error::Error>>;

    fn write(path: &Path, content: &[u8]) -> Result<(), OutputError> {
        let mut output = Output::create(path)?;
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
    fn a_file_appears_when_it_is_finished_and_not_before() -> Tested {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("report");
        let mut output = Output::create(&path)?;
        output.write_all(b"half")?;
        output.flush()?;
        assert!(!path.exists());
        drop(output);
        assert!(names_in(folder.path())?.is_empty());
        write(&path, b"whole")?;
        assert_eq!(fs::read(&path)?, b"whole");
        assert_eq!(names_in(folder.path())?, ["report"]);
        Ok(())
    }

    #[test]
    fn an_existing_file_keeps_its_mode_and_its_links_name() -> Tested {
        let folder = tempfile::tempdir()?;
        let (path, link) = (folder.path().join("report"), folder.path().join("link"));
        fs::write(&path, "old and longer")?;
        fs::set_permissions(&path, Permissions::from_mode(0o640))?;
        symlink("report", &link)?;
        write(&link, b"new")?;
        assert_eq!(fs::read(&path)?, b"new");
        assert_eq!(fs::metadata(&path)?.mode() & 0o7777, 0o640);
        assert!(fs::symlink_metadata(&link)?.is_symlink());
        Ok(())
    }

    #[test]
    fn a_new_file_has_the_usual_mode() -> Tested {
        let folder = tempfile::tempdir()?;
        let (usual, ours) = (folder.path().join("usual"), folder.path().join("ours"));
        fs::write(&usual, "")?;
        write(&ours, b"")?;
        assert_eq!(fs::metadata(ours)?.mode(), fs::metadata(usual)?.mode());
        Ok(())
    }

    #[test]
    fn what_cannot_be_written_is_named_with_a_way_out() -> Tested {
        let folder = tempfile::tempdir()?;
        let missing = folder.path().join("no\nsuch/report");
        for (path, parts) in [
            (
                Path::new("/dev/full"),
                ["/dev/full: No space left", "; free some space"],
            ),
            (&missing, ["no\\nsuch/report: No such file", "such first"]),
            (folder.path(), [": Is a directory", "/duplicates.txt"]),
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
