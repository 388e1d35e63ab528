//! The drawing. All texts are in a font whose letters have the same width, so that the code knows what fits.

use popef::Metadata;
use popef::types::Text;

use super::groups::{End, Group, Groups, PHASES, Side};
use super::holds;
use super::numbers;
use crate::output::html::Html;
use crate::output::shown::{Show, Shown};
use crate::output::units::thousands;
use crate::output::width::width;

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
pub(super) fn wide(html: &mut Html<'_>, groups: &Groups<'_>, metadata: &Metadata, id: &Shown<'_>, words: &Shown<'_>) {
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
            card(html, Frame { x, y, width: CARD }, group, &Shown::default());
            y += card_height(group) + GAP;
        }
    }
    model_box(html, model, &phases);
    html.put("</svg>\n");
}

/// One below the other. The phases of each group are written, not drawn.
pub(super) fn narrow(html: &mut Html<'_>, groups: &Groups<'_>, metadata: &Metadata, id: &Shown<'_>, words: &Shown<'_>) {
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

fn begin(html: &mut Html<'_>, class: &'static str, id: &Shown<'_>, (width, height): (usize, usize), words: &Shown<'_>) {
    html.put(markup!("<svg class=\"{}\" viewBox=\"-1 -1 {} {}\" role=\"img\" ", class, width + 2, height + 2));
    html.put(markup!("aria-labelledby=\"{}\">\n<title id=\"{}\">{}</title>\n", id, id, words));
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
fn card(html: &mut Html<'_>, frame: Frame, group: &Group<'_>, tag: &Shown<'_>) {
    let Frame { x, y, width } = frame;
    let height = card_height(group);
    html.put(markup!("<g class=\"card {}\">", class(group.end)));
    html.put(markup!("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"8\"/>", x, y, width, height));
    html.put(markup!("<rect class=\"edge\" x=\"{}\" y=\"{}\" width=\"4\" height=\"{}\" rx=\"2\"/>", x, y, height));
    let title = group.title();
    let room = frame.letters().saturating_sub(tag.len() + 1);
    text(html, (x + 14, y + 20), "head", title.shortened(room));
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
        text(html, (x + 14, at), "more", shown!("and {} more", thousands(more)));
    }
    html.put("</g>\n");
}

/// The name of an anchor, and on the right its type and shape. Pointing at it shows the full name.
fn anchor(html: &mut Html<'_>, frame: Frame, name: &Text<'_>, holds: &Shown<'_>) {
    let name = Shown::escaped(name);
    let all = frame.letters();
    let holds = holds.shortened(all / 2);
    html.put(markup!("<g><title>{}</title>", name));
    text(html, (frame.x + 14, frame.y), "name", name.shortened(all.saturating_sub(width(&holds) + 2)));
    text(html, (frame.x + frame.width - 10, frame.y), "end", holds);
    html.put("</g>");
}

const PHASE: usize = 48;

/// The phases that have programs: which of [`PHASES`] each is, and its programs.
fn phases(metadata: &Metadata) -> Vec<(usize, Shown<'static>)> {
    let flow = &metadata.program_flow;
    let all = [&flow.load, &flow.main, &flow.save].into_iter().enumerate();
    let name = |index: u32| metadata.programs_map.iter().find(|info| info.index == index).map(|info| &info.name);
    let words = |programs: &[u32]| match programs {
        [one] => match name(*one) {
            Some(name) => shown!("program {} {}", one, Shown::escaped(name)),
            None => shown!("program {}", one),
        },
        all => shown!("programs {}", numbers(all)),
    };
    all.filter(|(_, programs)| !programs.is_empty()).map(|(nth, programs)| (nth, words(programs))).collect()
}

fn phase_y(box_y: usize, place: usize) -> usize {
    box_y + HEAD + 6 + place * (PHASE + 8)
}

fn box_height(phases: &[(usize, Shown<'_>)]) -> usize {
    HEAD + 6 + phases.len().max(1) * (PHASE + 8)
}

fn model_box(html: &mut Html<'_>, frame: Frame, phases: &[(usize, Shown<'_>)]) {
    let Frame { x, y, width } = frame;
    html.put("<g class=\"programs\">");
    html.put(markup!(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"10\"/>",
        x,
        y,
        width,
        box_height(phases)
    ));
    text(html, (x + 14, y + 22), "head", "The model on the IPU");
    if phases.is_empty() {
        text(html, (x + 14, y + HEAD + 30), "more", "no programs to run");
    }
    for (place, (phase, programs)) in phases.iter().enumerate() {
        let top = phase_y(y, place);
        let (name, when) = PHASES.get(*phase).copied().unwrap_or_default();
        html.put(markup!("<g><title>{}, {}: {}</title>", name, when, programs));
        html.put(markup!("<rect class=\"phase\" x=\"{}\" y=\"{}\" width=\"{}\"", x + 8, top, width - 16));
        html.put(markup!(" height=\"{}\" rx=\"6\"/>", PHASE));
        text(html, (x + 20, top + 20), "name", name);
        let room = frame.letters().saturating_sub(2);
        text(html, (x + 20, top + 38), "more", programs.shortened(room));
        html.put("</g>");
    }
    html.put("</g>\n");
}

fn text(html: &mut Html<'_>, (x, y): (usize, usize), class: &'static str, words: impl Show) {
    html.put(markup!("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>", class, x, y, words));
}

/// A bent line with a head.
fn arrow(html: &mut Html<'_>, (x, y): (usize, usize), (to_x, to_y): (usize, usize), end: End) {
    let (tip, bend) = (to_x - 2, (to_x - x) / 2 + x);
    let line = markup!("M{} {}C{} {} {} {} {} {}", x, y, bend, y, bend, to_y, tip - 7, to_y);
    html.put(markup!("<g class=\"arrow {}\"><path d=\"{}\"/>", class(end), line));
    html.put(markup!("<path class=\"tip\" d=\"M{} {}l-9 -5v10z\"/></g>\n", tip, to_y));
}

/// An arrow down the middle of a frame.
fn down(html: &mut Html<'_>, frame: Frame, length: usize) {
    let (x, y) = (frame.x + frame.width / 2, frame.y);
    let tip = y + length - 4;
    html.put(markup!("<g class=\"arrow\"><path d=\"M{} {}V{}\"/>", x, y + 4, tip - 8));
    html.put(markup!("<path class=\"tip\" d=\"M{} {}l-6 -9h12z\"/></g>\n", x, tip));
}

fn class(end: End) -> &'static str {
    match end {
        End::Tensor => "tensor",
        End::Feed => "feed",
        End::User => "user",
        End::Unknown => "unsure",
    }
}
