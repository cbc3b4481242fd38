//! Bytes that nothing known points to. Something unknown may.

use super::super::part::Part;
use super::super::source::{Reader, Result};
use super::super::span::Span;

/// Gaps of so few bytes only align what follows them.
const ALIGNMENT: u64 = 3;

/// Gaps up to this length are no part of anything if they are all zero. A guess: longer ones are not looked at.
const LONGEST_PADDING: u64 = 64 << 10;

/// Puts the bytes of a block that no span covers, each gap with its place, unless the block may be moved.
pub fn put(
    reader: &mut Reader,
    covered: &[Span],
    block: Span,
    part: &mut Part,
    is_movable: bool,
) -> Result<()> {
    reader.count(covered.len() as u64)?;
    let inside = covered.iter().filter(|span| block.contains(**span));
    let mut covered: Vec<Span> = inside.copied().collect();
    covered.sort_unstable();
    covered.push(Span::new(block.end(), 0));
    let mut end = block.start;
    for span in covered {
        let gap = Span::between(end, span.start);
        end = end.max(span.end());
        if gap.length <= ALIGNMENT || gap.length <= LONGEST_PADDING && reader.is_zero(gap)? {
            continue;
        }
        let place = match is_movable {
            true => 0,
            false => gap.start - block.start,
        };
        part.put_span(&[b"gap", &place.to_le_bytes()[..]].concat(), gap);
    }
    Ok(())
}
