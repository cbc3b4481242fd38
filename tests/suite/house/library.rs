//! What other programs use: its names, and the examples in `docs/examples`.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use regex::Regex;

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = top().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What `lib.rs` lets other programs name, and does not hide if there is a choice.
fn root_names() -> BTreeSet<String> {
    let source = read("src/lib.rs");
    let item = Regex::new(r"(?s)((?:#\[[^\n]*\]\s*)*)pub (use|mod|fn|struct|enum|trait|type|const) ([^;{]*(?:\{[^}]*\})?)")
        .expect("a pattern");
    let mut names = BTreeSet::new();
    for found in item.captures_iter(&source) {
        let path = found[3].trim();
        // `main.rs` is a program like others.
        if found[1].contains("#[cfg(feature = \"internals\")]") || path == "cli::main as program" {
            continue;
        }
        let last = match path.split_once('{') {
            Some((_, group)) => group.trim_end_matches('}').to_owned(),
            None => path.rsplit("::").next().unwrap_or("").to_owned(),
        };
        let listed = last.split(',').map(str::trim);
        names.extend(listed.filter(|name| !name.is_empty()).map(str::to_owned));
    }
    names
}

/// Types with their methods, fields and variants, as the sources of the library have them.
fn members(names: &BTreeSet<String>) -> BTreeSet<String> {
    let of_impl = Regex::new(r"^impl(?:<[^>]*>)? (\w+)(?:<[^>]*>)? \{$").expect("a pattern");
    let of_type = Regex::new(r"^pub (?:struct|enum) (\w+)").expect("a pattern");
    let method = Regex::new(r"^    pub fn (\w+)").expect("a pattern");
    let field = Regex::new(r"^    pub (\w+):").expect("a pattern");
    // Methods that several builders have are written once, in a macro.
    let shared = Regex::new(r"^        pub fn (\w+)").expect("a pattern");
    let shared = ["reading", "filter"].map(|what| {
        let file = what.replace("filter", "filtering");
        let text = read(format!("src/library/{file}.rs"));
        let methods = text.lines().filter_map(|line| shared.captures(line));
        let methods: Vec<String> = methods.map(|found| found[1].to_owned()).collect();
        (format!("    {what}_settings!();"), methods)
    });
    let variant = Regex::new(r"^    ([A-Z]\w*)(?:[,({]| \{)").expect("a pattern");
    let mut members = BTreeSet::new();
    let library = fs::read_dir(top().join("src/library")).expect("listed");
    let library = library.map(|entry| (entry.expect("an entry").path(), None));
    // Types that the rooms below have as well.
    let below = [
        ("src/event.rs", "Problem"),
        ("src/file/kind.rs", "Kind"),
        ("src/event.rs", "ProblemKind"),
        ("src/hash/digest.rs", "ContentDigest"),
        ("src/action/action_kind.rs", "ActionKind"),
        ("src/action/plan/set.rs", "Fate"),
        ("src/action/plan/dangling.rs", "BrokenLink"),
        ("src/action/step/mod.rs", "Done"),
        ("src/action/step/mod.rs", "Outcome"),
        ("src/action/journal/undone.rs", "UndoTally"),
        ("src/action/journal/undone.rs", "Undone"),
        ("src/action/plan/settings.rs", "Sidecars"),
        ("src/action/plan/decide.rs", "Choice"),
    ];
    let below = below.map(|(path, name)| (PathBuf::from(path), Some(name)));
    for (path, only) in library.chain(below) {
        let is_public =
            |name: &String| names.contains(name) && only.is_none_or(|only| only == name);
        let mut of = None;
        for line in read(&path).lines() {
            if let Some(found) = of_type.captures(line).or_else(|| of_impl.captures(line)) {
                of = Some(found[1].to_owned()).filter(is_public);
            } else if line == "}" || line.starts_with("impl") {
                of = None;
            } else if let Some(of) = &of {
                let called = shared.iter().filter(|(call, _)| call == line);
                let methods = called.flat_map(|(_, methods)| methods);
                members.extend(methods.map(|name| format!("{of}::{name}")));
                let found = [&method, &field, &variant].map(|kind| kind.captures(line));
                let found = found.into_iter().flatten().next();
                members.extend(found.map(|found| format!("{of}::{}", &found[1])));
            }
        }
    }
    members
}

