//! Writes a corpus to the disk: one thread decides, several write.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::content::Content;
use super::truth;

/// Handing over one file at a time would cost more than writing it.
const BATCH_FILES: usize = 256;
/// A batch of large files ends early, so that all threads have some.
const BATCH_BYTES: u64 = 4 << 20;
const BUFFER: usize = 256 << 10;

/// Files to write, with their places relative to the root.
type Batch = Vec<(PathBuf, Content)>;

/// A corpus being written.
pub struct Tree {
    root: PathBuf,
    truth: truth::Writer,
    folders: HashSet<PathBuf>,
    batch: Batch,
    batch_bytes: u64,
    sender: Sender<Batch>,
    writers: Vec<JoinHandle<io::Result<()>>>,
    /// Hard links to make when all files are written: the new name, and one that the file has.
    links: Vec<(PathBuf, PathBuf)>,
    totals: Totals,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub files: u64,
    pub bytes: u64,
}

impl Tree {
    /// Starts a corpus in the new folder `root`, with its truth beside it.
    pub fn create(root: &Path, header: &str) -> io::Result<Self> {
        let truth = truth::Writer::create(root, header)?;
        fs::create_dir_all(root)?;
        let threads = (2 * thread::available_parallelism()?.get()).clamp(4, 32);
        let (sender, receiver) = bounded::<Batch>(2 * threads);
        let writers = (0..threads)
            .map(|_| {
                let (root, receiver) = (root.to_owned(), receiver.clone());
                thread::spawn(move || write_all(&root, &receiver))
            })
            .collect();
        Ok(Self {
            root: root.to_owned(),
            truth,
            folders: HashSet::new(),
            batch: Batch::new(),
            batch_bytes: 0,
            sender,
            writers,
            links: Vec::new(),
            totals: Totals::default(),
        })
    }

    /// Adds a file; the path is relative to the root and was not used before.
    pub fn file(&mut self, relative: impl AsRef<[u8]>, content: Content) -> io::Result<()> {
        let path = self.name(relative.as_ref(), content)?;
        self.totals.bytes += content.len();
        self.batch_bytes += content.len();
        self.batch.push((path, content));
        if self.batch.len() >= BATCH_FILES || self.batch_bytes >= BATCH_BYTES {
            self.send()?;
        }
        Ok(())
    }

    /// Adds a further name of a file that was added before, with this content.
    pub fn link(&mut self, relative: &str, file: &str, content: Content) -> io::Result<()> {
        let path = self.name(relative.as_bytes(), content)?;
        self.links.push((path, file.into()));
        Ok(())
    }

    /// Makes the folder for a name, and writes down its content.
    fn name(&mut self, relative: &[u8], content: Content) -> io::Result<PathBuf> {
        let path = PathBuf::from(OsStr::from_bytes(relative));
        if let Some(folder) = path.parent()
            && !self.folders.contains(folder)
        {
            fs::create_dir_all(self.root.join(folder))?;
            self.folders.insert(folder.to_owned());
        }
        self.truth.line(content.set(), relative)?;
        self.totals.files += 1;
        Ok(path)
    }

    /// Waits until everything is written and, if it was `decided` to the end, marks the corpus as complete.
    pub fn finish(mut self, decided: io::Result<()>) -> io::Result<Totals> {
        let sent = self.send();
        drop(self.sender);
        for writer in self.writers {
            writer
                .join()
                .map_err(|_| io::Error::other("a writing thread panicked"))??;
        }
        decided.and(sent)?;
        for (name, file) in &self.links {
            fs::hard_link(self.root.join(file), self.root.join(name))?;
        }
        self.truth.finish()?;
        Ok(self.totals)
    }

    fn send(&mut self) -> io::Result<()> {
        self.batch_bytes = 0;
        let batch = std::mem::take(&mut self.batch);
        self.sender
            .send(batch)
            .map_err(|_| io::Error::other("all writing threads have stopped"))
    }
}

fn write_all(root: &Path, batches: &Receiver<Batch>) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    for (relative, content) in batches.iter().flatten() {
        let path = root.join(&relative);
        File::create_new(&path)
            .and_then(|mut file| content.write(&mut file, &mut buffer))
            .map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            })?;
    }
    Ok(())
}
