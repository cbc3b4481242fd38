//! A small random generator whose numbers are the same on every machine.

/// SplitMix64: fast, seedable by any number, and a counter in disguise.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

/// The step of SplitMix64's counter.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes the bits of `value`; different inputs give different outputs.
pub fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl Rng {
    /// Starts a sequence.
    pub fn new(seed: u64) -> Self {
        Self { state: mix(seed) }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number from 0 up to, but not including, `end` (0 if `end` is 0).
    pub fn below(&mut self, end: u64) -> u64 {
        let wide = u128::from(self.bits()) * u128::from(end);
        (wide >> 64) as u64
    }

    /// A number from `start` to `end`, both included.
    pub fn between(&mut self, start: u64, end: u64) -> u64 {
        start + self.below(end - start + 1)
    }

    /// A number from 0 up to, but not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One of the items.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }

    /// A log-normal number: `median` times e to the power of a normal one with deviation `sigma`.
    pub fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * self.unit()).cos();
        median * (sigma * normal).exp()
    }
}
