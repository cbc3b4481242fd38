//! Three snapshots of one tree of small files, with what changes between two backups.

use std::io;

use super::content::Content;
use super::rng::Rng;
use super::tree::Tree;
use super::{Corpus, Make, Options};

pub const CORPUS: Corpus = Corpus {
    name: "backup",
    summary: "200,000 small files (log-normal, median 3 kB) in three snapshots of one tree with a few percent changed",
    version: 1,
    make: Make::Seeded(|tree, options| make(tree, options, 0.0)),
};

/// As programs make them that link what has not changed, run after runs of programs that do not.
pub const LINKS: Corpus = Corpus {
    name: "links",
    summary: "the corpus `backup`; of the unchanged files, three in ten are hard links to the snapshot before",
    version: 1,
    make: Make::Seeded(|tree, options| make(tree, options, 0.3)),
};

const SNAPSHOTS: [&str; 3] = ["2024-01-07", "2024-02-04", "2024-03-03"];
const FILES_A_FOLDER: u64 = 10;
const FOLDERS: [&str; 12] = [
    "src",
    "docs",
    "notes",
    "mail",
    ".config",
    "projects",
    "archive",
    "tests",
    "data",
    "letters",
    "include",
    "old stuff",
];
const STEMS: [&str; 10] = [
    "index", "readme", "report", "main", "draft", "invoice", "module", "list", "config", "memo",
];
const EXTENSIONS: [&str; 10] = [
    "txt", "rs", "c", "h", "html", "json", "md", "png", "eml", "xml",
];

/// A file of the tree that is backed up.
#[derive(Clone)]
struct Node {
    path: String,
    content: Content,
    /// Its path in the snapshot that has it first, or last as a file of its own.
    before: Option<String>,
}

struct Source {
    rng: Rng,
    folders: Vec<String>,
    /// Makes every name new.
    serial: u64,
}

fn make(tree: &mut Tree, options: &Options, linked: f64) -> io::Result<()> {
    let count = options.scaled(200_000 / SNAPSHOTS.len() as u64);
    let mut source = Source::new(options.seed, count / FILES_A_FOLDER);
    let mut links = Rng::new(options.seed + 1);
    let mut nodes = Vec::new();
    for _ in 0..count {
        let node = source.node(&nodes);
        nodes.push(node);
    }
    for (index, snapshot) in SNAPSHOTS.iter().enumerate() {
        if index > 0 {
            nodes = source.evolve(nodes, count / 40);
        }
        for node in &mut nodes {
            let path = format!("{snapshot}/{}", node.path);
            match &node.before {
                Some(before) if links.chance(linked) => tree.link(&path, before, node.content)?,
                _ => {
                    tree.file(&path, node.content)?;
                    node.before = Some(path);
                }
            }
        }
    }
    Ok(())
}

impl Source {
    fn new(seed: u64, folder_count: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut folders = vec!["home".to_owned()];
        for serial in 0..folder_count {
            // Half of the folders are below a recent one: some branches grow deep.
            let recent = if rng.chance(0.5) {
                folders.len().saturating_sub(20)
            } else {
                0
            };
            let parent = rng.pick(&folders[recent..]).clone();
            let parent = if parent.matches('/').count() < 12 {
                parent
            } else {
                folders[0].clone()
            };
            folders.push(format!("{parent}/{}-{serial}", rng.pick(&FOLDERS)));
        }
        Self {
            rng,
            folders,
            serial: 0,
        }
    }

    /// A new file; one in 25 has the content of an earlier one.
    fn node(&mut self, earlier: &[Node]) -> Node {
        let rng = &mut self.rng;
        let content = if rng.chance(0.01) {
            Content::Empty
        } else if !earlier.is_empty() && rng.chance(0.04) {
            rng.pick(earlier).content
        } else {
            random_content(rng)
        };
        Node {
            path: self.path(),
            content,
            before: None,
        }
    }

    fn path(&mut self) -> String {
        self.serial += 1;
        // Folder after folder, with a few files in places of their own.
        let in_turn = (self.serial / FILES_A_FOLDER) as usize % self.folders.len();
        let folder = if self.rng.chance(0.9) {
            &self.folders[in_turn]
        } else {
            self.rng.pick(&self.folders)
        };
        format!(
            "{folder}/{}_{}.{}",
            self.rng.pick(&STEMS),
            self.serial,
            self.rng.pick(&EXTENSIONS)
        )
    }

    /// The tree at the time of the next backup.
    fn evolve(&mut self, nodes: Vec<Node>, added: u64) -> Vec<Node> {
        let mut evolved = Vec::with_capacity(nodes.len());
        for mut node in nodes {
            let fate = self.rng.unit();
            match fate {
                fate if fate < 0.020 => continue,
                fate if fate < 0.035 => node.content = same_size(&mut self.rng, node.content),
                fate if fate < 0.050 => node.content = random_content(&mut self.rng),
                fate if fate < 0.055 => node.path = self.path(),
                _ => {}
            }
            node.before.take_if(|_| fate < 0.055);
            evolved.push(node);
        }
        for _ in 0..added {
            let node = self.node(&evolved);
            evolved.push(node);
        }
        evolved
    }
}

fn random_content(rng: &mut Rng) -> Content {
    let len = rng.log_normal(3000.0, 1.3).clamp(20.0, 4e6) as u64;
    Content::random(rng.bits(), len)
}

/// Another content of the same size; with the same beginning if it is long enough.
fn same_size(rng: &mut Rng, content: Content) -> Content {
    match content {
        Content::Random {
            len, patch: None, ..
        } if len >= 1000 => content.patched(rng.below(len), rng.bits()),
        Content::Random { len, .. } => Content::random(rng.bits(), len),
        other => other,
    }
}
