//! Timing side by side, and the rows of the table in docs/PERFORMANCE.md.

use std::fmt::Display;
use std::hint::black_box;
use std::time::Instant;

/// The median times in seconds of works that take turns, so that other work of the machine hits all of them. Each work
/// runs once unmeasured before its turn, so that it does not find the caches of another work.
pub fn medians<const N: usize>(rounds: usize, mut works: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..rounds {
        for (times, work) in times.iter_mut().zip(&mut works) {
            work();
            let start = Instant::now();
            work();
            times.push(start.elapsed().as_secs_f64());
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}

/// A work whose result is not used, but not optimised away.
pub fn work<T>(mut work: impl FnMut() -> T) -> impl FnMut() {
    move || drop(black_box(work()))
}

/// A row: the work, its goal, its figure, and what it was measured beside in the same run.
pub struct Row<'a> {
    pub work: &'a str,
    pub goal: &'a str,
    pub figure: String,
    pub peer: String,
    pub ratio: String,
    pub met: bool,
}

impl Row<'_> {
    /// Prints the row as a line of a Markdown table.
    pub fn print(&self) {
        let Row { work, goal, figure, peer, ratio, met } = self;
        let met = match (*goal, met) {
            ("none", _) => "",
            (_, true) => "yes",
            (_, false) => "no",
        };
        println!("| {work} | {goal} | {figure} | {peer} | {ratio} | {met} |");
    }
}

/// A ratio in the form that the tables use.
pub fn ratio(of: f64, to: f64) -> String {
    rounded(of / to)
}

/// Rounded to three digits, which is more than a shared machine can tell.
pub fn rounded(number: f64) -> String {
    let digits = if number >= 100.0 {
        0
    } else if number >= 10.0 {
        1
    } else {
        2
    };
    format!("{number:.digits$}")
}

/// Prints `label: a, b, c`: the cost for each unit of works of 1, 10 and 100 times the size, and whether the larger
/// ones cost at most `slack` times as much as the smallest.
pub fn growth(work: &str, unit: impl Display, costs: [f64; 3], slack: f64) {
    let worst = costs[1].max(costs[2]) / costs[0];
    Row {
        work,
        goal: "x10 and x100 cost no more than 10 and 100 times as much",
        figure: format!("{} {unit}", costs.map(rounded).join(", ")),
        peer: "itself".into(),
        ratio: rounded(worst),
        met: worst <= slack,
    }
    .print();
}
