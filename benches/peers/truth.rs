//! Reads the sets that a tool found and compares them with the ground truth.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::corpus::truth::{self, escape, unescape};

/// The notation of a tool's answer.
#[derive(Clone, Copy, Debug)]
pub enum Syntax {
    /// A path a line, an empty line between sets.
    Fdupes,
    /// The same with escapes for what is not plain text.
    EscapedFdupes,
    /// Lines of columns, the number of the set being the second and the path the last.
    Rdfind,
    /// JSON: sets by size, each a list of objects with a path.
    Czkawka,
}

/// Which files are equal, as known from how the corpus was made.
pub struct Truth {
    /// The index of each file's set, and the number of the file, which further names of it have as well; files that
    /// are in none are left out.
    set_of: HashMap<Vec<u8>, (usize, u64)>,
    /// How many files each set has.
    members: Vec<usize>,
    /// Bytes of all paths' last parts.
    pub name_bytes: usize,
}

/// How a tool's answer compares with the truth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    Same,
    /// The first difference, in words.
    Differs(String),
}

impl Truth {
    /// Reads the truth of the corpus in `dir`.
    pub fn read(dir: &Path) -> io::Result<Self> {
        let files = truth::read(&truth::path_for(dir))?;
        let number = |path: &[u8]| -> io::Result<u64> {
            let path = dir.join(OsStr::from_bytes(path));
            Ok(fs::symlink_metadata(path)?.ino())
        };
        let numbers: Vec<u64> =
            (files.iter().map(|(_, path)| number(path))).collect::<Result<_, _>>()?;
        let mut counts: HashMap<u64, HashSet<u64>> = HashMap::new();
        for ((set, _), number) in files.iter().zip(&numbers) {
            if let Some(set) = set {
                counts.entry(*set).or_default().insert(*number);
            }
        }
        counts.retain(|_, files| files.len() > 1);
        let counts = counts.into_iter().map(|(set, files)| (set, files.len()));
        let (ids, members): (Vec<_>, Vec<_>) = counts.unzip();
        let index: HashMap<u64, usize> = ids
            .into_iter()
            .enumerate()
            .map(|(index, id)| (id, index))
            .collect();
        let base_name = |path: &[u8]| {
            path.rsplit(|&byte| byte == b'/')
                .next()
                .map_or(0, <[u8]>::len)
        };
        let name_bytes = files.iter().map(|(_, path)| base_name(path)).sum();
        let numbered = files.into_iter().zip(numbers);
        let set_of = numbered
            .filter_map(|((set, path), number)| Some((path, (*index.get(&set?)?, number))))
            .collect();
        Ok(Self {
            set_of,
            members,
            name_bytes,
        })
    }

    /// Compares what a tool wrote about the corpus in `dir`.
    pub fn judge(&self, answer: &Path, syntax: Syntax, dir: &Path) -> io::Result<Agreement> {
        let bytes = fs::read(answer)?;
        let mut root = dir.as_os_str().as_encoded_bytes().to_vec();
        root.push(b'/');
        let sets = match syntax {
            Syntax::Fdupes => fdupes(&bytes, &root, &|path| self.set_of.contains_key(path)),
            Syntax::EscapedFdupes => {
                let sets = fdupes(&bytes, &root, &|_| false).into_iter();
                sets.map(|set| set.iter().map(|path| unescape(path)).collect())
                    .collect()
            }
            Syntax::Rdfind => rdfind(&bytes, &root),
            Syntax::Czkawka => czkawka(&bytes, &root)?,
        };
        Ok(self.compare(sets))
    }

    /// Compares sets of paths relative to the corpus.
    fn compare(&self, sets: Vec<Vec<Vec<u8>>>) -> Agreement {
        let differs = |what: &str, path: &[u8]| {
            let shown = String::from_utf8_lossy(&escape(&path[..path.len().min(60)])).into_owned();
            let more = if path.len() > 60 { "…" } else { "" };
            Agreement::Differs(format!("{what}: {shown}{more}"))
        };
        let mut seen = vec![false; self.members.len()];
        for set in sets {
            let Some(first) = set.first() else { continue };
            let Some(&(index, _)) = self.set_of.get(first) else {
                return differs("in a set, but has no duplicate", first);
            };
            let index_of = |path| self.set_of.get(path).map(|&(index, _)| index);
            if let Some(stranger) = set.iter().find(|path| index_of(*path) != Some(index)) {
                return differs("in a set with files of another content", stranger);
            }
            let numbers = set.iter().map(|path| self.set_of.get(path).map(|of| of.1));
            let distinct = numbers.collect::<HashSet<_>>().len();
            if distinct != set.len() {
                return differs("a file is named twice in the set of", first);
            }
            if set.len() != self.members[index] {
                return differs(
                    &format!(
                        "{} of {} files in the set of",
                        set.len(),
                        self.members[index]
                    ),
                    first,
                );
            }
            if std::mem::replace(&mut seen[index], true) {
                return differs("two sets of one content", first);
            }
        }
        match seen.iter().filter(|&&seen| !seen).count() {
            0 => Agreement::Same,
            missing => Agreement::Differs(format!("{missing} of {} sets are missing", seen.len())),
        }
    }
}

