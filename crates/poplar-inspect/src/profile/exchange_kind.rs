//! Kinds of exchanges.

/// Between what data is exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub enum ExchangeKind {
    /// The tiles of an IPU.
    Internal,
    /// IPUs.
    External,
    /// IPUs and the host.
    Host,
}

impl ExchangeKind {
    /// All kinds.
    pub const ALL: [ExchangeKind; 3] = [ExchangeKind::Internal, ExchangeKind::External, ExchangeKind::Host];

    /// The section of a graph profile that has such exchanges.
    pub fn section(self) -> &'static str {
        match self {
            ExchangeKind::Internal => "exchanges",
            ExchangeKind::External => "externalExchanges",
            ExchangeKind::Host => "hostExchanges",
        }
    }
}
