//! The cost of decoders for the worst inputs known, beside what is promised.

use std::time::{Duration, Instant};

use crate::costs::cost::{Cost, Line, Worst};

const LONG_ENOUGH: Duration = Duration::from_millis(150);

/// The sizes of the inputs. 0 stands for the smallest input, which shows the cost of a call.
const SIZES: [usize; 4] = [0, 2_000, 20_000, 200_000];

/// Prints a line for each input, and then a Markdown table with a row for each decoder.
pub(crate) fn print(inputs: &[Worst]) {
    if inputs.is_empty() {
        return;
    }
    println!(
        "Decoders: ns a byte that goes in, or that comes out if these are more, of {:?} bytes, and the last over the \
         first; KiB held; how much this is of the time and of the memory promised",
        &SIZES[1..]
    );
    let rows: Vec<String> = inputs.chunk_by(|one, other| one.bound.decoder == other.bound.decoder).map(row).collect();
    println!();
    println!(
        "| decoder | time promised | worst, ns a byte in | worst, ns a byte out | worst, of the promise | memory promised | most held, KiB |"
    );
    println!("|---|---|---|---|---|---|---|");
    rows.iter().for_each(|row| println!("{row}"));
}

/// Measures the inputs of one decoder and returns its row of the table.
fn row(inputs: &[Worst]) -> String {
    let bound = &inputs[0].bound;
    println!("{}", bound.decoder);
    let all: Vec<Measured<'_>> = inputs.iter().map(Measured::of).collect();
    let worst = |figure: &dyn Fn(&Measured<'_>) -> Option<f64>| {
        let figures = all.iter().filter_map(|measured| Some((figure(measured)?, measured.input.name)));
        let (figure, name) = figures.max_by(|(one, _), (other, _)| one.total_cmp(other)).unwrap_or((0.0, "none"));
        format!("{figure:.2}: {name}")
    };
    let columns = [
        bound.decoder.to_owned(),
        promise(bound.time, ("µs", 1000, "ns")),
        worst(&|measured| measured.per_byte().filter(|_| !measured.gives_more())),
        worst(&|measured| measured.per_byte().filter(|_| measured.gives_more())),
        worst(&|measured| Some(measured.most(|cost| cost.shares(bound).0))),
        promise(bound.heap, ("KiB", 1 << 10, "B")),
        worst(&|measured| Some(measured.most(|cost| cost.heap as f64 / 1024.0))),
    ];
    format!("| {} |", columns.join(" | "))
}

struct Measured<'a> {
    input: &'a Worst,
    costs: [Cost; SIZES.len()],
}

impl<'a> Measured<'a> {
    /// Measures an input of all sizes and prints the figures.
    fn of(input: &'a Worst) -> Self {
        let measured = Measured { input, costs: SIZES.map(|size| least(input, size)) };
        let [_, first, .., last] = &measured.costs;
        let each = measured.costs[1..].iter().map(|cost| format!("{:>8.2}", per_byte(cost))).collect::<String>();
        let factor = per_byte(last) / per_byte(first);
        let kib = measured.most(|cost| cost.heap as f64 / 1024.0);
        let [time, heap] =
            [measured.most(|cost| cost.shares(&input.bound).0), measured.most(|cost| cost.shares(&input.bound).1)];
        println!("  {:<54}{each}   ×{factor:<5.1}{kib:>8.0}{time:>6.2}{heap:>6.2}", input.name);
        measured
    }

    fn most(&self, figure: impl Fn(&Cost) -> f64) -> f64 {
        self.costs.iter().map(figure).fold(0.0, f64::max)
    }

    /// None for an input that has one size only, which shows the cost of a call.
    fn per_byte(&self) -> Option<f64> {
        let [_, first, .., last] = &self.costs;
        (last.bytes_in > first.bytes_in).then(|| per_byte(last))
    }

    fn gives_more(&self) -> bool {
        self.costs.last().is_some_and(|cost| cost.bytes_out > cost.bytes_in)
    }
}

fn per_byte(cost: &Cost) -> f64 {
    cost.time.as_nanos() as f64 / cost.bytes_in.max(cost.bytes_out) as f64
}

/// The least time of several runs, because the machine does other work.
fn least(input: &Worst, size: usize) -> Cost {
    let file = (input.make)(size);
    let start = Instant::now();
    let mut costs = Vec::new();
    while costs.is_empty() || start.elapsed() < LONG_ENOUGH {
        costs.push(Cost::of(file.len() as u64, || (input.work)(&file)));
    }
    costs.into_iter().min_by_key(|cost| cost.time).unwrap()
}

/// A promise in a large unit, the number of small units in it, and the small unit.
fn promise(line: Line, (large, factor, small): (&str, u64, &str)) -> String {
    let mut text = format!("{} {large}", line.fixed / factor);
    for (figure, what) in [(line.per_byte_in, "in"), (line.per_byte_out, "out")] {
        if figure > 0 {
            text += &format!(", {figure} {small} a byte {what}");
        }
    }
    if line.most < u64::MAX {
        text += &format!("; at most {} {large}", line.most / factor);
    }
    text
}
