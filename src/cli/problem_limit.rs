//! Problems that differ only in their path: a limited number of each kind is named.
//!
//! A search of `/sys` meets 14,000 files that cannot be read. Named one by one, they would hide every other message.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::progress_text::count;

/// The number of problems of a kind that are named: with a summary they fit on a screen.
const NAMED: u64 = 20;

/// Stands for the path of a file, or its name with the slash before it.
const ELSEWHERE: &str = "/…";

/// How often each was met: by what would be said behind its path, so that another cause is another kind.
#[derive(Debug, Default)]
pub struct ProblemLimit {
    met: Mutex<BTreeMap<String, u64>>,
    names_all: bool,
}

impl ProblemLimit {
    /// Nothing was met yet. With `names_all` none is left out.
    pub fn new(names_all: bool) -> Self {
        Self {
            met: Mutex::default(),
            names_all,
        }
    }

    /// Takes note of a problem that is told in these words; true if its path is to be named.
    pub fn meets(&self, words: &str) -> bool {
        if self.names_all {
            return true;
        }
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        let so_far = match met.get_mut(words) {
            Some(so_far) => so_far,
            None => met.entry(words.to_owned()).or_default(),
        };
        *so_far += 1;
        *so_far <= NAMED
    }

    /// As [`meets`](Self::meets), of words that may also say where the file of this path is now: wherever it is, the
    /// reason is the same.
    pub fn meets_at(&self, path: &str, words: &str) -> bool {
        let words = words.replace(path, ELSEWHERE);
        let name = path.rfind('/').map_or("", |slash| &path[slash..]);
        let has_name = name.len() > 1;
        self.meets(&match has_name {
            true => words.replace(name, ELSEWHERE),
            false => words,
        })
    }

    /// Says how many of each kind were not named, and forgets them.
    pub fn rest(&self) -> Vec<String> {
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        let met = std::mem::take(&mut *met);
        let more = met.into_iter().filter(|&(_, times)| times > NAMED);
        more.map(|(words, times)| {
            let unnamed = count(times - NAMED);
            format!("{unnamed} more: {words} (-v names all)")
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_each_kind_are_named_and_the_rest_is_counted() {
        let problem_limit = ProblemLimit::new(false);
        let named = (0..2_000).filter(|_| problem_limit.meets("locked")).count() as u64;
        assert_eq!(named, NAMED);
        let others = (0..NAMED).filter(|_| problem_limit.meets("broken")).count() as u64;
        assert_eq!(others, NAMED, "as many as are named are not too many");
        assert_eq!(problem_limit.rest(), ["1,980 more: locked (-v names all)"]);
        assert!(problem_limit.rest().is_empty(), "it is said once");
    }

    #[test]
    fn the_place_of_a_file_is_no_reason_of_its_own() {
        let problem_limit = ProblemLimit::new(false);
        for number in 0..=NAMED {
            let path = format!("/a/f{number}");
            problem_limit.meets_at(&path, &format!("taken; it stays at /to{path}"));
            problem_limit.meets_at(&path, &format!("moved to /trash/f{number}"));
        }
        let rest = [
            "1 more: moved to /trash/… (-v names all)",
            "1 more: taken; it stays at /to/… (-v names all)",
        ];
        assert_eq!(problem_limit.rest(), rest);
    }

    #[test]
    fn all_are_named_if_that_is_wanted() {
        let problem_limit = ProblemLimit::new(true);
        assert!((0..2_000).all(|_| problem_limit.meets("locked")));
        assert!(problem_limit.rest().is_empty());
    }
}
