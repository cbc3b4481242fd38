//! Argument lists with slips in them: whatever is typed, nothing is changed, and a wrong use ends with status 2 and one
//! line for each thing that is wrong.

use std::fs;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::common::{Tree, seekless};

/// Correct lines of which none may change anything: nobody is asked without a terminal, and nobody consents.
const LINES: [&str; 17] = [
    "find -x --min-size 1 --type image t",
    "-E *.tmp --newer 3d --copies 3.. t",
    "--top 3 --sort-by size --keep newest,shortest-path t",
    "-f nul --omit-first t",
    "--threads ssd:4,1 --bwlimit 50M --patience 60 t",
    "folders --min-overlap 90 --noise *.tmp t",
    "compare --one-way --only here t t/a",
    "remove --trash --keep oldest --sidecars keep-together t",
    "remove --dry-run --reference t/a t",
    "hardlink --same-metadata --keep-n 2 t",
    "move --to d --remove-empty-folders t",
    "symlink --absolute --protect t/a t",
    "reflink --verify --io-idle t",
    "remove --from t/a",
    "undo --list --journal j",
    "cache --cache t",
    "completions bash",
];

/// Words of other programs, and words that begin and end something.
const FOREIGN: [&str; 20] = [
    "-r",
    "-R",
    "-d",
    "-m",
    "-S",
    "-N",
    "-n",
    "-1",
    "-t",
    "-l",
    "--delete",
    "--minsize",
    "-name",
    "group",
    "link",
    "dedupe",
    "rm",
    "--json",
    "--",
    "",
];

const LETTERS: &str = "abcdefghijklmnpqrstuvwxzABCDEFGHILNPRSTXZ0129-=,.:/*[~";

/// One slip: in a word, or of a whole word.
fn slip(words: &mut Vec<String>, kind: u8, word: Index, place: Index, new: (char, &str)) {
    let Some(at) = words.len().checked_sub(1).map(|_| word.index(words.len())) else {
        return;
    };
    let mut letters: Vec<char> = words[at].chars().collect();
    let in_word = (!letters.is_empty()).then(|| place.index(letters.len()));
    match (kind, in_word) {
        (0, Some(place)) => drop(letters.remove(place)),
        (1, Some(place)) => letters.insert(place, new.0),
        (2, Some(place)) => letters[place] = new.0,
        (3, Some(place)) if place > 0 => letters.swap(place - 1, place),
        (4, _) => return drop(words.remove(at)),
        (5, _) => return words.insert(at, words[at].clone()),
        (6, _) => return words.insert(at, new.1.to_owned()),
        _ => {}
    }
    words[at] = letters.into_iter().collect();
}

fn mutated() -> impl Strategy<Value = Vec<String>> {
    let letters: Vec<char> = LETTERS.chars().collect();
    let slips = (
        0u8..7,
        any::<Index>(),
        any::<Index>(),
        (select(letters), select(&FOREIGN[..])),
    );
    let slips = prop::collection::vec(slips, 1..4);
    (select(&LINES[..]), slips).prop_map(|(line, slips)| {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        for (kind, word, place, new) in slips {
            slip(&mut words, kind, word, place, new);
        }
        words
    })
}

/// True for a word that leads out of the tree: to search all of a machine takes long.
fn leads_out(word: &str) -> bool {
    word.starts_with("..") || word.starts_with('/')
}

/// True for a word that consents, or names a file to write: these do what they say.
fn acts(word: &str) -> bool {
    let is_short = word.starts_with('-') && !word.starts_with("--");
    is_short && word.contains(['y', 'o']) || word.starts_with("--y") || word.starts_with("--o")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]
    #[test]
    fn slips_change_nothing_and_end_with_a_line(words in mutated()) {
        prop_assume!(!words.iter().any(|word| acts(word) || leads_out(word)));
        let tree = Tree::new().copies(["t/a", "t/b"], "same");
        let run = words.iter().fold(seekless(tree.root(), ""), |run, word| run.arg(word)).run();
        let said = run.stderr_text();
        prop_assert!((0..=2).contains(&run.code()), "{words:?}: {run}");
        // Of a comparison, 2 also means that the answer is not complete; of a plan, that nothing can be done.
        let answers = words.iter().any(|word| word == "compare") || run.stdout.starts_with(b"# ");
        let is_answer = answers && !run.stdout.is_empty();
        if run.code() == 2 && !is_answer {
            prop_assert!(run.stdout.is_empty(), "{words:?}: {run}");
            let lines: Vec<&str> = said.lines().collect();
            prop_assert!(!lines.is_empty() && lines.iter().all(|line| line.starts_with("seekless: ")), "{words:?}: {run}");
            // One line for each path that is missing, and one for a cache that is not used.
            let is_one_of_many = |line: &&str| {
                line.to_lowercase().contains("no such file or") || line.contains("without this cache")
            };
            prop_assert!(lines.len() == 1 || lines.iter().all(is_one_of_many), "{words:?}: {run}");
        }
        for name in ["t/a", "t/b"] {
            prop_assert_eq!(fs::read_to_string(tree.path(name)).expect("it stays"), "same");
        }
        for folder in [tree.root().to_owned(), tree.path("t")] {
            let names = fs::read_dir(folder).expect("a folder").count();
            prop_assert!(names == 1 || names == 2, "{:?}: {}", words, run);
        }
    }
}
