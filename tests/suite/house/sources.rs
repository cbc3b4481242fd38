//! The sources of the library and the program, as words and marks.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file of the library or the binary.
pub struct Source {
    pub path: PathBuf,
    /// Path of its module: `["report", "text"]` for `report/text.rs`, nothing for `lib.rs`.
    pub module: Vec<String>,
    pub tokens: Vec<String>,
}

impl Source {
    /// A source with this text at this path below `src`.
    pub fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.into(),
            module: module_of(Path::new(path)),
            tokens: tokens(text),
        }
    }

    /// The room that the file stands in: the first part of its path.
    pub fn room(&self) -> Option<&str> {
        self.module.first().map(String::as_str)
    }

    pub fn is_binary(&self) -> bool {
        self.path.ends_with("main.rs") || self.room() == Some("cli")
    }
}

/// All sources.
pub fn sources() -> Vec<Source> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = walkdir::WalkDir::new(&top).sort_by_file_name().into_iter();
    let files = files.map(|entry| entry.expect("src can be listed").into_path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| {
            let text = fs::read_to_string(&path).expect("sources are text");
            let path = path.strip_prefix(&top).expect("below src").to_owned();
            let module = module_of(&path);
            Source {
                module,
                tokens: tokens(&text),
                path,
            }
        })
        .collect()
}

fn module_of(path: &Path) -> Vec<String> {
    let parts = path.with_extension("");
    let mut parts: Vec<String> = parts
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if parts
        .last()
        .is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str()))
    {
        parts.pop();
    }
    parts
}

/// Splits into words and single marks; comments, strings and characters are left out.
pub fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some(length) = string_literal(rest) {
            length
        } else if let Some(length) = character_literal(rest) {
            length
        } else if c.is_alphanumeric() || c == '_' {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            let word = &rest[..word.unwrap_or(rest.len())];
            tokens.push(word.to_owned());
            word.len()
        } else {
            if rest.starts_with("::") {
                tokens.push("::".to_owned());
            } else if !c.is_whitespace() {
                tokens.push(c.to_string());
            }
            if rest.starts_with("::") {
                2
            } else {
                c.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    tokens
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Length of a string that begins here, with its prefix.
fn string_literal(text: &str) -> Option<usize> {
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        text.strip_prefix(prefix).is_some_and(|rest| {
            rest.starts_with('"') || (prefix.ends_with('r') && rest.starts_with('#'))
        })
    })?;
    let rest = &text[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        let body = rest[hashes..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        let length = body.find(&end).map_or(body.len(), |at| at + end.len());
        return Some(prefix.len() + hashes + 1 + length);
    }
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(prefix.len() + at + 1),
            _ => {}
        }
    }
    Some(text.len())
}

/// Length of a character that begins here; a lifetime is none.
fn character_literal(text: &str) -> Option<usize> {
    let body = text.strip_prefix('\'')?;
    let mut chars = body.char_indices();
    let (_, first) = chars.next()?;
    if first == '\\' {
        let (_, kind) = chars.next()?;
        let after = 1 + kind.len_utf8();
        let end = body[after..].find('\'')?;
        return Some(1 + after + end + 1);
    }
    let (at, second) = chars.next()?;
    (second == '\'').then_some(1 + at + 1)
}

/// True if these words and marks follow each other somewhere.
pub fn contains(tokens: &[String], wanted: &[&str]) -> bool {
    tokens.windows(wanted.len()).any(|window| window == wanted)
}
