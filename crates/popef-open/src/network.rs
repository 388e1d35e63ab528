//! The cost of files on other machines.

use std::fmt;

/// How a file on another machine was read.
#[derive(Debug)]
pub struct Network {
    #[cfg(feature = "remote")]
    pub(crate) usage: popef_remote::Usage,
    #[cfg(not(feature = "remote"))]
    pub(crate) never: std::convert::Infallible,
    pub(crate) notice: Option<String>,
}

/// The requests and bytes of files on other machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Cost {
    /// How many requests were sent.
    pub requests: u64,
    /// How many bytes were received.
    pub bytes: u64,
}

impl Network {
    /// The cost so far. It grows while data is read.
    pub fn cost(&self) -> Cost {
        #[cfg(feature = "remote")]
        return (&self.usage).into();
        #[cfg(not(feature = "remote"))]
        match self.never {}
    }

    /// A notice for users, for example that the server sent the whole file.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }
}

#[cfg(feature = "remote")]
impl From<&popef_remote::Usage> for Cost {
    fn from(usage: &popef_remote::Usage) -> Self {
        Cost { requests: usage.requests(), bytes: usage.bytes() }
    }
}

/// Displays as `received 65536 bytes in 1 request`.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cost { requests, bytes } = self;
        let s = if *requests == 1 { "" } else { "s" };
        write!(f, "received {bytes} bytes in {requests} request{s}")
    }
}
