//! Pictures in the language of Graphviz.

use std::io;

use crate::Out;

use super::picture::{Look, Picture};

pub(super) fn write(out: &mut Out, picture: &Picture) -> io::Result<()> {
    out.put("digraph {").end_line()?;
    out.put("  node [shape=box, style=\"rounded,filled\", fillcolor=\"#eef3fb\", color=\"#5b7db1\", fontname=\"sans-serif\"];").end_line()?;
    out.put("  edge [color=\"#55616f\", fontname=\"sans-serif\", fontsize=10];").end_line()?;
    for (number, node) in picture.nodes.iter().enumerate() {
        let lines: Vec<_> = node.lines.iter().map(|line| quoted(line)).collect();
        out.put(&format!("  n{number} [label=\"{}\"{}];", lines.join("\\n"), look(node.look))).end_line()?;
    }
    for edge in &picture.edges {
        let label = if edge.label.is_empty() { String::new() } else { format!("label=\"{}\"", quoted(&edge.label)) };
        let style = if edge.is_certain { "" } else { "style=dashed" };
        let settings: Vec<_> = [label.as_str(), style].into_iter().filter(|setting| !setting.is_empty()).collect();
        let settings = if settings.is_empty() { String::new() } else { format!(" [{}]", settings.join(", ")) };
        out.put(&format!("  n{} -> n{}{settings};", edge.from, edge.to)).end_line()?;
    }
    out.put("}").end_line()
}

fn look(look: Look) -> &'static str {
    match look {
        Look::Strong => ", fillcolor=\"#cfe0fb\", penwidth=2",
        Look::Plain => "",
        Look::Faint => ", style=\"rounded,dashed\", fontcolor=\"#55616f\"",
        Look::Tensor => ", shape=ellipse, style=filled, fillcolor=\"#f4f6f8\"",
    }
}

/// A text inside quotes. Graphviz takes backslashes for escapes, and in labels also names of letters between `&` and `;`.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('&', "&amp;")
}
