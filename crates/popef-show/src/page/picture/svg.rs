//! The drawing. All texts are in a font whose letters have the same width, so that the code knows what fits.

use popef::Metadata;
use popef::types::Text;

use super::super::html::{Html, shown};
use super::groups::{End, Group, Groups, PHASES, Side};
use super::holds;
use super::numbers;
use crate::output::units;
use crate::output::units::{shorten, width};

/// The width of a letter, in hundredths of a unit: the font has 12 units.
const LETTER: usize = 725;
const LINE: usize = 19;
const HEAD: usize = 30;
const GAP: usize = 14;

/// A place and a width. Heights follow from the content.
#[derive(Clone, Copy)]
struct Frame {
    x: usize,
    y: usize,
    width: usize,
}

impl Frame {
    /// How many letters fit between its margins.
    fn letters(self) -> usize {
        self.width.saturating_sub(24) * 100 / LETTER
    }
}

/// Side by side: inputs, programs, outputs.
pub(super) fn wide(html: &mut Html<'_>, groups: &Groups<'_>, metadata: &Metadata, id: &str, words: &str) {
    const CARD: usize = 372;
    const BOX: usize = 190;
    const WIDTH: usize = 1080;
    let sides = [Side::Input, Side::Output].map(|side| groups.on(side));
    let phases = phases(metadata);
    let heights = [column_height(&sides[0]), column_height(&sides[1]), box_height(&phases)];
    let height = heights.into_iter().max().unwrap_or(0);
    begin(html, "wide", id, (WIDTH, height), words);
    let model = Frame { x: (WIDTH - BOX) / 2, y: (height - heights[2]) / 2, width: BOX };
    for (nth, side) in sides.iter().enumerate() {
        let x = if nth == 0 { 0 } else { WIDTH - CARD };
        let mut y = height.saturating_sub(heights.get(nth).copied().unwrap_or(0)) / 2;
        for group in side {
            let middle = y + card_height(group) / 2;
            for (place, (phase, ..)) in phases.iter().enumerate() {
                if group.in_phases.has(*phase) {
                    let at = phase_y(model.y, place) + PHASE / 2;
                    match group.side {
                        Side::Input => arrow(html, (CARD, middle), (model.x, at), group.end),
                        Side::Output => arrow(html, (model.x + BOX, at), (x, middle), group.end),
                    }
                }
            }
            card(html, Frame { x, y, width: CARD }, group, "");
            y += card_height(group) + GAP;
        }
    }
    model_box(html, model, &phases);
    html.put("</svg>\n");
}

/// One below the other. The phases of each group are written, not drawn.
pub(super) fn narrow(html: &mut Html<'_>, groups: &Groups<'_>, metadata: &Metadata, id: &str, words: &str) {
    const WIDTH: usize = 356;
    const ARROW: usize = 34;
    let phases = phases(metadata);
    let [inputs, outputs] = [Side::Input, Side::Output].map(|side| groups.on(side));
    let arrows = [&inputs, &outputs].map(|side| if side.is_empty() { 0 } else { ARROW });
    let height = column_height(&inputs) + arrows[0] + box_height(&phases) + arrows[1] + column_height(&outputs);
    begin(html, "narrow", id, (WIDTH, height), words);
    let mut frame = Frame { x: 0, y: 0, width: WIDTH };
    frame.y = column(html, frame, &inputs);
    if !inputs.is_empty() {
        down(html, frame, ARROW);
        frame.y += ARROW;
    }
    model_box(html, frame, &phases);
    frame.y += box_height(&phases);
    if !outputs.is_empty() {
        down(html, frame, ARROW);
        frame.y += ARROW;
    }
    column(html, frame, &outputs);
    html.put("</svg>\n");
}

fn begin(html: &mut Html<'_>, class: &str, id: &str, (width, height): (usize, usize), words: &str) {
    html.put(&format!("<svg class=\"{class}\" viewBox=\"-1 -1 {} {}\" role=\"img\" ", width + 2, height + 2));
    html.put(&format!("aria-labelledby=\"{id}\">\n<title id=\"{id}\">")).text(words).put("</title>\n");
}

/// Cards below each other. Returns where they end.
fn column(html: &mut Html<'_>, mut frame: Frame, groups: &[&Group<'_>]) -> usize {
    for (nth, group) in groups.iter().enumerate() {
        frame.y += if nth > 0 { GAP } else { 0 };
        card(html, frame, group, &group.phases());
        frame.y += card_height(group);
    }
    frame.y
}

