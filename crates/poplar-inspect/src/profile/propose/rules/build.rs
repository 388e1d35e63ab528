//! Rules about how a model was built.

use std::collections::BTreeMap;

use popef::types::escape;
use popef_findings::Rule;

use super::super::found::{Found, Missing};
use super::super::subject::Subject;
use super::super::words::{bytes, percent, quote};
use super::{Check, Half};
use crate::profile::analyse::consistency::Compared;
use crate::profile::analyse::memory::float;
use crate::profile::analyse::select::Selection;
use crate::profile::analyse::vertex_types::{VertexTypeRow, vertex_types};
use crate::profile::program::StepKind;

pub(in super::super) const RULES: &[Check] = &[
    Rule::note("PP301", "vertex types for float that are there for half too")
        .meaning(
            "The graph uses the same vertex template once with float alone, and once with half. Tiles may need the \
             code of both, and it is a notable share of all data (policy: max-twin-code). Often some tensors were left \
             in float by accident.",
        )
        .fix(
            "Look at where the type for float is used (popef profile --by vertex --name NAME), and make these tensors \
             half too if their precision is not needed.",
        )
        .run((Half::Graph, twins)),
    Rule::note("PP302", "instrumentation")
        .meaning(
            "The program measures itself: it has memory for results, or its execution was measured on hardware. That \
             costs memory and cycles, so a program without it fits better and is faster than this profile says.",
        )
        .fix(
            "For production, compile without instrumentation (debug.instrument, autoReport.outputExecutionProfile). \
             Compare profiles only if both have it.",
        )
        .run((Half::Graph, instrumentation)),
    Rule::warning("PP303", "an execution without cycles")
        .meaning(
            "There is an execution profile, but it has no steps, or compute steps without cycles: they were neither \
             measured nor estimated. Nothing can be said about time.",
        )
        .fix(
            "Compile with debug.instrumentCompute or debug.instrument for hardware, or for an IPU model, which \
             estimates cycles, and profile again.",
        )
        .run((Half::Execution, no_cycles)),
    Rule::warning("PP304", "steps that do not follow from the graph")
        .meaning(
            "Poplar calculates the steps of an execution from its graph. Here, a notable share of their values is not \
             what follows from this graph (policy: max-differences), so the two may be of different runs, and then \
             what is said about time is wrong. How tiles wait for each other is not documented, so what depends on it \
             does not count.",
        )
        .fix(
            "Give the graph profile and the execution profile that one run wrote. If these are, please report it: only \
             synthetic reports were there to test this.",
        )
        .run((Half::Execution, other_run)),
];

/// The name of a vertex type without its number formats, and whether one of them is `half`. `None` if it has none.
fn template(name: &str) -> Option<(String, bool)> {
    let (start, arguments) = name.split_once('<')?;
    let mut template = format!("{start}<");
    let (mut half, mut float) = (false, false);
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    // Words and what is between them, in turn.
    let mut rest = arguments;
    while !rest.is_empty() {
        let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end)?;
        match word {
            "half" => half = true,
            "float" => float = true,
            _ => {}
        }
        template.push_str(if matches!(word, "half" | "float") { "*" } else { word });
        let next = after.find(is_word).unwrap_or(after.len());
        let (between, after) = after.split_at_checked(next)?;
        template.push_str(between);
        rest = after;
    }
    (half || float).then_some((template, half))
}

