//! Which users this process can tell apart.

use std::fs;

/// What the kernel shows instead of a user that it cannot name here, if `/proc` does not say otherwise.
const NOBODY: u32 = 65534;

/// True if this number stands for users outside of the user namespace, root among them.
///
/// Sandboxes (bwrap, flatpak) map one user only: `/` and `/home` then seem to belong to nobody.
pub fn is_unmapped(uid: u32) -> bool {
    let overflow = fs::read_to_string("/proc/sys/kernel/overflowuid");
    let overflow = overflow.ok().and_then(|text| text.trim().parse().ok());
    if uid != overflow.unwrap_or(NOBODY) {
        return false;
    }
    fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| !maps(&map, uid))
}

/// Each line of the map: first number inside, first number outside, how many.
fn maps(map: &str, uid: u32) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(str::parse::<u64>);
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(first)), Some(_), Some(Ok(count))) => {
                let uid = u64::from(uid);
                (first..first.saturating_add(count)).contains(&uid)
            }
            // What is not understood is no reason to trust anybody.
            _ => true,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_namespace_that_lacks_the_user_has_it_unmapped() {
        let whole = "         0          0 4294967295\n";
        let sandbox = "      1000       1000          1\n";
        let container = "         0     100000      65536\n";
        assert!(maps(whole, NOBODY));
        assert!(!maps(sandbox, NOBODY));
        assert!(maps(container, NOBODY));
        assert!(maps("odd\n", NOBODY));
        assert!(!maps("", NOBODY));
    }
}
