//! Tests of the machine in random orders of arrival, against a comparison of every pair.

mod cases;
mod drive;
mod oracle;
mod world;

use proptest::prelude::*;

use drive::Drive;
use oracle::check;
use world::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn sets_are_those_of_comparing_every_pair(
        world in world(),
        counting in counting(),
        visit in prop::sample::select(&VISITS),
        seed in any::<u64>(),
        eagerness in 0_usize..4,
    ) {
        check(&world, counting, visit, seed, eagerness);
    }

    /// The order of events changes which reads are wanted first, never the answer.
    #[test]
    fn the_order_of_arrival_does_not_matter(
        world in world(),
        counting in counting(),
        seeds in prop::collection::vec(any::<u64>(), 4),
    ) {
        let world: Vec<Inode> = world
            .into_iter()
            .map(|inode| Inode { fails: None, ..inode })
            .collect();
        let mut answers = seeds.iter().enumerate().map(|(i, seed)| {
            let mut drive = Drive::new(&world, counting, VISITS[i % 2], seed & 2 == 0);
            drive.fickle = i % 2 == 1;
            if i < 2 {
                drive.blocks_are_shared();
            }
            drive.run(&mut Rng(seed | 1), i);
            drive.sets()
        });
        let first = answers.next();
        for other in answers {
            prop_assert_eq!(Some(other), first.clone());
        }
    }
}
