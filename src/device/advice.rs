//! Disks whose flag is at odds with what else is known of them, and the commands that change it.

use serde::Serialize;

use super::leaf::Leaf;
use super::volume::Volume;

/// Something worth changing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// Its name in the documentation.
    pub name: &'static str,
    /// The problem, and why it matters.
    pub says: String,
    /// The command that changes it until the next start of the system.
    pub command: String,
}

impl Volume {
    /// The flags of its disks that are probably wrong.
    pub fn advice(&self) -> Vec<Advice> {
        self.leaves.iter().filter_map(Leaf::advice).collect()
    }
}

impl Leaf {
    fn advice(&self) -> Option<Advice> {
        let (name, why, value) = match self.rotational {
            Some(true) if !self.is_virtual && self.is_flash() => {
                let why = "reports rotational=1, but its bus or its name is that of solid state: it is read with one \
                    thread";
                ("flash-flag", why, 0)
            }
            Some(false) if self.sounds_spinning() => {
                let why = "reports rotational=0, but its name is that of a spinning disk (some USB bridges report it \
                    wrongly): many threads slow it down";
                ("spinning-name", why, 1)
            }
            _ => return None,
        };
        let folder = self.name.replace('/', "!");
        Some(Advice {
            name,
            says: format!("{} {why}", self.name),
            command: format!("echo {value} | sudo tee /sys/block/{folder}/queue/rotational"),
        })
    }

    /// True for buses that have (nearly) no disks with heads, and names that say so.
    fn is_flash(&self) -> bool {
        let is_flash_bus = matches!(self.transport, Some("nvme" | "mmc"));
        is_flash_bus || self.is_called(&["SSD", "NVMe", "Flash"])
    }

    /// True for product lines of spinning disks in USB boxes.
    fn sounds_spinning(&self) -> bool {
        let lines = [
            "HDD",
            "WD Elements",
            "My Book",
            "Expansion Desk",
            "Backup+ Desk",
        ];
        self.is_called(&lines) && !self.is_called(&["SSD"])
    }

    fn is_called(&self, words: &[&str]) -> bool {
        let model = self.model.as_deref().unwrap_or_default();
        words.iter().any(|word| model.contains(word))
    }
}
