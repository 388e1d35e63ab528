//! The two 8-bit floating-point formats of the IPU.

#![allow(missing_debug_implementations, reason = "meets a hidden type that zerocopy's derive makes")]

use std::fmt;

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Decodes an 8-bit float with one sign bit, `mantissa_bits` of mantissa and the exponent between them.
///
/// Both formats have one zero, one NaN (`0x80`, where others have minus zero) and no infinities.
const fn decode(bits: u8, mantissa_bits: u32, bias: i32) -> f32 {
    if bits == 0x80 {
        // Any NaN would do; this is the one that ml_dtypes makes.
        return f32::from_bits(0xffc0_0000);
    }
    let magnitude = (bits & 0x7f) as u32;
    let exponent = magnitude >> mantissa_bits;
    let mantissa = magnitude & ((1 << mantissa_bits) - 1);
    // A subnormal has the exponent of the smallest normal number, and no leading one.
    let (significand, exponent) = match exponent {
        0 => (mantissa, 1),
        _ => (mantissa | (1 << mantissa_bits), exponent),
    };
    let power = exponent.cast_signed() - bias - mantissa_bits.cast_signed();
    // Every power of two in both formats is a normal f32, so both factors and their product are exact.
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

/// Returns the bits of the nearest 8-bit float, ties to even. `None` for NaN, and if the result would exceed the
/// largest number.
#[expect(clippy::cast_possible_truncation, reason = "only bits that fit into a byte are cast to one")]
const fn encode(value: f32, mantissa_bits: u32, bias: u32) -> Option<u8> {
    const MANTISSA_BITS: u32 = 23;
    const BIAS: u32 = 127;
    let magnitude = value.to_bits() & 0x7fff_ffff;
    if magnitude >= 0x7f80_0000 {
        return None;
    }
    // The exponent of the smallest normal number, as f32 stores it. A smaller number loses one more bit per step of its
    // exponent.
    let smallest = BIAS + 1 - bias;
    let exponent = magnitude >> MANTISSA_BITS;
    let dropped = MANTISSA_BITS - mantissa_bits + smallest.saturating_sub(exponent);
    // If more bits than this are dropped, even the largest significand is less than half of the smallest number.
    if dropped > MANTISSA_BITS + 1 {
        return Some(0);
    }
    let significand = (magnitude & 0x007f_ffff) | 0x0080_0000;
    let below_half = (1 << (dropped - 1)) - 1;
    let is_odd = (significand >> dropped) & 1;
    let rounded = (significand + below_half + is_odd) >> dropped;
    // The leading one of a normal significand adds one to the exponent, and so does a carry from rounding.
    let bits = (exponent.saturating_sub(smallest) << mantissa_bits) + rounded;
    match bits {
        1..=0x7f if value.is_sign_negative() => Some(0x80 | bits as u8),
        0..=0x7f => Some(bits as u8),
        _ => None,
    }
}

macro_rules! float8 {
    ($(#[$meta:meta])* $name:ident, $mantissa_bits:literal, $bias:literal) => {
        $(#[$meta])*
        ///
        /// Equality compares bits, so NaN equals itself. In serde, a value is its bits as a number.
        ///
        /// # How certain the conversion is
        ///
        /// - Verified: both directions agree with ml_dtypes at every value, every midpoint between two values, and
        ///   their neighbours.
        /// - Documented: the IPU has the same layout, one NaN and no infinities.
        /// - Shown by PopXL's tests: its host function makes NaN of too large numbers, unless saturation is requested.
        /// - Inferred: the IPU rounds to the nearest value, ties to even.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[derive(FromBytes, IntoBytes, Immutable)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(transparent))]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// The largest number. The smallest is its negative.
            pub const MAX: Self = $name(0x7f);

            /// The one NaN.
            pub const NAN: Self = $name(0x80);

            /// Makes a float from its bits.
            pub const fn from_bits(bits: u8) -> Self {
                $name(bits)
            }

            /// Returns the bits, as they are in a file.
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// Rounds to the nearest value, ties to even, as ml_dtypes does. NaN, infinities, and numbers that would
            /// round to more than the largest value become NaN. Minus zero, and numbers that round to it, become zero.
            pub const fn from_f32(value: f32) -> Self {
                match encode(value, $mantissa_bits, $bias) {
                    Some(bits) => $name(bits),
                    None => Self::NAN,
                }
            }

            /// Rounds like `from_f32`, except that too large numbers and infinities become the largest number of their
            /// sign. NaN stays NaN.
            pub const fn from_f32_saturating(value: f32) -> Self {
                match encode(value, $mantissa_bits, $bias) {
                    Some(bits) => $name(bits),
                    None if value.is_nan() => Self::NAN,
                    None if value.is_sign_negative() => $name(0x80 | Self::MAX.0),
                    None => Self::MAX,
                }
            }

            /// Returns the value as an `f32`, which is exact.
            #[expect(clippy::indexing_slicing, reason = "a byte cannot lie outside of 256 entries")]
            pub fn to_f32(self) -> f32 {
                static TABLE: [f32; 256] = table($mantissa_bits, $bias);
                TABLE[usize::from(self.0)]
            }

            /// Returns whether this is the format's one NaN.
            pub const fn is_nan(self) -> bool {
                self.0 == Self::NAN.0
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
    /// An 8-bit float of 1 sign, 4 exponent and 3 mantissa bits, exponent bias 8, one zero, one NaN and no infinities:
    /// what NumPy's ml_dtypes calls `float8_e4m3fnuz`.
    ///
    /// ```
    /// use popef::types::F8143;
    ///
    /// assert_eq!(F8143::from_f32(1.0).to_bits(), 0x40);
    /// assert_eq!(F8143::from_f32(1.06).to_f32(), 1.0);
    /// assert_eq!(F8143::MAX.to_f32(), 240.0);
    /// assert!(F8143::from_f32(250.0).is_nan());
    /// assert_eq!(F8143::from_f32_saturating(250.0), F8143::MAX);
    /// ```
    F8143, 3, 8
}

float8! {
    /// An 8-bit float of 1 sign, 5 exponent and 2 mantissa bits, exponent bias 16, one zero, one NaN and no infinities:
    /// what NumPy's ml_dtypes calls `float8_e5m2fnuz`.
    ///
    /// ```
    /// use popef::types::F8152;
    ///
    /// assert_eq!(F8152::from_f32(1.0).to_bits(), 0x40);
    /// assert_eq!(F8152::from_f32(1.1).to_f32(), 1.0);
    /// assert_eq!(F8152::MAX.to_f32(), 57344.0);
    /// assert!(F8152::from_f32(70000.0).is_nan());
    /// assert_eq!(F8152::from_f32_saturating(70000.0), F8152::MAX);
    /// ```
    F8152, 2, 16
}