fn twins(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let parts = subject.memory()?.by_vertex_type.as_ref();
    if parts.is_none_or(|parts| parts.code_bytes.is_none()) {
        return Err(Missing::part("memory.byVertexType.codeBytes"));
    }
    if subject.graph.vertex_types.names.is_empty() {
        return Err(Missing::part("vertexTypes.names"));
    }
    let whole = subject.data_of_categories()?;
    let rows = vertex_types(subject.graph, None, &Selection::default());
    // For each template: the type with float alone, and the largest one with half.
    let mut templates: BTreeMap<String, (Option<&VertexTypeRow<'_>>, Option<&VertexTypeRow<'_>>)> = BTreeMap::new();
    for row in &rows {
        let Some((template, half)) = row.name.and_then(template) else { continue };
        let (with_float, with_half) = templates.entry(template).or_default();
        _ = if half { with_half } else { with_float }.get_or_insert(row);
    }
    let mut pairs: Vec<_> = templates.into_values().filter_map(|(float, half)| float.zip(half)).collect();
    pairs.sort_by_key(|(float, _)| (std::cmp::Reverse(float.code_bytes), float.vertex_type));
    let name = |row: &VertexTypeRow<'_>| quote(row.name.unwrap_or_default());
    for (with_float, with_half) in pairs {
        let share = float(with_float.code_bytes) / float(whole);
        if share > subject.policy.max_twin_code {
            let (one, other) = (name(with_float), name(with_half));
            let (first, second) = (bytes(with_float.code_bytes), bytes(with_half.code_bytes));
            let message =
                format!("{one} has {first} of code on all tiles, {}, and {other} has {second}", percent(share));
            found.add([with_float, with_half].into_iter().filter_map(|row| row.name), message);
        }
    }
    Ok(())
}

/// Modes in which the program on the hardware measures cycles.
const MEASURED: [&str; 5] =
    ["COMPUTE_SETS", "SINGLE_TILE_COMPUTE_SETS", "VERTICES", "EXTERNAL_EXCHANGES", "HOST_EXCHANGES"];

fn instrumentation(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let mode = subject.execution.and_then(|execution| execution.profiler_mode.as_deref());
    let measured = mode.filter(|mode| MEASURED.contains(mode));
    let results = subject.data_of_categories().and_then(|_| subject.bytes_of(&["instrumentationResults"]));
    let mode_said = measured.map(|mode| format!("the execution was measured in mode {}", escape(mode)));
    let message = match (results, mode_said) {
        (Ok(size @ 1..), Some(mode)) => {
            format!("results of measurements have {} on all tiles, and {mode}", bytes(size))
        }
        (Ok(size @ 1..), None) => format!("results of measurements have {} on all tiles", bytes(size)),
        (_, Some(mode)) => mode,
        (Ok(_), None) => return Ok(()),
        (Err(missing), None) => return Err(missing),
    };
    found.add([], message);
    Ok(())
}

fn no_cycles(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let execution = subject.execution()?;
    let mode = execution.profiler_mode.as_deref().unwrap_or("unknown");
    if execution.simulation.is_none() {
        found.add([], format!("there are no steps; the mode is {}", escape(mode)));
        return Ok(());
    }
    match subject.unknown_compute_steps()? {
        0 => {}
        unknown => {
            let all = subject.simulation()?.steps.iter().filter(|step| *step.kind == StepKind::OnTileExecute).count();
            found.add([], format!("{unknown} of {all} compute steps have no cycles; the mode is {}", escape(mode)));
        }
    }
    Ok(())
}

fn other_run(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let Compared { values, different } = subject.recomputed()?;
    let share = float(different) / float(values);
    if share > subject.policy.max_differences {
        found.add([], format!("{different} of {values} values of the steps are not what follows, {}", percent(share)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::template;

    #[test]
    fn number_formats_are_no_part_of_a_template() {
        assert_eq!(template("popops::Fill<half>"), Some(("popops::Fill<*>".to_owned(), true)));
        assert_eq!(
            template("a::B<a::Half<float>,halfway, float >"),
            Some(("a::B<a::Half<*>,halfway, * >".to_owned(), false))
        );
        assert_eq!(template("poplar_rt::LongMemcpy"), None);
        assert_eq!(template("A<int>"), None);
        assert_eq!(template("A<"), None);
        assert_eq!(template("A<ö,half"), Some(("A<ö,*".to_owned(), true)));
    }
}
