//! The sources of the library and the program, as words and marks.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

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

/// All sources, read once.
pub fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(read_sources)
}

fn read_sources() -> Vec<Source> {
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

/// Splits into words and single marks; comments, strings, numbers and characters are left out.
pub fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let parsed = text.parse().expect("Rust");
    push(parsed, &mut tokens);
    tokens
}

fn push(parsed: TokenStream, tokens: &mut Vec<String>) {
    // Of two colons, the first one is joint.
    let mut is_second = false;
    for tree in parsed {
        match tree {
            TokenTree::Ident(word) => tokens.push(word.to_string()),
            TokenTree::Punct(mark) => {
                let is_colon = mark.as_char() == ':';
                if is_colon && is_second {
                    tokens.pop();
                    tokens.push("::".to_owned());
                } else {
                    tokens.push(mark.to_string());
                }
                is_second = is_colon && !is_second && mark.spacing() == Spacing::Joint;
            }
            TokenTree::Group(group) => {
                let marks = match group.delimiter() {
                    Delimiter::Brace => ["{", "}"],
                    Delimiter::Bracket => ["[", "]"],
                    Delimiter::Parenthesis => ["(", ")"],
                    Delimiter::None => ["", ""],
                };
                tokens.push(marks[0].to_owned());
                push(group.stream(), tokens);
                tokens.push(marks[1].to_owned());
            }
            TokenTree::Literal(_) => {}
        }
    }
}

/// True if these words and marks follow each other somewhere.
pub fn contains(tokens: &[String], wanted: &[&str]) -> bool {
    tokens.windows(wanted.len()).any(|window| window == wanted)
}
