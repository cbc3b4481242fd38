//! What a plan does beyond its files: symbolic links that it breaks, folders that it empties and removes.

use std::collections::HashSet;
use std::io;

use super::Plan;
use super::dangling::{self, Dangling, LinkPlaces};
use super::emptied::{self, EmptyFolder};
use super::steps::steps;
use crate::action::StepFile;
use crate::heartbeat::current;

impl Plan {
    /// Searches for symbolic links that the plan will break. Call it when the plan is complete.
    pub fn look_for_links(&mut self, places: &LinkPlaces) -> io::Result<()> {
        self.dangling = Dangling::default();
        let is_none = matches!(places, LinkPlaces::Found(links) if links.is_empty());
        if !self.settings.takes_names() || self.totals.steps == 0 || is_none {
            return Ok(());
        }
        let action = self.action();
        let mut search = dangling::Search::default();
        self.each_set(|set| {
            steps(set, action).for_each(|step| search.note(&step.victim.path));
            io::Result::Ok(())
        })?;
        // A link that is found may be what others lead to.
        for _ in 0..dangling::LINKS_IN_A_ROW {
            let before = search.dangling().number;
            match places {
                LinkPlaces::Beside => {
                    let mut looked = HashSet::new();
                    self.each_set(|set| {
                        steps(set, action)
                            .for_each(|step| search.beside(&step.victim.path, &mut looked));
                        io::Result::Ok(())
                    })?;
                }
                LinkPlaces::Found(links) => links.iter().for_each(|link| search.link(link)),
            }
            if search.dangling().number == before {
                break;
            }
        }
        current::rest();
        self.dangling = search.dangling().clone();
        Ok(())
    }

    /// Links that will be broken, as far as the search for them went.
    pub fn dangling(&self) -> &Dangling {
        &self.dangling
    }

    /// Searches for folders that will be empty, if they are to be removed. Call it when the plan is complete.
    pub fn look_for_empty_folders(&mut self) -> io::Result<()> {
        self.emptied.clear();
        if !self.settings.takes_names() || !self.settings.remove_empty_folders {
            return Ok(());
        }
        let action = self.action();
        let mut search = emptied::Search::new(&self.settings);
        for set in self.spool.sets()? {
            let mut set = set?;
            self.together.apply(&mut set);
            self.whole.apply(&mut set);
            search.note(&set, action);
        }
        self.emptied = search.folders();
        current::rest();
        Ok(())
    }

    /// True if folders that will be empty are removed.
    pub fn removes_empty_folders(&self) -> bool {
        self.settings.remove_empty_folders
    }

    /// Folders that will be empty and are removed, each after the folders in it.
    pub fn empty_folders(&self) -> &[EmptyFolder] {
        &self.emptied
    }

    /// True if noise is removed from folders that are empty otherwise.
    pub fn takes_noise(&self) -> bool {
        self.settings.noise.is_some()
    }

    /// Noise that is removed from these folders.
    pub fn noise(&self) -> impl Iterator<Item = &StepFile> {
        self.emptied.iter().flat_map(|folder| &folder.noise)
    }
}