#[test]
fn public_names_come_and_go_on_purpose_only() {
    let names = root_names();
    assert!(names.contains("Search") && names.contains("ActionKind"));
    let members = members(&names);
    for known in [
        "Search::new",
        "Search::on_progress",
        "Set::size",
        "Fate::Keep",
        "Plan::apply",
    ] {
        assert!(members.contains(known), "{known} is not seen");
    }
    let all = names.iter().chain(&members);
    insta::assert_snapshot!(all.cloned().collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_inside_is_for_tests_and_benchmarks_only() {
    let manifest = read("Cargo.toml");
    let users: Vec<&str> = manifest
        .lines()
        .filter(|l| l.contains("internals"))
        .collect();
    let [own, tests] = users[..] else {
        panic!("{users:?}");
    };
    assert_eq!(own, "internals = []");
    let tested = manifest.split("[dev-dependencies]").nth(1);
    assert!(
        tested.is_some_and(|tested| tested.contains(tests)),
        "{tests}"
    );
    // Examples are built with the features of tests.
    let inside = Regex::new(r"seekless::[a-z]").expect("a pattern");
    for example in fs::read_dir(top().join("docs/examples")).expect("listed") {
        let text = read(example.expect("an entry").path());
        assert!(!inside.is_match(&text), "{text}");
    }
}

/// Runs an example with these answers to its questions.
fn example(name: &str, words: &[&str], answers: &str) -> Output {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(built_examples);
    let mut run = Command::new(BUILT.join(name))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the example runs");
    let mut stdin = run.stdin.take().expect("a pipe");
    // An example that asks nothing may have ended.
    let _ignored = stdin.write_all(answers.as_bytes());
    drop(stdin);
    run.wait_with_output().expect("the example ends")
}

/// The folder of the examples, built from the sources of now: `cargo test --test suite` builds none.
fn built_examples() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // The folder that this test was built in.
    let profile = Path::new(env!("CARGO_BIN_EXE_seekless")).parent();
    let profile = profile.expect("target/PROFILE/seekless");
    let mut build = Command::new(cargo);
    build
        .current_dir(top())
        // It shows the time of each test, and would have all packages built anew.
        .env_remove("RUSTC_BOOTSTRAP")
        .args(["build", "--quiet", "--offline", "--examples"])
        .arg("--target-dir")
        .arg(profile.parent().expect("target"));
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    printed(build.output().expect("cargo runs"));
    profile.join("examples")
}

/// Says what it printed, if it ended well.
#[track_caller]
fn printed(output: Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    String::from_utf8(output.stdout).expect("text")
}

/// Two files of one content, and one of another.
fn tree() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::Builder::new()
        .prefix("seekless-")
        .tempdir()
        .expect("a folder");
    let path = folder.path().canonicalize().expect("real");
    fs::create_dir(path.join("tree")).expect("made");
    for (name, content) in [("a", "same"), ("b", "same"), ("c", "else")] {
        fs::write(path.join("tree").join(name), content).expect("written");
    }
    (folder, path)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("plain")
}

#[test]
fn the_example_that_finds_names_sets_and_problems() {
    let (_folder, path) = tree();
    let tree = path.join("tree");
    let said = printed(example("find", &[text(&tree)], ""));
    assert!(said.starts_with("2 × 4 bytes\n"), "{said}");
    assert!(
        said.contains(&format!("  {}\n", text(&tree.join("b")))),
        "{said}"
    );
    let missing = example("find", &[text(&path.join("gone"))], "");
    assert!(!missing.status.success());
    let why = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(
        why.contains("gone") && why.contains("no such file"),
        "{why}"
    );
}

