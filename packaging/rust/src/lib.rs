//! hakmem as Rust's global allocator:
//!
//! ```
//! #[global_allocator]
//! static GLOBAL: hakmem::Hakmem = hakmem::Hakmem;
//! ```
#![no_std]

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;

extern "C" {
    fn hak_malloc(size: usize) -> *mut c_void;
    fn hak_calloc(count: usize, size: usize) -> *mut c_void;
    fn hak_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn hak_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn hak_free(block: *mut c_void);
    fn hak_malloc_usable_size(block: *const c_void) -> usize;
    fn hak_purge() -> usize;
    fn hak_version() -> *const u8;
}

/// What every block is aligned to.
const ALIGNED: usize = 16;

/// The allocator; it has no state of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hakmem;

// Sound: blocks have at least the size and alignment that was asked for, belong to the caller until
// they are freed, and may be freed by any thread. Nothing here unwinds.
unsafe impl GlobalAlloc for Hakmem {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= ALIGNED {
            return hak_malloc(layout.size()).cast();
        }
        hak_memalign(layout.align(), layout.size()).cast()
    }

    unsafe fn dealloc(&self, block: *mut u8, _layout: Layout) {
        hak_free(block.cast());
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= ALIGNED {
            return hak_calloc(1, layout.size()).cast();
        }
        let block = self.alloc(layout);
        if !block.is_null() {
            block.write_bytes(0, layout.size());
        }
        block
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.align() <= ALIGNED {
            return hak_realloc(block.cast(), size).cast();
        }
        let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
        if !moved.is_null() {
            moved.copy_from_nonoverlapping(block, layout.size().min(size));
            hak_free(block.cast());
        }
        moved
    }
}

impl Hakmem {
    /// Returns how many bytes of a block may be used.
    ///
    /// # Safety
    /// `block` is one that this allocator returned and that was not freed.
    pub unsafe fn usable_size(block: *const u8) -> usize {
        hak_malloc_usable_size(block.cast())
    }

    /// Gives free memory back to the system, and returns how many bytes.
    pub fn purge() -> usize {
        unsafe { hak_purge() }
    }

    /// Returns the version of the library, with a NUL at its end.
    pub fn version() -> *const u8 {
        unsafe { hak_version() }
    }
}
