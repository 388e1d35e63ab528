//! Bars and times.

/// So wide is a full bar.
pub(super) const WIDTH: u32 = 24;

/// A bar for a part of a whole, in eighths of a character.
pub(super) fn bar(part: f64, whole: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = if whole > 0.0 { (part / whole).clamp(0.0, 1.0) } else { 0.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is at most eight times the width")]
    let eighths = (share * f64::from(WIDTH) * 8.0).round() as usize;
    // What is there is seen.
    let eighths = if part > 0.0 { eighths.max(1) } else { 0 };
    "█".repeat(eighths / 8) + EIGHTHS.get(eighths % 8).unwrap_or(&"")
}

/// A time.
pub(super) fn time(seconds: f64) -> String {
    let (scale, unit) = match seconds {
        _ if seconds < 1e-6 => (1e9, "ns"),
        _ if seconds < 1e-3 => (1e6, "µs"),
        _ if seconds < 1.0 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    format!("{:.2} {unit}", seconds * scale)
}
