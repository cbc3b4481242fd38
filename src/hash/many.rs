//! BLAKE3 of several short inputs at a time.
//!
//! The `blake3` crate hashes chunks of one input side by side, in the lanes of vector registers. An input of fewer
//! chunks than lanes leaves most of them empty: 4,000 bytes take it longer than 16,384. Here the lanes are filled with
//! chunks of several inputs.
//!
//! Source: the paper named in `sys::lanes`, sections 2.4 and 2.5.

use std::cmp::Reverse;

use blake3::{BLOCK_LEN, CHUNK_LEN, Hash, OUT_LEN};

use crate::sys::lanes::{IV, LANES, Lanes, Step};

/// An input of this length fills the lanes by itself.
const LONG: usize = LANES * CHUNK_LEN;

/// Flags of blocks.
const CHUNK_START: u32 = 1;
const CHUNK_END: u32 = 2;
const PARENT: u32 = 4;
const ROOT: u32 = 8;

/// BLAKE3 of each input.
pub fn hash_all(inputs: &[&[u8]]) -> Vec<Hash> {
    let chunks: usize = inputs
        .iter()
        .map(|input| input.len().div_ceil(CHUNK_LEN))
        .sum();
    match Lanes::find() {
        Some(lanes) if chunks >= LANES => hash_side_by_side(lanes, inputs),
        _ => inputs.iter().map(|input| blake3::hash(input)).collect(),
    }
}

/// A chunk, or two chaining values that make one.
struct Node<'a> {
    bytes: &'a [u8],
    /// Number of the chunk in its input.
    counter: u32,
    /// Flags of its first block, of each block, and of its last block.
    first: u32,
    each: u32,
    last: u32,
    /// Where its chaining value goes.
    place: usize,
}

impl Node<'_> {
    fn blocks(&self) -> usize {
        self.bytes.len().div_ceil(BLOCK_LEN)
    }
}

/// The inputs that are short, each with the number of its chaining values on one level of its tree.
struct Short {
    input: usize,
    values: usize,
}

fn hash_side_by_side(lanes: Lanes, inputs: &[&[u8]]) -> Vec<Hash> {
    let mut hashes = Vec::with_capacity(inputs.len());
    let mut short = Vec::with_capacity(inputs.len());
    let mut chunks = Vec::with_capacity(2 * inputs.len());
    for (input, bytes) in inputs.iter().enumerate() {
        if bytes.is_empty() || bytes.len() >= LONG {
            hashes.push(blake3::hash(bytes));
            continue;
        }
        hashes.push(Hash::from_bytes([0; OUT_LEN]));
        let values = bytes.len().div_ceil(CHUNK_LEN);
        short.push(Short { input, values });
        for (counter, bytes) in (0..).zip(bytes.chunks(CHUNK_LEN)) {
            chunks.push(Node {
                bytes,
                counter,
                first: CHUNK_START,
                each: 0,
                last: CHUNK_END | if values == 1 { ROOT } else { 0 },
                place: chunks.len(),
            });
        }
    }
    let mut level = vec![[0; OUT_LEN]; chunks.len()];
    compress(lanes, chunks, &mut level);
    while short.iter().any(|input| input.values > 1) {
        level = next_level(lanes, &mut short, &level);
    }
    for (short, value) in short.iter().zip(level) {
        hashes[short.input] = Hash::from_bytes(value);
    }
    hashes
}

/// Joins neighbours. A value without one stays as it is: so the left one of two subtrees is the largest full one.
fn next_level(lanes: Lanes, short: &mut [Short], level: &[[u8; OUT_LEN]]) -> Vec<[u8; OUT_LEN]> {
    let mut next = Vec::with_capacity(level.len());
    let mut parents = Vec::with_capacity(level.len() / 2);
    let mut rest = level;
    for input in short {
        let values;
        (values, rest) = rest.split_at(input.values);
        for pair in values.chunks(2) {
            if pair.len() == 2 {
                parents.push(Node {
                    bytes: pair.as_flattened(),
                    counter: 0,
                    first: 0,
                    each: PARENT,
                    last: if values.len() == 2 { ROOT } else { 0 },
                    place: next.len(),
                });
            }
            next.push(pair[0]);
        }
        input.values = values.len().div_ceil(2);
    }
    compress(lanes, parents, &mut next);
    next
}