#[test]
fn the_example_that_acts_asks_links_and_undoes() {
    let inode = |path: &Path| fs::metadata(path).expect("there").ino();
    for (answers, linked) in [
        ("n\n", false),
        ("y\nn\n", false),
        ("y\ny\nn\n", true),
        ("y\ny\ny\n", false),
    ] {
        let (_folder, path) = tree();
        let (a, b) = (path.join("tree/a"), path.join("tree/b"));
        let words = [
            text(path.join("tree").as_path()).to_owned(),
            text(path.join("journals").as_path()).to_owned(),
        ];
        let words = words.each_ref().map(String::as_str);
        let said = printed(example("act", &words, answers));
        assert_eq!(inode(&a) == inode(&b), linked, "{answers:?}: {said}");
        assert_eq!(
            said.contains("1 as before"),
            answers == "y\ny\ny\n",
            "{said}"
        );
        assert_eq!(fs::read(&b).expect("there"), b"same");
    }
}

#[test]
fn the_example_that_watches_hands_over_each_set() {
    let (_folder, path) = tree();
    let tree = path.join("tree");
    let whole = printed(example("watch", &["60", text(&tree)], ""));
    assert!(whole.ends_with("2 × 4 bytes\n1 sets\n"), "{whole}");
}

#[test]
fn the_example_about_folders_names_the_other_folder() {
    let (_folder, path) = tree();
    let (one, other) = (path.join("one"), path.join("other"));
    for (folder, more) in [(&one, false), (&other, true)] {
        fs::create_dir(folder).expect("made");
        fs::write(folder.join("copy"), "same content").expect("written");
        if more {
            fs::write(folder.join("more"), "another content").expect("written");
        }
    }
    let said = printed(example("folders", &[text(&one), text(&other)], ""));
    let (one, other) = (text(&one), text(&other));
    assert_eq!(said, format!("{one}: all of it is also in {other}\n"));
    let gone = example("folders", &[text(&path.join("gone"))], "");
    assert!(!gone.status.success());
}

#[test]
fn the_example_that_compares_says_what_is_only_here() {
    let (_folder, path) = tree();
    let (here, there) = (path.join("here"), path.join("there"));
    fs::create_dir(&here).expect("made");
    fs::create_dir(&there).expect("made");
    fs::write(here.join("photo"), "same content").expect("written");
    fs::write(there.join("copy"), "same content").expect("written");
    let words = [text(&here), text(&there)];
    let said = printed(example("compare", &words, ""));
    assert_eq!(said, "files: 1, all of them are also there\n");
    fs::write(here.join("new"), "another content").expect("written");
    let said = printed(example("compare", &words, ""));
    assert_eq!(said, "new\nfiles: 2, only here: 1\n");
}

#[test]
fn what_is_cancelled_before_it_begins_says_that_it_is_not_complete() {
    let (_folder, path) = tree();
    let cancel = seekless::Cancel::new();
    cancel.cancel();
    let search = || seekless::Search::new([path.join("tree")]);
    let cancelled = search().cancel(&cancel).run().expect("searched");
    assert!(cancelled.summary.incomplete);
    let folders = seekless::Folders::new([&path]).cancel(&cancel).run();
    let folders = folders.expect("compared");
    assert!(folders.entries.is_empty() && folders.incomplete);

    let sets = search().run().expect("searched");
    assert!(!sets.summary.incomplete);
    let plan = seekless::Action::remove().plan(&sets).expect("planned");
    let journals = seekless::Journals::new(path.join("journals"));
    let applied = plan.cancel(&cancel).apply(&journals).expect("begun");
    assert_eq!((applied.done, applied.unreached), (0, 1));
    assert!(path.join("tree/b").exists());
}

