//! The sources of the library and the program, as words and marks; and which modules each module imports, however the
//! path is written.

use std::collections::{BTreeMap, BTreeSet};
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

/// A module by its path: `["report", "text"]`.
pub type Module = Vec<String>;

/// A path that a module names, from the crate's root.
struct Named {
    path: Vec<String>,
    /// The name that the module passes on under (`pub use`), if it only passes the item on.
    passed_on: Option<String>,
}

/// Paths from the crate's root that a source names, outside of its tests.
pub fn paths_named(source: &Source) -> Vec<Vec<String>> {
    let tokens = without_tests(&source.tokens);
    let named = named(&tokens, &source.module, &BTreeSet::new()).into_iter();
    named.map(|named| named.path).collect()
}

/// The modules of one room, without tests.
pub struct Room {
    named: BTreeMap<Module, Vec<Named>>,
}

impl Room {
    /// The modules of these sources that belong to a room.
    pub fn of(sources: &[Source], room: &str) -> Self {
        let is_test = |source: &Source| {
            let mut names = source.module.iter();
            names.any(|name| name.ends_with("tests") || name == "testing")
        };
        let of_room = sources.iter().filter(|source| source.room() == Some(room));
        let of_room: Vec<&Source> = of_room.filter(|source| !is_test(source)).collect();
        let known: BTreeSet<&Module> = of_room.iter().map(|source| &source.module).collect();
        let named = of_room.iter().map(|source| {
            let tokens = without_tests(&source.tokens);
            (
                source.module.clone(),
                named(&tokens, &source.module, &known),
            )
        });
        Self {
            named: named.collect(),
        }
    }

    /// The modules of the room.
    pub fn modules(&self) -> impl Iterator<Item = &Module> {
        self.named.keys()
    }

    /// The modules of the room that this one imports from. An item belongs to the module that defines it, not to one
    /// that passes it on.
    pub fn imports(&self, module: &Module) -> BTreeSet<Module> {
        let named = self.named[module].iter();
        let used = named.filter(|named| named.passed_on.is_none());
        let mut owners: BTreeSet<Module> = used
            .filter_map(|named| self.owner(&named.path, 0))
            .collect();
        owners.remove(module);
        owners
    }

    /// The module that defines the item at a path.
    fn owner(&self, path: &[String], depth: usize) -> Option<Module> {
        let lengths = (1..=path.len()).rev();
        let mut prefixes = lengths.map(|length| path.split_at(length));
        let (module, rest) = prefixes.find(|(module, _)| self.named.contains_key(*module))?;
        let item = rest.first();
        let passed_on = self.named[module].iter().find(|named| {
            named.passed_on.is_some() && named.passed_on.as_ref() == item && depth < 8
        });
        match passed_on {
            Some(named) => self.owner(&[&named.path, &rest[1..]].concat(), depth + 1),
            None => Some(module.to_vec()),
        }
    }
}

/// The paths that begin with `crate`, `super`, `self` or a module in the folder of this one.
fn named(tokens: &[String], here: &Module, known: &BTreeSet<&Module>) -> Vec<Named> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_use = tokens[at] == "use";
        let begins = at == 0 || tokens[at - 1] != "::";
        let is_path = begins && tokens.get(at + 1).is_some_and(|next| next == "::");
        if !is_use && !is_path {
            at += 1;
            continue;
        }
        let is_passed_on = is_use && is_public(&tokens[..at]);
        let (paths, next) = match is_use {
            true => tree(tokens, at + 1),
            false => plain_path(tokens, at),
        };
        at = next.max(at + 1);
        found.extend(paths.into_iter().filter_map(|(path, name)| {
            Some(Named {
                path: absolute(&path, here, known)?,
                passed_on: is_passed_on.then_some(name),
            })
        }));
    }
    found
}

/// True if the tokens end with `pub` or `pub(…)`.
fn is_public(before: &[String]) -> bool {
    match before.last().map(String::as_str) {
        Some("pub") => true,
        Some(")") => {
            let open = before.iter().rposition(|token| token == "(");
            open.is_some_and(|open| open > 0 && before[open - 1] == "pub")
        }
        _ => false,
    }
}

type Paths = Vec<(Vec<String>, String)>;

/// The paths of a tree as `use` has them, each with the name that it gets here, and the place after the tree.
fn tree(tokens: &[String], mut at: usize) -> (Paths, usize) {
    let mut path = Vec::new();
    while let Some(token) = tokens.get(at) {
        if token == "{" {
            at += 1;
            let mut paths = Vec::new();
            while tokens.get(at).is_some_and(|token| token != "}") {
                let (below, next) = tree(tokens, at);
                let whole = |(rest, name): (Vec<String>, _)| ([path.clone(), rest].concat(), name);
                paths.extend(below.into_iter().map(whole));
                at = next.max(at + 1);
                at += usize::from(tokens.get(at).is_some_and(|token| token == ","));
            }
            return (paths, at + 1);
        }
        path.push(token.clone());
        at += 1;
        if tokens.get(at).is_none_or(|token| token != "::") {
            break;
        }
        at += 1;
    }
    let renamed = tokens.get(at).is_some_and(|token| token == "as");
    let name = match renamed {
        true => tokens.get(at + 1),
        false => path.iter().rfind(|part| *part != "self"),
    };
    let name = name.cloned().unwrap_or_default();
    (vec![(path, name)], at + 2 * usize::from(renamed))
}

/// A path in code.
fn plain_path(tokens: &[String], at: usize) -> (Paths, usize) {
    let mut path = vec![tokens[at].clone()];
    let mut next = at + 1;
    while tokens.get(next).is_some_and(|token| token == "::") {
        let part = tokens.get(next + 1).filter(|part| is_word(part));
        let Some(part) = part else { break };
        path.push(part.clone());
        next += 2;
    }
    let name = path.last().cloned().unwrap_or_default();
    (vec![(path, name)], next)
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// A path from the crate's root; `None` if it leads out of the crate, or to an item by its bare name.
fn absolute(path: &[String], here: &Module, known: &BTreeSet<&Module>) -> Option<Vec<String>> {
    let (base, rest) = match path.first()?.as_str() {
        "crate" => (Vec::new(), &path[1..]),
        "self" => (here.clone(), &path[1..]),
        "super" => {
            let up = path.iter().take_while(|part| *part == "super").count();
            let base = here[..here.len().checked_sub(up)?].to_vec();
            (base, &path[up..])
        }
        child => {
            let below = [here.clone(), vec![child.to_owned()]].concat();
            known.contains(&below).then(|| (here.clone(), path))?
        }
    };
    let rest = rest.strip_suffix(&["self".to_owned()]).unwrap_or(rest);
    Some([base, rest.to_vec()].concat())
}

/// Leaves out modules and items that only tests have.
fn without_tests(tokens: &[String]) -> Vec<String> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut left = Vec::new();
    let mut rest = tokens;
    while let Some(first) = rest.first() {
        if !contains(&rest[..rest.len().min(TEST.len())], &TEST) {
            left.push(first.clone());
            rest = &rest[1..];
            continue;
        }
        let mut depth = 0;
        let end = rest.iter().position(|token| {
            match token.as_str() {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            depth == 0 && (token == ";" || token == "}")
        });
        rest = &rest[end.map_or(rest.len(), |end| end + 1)..];
    }
    left
}
