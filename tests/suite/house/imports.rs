//! The modules of a room, and which of them each one imports, however the path is written.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::{Source, contains};

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
