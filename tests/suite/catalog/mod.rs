//! Catalogs say what is on a disk, to seekless and to other programs.

mod create;
mod cut_short;
mod fleet;
mod hostile;
mod in_place;
mod kept;
mod lists;
mod one_way;
mod readers;
mod recognised;
mod tree;
mod update;
mod volumes;
mod wanted;

use std::collections::BTreeMap;
use std::path::Path;

use seekless::catalog::{Catalog, Kind, Row, WholeDigest};

/// What a test asks of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    volume: Option<String>,
    kind: Kind,
    target: Option<Vec<u8>>,
    size: Option<i64>,
    times: [Option<i64>; 2],
    inode: Option<i64>,
    links: Option<i64>,
    owner: [Option<i64>; 3],
    samples: [Option<[u8; 16]>; 2],
    digest: Option<WholeDigest>,
    error: Option<String>,
    is_verified: bool,
}

impl From<&Row<'_>> for Entry {
    fn from(row: &Row<'_>) -> Self {
        Self {
            volume: row.volume.map(str::to_owned),
            kind: row.kind,
            target: row.target.map(<[u8]>::to_vec),
            size: row.size,
            times: [row.mtime_ns, row.ctime_ns],
            inode: row.inode,
            links: row.links,
            owner: [row.mode, row.uid, row.gid],
            samples: [row.head, row.tail].map(|it| it.map(|digest| *digest.as_bytes())),
            digest: row.digest,
            error: row.error.map(str::to_owned),
            is_verified: row.verified_ns.is_some(),
        }
    }
}

/// The rows of a catalog by the path on the file system. Each path has one.
fn entries(catalog: &Path) -> BTreeMap<Vec<u8>, Entry> {
    let catalog = Catalog::open(catalog).expect("a catalog");
    let mut entries = BTreeMap::new();
    let read = catalog.each(|row| {
        let path = match (row.dir, row.name) {
            (dir, b"") => dir.to_owned(),
            (b"", name) => name.to_owned(),
            (b"/", name) => [b"/", name].concat(),
            (dir, name) => [dir, name].join(&b'/'),
        };
        let before = entries.insert(path.clone(), Entry::from(row));
        assert_eq!(before, None, "{}", path.escape_ascii());
    });
    read.expect("readable");
    entries
}
