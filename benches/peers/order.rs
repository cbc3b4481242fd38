//! Who runs after whom.

/// Whose turn it is when, in a round: every second one goes backwards, since what a disk still has of its burst
/// depends on who ran before.
pub fn order(count: usize, round: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |turn| match round.is_multiple_of(2) {
        true => count - 1 - turn,
        false => turn,
    })
}