fn column_height(groups: &[&Group<'_>]) -> usize {
    let cards: usize = groups.iter().map(|group| card_height(group)).sum();
    cards + GAP * groups.len().saturating_sub(1)
}

fn card_height(group: &Group<'_>) -> usize {
    HEAD + LINE * (group.named().len() + usize::from(group.count > group.named().len())) + 8
}

/// A group: its title, its first anchors, and how many more there are.
fn card(html: &mut Html<'_>, frame: Frame, group: &Group<'_>, tag: &str) {
    let Frame { x, y, width } = frame;
    html.put(&format!("<g class=\"card {}\">", class(group.end)));
    html.put(&format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\" rx=\"8\"/>", card_height(group)));
    html.put(&format!(
        "<rect class=\"edge\" x=\"{x}\" y=\"{y}\" width=\"4\" height=\"{}\" rx=\"2\"/>",
        card_height(group)
    ));
    let title = group.title();
    let room = frame.letters().saturating_sub(tag.len() + 1);
    text(html, (x + 14, y + 20), "head", &shorten(&title, room));
    if !tag.is_empty() {
        text(html, (x + width - 10, y + 20), "end", tag);
    }
    let mut at = y + HEAD + 12;
    for view in group.named() {
        anchor(html, Frame { y: at, ..frame }, &view.anchor.name, &holds(view));
        at += LINE;
    }
    let more = group.count.saturating_sub(group.named().len());
    if more > 0 {
        text(html, (x + 14, at), "more", &format!("and {} more", units::thousands(more)));
    }
    html.put("</g>\n");
}

/// The name of an anchor, and on the right its type and shape. Pointing at it shows the full name.
fn anchor(html: &mut Html<'_>, frame: Frame, name: &Text<'_>, holds: &str) {
    let name = shown(name);
    let all = frame.letters();
    let holds = shorten(holds, all / 2);
    html.put("<g><title>").text(&name).put("</title>");
    text(html, (frame.x + 14, frame.y), "name", &shorten(&name, all.saturating_sub(width(&holds) + 2)));
    text(html, (frame.x + frame.width - 10, frame.y), "end", &holds);
    html.put("</g>");
}

const PHASE: usize = 48;

/// The phases that have programs: which of [`PHASES`] each is, and its programs.
fn phases(metadata: &Metadata) -> Vec<(usize, String)> {
    let flow = &metadata.program_flow;
    let all = [&flow.load, &flow.main, &flow.save].into_iter().enumerate();
    let name = |index: u32| metadata.programs_map.iter().find(|info| info.index == index).map(|info| &info.name);
    let words = |programs: &[u32]| match programs {
        [one] => match name(*one) {
            Some(name) => format!("program {one} {}", shown(name)),
            None => format!("program {one}"),
        },
        all => format!("programs {}", numbers(all)),
    };
    all.filter(|(_, programs)| !programs.is_empty()).map(|(nth, programs)| (nth, words(programs))).collect()
}

fn phase_y(box_y: usize, place: usize) -> usize {
    box_y + HEAD + 6 + place * (PHASE + 8)
}

fn box_height(phases: &[(usize, String)]) -> usize {
    HEAD + 6 + phases.len().max(1) * (PHASE + 8)
}

fn model_box(html: &mut Html<'_>, frame: Frame, phases: &[(usize, String)]) {
    let Frame { x, y, width } = frame;
    html.put("<g class=\"programs\">");
    html.put(&format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\" rx=\"10\"/>", box_height(phases)));
    text(html, (x + 14, y + 22), "head", "The model on the IPU");
    if phases.is_empty() {
        text(html, (x + 14, y + HEAD + 30), "more", "no programs to run");
    }
    for (place, (phase, programs)) in phases.iter().enumerate() {
        let top = phase_y(y, place);
        let (name, when) = PHASES.get(*phase).copied().unwrap_or_default();
        html.put(&format!("<g><title>{name}, {when}: ")).text(programs).put("</title>");
        html.put(&format!("<rect class=\"phase\" x=\"{}\" y=\"{top}\" width=\"{}\"", x + 8, width - 16));
        html.put(&format!(" height=\"{PHASE}\" rx=\"6\"/>"));
        text(html, (x + 20, top + 20), "name", name);
        let room = frame.letters().saturating_sub(2);
        text(html, (x + 20, top + 38), "more", &shorten(programs, room));
        html.put("</g>");
    }
    html.put("</g>\n");
}

fn text(html: &mut Html<'_>, (x, y): (usize, usize), class: &str, words: &str) {
    html.put(&format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">")).text(words).put("</text>");
}

/// A bent line with a head.
fn arrow(html: &mut Html<'_>, (x, y): (usize, usize), (to_x, to_y): (usize, usize), end: End) {
    let (tip, bend) = (to_x - 2, (to_x - x) / 2 + x);
    html.put(&format!(
        "<g class=\"arrow {}\"><path d=\"M{x} {y}C{bend} {y} {bend} {to_y} {} {to_y}\"/>",
        class(end),
        tip - 7
    ));
    html.put(&format!("<path class=\"tip\" d=\"M{tip} {to_y}l-9 -5v10z\"/></g>\n"));
}

/// An arrow down the middle of a frame.
fn down(html: &mut Html<'_>, frame: Frame, length: usize) {
    let (x, y) = (frame.x + frame.width / 2, frame.y);
    let tip = y + length - 4;
    html.put(&format!("<g class=\"arrow\"><path d=\"M{x} {}V{}\"/>", y + 4, tip - 8));
    html.put(&format!("<path class=\"tip\" d=\"M{x} {tip}l-6 -9h12z\"/></g>\n"));
}

fn class(end: End) -> &'static str {
    match end {
        End::Tensor => "tensor",
        End::Feed => "feed",
        End::User => "user",
        End::Unknown => "unsure",
    }
}
