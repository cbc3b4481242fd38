//! What a run is asked for.

use std::fmt;

use super::stage::Lengths;
use crate::common::rng::Rng;

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub hard_links: bool,
    pub isolate: bool,
    pub unique: bool,
    pub follow_links: bool,
    /// What does not change the answer.
    pub manner: Vec<&'static str>,
}

/// The mixes that come first: `-H`, `-I`, `--unique`, `-L`.
fn first(round: usize, lengths: Lengths) -> Option<[bool; 4]> {
    const Y: bool = true;
    const N: bool = false;
    const OF_SHARED: [[bool; 4]; 4] = [[Y, N, N, N], [N, N, N, N], [Y, Y, N, N], [Y, N, N, Y]];
    const OF_OWN: [[bool; 4]; 4] = [[N, N, Y, N], [N, Y, Y, N], [N, N, Y, Y], [Y, N, Y, N]];
    match lengths {
        Lengths::Shared => OF_SHARED.get(round).copied(),
        Lengths::Own => OF_OWN.get(round).copied(),
    }
}

impl Options {
    /// One mix after the other of those that matter most, then by chance.
    pub fn of_round(round: usize, lengths: Lengths, rng: &mut Rng) -> Self {
        let mut options = Self::mixed(rng);
        if let Some([hard_links, isolate, unique, follow_links]) = first(round, lengths) {
            options = Self {
                hard_links,
                isolate,
                unique,
                follow_links,
                ..options
            };
        }
        options
    }

    fn mixed(rng: &mut Rng) -> Self {
        let mut manner = Vec::new();
        for (option, chance) in [
            ("--verify", 20),
            ("--digest=when-needed", 30),
            ("--no-shared-blocks", 10),
            ("--page-cache=drop", 5),
            ("--memory=16M", 10),
        ] {
            if rng.percent(chance) {
                manner.push(option);
            }
        }
        let threads = [
            "",
            "--threads=1",
            "--threads=1,1",
            "--threads=8",
            "--threads=3,2",
        ];
        manner.push(*rng.pick(&threads[..]));
        manner.retain(|option| !option.is_empty());
        Self {
            hard_links: rng.percent(40),
            isolate: rng.percent(30),
            unique: rng.percent(35),
            follow_links: rng.percent(20),
            manner,
        }
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = [
            (self.hard_links, "-H"),
            (self.isolate, "-I"),
            (self.unique, "--unique"),
            (self.follow_links, "-L"),
        ];
        let flags = flags.iter().filter(|(on, _)| *on).map(|(_, flag)| *flag);
        let all: Vec<&str> = flags.chain(self.manner.iter().copied()).collect();
        f.write_str(&all.join(" "))
    }
}
