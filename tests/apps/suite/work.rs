//! Threads that allocate for each other through channels, grow vectors, keep maps of strings,
//! ask for over-aligned memory, and end while others still hold their blocks. Prints sums.
use std::alloc::{alloc_zeroed, dealloc, realloc, Layout};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread;

struct Draw(u64);

impl Draw {
    fn next(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

fn produce(seed: u64, out: SyncSender<Vec<u8>>) {
    let mut draw = Draw(seed);
    for i in 0..60_000u64 {
        let size = if i % 500 == 0 { 300_000 } else { draw.next(3000) };
        out.send(vec![i as u8; size as usize]).unwrap();
    }
}

fn consume(input: Receiver<Vec<u8>>) -> u64 {
    let mut kept = VecDeque::new();
    let mut sum = 0;
    for mut block in input {
        block.extend_from_slice(b"grown");
        sum += block.len() as u64;
        kept.push_back(block.into_boxed_slice());
        if kept.len() > 300 {
            kept.pop_front();
        }
    }
    sum
}

fn maps(seed: u64) -> u64 {
    let mut draw = Draw(seed);
    let mut by_name: HashMap<String, Vec<u32>> = HashMap::new();
    let mut ordered: BTreeMap<u64, Box<[u8]>> = BTreeMap::new();
    for i in 0..80_000 {
        by_name.entry(format!("name{}", draw.next(2000))).or_default().push(i);
        ordered.insert(draw.next(5000), vec![1u8; draw.next(200) as usize].into_boxed_slice());
        ordered.remove(&draw.next(5000));
    }
    let values: usize = by_name.values().map(|v| v.len()).sum();
    values as u64 + ordered.values().map(|b| b.len() as u64).sum::<u64>()
}

fn aligned() -> u64 {
    let mut sum = 0;
    for i in 0..40_000usize {
        let align = 8 << (i % 10);
        let layout = Layout::from_size_align(1 + i % 5000, align).unwrap();
        unsafe {
            let block = alloc_zeroed(layout);
            assert!(!block.is_null() && block as usize % align == 0);
            assert!((0..layout.size()).all(|k| *block.add(k) == 0));
            *block = 7;
            let grown = realloc(block, layout, layout.size() * 3);
            assert!(*grown == 7 && grown as usize % align == 0);
            let layout = Layout::from_size_align(layout.size() * 3, align).unwrap();
            dealloc(grown, layout);
            sum += layout.size() as u64;
        }
    }
    sum
}

fn main() {
    let (pairs, shared) = (4, Arc::new(Mutex::new(Vec::<String>::new())));
    let consumers: Vec<_> = (0..pairs)
        .map(|n| {
            let (out, input) = sync_channel(64);
            thread::spawn(move || produce(n, out));
            thread::spawn(move || consume(input))
        })
        .collect();
    for (n, consumer) in consumers.into_iter().enumerate() {
        println!("consumer {n} {}", consumer.join().unwrap());
    }
    let parts: Vec<_> = (0..4).map(|n| thread::spawn(move || maps(n))).collect();
    println!("maps {}", parts.into_iter().map(|t| t.join().unwrap()).sum::<u64>());
    for n in 0..2000usize {
        let shared = Arc::clone(&shared);
        thread::spawn(move || shared.lock().unwrap().push("s".repeat(n % 300))).join().unwrap();
    }
    println!("threads {}", shared.lock().unwrap().iter().map(String::len).sum::<usize>());
    println!("aligned {}", aligned());
    let caught = thread::spawn(|| -> usize { panic!("{}", "p".repeat(1000)) }).join().is_err();
    println!("panic {caught}");
}
