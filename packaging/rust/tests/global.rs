//! A program whose global allocator is hakmem: sizes, alignments, growth, threads, zeroes.

use std::alloc::{alloc, alloc_zeroed, dealloc, realloc, Layout};
use std::ffi::CStr;
use std::thread;

#[global_allocator]
static GLOBAL: hakmem::Hakmem = hakmem::Hakmem;

#[test]
fn the_version_is_that_of_the_crate() {
    let version = unsafe { CStr::from_ptr(hakmem::Hakmem::version().cast()) };
    assert_eq!(version.to_str().unwrap(), env!("CARGO_PKG_VERSION"));
}

/// A block of another allocator would end the program here, by name.
#[test]
fn boxes_and_vectors_are_hakmems() {
    let numbers: Vec<u64> = (0..10_000).collect();
    let usable = unsafe { hakmem::Hakmem::usable_size(numbers.as_ptr().cast()) };
    assert!(usable >= numbers.capacity() * 8);
}

#[test]
fn every_alignment_holds_through_growth() {
    for shift in 0..13 {
        for size in [1, 100, 5000, 300_000] {
            let layout = Layout::from_size_align(size, 1 << shift).unwrap();
            unsafe {
                let block = alloc(layout);
                block.write_bytes(7, size);
                let block = realloc(block, layout, size * 3);
                assert_eq!(block as usize % (1 << shift), 0);
                assert!((0..size).all(|i| *block.add(i) == 7));
                dealloc(block, Layout::from_size_align(size * 3, 1 << shift).unwrap());
                let zeroed = alloc_zeroed(layout);
                assert_eq!(zeroed as usize % (1 << shift), 0);
                assert!((0..size).all(|i| *zeroed.add(i) == 0));
                dealloc(zeroed, layout);
            }
        }
    }
}

#[test]
fn blocks_of_other_threads_are_freed_here() {
    let makers: Vec<_> = (0..4usize)
        .map(|n| thread::spawn(move || (0..1000).map(|i| vec![n; i]).collect::<Vec<_>>()))
        .collect();
    for (n, maker) in makers.into_iter().enumerate() {
        let made = maker.join().unwrap();
        assert!(made.iter().flatten().all(|&value| value == n));
    }
    hakmem::Hakmem::purge();
}
