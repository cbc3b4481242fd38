//! BLAKE3's compression function for eight blocks at a time, one in each lane of vector registers.
//!
//! Source: *BLAKE3: one function, fast everywhere* (O'Connor, Aumasson, Neves, Wilcox-O'Hearn, 2021), sections 2.1 and
//! 2.2; 5.3 for the lanes. The `blake3` crate has this inside, for chunks of one input only.

/// Number of lanes.
pub const LANES: usize = 8;

/// Bytes of a block.
const BLOCK: usize = 64;

/// The initial chaining value, and a constant of each compression: that of SHA-256.
pub const IV: [u32; 8] = [
    0x6A09_E667,
    0xBB67_AE85,
    0x3C6E_F372,
    0xA54F_F53A,
    0x510E_527F,
    0x9B05_688C,
    0x1F83_D9AB,
    0x5BE0_CD19,
];

/// A word for each lane.
pub type Words = [u32; LANES];

/// What is compressed in one step.
pub struct Step<'a> {
    /// The blocks; zeros fill a short one.
    pub blocks: [&'a [u8; BLOCK]; LANES],
    /// The low word of the numbers of their chunks; the high word is zero.
    pub counters: Words,
    /// The bytes of the blocks without the zeros.
    pub lengths: Words,
    /// Their flags.
    pub flags: Words,
}

/// Shows that the processor has the instructions (AVX2).
#[derive(Clone, Copy, Debug)]
pub struct Lanes(());