#[test]
fn errors_say_what_they_are_about() {
    use seekless::{Action, Compare, ErrorKind, Journals, Probe, Rule, Search};
    let (_folder, path) = tree();
    let kind = |error: seekless::Error| error.kind();
    let search = || Search::new([path.join("tree")]);
    let wrong = search().name("a/b").run().expect_err("a slash");
    assert_eq!(kind(wrong), ErrorKind::Setting);
    let gone = Search::new([path.join("gone")]).run().expect_err("gone");
    assert_eq!(kind(gone), ErrorKind::Path);
    let folders = |name: &str| seekless::Folders::new([path.join(name)]);
    for name in ["gone", "tree/a"] {
        let no_folder = folders(name).run().expect_err("no folder");
        assert_eq!(kind(no_folder), ErrorKind::Path, "{name}");
    }
    let none: [&str; 0] = [];
    let no_path = [
        Search::new(none).run().map(drop),
        seekless::Folders::new(none).run().map(drop),
    ];
    for wrong in no_path {
        assert_eq!(kind(wrong.expect_err("no path")), ErrorKind::Setting);
    }
    let device = seekless::Folders::new(["/dev/null"]).run();
    assert_eq!(kind(device.expect_err("no folder")), ErrorKind::Path);
    let wrong = folders("tree").noise("[").run().expect_err("no pattern");
    assert_eq!(kind(wrong), ErrorKind::Setting);
    for name in ["", "sub/.gitignore"] {
        let wrong = search().ignore_file(name).run();
        assert_eq!(kind(wrong.expect_err("no name")), ErrorKind::Setting);
    }
    let one_side = seekless::Compare::new([path.join("tree")]).run();
    assert_eq!(kind(one_side.expect_err("one")), ErrorKind::Setting);
    let sets = search().run().expect("searched");
    let nowhere = Action::move_to("").plan(&sets);
    assert_eq!(kind(nowhere.expect_err("no path")), ErrorKind::Path);
    for rule in [
        Rule::Regex("(".to_owned()),
        Rule::Name(String::new()),
        Rule::Under(path.join("gone")),
    ] {
        let rule = Action::remove().keep(rule).plan(&sets);
        assert_eq!(kind(rule.expect_err("no rule")), ErrorKind::Setting);
    }
    fs::write(path.join("report"), "no report").expect("written");
    for name in ["report", "nowhere"] {
        let report = path.join(name);
        let wrong = Action::remove().plan_report(&report).expect_err("none");
        assert!(wrong.to_string().contains(&*report.to_string_lossy()));
        assert_eq!(kind(wrong), ErrorKind::Report);
    }
    for rate in [0, 999] {
        let tree = path.join("tree");
        let compare = Compare::new([&tree, &path]).bytes_per_second(rate);
        let mistakes = [
            search().bytes_per_second(rate).run().map(drop),
            compare.run().map(drop),
            folders("tree").bytes_per_second(rate).run().map(drop),
            Probe::new(&tree).bytes_per_second(rate).run().map(drop),
            Action::remove()
                .bytes_per_second(rate)
                .plan(&sets)
                .map(drop),
        ];
        for mistake in mistakes {
            let wrong = mistake.expect_err("too slow");
            let why = wrong.to_string();
            assert_eq!(why, "the limit of bytes per second must be 1000 or more");
            assert_eq!(kind(wrong), ErrorKind::Setting);
        }
    }
    let little = folders("tree").memory(1000).run().map(drop);
    let little = [
        little,
        Compare::new([&path, &path]).memory(1000).run().map(drop),
    ];
    for wrong in little {
        assert_eq!(kind(wrong.expect_err("too little")), ErrorKind::Setting);
    }
    let nothing = Journals::new(path.join("journals")).undo_last();
    assert_eq!(kind(nothing.expect_err("no run")), ErrorKind::Journal);
}

