//! Two kinds of tasks in one parallel loop, the second of which reads what the first writes.
#![allow(unsafe_code)]

use crate::kernel::Failure;
use crate::tensor::Element;
use crate::tiles::{Ragged, Split};
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;

/// Two stages in one loop: the first tasks each write a part of a slice, which is published when they are done;
/// the tasks behind them each have a part of `S` and read what was published.
///
/// A task of the second stage waits for the parts that it reads. They are those of tasks with lower numbers,
/// which the pool has started before; tasks of the first stage wait for nothing.
pub struct Staged<'a, T, S> {
    written: Ragged<'a, T>,
    published: &'a [AtomicU32],
    second: S,
}

/// A task's part of a [`Staged`].
pub enum Stage<'t, T, P> {
    /// A part to write.
    First(Draft<'t, T>),
    /// What the first stage publishes, and a part of the second's own.
    Second(Published<'t, T>, P),
}

/// A part that is published when it is dropped. A task that panics publishes what it has: its loop fails, but
/// nobody waits for ever, as long as each range of the loop is one task (a grain of 1): the rest of a longer one
/// would never begin.
pub struct Draft<'t, T> {
    part: &'t mut [T],
    published: &'t AtomicU32,
}

/// The parts that the first stage publishes.
pub struct Published<'t, T> {
    data: *const T,
    bounds: &'t [u64],
    published: &'t [AtomicU32],
}

impl<'a, T: Element, S> Staged<'a, T, S> {
    /// `written` for the first stage, `second` for the second. `published` has a word for each part of the
    /// first.
    ///
    /// # Errors
    /// `INTERNAL` where it has another length.
    pub fn new(
        written: Ragged<'a, T>,
        published: &'a mut [u32],
        second: S,
    ) -> Result<Staged<'a, T, S>, Failure> {
        if written.count() != Some(published.len()) {
            return Err(Failure::internal("each part needs one word"));
        }
        published.fill(0);
        // SAFETY: the words are lent exclusively for `'a`; the two types have one layout.
        let published = unsafe {
            core::slice::from_raw_parts(published.as_mut_ptr().cast::<AtomicU32>(), published.len())
        };
        Ok(Staged {
            written,
            published,
            second,
        })
    }
}

// SAFETY: a `Draft` is one part of the first stage; a `Published` gives a part only after its one `Draft` was
// dropped. The second stage's parts are disjoint by its own promise.
unsafe impl<T: Element, S: Split> Split for Staged<'_, T, S> {
    type Part<'t> = Stage<'t, T, S::Part<'t>>;

    fn count(&self) -> Option<usize> {
        Some(self.published.len() + self.second.count()?)
    }

    unsafe fn part<'t>(&self, index: usize, worker: usize) -> Self::Part<'t> {
        // SAFETY: `self` and what it borrows outlive `'t`, as the caller promises.
        let (bounds, published) = unsafe {
            (
                &*core::ptr::from_ref(self.written.bounds),
                &*core::ptr::from_ref(self.published),
            )
        };
        if let Some(published) = published.get(index) {
            Stage::First(Draft {
                // SAFETY: the caller's promise for this index.
                part: unsafe { self.written.part(index, worker) },
                published,
            })
        } else {
            let data = self.written.data.cast_const();
            let published = Published {
                data,
                bounds,
                published,
            };
            let index = index - self.published.len();
            // SAFETY: the caller's promise; each index of the second stage is asked for once too.
            Stage::Second(published, unsafe { self.second.part(index, worker) })
        }
    }
}

impl<T> core::ops::Deref for Draft<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.part
    }
}

impl<T> core::ops::DerefMut for Draft<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.part
    }
}

impl<T> Drop for Draft<'_, T> {
    fn drop(&mut self) {
        self.published.store(1, Ordering::Release);
    }
}

/// Looks at a word, a part of a millisecond, before a waiting thread thinks that the other one may have lost its
/// processor to another program.
const LOOKS: u32 = 1 << 13;
/// Time for which it leaves its own processor to that thread then.
const NAP: Duration = Duration::from_micros(20);

impl<'t, T: Element> Published<'t, T> {
    /// The elements of the parts `range`, once they are all published.
    ///
    /// # Panics
    /// When there are no such parts.
    #[must_use]
    pub fn wait(&self, range: Range<usize>) -> &'t [T] {
        for word in &self.published[range.clone()] {
            let mut looks = 0u32;
            while word.load(Ordering::Acquire) == 0 {
                core::hint::spin_loop();
                looks += 1;
                if looks.is_multiple_of(LOOKS) {
                    std::thread::sleep(NAP);
                }
            }
        }
        let (from, to) = (
            self.bounds[range.start] as usize,
            self.bounds[range.end] as usize,
        );
        // SAFETY: `Ragged::new` checked the bounds; each part between them was written by one `Draft`, which is
        // gone: its release made the elements visible to the acquire above.
        unsafe { core::slice::from_raw_parts(self.data.add(from), to - from) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_see_whole_parts_whatever_the_order_of_their_ends() {
        const PARTS: usize = 64;
        let mut memory = vec![0u32; 3 * PARTS];
        let bounds: Vec<u64> = (0..=PARTS as u64).map(|part| 3 * part).collect();
        let mut words = vec![7; PARTS];
        let mut sums = vec![0u32; 4];
        let starts: Vec<u64> = (0..=4).collect();
        let staged = Staged::new(
            Ragged::new(&mut memory, &bounds).unwrap(),
            &mut words,
            Ragged::new(&mut sums, &starts).unwrap(),
        )
        .unwrap();
        assert_eq!(staged.count(), Some(PARTS + 4));
        let next = AtomicU32::new(0);
        let work = |worker: usize| {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed) as usize;
                if index >= PARTS + 4 {
                    return;
                }
                // SAFETY: every index once.
                match unsafe { staged.part(index, worker) } {
                    Stage::First(mut draft) => {
                        for element in draft.iter_mut() {
                            std::thread::yield_now();
                            *element = index as u32 + 1;
                        }
                    }
                    Stage::Second(published, sum) => {
                        let quarter = (index - PARTS) * PARTS / 4;
                        let part = published.wait(quarter..quarter + PARTS / 4);
                        sum[0] = part.iter().sum();
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for worker in 1..3 {
                scope.spawn(move || work(worker));
            }
            work(0);
        });
        let want = |quarter: u32| (0..16).map(|i| 3 * (16 * quarter + i + 1)).sum::<u32>();
        assert_eq!(sums, [want(0), want(1), want(2), want(3)]);
        let short = Ragged::new(&mut memory, &bounds).unwrap();
        assert!(Staged::new(short, &mut words[1..], ()).is_err());
    }

    #[test]
    fn a_task_that_panics_keeps_nobody_waiting() {
        let (mut memory, mut words, mut sums) = ([1u32; 2], [0], [0u32]);
        let written = Ragged::new(&mut memory, &[0, 2]).unwrap();
        let second = Ragged::new(&mut sums, &[0, 1]).unwrap();
        let staged = Staged::new(written, &mut words, second).unwrap();
        let task = std::panic::AssertUnwindSafe(|| {
            // SAFETY: the one call for this index.
            let Stage::First(_draft) = (unsafe { staged.part(0, 0) }) else {
                return;
            };
            panic!("a task fails");
        });
        assert!(std::panic::catch_unwind(task).is_err());
        // SAFETY: as above.
        let Stage::Second(published, _) = (unsafe { staged.part(1, 0) }) else {
            panic!("the second stage comes second");
        };
        assert_eq!(published.wait(0..1), [1, 1]);
    }
}
