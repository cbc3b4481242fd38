//! What a comparison showed of a content, for files that are compared and not digested.

/// Stands for a content that was compared with others.
///
/// Files with the same token have the same content. Files of one comparison with other groups have other contents. Of
/// files of two comparisons nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContentToken {
    /// Number of the comparison. No other one has it, in whatever run and on whatever machine.
    comparison: [u8; 16],
    /// Number of the content in this comparison.
    group: u32,
}

/// Bytes of a token that is written down.
const LENGTH: usize = 20;

impl ContentToken {
    /// Stands for a content, by the numbers of the comparison and of the content in it.
    pub fn new(comparison: u128, group: u32) -> Self {
        let comparison = comparison.to_le_bytes();
        Self { comparison, group }
    }

    /// Number of the comparison.
    pub fn comparison(self) -> u128 {
        u128::from_le_bytes(self.comparison)
    }

    /// As it is written down.
    pub fn to_bytes(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..16].copy_from_slice(&self.comparison);
        bytes[16..].copy_from_slice(&self.group.to_le_bytes());
        bytes
    }

    /// Reads what was written down.
    pub fn from_bytes(bytes: [u8; LENGTH]) -> Self {
        let [a, b, c, d] = [bytes[16], bytes[17], bytes[18], bytes[19]];
        let mut comparison = [0; 16];
        comparison.copy_from_slice(&bytes[..16]);
        Self {
            comparison,
            group: u32::from_le_bytes([a, b, c, d]),
        }
    }
}
