//! Linux software RAID: what `md/` says of an array and of each member.

use super::array::Array;
use super::sysfs::BlockDevice;

/// An array's own folder of facts.
#[derive(Debug)]
pub(super) struct Md<'a> {
    device: &'a BlockDevice,
    level: String,
}

impl<'a> Md<'a> {
    /// The array that this device is; none if it is something else.
    pub fn of(device: &'a BlockDevice) -> Option<Self> {
        let level = device.attribute("md/level")?;
        Some(Self { device, level })
    }

    /// The members that reads go to: neither spares nor failed ones, and of a mirror's members
    /// those marked write-mostly only if there is no other.
    pub fn read_from(
        &self,
        members: Vec<BlockDevice>,
        notes: &mut Vec<String>,
    ) -> Vec<BlockDevice> {
        let roles: Vec<_> = members.iter().map(|member| self.role(member)).collect();
        let has = |role| roles.contains(&role);
        let least = match (has(Role::Active), has(Role::WriteMostly)) {
            (true, _) => Role::Active,
            (false, true) => Role::WriteMostly,
            // Nothing is known, or nothing works: then all of them may be asked.
            (false, false) => return members,
        };
        let (array, mut kept) = (&self.device.name, Vec::new());
        for (member, role) in members.into_iter().zip(roles) {
            if role == least {
                kept.push(member);
                continue;
            }
            let what = match role {
                Role::WriteMostly => "write-mostly",
                _ => "spare, failed or being rebuilt",
            };
            notes.push(format!(
                "{} of {array} is {what}: not read from",
                member.name
            ));
        }
        kept
    }

    /// The array as it is read.
    pub fn array(&self, members: &[BlockDevice]) -> Array {
        Array {
            name: self.device.name.clone(),
            sweeps: self.sweeps(members.len()),
            members: members.iter().map(|member| member.name.clone()).collect(),
            level: self.level.clone(),
        }
    }

    /// The layout of RAID 10 is a number: near copies in its lowest byte, far copies in the next.
    fn sweeps(&self, members: usize) -> usize {
        match self.level.as_str() {
            "raid1" => members,
            "raid10" => {
                let layout = self.device.number("md/layout").unwrap_or(0x102);
                let (near, far) = (layout & 0xff, layout >> 8 & 0xff);
                match far {
                    0 | 1 => usize::try_from(near).unwrap_or(1).clamp(1, members.max(1)),
                    _ => 1,
                }
            }
            _ => 1,
        }
    }

    fn role(&self, member: &BlockDevice) -> Role {
        let folder = format!("md/dev-{}", member.name.replace('/', "!"));
        let says = |name: &str| self.device.attribute(&format!("{folder}/{name}"));
        let state = says("state").unwrap_or_default();
        let is = |word: &str| state.split(',').any(|part| part.trim() == word);
        let has_place = says("slot").is_none_or(|slot| slot.parse::<u32>().is_ok());
        match has_place && !is("faulty") && !is("spare") {
            false => Role::Idle,
            true if self.level == "raid1" && is("write_mostly") => Role::WriteMostly,
            true => Role::Active,
        }
    }
}

/// The role of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Reads go to it.
    Active,
    /// Reads go to it if no other can serve them.
    WriteMostly,
    /// A spare, a failed one, or one that is being rebuilt.
    Idle,
}
