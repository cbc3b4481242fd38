//! The elevator of a disk (C-SCAN): requests in one sweep from the start of the disk to its end, then from the start
//! again.

use std::collections::BTreeMap;

/// Requests that wait for the head.
///
/// The order is C-SCAN rather than back and forth: files that lie close together are read in rising order, the order in
/// which the platter brings them.
#[derive(Debug)]
pub struct Elevator<T> {
    waiting: BTreeMap<(u64, u64), T>,
    /// The last target of the head.
    head: (u64, u64),
    /// Keeps requests for one position apart, in the order of arrival.
    count: u64,
}

impl<T> Default for Elevator<T> {
    fn default() -> Self {
        Self {
            waiting: BTreeMap::new(),
            head: (0, 0),
            count: 0,
        }
    }
}

impl<T> Elevator<T> {
    /// Adds a request at a position on the disk, bytes.
    pub fn push(&mut self, position: u64, request: T) {
        self.count += 1;
        self.waiting.insert((position, self.count), request);
    }

    /// Takes the next request ahead of the head, or the first of all when the sweep is over.
    pub fn pop(&mut self) -> Option<T> {
        let ahead = self.waiting.range(self.head..).next();
        let (&at, _) = ahead.or_else(|| self.waiting.iter().next())?;
        self.head = at;
        self.waiting.remove(&at)
    }

    /// All requests that wait.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.waiting.values()
    }

    /// Takes all requests with their positions.
    pub fn take_all(&mut self) -> impl Iterator<Item = (u64, T)> + use<T> {
        let all = std::mem::take(&mut self.waiting).into_iter();
        all.map(|((position, _), request)| (position, request))
    }

    /// True if the next request lies ahead of the head: it belongs to the sweep under way.
    pub fn is_sweeping(&self) -> bool {
        self.head != (0, 0) && self.waiting.range(self.head..).next().is_some()
    }

    /// Forgets all requests and returns how many there were.
    pub fn clear(&mut self) -> usize {
        std::mem::take(&mut self.waiting).len()
    }

    /// The number of waiting requests.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// True if nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(elevator: &mut Elevator<u64>) -> Vec<u64> {
        std::iter::from_fn(|| elevator.pop()).collect()
    }

    #[test]
    fn a_sweep_goes_up_whatever_the_order_of_arrival() {
        let mut elevator = Elevator::default();
        for at in [50, 10, 40, 20, 30] {
            elevator.push(at, at);
        }
        assert_eq!(order(&mut elevator), [10, 20, 30, 40, 50]);
    }

    #[test]
    fn what_comes_behind_the_head_waits_for_the_next_sweep() {
        let mut elevator = Elevator::default();
        for at in [10, 20, 30] {
            elevator.push(at, at);
        }
        assert_eq!(elevator.pop(), Some(10));
        assert_eq!(elevator.pop(), Some(20));
        elevator.push(5, 5);
        elevator.push(25, 25);
        assert_eq!(order(&mut elevator), [25, 30, 5]);
    }

    #[test]
    fn a_sweep_is_over_when_nothing_lies_ahead() {
        let mut elevator = Elevator::default();
        elevator.push(10, 10);
        elevator.push(20, 20);
        assert!(!elevator.is_sweeping(), "not begun");
        assert_eq!(elevator.pop(), Some(10));
        assert!(elevator.is_sweeping());
        assert_eq!(elevator.pop(), Some(20));
        elevator.push(5, 5);
        assert!(!elevator.is_sweeping(), "it lies behind");
    }

    #[test]
    fn it_says_how_many_requests_it_forgets() {
        let mut elevator = Elevator::default();
        assert_eq!(elevator.clear(), 0);
        for at in [40, 20, 30] {
            elevator.push(at, at);
        }
        assert_eq!(elevator.clear(), 3);
        assert!(elevator.is_empty());
        assert_eq!(elevator.pop(), None);
    }

    #[test]
    fn requests_for_one_place_keep_their_order() {
        let mut elevator = Elevator::default();
        for (at, name) in [(7, 1), (7, 2), (3, 0), (7, 3)] {
            elevator.push(at, name);
        }
        assert_eq!(order(&mut elevator), [0, 1, 2, 3]);
    }
}
