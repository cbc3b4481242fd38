//! Imports inside a room lead in one direction: between its files, and between its folders.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::{Module, Room, Source, sources};

/// Folders inside rooms, the lowest first: a folder imports from those before it only.
const SUB_ROOMS: [(&str, &[&str]); 8] = [
    (
        "action",
        &[
            "ways", "journal", "keep", "step", "places", "plan", "actor", "undo",
        ],
    ),
    (
        "cli",
        &[
            "terminal", "args", "front", "resolve", "undo", "act", "find", "catalog", "tools",
        ],
    ),
    ("decide", &["machine"]),
    ("engine", &["session"]),
    ("media", &["blocks", "formats", "tags"]),
    ("read", &["stream", "compare", "scheduler"]),
    ("report", &["comparison", "output", "read"]),
    ("scan", &["walk"]),
];

fn rooms(sources: &[Source]) -> BTreeSet<&str> {
    sources.iter().filter_map(Source::room).collect()
}

/// The folder of a room that a module lies in, or whose face it is.
fn folder_of(room: &Room, module: &Module) -> Option<String> {
    let name = module.get(1)?;
    let mut modules = room.modules();
    modules
        .any(|other| other.len() > 2 && other[1] == *name)
        .then(|| name.clone())
}

/// What is left after taking away, again and again, what imports nothing that is left, and what nothing left imports:
/// what is in a circle, or between two.
fn circles<T: Clone + Ord>(mut imports: BTreeMap<T, BTreeSet<T>>) -> Vec<T> {
    loop {
        let left: BTreeSet<T> = imports.keys().cloned().collect();
        imports.retain(|_, named| !named.is_disjoint(&left));
        let imported: BTreeSet<T> = imports.values().flatten().cloned().collect();
        imports.retain(|module, _| imported.contains(module));
        if imports.len() == left.len() {
            return left.into_iter().collect();
        }
    }
}

/// Files from which imports lead back to themselves. A module may use those in its own folder, and they what it
/// defines.
fn circles_of_files(room: &Room) -> Vec<String> {
    let beside = |module: &Module| {
        let mut imports = room.imports(module);
        imports.retain(|other| !other.starts_with(module));
        (module.clone(), imports)
    };
    let circles = circles(room.modules().map(beside).collect());
    circles.iter().map(|module| module.join("::")).collect()
}

/// Folders and files of a room from which imports lead back to themselves, each folder as a whole.
fn circles_of_folders(room: &Room) -> Vec<String> {
    let unit = |module: &Module| folder_of(room, module).unwrap_or_else(|| module.join("::"));
    let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for module in room.modules().filter(|module| module.len() > 1) {
        let own = unit(module);
        let named = room.imports(module).into_iter();
        let named = named.filter(|other| other.len() > 1);
        let named = named.map(|other| unit(&other)).filter(|it| *it != own);
        imports.entry(own.clone()).or_default().extend(named);
    }
    circles(imports)
}

/// Imports from one folder of a room to another that is not below it.
fn upward(room: &Room, order: &[&str]) -> Vec<String> {
    let floor = |folder: &str| order.iter().position(|known| *known == folder);
    let mut wrong = Vec::new();
    for module in room.modules() {
        let Some(own) = folder_of(room, module) else {
            continue;
        };
        for other in room.imports(module) {
            let folder = folder_of(room, &other).filter(|folder| *folder != own);
            let Some(folder) = folder else { continue };
            if floor(&folder).is_none() || floor(&folder) >= floor(&own) {
                wrong.push(format!("{} uses {}", module.join("::"), other.join("::")));
            }
        }
    }
    wrong
}

#[test]
fn no_imports_inside_a_room_lead_in_circles() {
    let sources = sources();
    for room in rooms(sources) {
        let room = Room::of(sources, room);
        let circles = circles_of_files(&room);
        assert!(circles.is_empty(), "in or between circles: {circles:?}");
        let circles = circles_of_folders(&room);
        assert!(circles.is_empty(), "in or between circles: {circles:?}");
    }
}

#[test]
fn folders_inside_a_room_are_in_order() {
    let sources = sources();
    for name in rooms(sources) {
        let room = Room::of(sources, name);
        let order = SUB_ROOMS.iter().find(|(room, _)| *room == name);
        let order = order.map_or(&[][..], |(_, order)| order);
        let folders = room.modules().filter(|module| module.len() > 2);
        let folders: BTreeSet<&str> = folders.map(|module| module[1].as_str()).collect();
        let listed: BTreeSet<&str> = order.iter().copied().collect();
        assert_eq!(folders, listed, "the folders of {name}");
        let wrong = upward(&room, order);
        assert!(wrong.is_empty(), "upward:\n{}", wrong.join("\n"));
    }
}

mod the_reader_of_imports {
    use super::*;

    fn room(files: &[(&str, &str)]) -> Room {
        let files = files.iter().map(|(path, text)| Source::new(path, text));
        Room::of(&files.collect::<Vec<_>>(), "read")
    }

    #[test]
    fn sees_circles_and_wrong_order_between_folders() {
        let files = |low: &'static str, file: &'static str| {
            room(&[
                ("read/low/mod.rs", "mod a; mod b;"),
                ("read/low/a.rs", low),
                ("read/low/b.rs", "use crate::read::high::c::C;"),
                ("read/high/mod.rs", "mod c; mod d;"),
                ("read/high/c.rs", "use crate::read::file::F;"),
                ("read/high/d.rs", ""),
                ("read/file.rs", file),
            ])
        };
        let sound = files("", "");
        assert!(circles_of_folders(&sound).is_empty());
        assert!(upward(&sound, &["high", "low"]).is_empty());
        assert_eq!(upward(&sound, &["low", "high"]).len(), 1);
        assert_eq!(upward(&sound, &["low"]).len(), 1);
        let through_a_file = files("", "use super::low::a::A;");
        assert!(circles_of_files(&through_a_file).is_empty());
        assert_eq!(circles_of_folders(&through_a_file).len(), 3);
    }
}
