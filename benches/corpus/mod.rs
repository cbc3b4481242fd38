//! Corpora: seeded trees of files whose duplicates are known because they were made so.

use std::fs;
use std::io;
use std::path::Path;

mod content;
pub mod hashing;
mod rng;
mod tree;
pub mod truth;

mod adversarial;
mod backup;
mod copies;
mod huge;
mod names;
mod photos;
mod real;
mod sparse;
mod tiny;

pub use tree::Totals;
use tree::Tree;

/// A kind of corpus. A new one is a new file and a line in [`CORPORA`].
pub struct Corpus {
    pub name: &'static str,
    pub summary: &'static str,
    /// What its name and the options do not say, but its bytes depend on; another value makes it anew.
    version: u32,
    make: Make,
}

/// How a corpus comes to be.
enum Make {
    /// From recipes: the truth is known by construction.
    Seeded(fn(&mut Tree, &Options) -> io::Result<()>),
    /// From what lies on this machine: the truth is found by hashing every file in full.
    Found(fn(&Path, &str, &Options) -> io::Result<Totals>),
}

/// All corpora.
pub const CORPORA: &[Corpus] = &[
    photos::CORPUS,
    backup::CORPUS,
    backup::LINKS,
    tiny::CORPUS,
    adversarial::CORPUS,
    huge::CORPUS,
    copies::CORPUS,
    names::CORPUS,
    real::CORPUS,
    sparse::CORPUS,
];

/// What can be asked of a corpus.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Size of the corpora as a share of the full ones
    #[arg(long, default_value_t = 1.0, value_name = "X")]
    pub scale: f64,
    /// Another number gives other bytes and another tree
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Number of files of the corpus `sparse` (before scaling)
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    pub files: u64,
    /// Put all files of the corpus `sparse` into one folder
    #[arg(long)]
    pub flat: bool,
    /// Give the files of the corpus `sparse` real bytes (4 KiB of disk each) instead of holes
    #[arg(long)]
    pub data: bool,
}

impl Options {
    /// A full-scale number at this scale, at least 1.
    fn scaled(&self, full: u64) -> u64 {
        ((full as f64 * self.scale).round() as u64).max(1)
    }
}

/// The corpus with this name.
pub fn named(name: &str) -> Result<&'static Corpus, String> {
    CORPORA
        .iter()
        .find(|corpus| corpus.name == name)
        .ok_or_else(|| {
            let names: Vec<_> = CORPORA.iter().map(|corpus| corpus.name).collect();
            format!(
                "no corpus is named {name:?}; there are {}",
                names.join(", ")
            )
        })
}

impl Corpus {
    /// Makes the corpus in `dir` unless it is there already; says what was written.
    pub fn build(&self, dir: &Path, options: &Options) -> io::Result<Option<Totals>> {
        let header = self.header(options);
        let truth = truth::path_for(dir);
        if dir.is_dir() && truth::header(&truth).is_some_and(|found| found == header) {
            return Ok(None);
        }
        clear(dir, &truth)?;
        let totals = match self.make {
            Make::Seeded(make) => {
                let mut tree = Tree::create(dir, &header)?;
                let made = make(&mut tree, options);
                tree.finish(made)?
            }
            Make::Found(make) => make(dir, &header, options)?,
        };
        Ok(Some(totals))
    }

    fn header(&self, options: &Options) -> String {
        let Options {
            scale,
            seed,
            files,
            flat,
            data,
        } = options;
        let mut header = format!(
            "seekless corpus {} version {} scale {scale} seed {seed}",
            self.name, self.version
        );
        if self.name == sparse::CORPUS.name {
            header += &format!(" files {files} flat {flat} data {data}");
        }
        header
    }
}

/// Removes what is left of an earlier corpus, but never a folder that is something else.
fn clear(dir: &Path, truth: &Path) -> io::Result<()> {
    let unfinished = truth::unfinished(truth);
    let ours = truth::header(truth)
        .or_else(|| truth::header(&unfinished))
        .is_some_and(|h| h.starts_with("seekless corpus "));
    if dir.exists() && !ours && fs::read_dir(dir)?.next().is_some() {
        return Err(io::Error::other(format!(
            "{} is not empty and not a corpus; give another folder",
            dir.display()
        )));
    }
    // The folder goes first: as long as anything of it is there, a truth file tells whose it is.
    for (gone, path) in [
        (fs::remove_dir_all(dir), dir),
        (fs::remove_file(truth), truth),
        (fs::remove_file(&unfinished), &unfinished),
    ] {
        match gone {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(io::Error::new(
                    error.kind(),
                    format!("{}: {error}", path.display()),
                ));
            }
            _ => {}
        }
    }
    if let Some(parent) = dir.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(())
}
