//! The options of the program in the words of a measurement.

use seekless::probe::{Advice, Situation, Terms};

/// What the user can set, as options.
pub fn terms() -> Terms {
    Terms {
        scratch: "--scratch 1G",
        more_time: "a longer --time",
        limit: "--bwlimit",
        profile: "--save",
        command: "seekless find",
        flags,
    }
}

/// The flags that set these numbers. A disk that is taken for what it is not is called by its name first.
fn flags(now: &Situation<'_>, advice: &Advice) -> Vec<String> {
    let mut flags = Vec::new();
    let mut threads = |word: String| flags.extend(["--threads".to_owned(), word]);
    let selector = now.selector;
    let taken_for_spinning = now.policy.is_one_thread_a_disk();
    if advice.rotational {
        match taken_for_spinning {
            true => threads(format!("{selector}:1,1")),
            false => threads(format!("{selector}:hdd")),
        }
    } else {
        if taken_for_spinning {
            threads(format!("{selector}:ssd"));
        }
        threads(format!(
            "{selector}:{},{}",
            advice.random_threads, advice.streams
        ));
    }
    flags.extend(["--depth-random".to_owned(), advice.depth.to_string()]);
    flags
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use seekless::device::Policy;
    use seekless::probe::model::{ELEVATOR, Model, POOLS};
    use seekless::probe::{Situation, advise};

    use super::flags;
    use crate::cli::args::Cli;

    /// The options for a disk, and the depth that they set.
    fn typed(model: &Model, policy: Policy, selector: &str) -> (Vec<String>, usize) {
        let now = Situation {
            policy,
            selector,
            cores: 4,
        };
        let advice = advise(&model.outcomes(), &now);
        let advice = advice.expect("all was measured, and is steady");
        (flags(&now, &advice), advice.depth)
    }

    #[test]
    fn what_it_advises_can_be_typed() {
        for model in [
            Model::spinning(1),
            Model::spinning(2),
            Model::solid(0.0001, 64, 500e6, 3e9),
            Model::solid(0.005, 200, 100e6, 100e6),
        ] {
            for (policy, selector) in [(POOLS, "dev:sda"), (ELEVATOR, "dev:sda"), (POOLS, "fuse")] {
                let (flags, depth) = typed(&model, policy, selector);
                let words = ["seekless", "find"].map(str::to_owned).into_iter();
                let typed = Cli::try_parse_from(words.chain(flags.iter().cloned()));
                let typed = typed.unwrap_or_else(|error| panic!("{flags:?}: {error}"));
                let typed = format!("{typed:?}");
                assert!(
                    typed.contains(&format!("depth_random: Some({depth})")),
                    "{typed}"
                );
            }
        }
    }

    /// A disk that is taken for what it is not is called by its name first.
    #[test]
    fn the_options_set_the_class_and_the_numbers() {
        let disk = Model::spinning(1);
        for (policy, threads) in [(ELEVATOR, "dev:sdx:1,1"), (POOLS, "dev:sdx:hdd")] {
            let (flags, depth) = typed(&disk, policy, "dev:sdx");
            let depth = depth.to_string();
            assert_eq!(flags, ["--threads", threads, "--depth-random", &depth]);
        }
        let (flags, _) = typed(&Model::solid(0.0001, 64, 500e6, 3e9), POOLS, "dev:sdx");
        assert_eq!(flags, ["--threads", "dev:sdx:4,8", "--depth-random", "64"]);
        let (flags, _) = typed(&Model::solid(0.005, 200, 100e6, 100e6), ELEVATOR, "dev:sdx");
        assert_eq!(flags[..2], ["--threads", "dev:sdx:ssd"]);
        assert_eq!(flags[2..4], ["--threads", "dev:sdx:4,1"]);
    }
}
