//! BLAKE3 is a tree: what stands for its parts can be computed apart, in any order, and joined.

use blake3::hazmat::{
    ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root,
};

/// The chaining value of a part of a content: of all parts but the last the length is one power of two, 1,024 bytes at
/// least, and each begins at a multiple of it.
#[derive(Clone, Copy, Debug)]
pub struct Subtree(ChainingValue);

impl Subtree {
    /// Of the bytes that a hasher has taken, which knows where they begin.
    pub(super) fn of(hasher: &blake3::Hasher) -> Self {
        Self(hasher.finalize_non_root())
    }

    /// Of a longer part from those that it consists of, in order: as many as a power of two says unless it is
    /// the content's last, one at least.
    pub(super) fn of_parts(parts: &[Self]) -> Self {
        Self(joined(parts))
    }

    /// BLAKE3 of a content from all of its parts, in order.
    ///
    /// # Panics
    /// If there are fewer than two: one alone has lost what the whole's digest needs.
    pub fn join(parts: &[Self]) -> blake3::Hash {
        let (left, right) = halves(parts);
        merge_subtrees_root(&joined(left), &joined(right), Mode::Hash)
    }
}

/// The left half of a tree is the largest power of two that leaves something to the right.
fn halves(parts: &[Subtree]) -> (&[Subtree], &[Subtree]) {
    parts.split_at(parts.len().next_power_of_two() / 2)
}

fn joined(parts: &[Subtree]) -> ChainingValue {
    match parts {
        [one] => one.0,
        parts => {
            let (left, right) = halves(parts);
            merge_subtrees_non_root(&joined(left), &joined(right), Mode::Hash)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hash::Running;

    /// From a few chunks to a few parts and a bit, on both sides of every boundary.
    fn lengths() -> impl Strategy<Value = (usize, usize)> {
        (0..4_u32, 1..9_usize, -2..=2_isize).prop_flat_map(|(shift, parts, beside)| {
            let each = 1024_usize << shift;
            let near = (each * parts).saturating_add_signed(beside);
            let len = prop_oneof![Just(near), each + 1..each * 9];
            len.prop_map(move |len| (each, len.max(each + 1)))
        })
    }

    proptest! {
        #[test]
        fn parts_in_any_order_give_the_digest_of_the_whole(
            (each, len) in lengths(),
            order in any::<u64>(),
            piece in 1..5000_usize,
        ) {
            let content: Vec<u8> = (0..len).map(|i| (i * 31 + i / 251) as u8).collect();
            let mut numbered: Vec<_> = content.chunks(each).enumerate().collect();
            numbered.sort_by_key(|(i, _)| (*i as u64 + 1).wrapping_mul(order | 1));
            let mut parts: Vec<_> = numbered
                .into_iter()
                .map(|(i, part)| {
                    let mut running = Running::at((i * each) as u64);
                    part.chunks(piece).for_each(|piece| running.feed(piece));
                    (i, running.finish_part())
                })
                .collect();
            parts.sort_by_key(|&(i, _)| i);
            let parts: Vec<_> = parts.into_iter().map(|(_, part)| part).collect();
            prop_assert_eq!(Subtree::join(&parts), blake3::hash(&content));
        }
    }
}