/// Each of these would find nothing, or everything, for a reason that its caller did not mean.
#[test]
fn nonsense_is_an_error_and_not_an_empty_answer() {
    use seekless::{Action, Compare, ErrorKind, Folders, Search};
    let (_folder, path) = tree();
    let search = || Search::new([path.join("tree")]);
    let now = SystemTime::now();
    let (hour, day) = (Duration::from_secs(3600), Duration::from_secs(86400));
    let sides = || Compare::new([path.join("tree"), path.join("tree/a")]);
    let sets = search().run().expect("searched");
    assert_eq!(sets.sets.len(), 1);
    let action = |copies| Action::remove().copies(copies).plan(&sets).map(drop);
    let folders = |percent| Folders::new([&path]).min_overlap(percent).run().map(drop);
    for (said, wrong) in [
        ("1 level or more", search().max_depth(0).run().map(drop)),
        ("1 level or more", search().max_depth(0).start().map(drop)),
        (
            "swap the two sizes",
            search().min_size(5).max_size(4).run().map(drop),
        ),
        (
            "swap the two sizes",
            sides().min_size(5).max_size(4).run().map(drop),
        ),
        ("include them", search().max_size(0).run().map(drop)),
        ("omit one", search().empty(true).min_size(1).run().map(drop)),
        ("in the past", search().newer(now + day).run().map(drop)),
        ("in the past", sides().newer(now + day).run().map(drop)),
        (
            "swap the two times",
            search().newer(now - hour).older(now - day).run().map(drop),
        ),
        ("two different ones", search().isolate(true).run().map(drop)),
        ("at least one copy", action(0)),
        ("0 is not a percentage", folders(0)),
        ("101 is not a percentage", folders(101)),
    ] {
        let wrong = wrong.expect_err(said);
        assert!(wrong.to_string().contains(said), "{wrong}");
        assert_eq!(wrong.kind(), ErrorKind::Setting, "{wrong}");
    }
    let fitting = search().max_depth(1).min_size(4).max_size(4);
    let fitting = fitting.newer(now - day).older(now + day).run();
    assert_eq!(fitting.expect("searched").sets.len(), 1);
    let empty = search().empty(true).max_size(0).run();
    assert!(empty.expect("searched").sets.is_empty());
    assert!(action(1).is_ok() && action(2).is_ok());
    assert!(folders(1).is_ok() && folders(100).is_ok());
}

