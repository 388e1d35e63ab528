/// Where [`Builder::remote_code_load`](crate::Builder::remote_code_load) brings code. PopXL has these names and supports only the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Destination {
    /// `executable`: the memory of tiles from which code runs.
    Executable,
    /// `compute_buffer`: memory of compute tiles for data.
    ComputeBuffer,
    /// `io_buffer`: memory of IO tiles for data.
    IoBuffer,
}

impl Destination {
    /// PopXL's name of it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Destination::Executable => "executable",
            Destination::ComputeBuffer => "compute_buffer",
            Destination::IoBuffer => "io_buffer",
        }
    }
}
