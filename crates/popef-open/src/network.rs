//! What opening a file over the network has cost.

/// How a file was read that is not on this machine.
#[derive(Debug)]
pub struct Network {
    #[cfg(feature = "remote")]
    pub(crate) usage: popef_remote::Usage,
    #[cfg(not(feature = "remote"))]
    pub(crate) never: std::convert::Infallible,
    pub(crate) notice: Option<String>,
}

/// What it has cost so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// How many requests were sent.
    pub requests: u64,
    /// How many bytes were received.
    pub bytes: u64,
}

impl Network {
    /// What it has cost so far. It grows while data is read.
    pub fn cost(&self) -> Cost {
        #[cfg(feature = "remote")]
        return Cost { requests: self.usage.requests(), bytes: self.usage.bytes() };
        #[cfg(not(feature = "remote"))]
        match self.never {}
    }

    /// What a user should know, such as that the server sent the whole file.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }
}
