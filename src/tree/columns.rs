//! Columns: very many short texts, and items that belong to owners, such as the names in each folder.

use std::ops::Range;

/// Where the items of each owner begin, and where the last one's end, in a column that is sorted by owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Starts(Vec<u32>);

impl Starts {
    /// Of so many owners, by the owner of each item.
    pub fn of(owners: usize, of_each: impl Iterator<Item = u32>) -> Self {
        let mut starts = vec![0_u32; owners + 1];
        for owner in of_each {
            starts[owner as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        Self(starts)
    }

    /// The places of the items of an owner.
    pub fn range(&self, owner: u32) -> Range<u32> {
        let at = owner as usize;
        self.0[at]..self.0[at + 1]
    }

    /// The owner of the item at this place.
    pub fn owner_of(&self, place: u32) -> u32 {
        self.0.partition_point(|&start| start <= place) as u32 - 1
    }
}

/// The items of each owner, as numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouped {
    starts: Starts,
    items: Vec<u32>,
}

impl Grouped {
    /// Of so many owners, by owner and item. The items of an owner keep their order.
    pub fn of(owners: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let starts = Starts::of(owners, pairs.clone().map(|(owner, _)| owner));
        let mut next = starts.0.clone();
        let mut items = vec![0; next[owners] as usize];
        for (owner, item) in pairs {
            let place = &mut next[owner as usize];
            items[*place as usize] = item;
            *place += 1;
        }
        Self { starts, items }
    }

    /// The items of an owner.
    pub fn get(&self, owner: u32) -> &[u32] {
        &self.items[self.places(owner..owner + 1)]
    }

    /// The places of the items of these owners.
    pub fn places(&self, owners: Range<u32>) -> Range<usize> {
        let starts = &self.starts.0;
        starts[owners.start as usize] as usize..starts[owners.end as usize] as usize
    }

    /// The items of all owners, one behind the other.
    pub fn items(&self) -> &[u32] {
        &self.items
    }
}

/// A column of names or paths: their bytes, and eight bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    ends: Vec<u64>,
    bytes: Vec<u8>,
}

impl Texts {
    /// Adds one.
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len() as u64);
    }

    /// The one at this place.
    pub fn get(&self, at: usize) -> &[u8] {
        let start = match at {
            0 => 0,
            at => self.ends[at - 1],
        };
        &self.bytes[start as usize..self.ends[at] as usize]
    }
}
