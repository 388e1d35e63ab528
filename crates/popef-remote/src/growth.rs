//! The number of bytes to request at a time while headers are walked.

/// A window that grows where headers are close together, and shrinks where they are far apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    least: u64,
    most: u64,
    window: u64,
    /// The number of pieces of the last window that were wanted.
    hits: u32,
}

impl Growth {
    /// With at least this many wanted pieces in a window, headers are dense.
    const DENSE: u32 = 4;
    /// With fewer wanted pieces, the window holds one header and unwanted data.
    const SPARSE: u32 = 2;
    /// A window grows by this much, so that few requests are spent on growing.
    const FACTOR: u64 = 4;

    pub(crate) fn new(least: u64, most: u64) -> Self {
        Growth { least, most: most.max(least), window: least, hits: 0 }
    }

    /// Records that a piece of the last window was wanted.
    pub(crate) fn hit(&mut self) {
        self.hits = self.hits.saturating_add(1);
    }

    /// Returns the number of bytes to request next.
    pub(crate) fn next(&mut self) -> u64 {
        self.window = match self.hits {
            Self::DENSE.. => self.window.saturating_mul(Self::FACTOR).min(self.most),
            Self::SPARSE.. => self.window,
            _ => self.least,
        };
        self.hits = 0;
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(growth: &mut Growth, hits: u32) -> u64 {
        (0..hits).for_each(|_| growth.hit());
        growth.next()
    }

    #[test]
    fn it_grows_where_headers_are_dense_and_shrinks_where_they_are_not() {
        let mut growth = Growth::new(64, 512);
        let windows = [16, 60, 100, 3, 1, 2, 4].map(|hits| after(&mut growth, hits));
        assert_eq!(windows, [256, 512, 512, 512, 64, 64, 256]);
    }
}