/// Every path begins with the root, so a line that does not is the rest of a name with a newline in it. Whether an
/// empty line belongs to a name or separates two sets only `known` names can tell.
fn fdupes(bytes: &[u8], root: &[u8], known: &dyn Fn(&[u8]) -> bool) -> Vec<Vec<Vec<u8>>> {
    let mut sets: Vec<Vec<Vec<u8>>> = vec![Vec::new()];
    let mut empty_lines = 0;
    for line in bytes
        .strip_suffix(b"\n")
        .unwrap_or(bytes)
        .split(|&byte| byte == b'\n')
    {
        if line.is_empty() {
            empty_lines += 1;
            continue;
        }
        let last = sets.last_mut().expect("there is always a set");
        match (line.strip_prefix(root), last.last_mut()) {
            (None, None) => {}
            (None, Some(path)) => {
                path.extend(std::iter::repeat_n(b'\n', empty_lines + 1));
                path.extend(line);
            }
            (Some(relative), None) => last.push(relative.to_vec()),
            (Some(relative), Some(path)) => {
                if end_in_newlines(path, empty_lines, known) == empty_lines {
                    last.push(relative.to_vec());
                } else {
                    sets.push(vec![relative.to_vec()]);
                }
            }
        }
        empty_lines = 0;
    }
    if let Some(path) = sets.last_mut().and_then(|set| set.last_mut()) {
        end_in_newlines(path, empty_lines, known);
    }
    sets.retain(|set| !set.is_empty());
    sets
}

/// Adds as many newlines to a path, up to `most`, as make it a known one; says how many.
fn end_in_newlines(path: &mut Vec<u8>, most: usize, known: &dyn Fn(&[u8]) -> bool) -> usize {
    let len = path.len();
    path.extend(std::iter::repeat_n(b'\n', most));
    while path.len() > len && !known(path) {
        path.pop();
    }
    path.len() - len
}

fn rdfind(bytes: &[u8], root: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let mut sets: HashMap<Vec<u8>, Vec<Vec<u8>>> = HashMap::new();
    let mut last: Option<Vec<u8>> = None;
    for line in bytes
        .strip_suffix(b"\n")
        .unwrap_or(bytes)
        .split(|&byte| byte == b'\n')
    {
        if line.starts_with(b"DUPTYPE_") {
            let columns: Vec<&[u8]> = line.splitn(8, |&byte| byte == b' ').collect();
            let [_, id, .., path] = columns[..] else {
                continue;
            };
            let id = id.strip_prefix(b"-").unwrap_or(id).to_vec();
            let relative = path.strip_prefix(root).unwrap_or(path);
            sets.entry(id.clone()).or_default().push(relative.to_vec());
            last = Some(id);
        } else if let Some(path) = last
            .as_ref()
            .and_then(|id| sets.get_mut(id))
            .and_then(|set| set.last_mut())
            && line != b"# end of file"
        {
            path.push(b'\n');
            path.extend(line);
        }
    }
    sets.into_values().collect()
}

fn czkawka(bytes: &[u8], root: &[u8]) -> io::Result<Vec<Vec<Vec<u8>>>> {
    #[derive(serde::Deserialize)]
    struct Member {
        path: String,
    }
    let by_size: HashMap<String, Vec<Vec<Member>>> = serde_json::from_slice(bytes)?;
    let relative = |member: Member| {
        let path = member.path.into_bytes();
        path.strip_prefix(root).unwrap_or(&path).to_vec()
    };
    let sets = by_size.into_values().flatten();
    Ok(sets
        .map(|set| set.into_iter().map(relative).collect())
        .collect())
}