#[test]
fn a_search_has_the_filters_of_the_program() {
    use seekless::{Kind, Search};
    let (_folder, path) = tree();
    let tree = path.join("tree");
    for name in ["x.JPG", "y.jpg", ".z.jpg", "sub/w.jpg", "v.txt", "u.txt"] {
        fs::create_dir_all(tree.join("sub")).expect("made");
        fs::write(tree.join(name), "another").expect("written");
    }
    let old = SystemTime::now() - Duration::from_secs(86400);
    for name in ["x.JPG", "v.txt"] {
        let file = fs::File::open(tree.join(name)).expect("opened");
        file.set_modified(old).expect("set");
    }
    let search = || Search::new([&tree]).min_size(7);
    let middle = old + Duration::from_secs(3600);
    for (search, expected) in [
        (search(), "x.JPG y.jpg .z.jpg sub/w.jpg v.txt u.txt"),
        (
            search().max_size(7).kind(Kind::Image),
            "x.JPG y.jpg .z.jpg sub/w.jpg",
        ),
        (
            search().extension("jpg").skip_hidden(true),
            "x.JPG y.jpg sub/w.jpg",
        ),
        (search().name("*.jpg"), "y.jpg .z.jpg sub/w.jpg"),
        (search().name("[X-Y].jpg").ignore_case(true), "x.JPG y.jpg"),
        (search().regex("/[v-w][.]"), "sub/w.jpg v.txt"),
        (search().path("sub/*").path("u.*"), "sub/w.jpg u.txt"),
        (
            search().exclude("sub").exclude("*.txt"),
            "x.JPG y.jpg .z.jpg",
        ),
        (
            search().newer(middle).max_depth(1),
            "x.JPG y.jpg .z.jpg v.txt u.txt",
        ),
        (search().older(middle), "x.JPG v.txt"),
    ] {
        let sets = search.run().expect("searched");
        let found = sets.sets.iter().flat_map(|set| &set.files);
        let found: BTreeSet<_> = found.map(|file| file.path().to_owned()).collect();
        let expected = expected.split(' ').map(|name| tree.join(name)).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn a_search_keeps_in_its_cache_what_it_read() {
    use seekless::{ProblemKind, Search};
    let (_folder, path) = tree();
    for name in ["cache", "by mtime"] {
        let cache = path.join(name);
        // Files that were written a moment ago are not kept.
        let search = Search::new([top().join("src")]);
        let search = match name {
            "cache" => search.cache(&cache),
            _ => search.cache_by_mtime(&cache),
        };
        let sets = search.run().expect("searched");
        let kept = fs::read_dir(&cache).map_or(0, Iterator::count);
        let mut problems = sets.problems.iter();
        let cannot = problems.any(|problem| problem.kind == ProblemKind::NotCached);
        assert_ne!(kept > 0, cannot, "{name}: {:?}", sets.problems);
    }
}

#[test]
fn times_are_those_of_the_system() {
    let (_folder, path) = tree();
    let (a, b) = (path.join("tree/a"), path.join("tree/b"));
    let early = SystemTime::UNIX_EPOCH - Duration::new(5, 7);
    let file = fs::File::open(&a).expect("opened");
    file.set_modified(early).expect("set");
    let sets = seekless::Search::new([&a, &b]).run().expect("searched");
    let file = sets.sets[0].files.iter().find(|file| file.path() == a);
    assert_eq!(file.expect("found").modified, early);
    let before = SystemTime::now();
    let keep = seekless::Action::remove().keep(seekless::Rule::Oldest);
    let journals = seekless::Journals::new(path.join("journals"));
    let plan = keep.plan(&sets).expect("planned");
    assert_eq!(plan.apply(&journals).expect("done").done, 1);
    assert!(a.exists() && !b.exists());
    let runs = journals.runs().expect("listed");
    assert!(runs[0].started >= before && runs[0].started <= SystemTime::now());
}

#[test]
fn a_rule_takes_a_folder_whose_name_is_not_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let (_folder, path) = tree();
    let odd = path.join("tree").join(OsStr::from_bytes(b"sub\xff"));
    fs::create_dir(&odd).expect("made");
    fs::write(odd.join("a"), "same").expect("written");
    let sets = seekless::Search::new([path.join("tree")])
        .run()
        .expect("searched");
    for (rule, stays) in [
        (seekless::Rule::Under(odd.clone()), &odd),
        (seekless::Rule::NotUnder(odd.clone()), &path.join("tree")),
    ] {
        let plan = seekless::Action::remove().keep(rule).plan(&sets);
        let mut plan = plan.expect("planned");
        let set = plan.sets().expect("shown").next().expect("a set");
        let set = set.expect("shown");
        let kept = set.files.iter();
        let mut kept = kept.filter(|file| matches!(file.fate, seekless::Fate::Keep(_)));
        let kept = kept.next().expect("one stays").path().parent();
        assert_eq!(kept, Some(stays.as_path()));
    }
}

#[test]
fn folders_say_when_something_was_not_seen() {
    let (_folder, path) = tree();
    let found = || seekless::Folders::new([&path]).run().expect("compared");
    assert!(!found().incomplete);
    let _socket = std::os::unix::net::UnixListener::bind(path.join("tree/socket"));
    assert!(found().incomplete);
}

/// A caller can show what the program shows before it asks.
#[test]
fn a_plan_says_what_it_leaves_alone_and_what_it_does_not_free() {
    let (_folder, path) = tree();
    let tree = path.join("tree");
    fs::create_dir(tree.join(".hidden")).expect("made");
    for name in [".hidden/x", ".hidden/y", "d"] {
        fs::write(tree.join(name), "same").expect("written");
    }
    fs::hard_link(tree.join("d"), path.join("elsewhere")).expect("linked");
    let sets = seekless::Search::new([&tree]).run().expect("searched");
    let remove = seekless::Action::remove().reference(tree.join("a"));
    let mut plan = remove.protect("*.raw").plan(&sets).expect("planned");
    assert_eq!(plan.action(), seekless::ActionKind::Remove);
    let totals = plan.totals();
    assert_eq!((totals.steps, totals.free_nothing), (2, 1));
    let left: Vec<_> = totals.left.iter().collect();
    assert!(
        matches!(&left[..], [(why, 2)] if why.code == seekless::Code::Managed && why.to_string().contains("hidden")),
        "{left:?}"
    );
    assert_eq!(totals.untouched, [(seekless::Code::Reference, 1)].into());
    assert_eq!(plan.unmatched(), ["*.raw"]);
    assert_eq!(plan.skipped_trash().count(), 0);
    let set = plan.sets().expect("shown").next().expect("a set");
    let set = set.expect("shown");
    let of = |name: &str| {
        let mut files = set.files.iter();
        files
            .find(|file| file.path() == tree.join(name))
            .expect(name)
    };
    assert_eq!(of("d").names_elsewhere, 1);
    let mut files = set.files.iter();
    let keeper = files.position(|file| file.path() == tree.join("a"));
    let keeper = keeper.expect("it stays");
    assert_eq!(of("d").fate, seekless::Fate::Act { keeper, frees: 0 });
    assert_eq!(of("b").other_owner, None);
}

/// Whether blocks can be shared is known before a step is taken.
#[test]
fn a_plan_is_the_one_that_the_program_shows() {
    let (_folder, path) = tree();
    let tree = path.join("tree");
    let shown = Command::new(env!("CARGO_BIN_EXE_seekless"))
        .args(["reflink", "--dry-run"])
        .arg(&tree)
        .output();
    let shown = String::from_utf8(shown.expect("seekless runs").stderr).expect("text");
    let can = !shown.contains("Nothing to reflink");
    let sets = seekless::Search::new([&tree]).digests(true).run();
    let sets = sets.expect("searched");
    let plan = seekless::Action::reflink().plan(&sets).expect("planned");
    assert_eq!(plan.totals().steps > 0, can, "{shown}");
    let chosen = plan.choose(|_| seekless::Choice::ByRule).expect("chosen");
    assert_eq!(chosen.totals().steps > 0, can, "{shown}");
    let plan = seekless::Action::remove().plan(&sets);
    let mut plan = plan.expect("planned");
    let set = plan.sets().expect("shown").next().expect("a set");
    assert_eq!(set.expect("shown").digest, sets.sets[0].digest);
}

/// Whoever builds a request here may hand it to a thread of a runtime.
#[test]
fn what_is_to_be_done_can_move_to_another_thread() {
    fn moves<T: Send>() {}
    moves::<seekless::Search<'_>>();
    moves::<seekless::Searching<'_>>();
    moves::<seekless::Compare<'_>>();
    moves::<seekless::Folders<'_>>();
    moves::<seekless::Probe<'_>>();
    moves::<seekless::ProbeFindings>();
    moves::<seekless::Action>();
    moves::<seekless::Plan<'_>>();
    moves::<seekless::Undo<'_>>();
    moves::<seekless::Sets>();
    moves::<seekless::Compared>();
    moves::<seekless::FoldersFound>();
    moves::<seekless::Error>();
}

#[test]
fn a_plan_is_made_of_a_report_as_of_a_search() {
    let (_folder, path) = tree();
    let report = path.join("report");
    let found = Command::new(env!("CARGO_BIN_EXE_seekless"))
        .args(["find", "-q", "-o"])
        .args([&report, &path.join("tree")])
        .status();
    assert!(found.expect("seekless runs").success());
    let mut plan = seekless::Action::remove()
        .reference(path.join("tree/b"))
        .plan_report(&report)
        .expect("planned");
    assert_eq!(plan.totals().steps, 1);
    let mut kept = Vec::new();
    for set in plan.sets().expect("shown") {
        let files = set.expect("shown").files.into_iter();
        let stays = files.filter(|file| matches!(file.fate, seekless::Fate::Keep(_)));
        kept.extend(stays.map(|file| file.path().to_owned()));
    }
    assert_eq!(kept, [path.join("tree/b")]);
}

#[test]
fn a_plan_names_the_links_that_it_breaks() {
    let (_folder, path) = tree();
    let tree = path.join("tree");
    std::os::unix::fs::symlink("tree/b", path.join("link")).expect("linked");
    std::os::unix::fs::symlink("tree/a", path.join("stays")).expect("linked");
    let sets = seekless::Search::new([&tree]).run().expect("searched");
    let remove = seekless::Action::remove().reference(tree.join("a"));
    let mut plan = remove.plan(&sets).expect("planned");
    let broken = plan.broken_links([&path]).expect("looked for");
    let broken = broken.iter().map(|link| (&link.link, &link.leads_to));
    assert!(
        broken.eq([(&path.join("link"), &tree.join("b"))]),
        "{plan:?}"
    );
    let beside = plan.broken_links([&tree]).expect("looked for");
    assert_eq!(beside, []);
}

#[test]
fn the_example_inside_tokio_finds_the_same() {
    let (_folder, path) = tree();
    let said = printed(example("async", &[text(&path.join("tree"))], ""));
    assert_eq!(said, "2 × 4 bytes\n");
}
