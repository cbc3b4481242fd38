//! A stand-in for NFS and SMB, whose clients not every kernel has: a real folder is the server, and each mount of it a
//! client with a cache of its own. Root only.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tempfile::TempDir;

use super::daemon::Daemon;
pub use super::mirror::Rules;
use super::mirror::{Mirror, Server};

/// A client's mount, and the server behind it. Unmounted when dropped.
pub struct Standin {
    mounted: Daemon,
    _top: TempDir,
    folder: Arc<TempDir>,
    server: Arc<Server>,
    rules: Rules,
    client: u64,
}

impl Standin {
    /// A server without files, mounted once.
    pub fn new(rules: Rules) -> Self {
        let folder = Arc::new(folder());
        Self::client(folder, Arc::default(), rules, 0)
    }

    /// The same files, mounted once more, as by another machine.
    pub fn again(&self) -> Self {
        let (folder, server) = (Arc::clone(&self.folder), Arc::clone(&self.server));
        Self::client(folder, server, self.rules, self.client + 1)
    }

    fn client(folder: Arc<TempDir>, server: Arc<Server>, rules: Rules, client: u64) -> Self {
        let top = self::folder();
        let name = format!("server:{}", folder.path().display());
        let mut mirror = Mirror::new(folder.path(), rules, Arc::clone(&server), client);
        let place = top.path().to_owned();
        let mounted = Daemon::named([&name, "fuse.standin"], place, move |request| {
            mirror.answer(request)
        });
        Self {
            mounted,
            _top: top,
            folder,
            server,
            rules,
            client,
        }
    }

    /// Where it is mounted.
    pub fn point(&self) -> &Path {
        self.mounted.path()
    }

    /// Where the server has its files.
    pub fn server_folder(&self) -> &Path {
        self.folder.path()
    }

    /// Sets the server's clock forward.
    pub fn advance(&self, by: Duration) {
        self.server.ahead.fetch_add(by.as_secs(), Ordering::SeqCst);
    }

    /// How often clients asked about the file system (STATFS).
    pub fn statfs(&self) -> u32 {
        self.server.statfs.load(Ordering::SeqCst)
    }

    /// The contents of all files of the server, by its own look at them.
    pub fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = walkdir::WalkDir::new(self.folder.path()).sort_by_file_name();
        let files = entries.into_iter().map(|entry| entry.expect("an entry"));
        let files = files.filter(|entry| entry.file_type().is_file());
        let below = |path: &Path| {
            path.strip_prefix(self.folder.path())
                .expect("below")
                .to_owned()
        };
        files
            .map(|entry| (below(entry.path()), fs::read(entry.path()).expect("a file")))
            .collect()
    }
}

fn folder() -> TempDir {
    let folder = tempfile::Builder::new()
        .prefix("seekless-standin-")
        .tempdir();
    folder.expect("a temporary folder can be made")
}
