//! A wish in eight bits: what the scheduler keeps of it for each file that waits.

use crate::decide::{Stretches, Want};

/// Numbers from here on are stretches: their sides are the two lowest bits, their round the others.
const STRETCHES: u8 = 1 << 7;

/// Rounds that have a number.
const ROUNDS: u8 = 1 << 5;

/// Numbers a wish.
///
/// # Panics
/// If a round of stretches has no number, which `decide/crowds.rs` rules out.
pub fn note_of(want: Want) -> u8 {
    match want {
        Want::Head => 0,
        Want::HeadAndTail => 1,
        Want::Tail => 2,
        Want::Whole => 3,
        Want::Content => 4,
        Want::Comparison => 5,
        Want::HeadAndContent => 6,
        Want::Blocks => 7,
        Want::BlocksAgain => 8,
        Want::Stretches(Stretches { round, sides }) => {
            assert!(round < ROUNDS, "stretches of round {round} have no number");
            let [head, middle] = sides.map(u8::from);
            STRETCHES | round << 2 | middle << 1 | head
        }
    }
}

/// The wish of a number.
///
/// # Panics
/// If no wish has it: whoever takes it for one would read what nobody asked for.
pub fn want_of(note: u8) -> Want {
    match note {
        0 => Want::Head,
        1 => Want::HeadAndTail,
        2 => Want::Tail,
        3 => Want::Whole,
        4 => Want::Content,
        5 => Want::Comparison,
        6 => Want::HeadAndContent,
        7 => Want::Blocks,
        8 => Want::BlocksAgain,
        STRETCHES.. => Want::Stretches(Stretches {
            round: (note & !STRETCHES) >> 2,
            sides: [note & 1 > 0, note & 2 > 0],
        }),
        9..STRETCHES => panic!("no wish has the number {note}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::panic;

    use super::*;

    /// Every wish there is, in the order in which they are declared: one more does not compile here until it
    /// is told what comes after it.
    fn all() -> Vec<Want> {
        let next = |want| match want {
            Want::Head => Some(Want::HeadAndTail),
            Want::HeadAndTail => Some(Want::Tail),
            Want::Tail => Some(Want::Whole),
            Want::Whole => Some(Want::Content),
            Want::Content => Some(Want::Comparison),
            Want::Comparison => Some(Want::HeadAndContent),
            Want::HeadAndContent => Some(Want::Blocks),
            Want::Blocks => Some(Want::BlocksAgain),
            Want::BlocksAgain => Some(Want::Stretches(Stretches {
                round: 0,
                sides: [false; 2],
            })),
            Want::Stretches(Stretches { round, sides }) => {
                let (round, sides) = match sides {
                    [false, false] => (round, [true, false]),
                    [true, false] => (round, [false, true]),
                    [false, true] => (round, [true, true]),
                    [true, true] => (round + 1, [false, false]),
                };
                (round < ROUNDS).then_some(Want::Stretches(Stretches { round, sides }))
            }
        };
        std::iter::successors(Some(Want::Head), |&want| next(want)).collect()
    }

    #[test]
    fn every_wish_comes_back_as_it_went() {
        let all = all();
        assert_eq!(all.len(), 9 + 4 * usize::from(ROUNDS));
        for &want in &all {
            assert_eq!(want_of(note_of(want)), want);
        }
        let notes: HashSet<u8> = all.iter().map(|&want| note_of(want)).collect();
        assert_eq!(notes.len(), all.len(), "no two share a number");
    }

    #[test]
    fn a_number_of_no_wish_is_none() {
        let known: HashSet<u8> = all().into_iter().map(note_of).collect();
        for note in (0..=u8::MAX).filter(|note| !known.contains(note)) {
            assert!(panic::catch_unwind(|| want_of(note)).is_err(), "{note}");
        }
    }

    #[test]
    fn a_round_without_a_number_is_not_taken_for_another() {
        for round in ROUNDS..=u8::MAX {
            let sides = [true, false];
            let beyond = move || note_of(Want::Stretches(Stretches { round, sides }));
            assert!(panic::catch_unwind(beyond).is_err(), "{round}");
        }
    }
}