impl Lanes {
    /// `None` on other processors.
    pub fn find() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        let has_lanes = is_x86_feature_detected!("avx2");
        #[cfg(not(target_arch = "x86_64"))]
        let has_lanes = false;
        has_lanes.then_some(Self(()))
    }

    /// Replaces each lane's chaining value (its words from the first to the eighth) by that after its block.
    pub fn compress(self, values: &mut [Words; 8], step: &Step<'_>) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `find` makes a value only where the processor has AVX2.
        unsafe {
            avx2::compress(values, step);
        }
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!(
            "{} values without lanes to compress {}",
            values.len(),
            step.blocks.len()
        );
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{BLOCK, IV, LANES, Step, Words};

    /// The words of the block in the order of their use, for each round.
    const ORDER: [[usize; 16]; 7] = {
        const MOVED: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
        let mut order = [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]; 7];
        let mut round = 1;
        while round < order.len() {
            let mut word = 0;
            while word < MOVED.len() {
                order[round][word] = order[round - 1][MOVED[word]];
                word += 1;
            }
            round += 1;
        }
        order
    };

    #[target_feature(enable = "avx2")]
    pub fn compress(values: &mut [Words; 8], step: &Step<'_>) {
        let mut message = [_mm256_setzero_si256(); 16];
        let (first, second) = message.split_at_mut(8);
        first.copy_from_slice(&transposed(step.blocks.map(|block| load(block, 0))));
        second.copy_from_slice(&transposed(step.blocks.map(|block| load(block, BLOCK / 2))));
        let [a, b, c, d, e, f, g, h] = values.each_ref().map(|words| load_words(words));
        let [i, j, k, l, ..] = IV.map(|word| _mm256_set1_epi32(word.cast_signed()));
        let counters = load_words(&step.counters);
        let (lengths, flags) = (load_words(&step.lengths), load_words(&step.flags));
        let high = _mm256_setzero_si256();
        let mut state = [
            a, b, c, d, e, f, g, h, i, j, k, l, counters, high, lengths, flags,
        ];
        round::<0>(&mut state, &message);
        round::<1>(&mut state, &message);
        round::<2>(&mut state, &message);
        round::<3>(&mut state, &message);
        round::<4>(&mut state, &message);
        round::<5>(&mut state, &message);
        round::<6>(&mut state, &message);
        for (at, words) in values.iter_mut().enumerate() {
            let value = _mm256_xor_si256(state[at], state[at + 8]);
            // SAFETY: it writes eight words, which need no alignment.
            unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), value) };
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load_words(words: &Words) -> __m256i {
        // SAFETY: it reads eight words, which need no alignment.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    }

    /// Half a block, from this byte.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(block: &[u8; BLOCK], at: usize) -> __m256i {
        // SAFETY: it reads 32 bytes, which need no alignment.
        unsafe { _mm256_loadu_si256(block[at..][..BLOCK / 2].as_ptr().cast()) }
    }

    /// Makes rows of columns: eight words of each lane become a word of each lane, eight times.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn transposed(rows: [__m256i; LANES]) -> [__m256i; LANES] {
        let [a, b, c, d, e, f, g, h] = rows;
        let pairs = |a, b| (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
        let ((ab, ba), (cd, dc)) = (pairs(a, b), pairs(c, d));
        let ((ef, fe), (gh, hg)) = (pairs(e, f), pairs(g, h));
        let fours = |a, b| (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
        let ((p, q), (r, s)) = (fours(ab, cd), fours(ba, dc));
        let ((t, u), (v, w)) = (fours(ef, gh), fours(fe, hg));
        let low = |a, b| _mm256_permute2x128_si256::<0x20>(a, b);
        let high = |a, b| _mm256_permute2x128_si256::<0x31>(a, b);
        [
            low(p, t),
            low(q, u),
            low(r, v),
            low(s, w),
            high(p, t),
            high(q, u),
            high(r, v),
            high(s, w),
        ]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn round<const ROUND: usize>(state: &mut [__m256i; 16], message: &[__m256i; 16]) {
        let word = |at: usize| message[ORDER[ROUND][at]];
        // The columns of the state.
        mix(state, [0, 4, 8, 12], word(0), word(1));
        mix(state, [1, 5, 9, 13], word(2), word(3));
        mix(state, [2, 6, 10, 14], word(4), word(5));
        mix(state, [3, 7, 11, 15], word(6), word(7));
        // Its diagonals.
        mix(state, [0, 5, 10, 15], word(8), word(9));
        mix(state, [1, 6, 11, 12], word(10), word(11));
        mix(state, [2, 7, 8, 13], word(12), word(13));
        mix(state, [3, 4, 9, 14], word(14), word(15));
    }

    /// The function G.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn mix(state: &mut [__m256i; 16], [a, b, c, d]: [usize; 4], first: __m256i, second: __m256i) {
        state[a] = _mm256_add_epi32(_mm256_add_epi32(state[a], state[b]), first);
        state[d] = rotated_by_16(_mm256_xor_si256(state[d], state[a]));
        state[c] = _mm256_add_epi32(state[c], state[d]);
        state[b] = rotated::<12, 20>(_mm256_xor_si256(state[b], state[c]));
        state[a] = _mm256_add_epi32(_mm256_add_epi32(state[a], state[b]), second);
        state[d] = rotated_by_8(_mm256_xor_si256(state[d], state[a]));
        state[c] = _mm256_add_epi32(state[c], state[d]);
        state[b] = rotated::<7, 25>(_mm256_xor_si256(state[b], state[c]));
    }

    /// Words rotated to the right; the other number is what is missing to 32.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn rotated<const RIGHT: i32, const LEFT: i32>(words: __m256i) -> __m256i {
        let right = _mm256_srli_epi32::<RIGHT>(words);
        _mm256_or_si256(right, _mm256_slli_epi32::<LEFT>(words))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn rotated_by_16(words: __m256i) -> __m256i {
        moved(words, 0x0D0C_0F0E_0908_0B0A, 0x0504_0706_0100_0302)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn rotated_by_8(words: __m256i) -> __m256i {
        moved(words, 0x0C0F_0E0D_080B_0A09, 0x0407_0605_0003_0201)
    }

    /// Words whose bytes change places: for each of the sixteen bytes of a half, where it comes from.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn moved(words: __m256i, second: i64, first: i64) -> __m256i {
        _mm256_shuffle_epi8(words, _mm256_set_epi64x(second, first, second, first))
    }
}
