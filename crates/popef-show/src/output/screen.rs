/// The size of the terminal that the output goes to, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Its width.
    pub width: usize,
    /// Its height.
    pub height: usize,
}
