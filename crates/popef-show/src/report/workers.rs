use std::fmt;
use std::ops::ControlFlow;

/// Who does the parts of a long work, such as the statistics of a large tensor. This crate starts no threads; a program that
/// has some lends them here.
///
/// ```
/// use std::ops::ControlFlow;
///
/// #[derive(Debug)]
/// struct AllProcessors;
///
/// impl popef_show::Workers for AllProcessors {
///     fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync), done: &mut dyn FnMut(usize) -> ControlFlow<()>) {
///         // As `popef_open::in_order` does it: at most 32 parts are done and wait for those before them.
/// #       popef_show::OneThread.run(count, work, done);
///     }
/// }
/// ```
pub trait Workers: Sync + fmt::Debug {
    /// Calls `work` for 0 to `count`, on any threads and in any order, and `done` on this thread for each that is done, in
    /// order. `done` can stop the work.
    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync), done: &mut dyn FnMut(usize) -> ControlFlow<()>);
}

/// The calling thread does all the work.
#[derive(Clone, Copy, Debug)]
pub struct OneThread;

impl Workers for OneThread {
    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync), done: &mut dyn FnMut(usize) -> ControlFlow<()>) {
        let _ = (0..count).try_for_each(|index| {
            work(index);
            done(index)
        });
    }
}