/// Computes the chaining values of all nodes.
fn compress(lanes: Lanes, mut nodes: Vec<Node<'_>>, values: &mut [[u8; OUT_LEN]]) {
    // Nodes of about the same length go side by side.
    nodes.sort_unstable_by_key(|node| Reverse(node.blocks()));
    for group in nodes.chunks(LANES) {
        let mut words = IV.map(|word| [word; LANES]);
        let mut counters = [0; LANES];
        for (counter, node) in counters.iter_mut().zip(group) {
            *counter = node.counter;
        }
        let mut short_blocks = [[0; BLOCK_LEN]; LANES];
        for block in 0..group[0].blocks() {
            let mut step = Step {
                blocks: [&[0; BLOCK_LEN]; LANES],
                counters,
                lengths: [0; LANES],
                flags: [0; LANES],
            };
            // Shorter nodes come last. A lane without a block computes something that nobody takes.
            let active = group.iter().take_while(|node| block < node.blocks());
            for (lane, (node, short)) in active.zip(&mut short_blocks).enumerate() {
                let left = &node.bytes[block * BLOCK_LEN..];
                step.blocks[lane] = left.first_chunk().unwrap_or_else(|| {
                    short[..left.len()].copy_from_slice(left);
                    short
                });
                step.lengths[lane] = left.len().min(BLOCK_LEN) as u32;
                let first = if block == 0 { node.first } else { 0 };
                let last = if left.len() <= BLOCK_LEN {
                    node.last
                } else {
                    0
                };
                step.flags[lane] = node.each | first | last;
            }
            lanes.compress(&mut words, &step);
            for (lane, node) in group.iter().enumerate() {
                if node.blocks() == block + 1 {
                    let value = &mut values[node.place];
                    for (bytes, word) in value.chunks_exact_mut(4).zip(&words) {
                        bytes.copy_from_slice(&word[lane].to_le_bytes());
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No two of its parts are alike, as far as possible.
    fn bytes(len: usize) -> Vec<u8> {
        (0..len as u32)
            .map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect()
    }

    fn assert_all_as_blake3(lanes: Lanes, inputs: &[&[u8]]) {
        let hashes = hash_side_by_side(lanes, inputs);
        for (input, hash) in inputs.iter().zip(&hashes) {
            assert_eq!(*hash, blake3::hash(input), "{} bytes", input.len());
        }
        assert_eq!(hashes.len(), inputs.len());
    }

    #[test]
    fn every_length_has_the_hash_of_blake3() {
        let bytes = bytes(2 * LONG);
        // All lengths of the first chunks, then those about the ends of blocks.
        let is_tried = |len: &usize| *len < 2 * CHUNK_LEN + 100 || (len + 1) % BLOCK_LEN < 3;
        let lengths = (0..LONG + 100).filter(is_tried);
        let inputs: Vec<&[u8]> = lengths.map(|len| &bytes[len / 9..][..len]).collect();
        if let Some(lanes) = Lanes::find() {
            for many in [1, 3, 64] {
                for group in inputs.chunks(many) {
                    assert_all_as_blake3(lanes, group);
                }
            }
        }
        assert!(hash_all(&[]).is_empty());
    }

    #[test]
    fn inputs_of_all_lengths_in_any_mixture_have_the_hash_of_blake3() {
        let bytes = bytes(3 * LONG);
        let mut random = 1_u32;
        let mut below = |limit: usize| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) as usize % limit
        };
        for _ in 0..300 {
            let mut inputs: Vec<&[u8]> = Vec::new();
            for _ in 0..below(20) {
                let most = [10, 200, 1100, 3000, LONG + 2000][below(5)];
                let (start, len) = (below(LONG), below(most));
                inputs.push(&bytes[start..start + len]);
            }
            if let Some(lanes) = Lanes::find() {
                assert_all_as_blake3(lanes, &inputs);
            }
            let each: Vec<Hash> = inputs.iter().map(|input| blake3::hash(input)).collect();
            assert_eq!(hash_all(&inputs), each);
        }
    }
}
