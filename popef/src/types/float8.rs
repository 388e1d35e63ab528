//! The two 8-bit floating-point formats of the IPU.

#![allow(missing_debug_implementations, reason = "meets a hidden type that zerocopy's derive makes")]

use std::fmt;

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Decodes an 8-bit float with one sign bit, `mantissa_bits` of mantissa and the exponent between them.
///
/// Both formats have one zero, one NaN (`0x80`, where others have minus zero) and no infinities.
const fn decode(bits: u8, mantissa_bits: u32, bias: i32) -> f32 {
    if bits == 0x80 {
        // Which of the NaNs of f32 is free; this is the one that ml_dtypes makes.
        return f32::from_bits(0xffc0_0000);
    }
    let magnitude = (bits & 0x7f) as u32;
    let exponent = magnitude >> mantissa_bits;
    let mantissa = magnitude & ((1 << mantissa_bits) - 1);
    // A subnormal's exponent is that of the smallest normal, without the leading one.
    let (significand, exponent) = match exponent {
        0 => (mantissa, 1),
        _ => (mantissa | (1 << mantissa_bits), exponent),
    };
    let power = exponent.cast_signed() - bias - mantissa_bits.cast_signed();
    // Every power of the two formats is that of a normal f32, so both factors and their product are exact.
    let scale = f32::from_bits((power + 127).cast_unsigned() << 23);
    let value = significand as f32 * scale;
    if bits & 0x80 == 0 { value } else { -value }
}

#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "runs while the crate is built; an index outside would stop the build"
)]
const fn table(mantissa_bits: u32, bias: i32) -> [f32; 256] {
    let mut table = [0.0; 256];
    let mut bits = 0;
    while bits < 256 {
        table[bits] = decode(bits as u8, mantissa_bits, bias);
        bits += 1;
    }
    table
}

macro_rules! float8 {
    ($(#[$meta:meta])* $name:ident, $mantissa_bits:literal, $bias:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[derive(FromBytes, IntoBytes, Immutable)]
        #[repr(transparent)]
        pub struct $name(pub u8);

        impl $name {
            /// The value, which every number of this format has exactly in an `f32`.
            #[expect(clippy::indexing_slicing, reason = "a byte cannot lie outside of 256 entries")]
            pub fn to_f32(self) -> f32 {
                static TABLE: [f32; 256] = table($mantissa_bits, $bias);
                TABLE[usize::from(self.0)]
            }

            /// Whether this is the format's one NaN.
            pub const fn is_nan(self) -> bool {
                self.0 == 0x80
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }

        impl From<$name> for f32 {
            fn from(value: $name) -> f32 {
                value.to_f32()
            }
        }
    };
}

float8! {
    /// An 8-bit float of 1 sign, 4 exponent and 3 mantissa bits, exponent bias 8, one zero, one NaN and no
    /// infinities: what NumPy's ml_dtypes calls `float8_e4m3fnuz`. Equality is that of the bits.
    ///
    /// ```
    /// assert_eq!(popef::F8143(0x40).to_f32(), 1.0);
    /// assert_eq!(popef::F8143(0x7f).to_f32(), 240.0);
    /// ```
    F8143, 3, 8
}

float8! {
    /// An 8-bit float of 1 sign, 5 exponent and 2 mantissa bits, exponent bias 16, one zero, one NaN and no
    /// infinities: what NumPy's ml_dtypes calls `float8_e5m2fnuz`. Equality is that of the bits.
    ///
    /// ```
    /// assert_eq!(popef::F8152(0x40).to_f32(), 1.0);
    /// assert_eq!(popef::F8152(0x7f).to_f32(), 57344.0);
    /// ```
    F8152, 2, 16
}
