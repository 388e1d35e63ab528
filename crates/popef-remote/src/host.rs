//! The networks of hosts: those that stay on this machine, and those that have its credentials.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Url;

/// The network that a host is in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// This machine.
    Here,
    /// The services that machines in clouds have for their credentials.
    Metadata,
    Elsewhere,
}

/// Addresses of credential services outside the link-local range: Google's with IPv6, Alibaba's, Oracle's and Azure's.
const METADATA_ADDRESSES: [IpAddr; 4] = [
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
];
/// How the addresses begin of such services with IPv6: Amazon's and Oracle's.
const METADATA_NETS: [[u16; 2]; 2] = [[0xfd00, 0xec2], [0xfd00, 0xc1]];
const METADATA_NAMES: [&str; 5] =
    ["metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"];

impl Place {
    pub(crate) fn of(host: &str) -> Place {
        let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase();
        match host.parse::<IpAddr>() {
            Ok(address) if address.to_canonical().is_loopback() => Place::Here,
            Ok(address) if meanings(address).any(|meant| is_of_link(meant) || is_service(meant)) => Place::Metadata,
            Ok(_) => Place::Elsewhere,
            Err(_) if host == "localhost" || host.ends_with(".localhost") => Place::Here,
            Err(_) if METADATA_NAMES.contains(&host.as_str()) => Place::Metadata,
            Err(_) => Place::Elsewhere,
        }
    }
}

/// The addresses to which one may lead: itself, and the IPv4 ones embedded in an IPv6 one, which are mapped, compatible, or
/// translated (NAT64, 6to4).
fn meanings(address: IpAddr) -> impl Iterator<Item = IpAddr> {
    let of = |high: u16, low: u16| Some(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    let segments = if let IpAddr::V6(long) = address { long.segments() } else { [0xffff; 8] };
    let embedded = match segments {
        [0, 0, 0, 0, 0, 0xffff, g, h] | [0, 0, 0, 0, 0xffff, 0, g, h] | [0x64, 0xff9b, 0, 0, 0, 0, g, h] => {
            [of(g, h), None, None, None]
        }
        [0, 0, 0, 0, 0, 0, g, h] if g > 0 => [of(g, h), None, None, None],
        [0x2002, high, low, ..] => [of(high, low), None, None, None],
        // For networks of their own, where the length of the prefix says which bytes they are. One byte is left out.
        [0x64, 0xff9b, 1, d, e, f, g, h] => {
            let [_, e_low] = e.to_be_bytes();
            let [f_high, f_low] = f.to_be_bytes();
            let [g_high, _] = g.to_be_bytes();
            let [_, d_low] = d.to_be_bytes();
            let joined = |high, low| u16::from_be_bytes([high, low]);
            [
                of(g, h),
                of(d, joined(e_low, f_high)),
                of(joined(d_low, e_low), f),
                of(joined(e_low, f_high), joined(f_low, g_high)),
            ]
        }
        _ => [None; 4],
    };
    std::iter::once(address).chain(embedded.into_iter().flatten().map(IpAddr::V4))
}

/// Whether an address is that of a service for credentials, outside the link-local range.
fn is_service(address: IpAddr) -> bool {
    let is_in_net = |long: Ipv6Addr| METADATA_NETS.iter().any(|net| long.segments().starts_with(net));
    METADATA_ADDRESSES.contains(&address) || matches!(address, IpAddr::V6(long) if is_in_net(long))
}

/// Whether an address is link-local, so that routers do not forward it.
fn is_of_link(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// Whether a host has, or may have, the credentials of a machine in a cloud.
pub(crate) fn is_metadata(host: &str) -> bool {
    Place::of(host) == Place::Metadata
}

/// Link-local addresses of the largest clouds' credential services. A name may lead to other link-local addresses:
/// containers know their host by one.
const OF_CLOUDS: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),
];

/// Finds the addresses of names, except those of services for credentials, which have names of their own.
pub(crate) struct Names;

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let allowed = allowed(name.as_str(), found)
                .ok_or("its name stands for where clouds have the credentials of a machine")?;
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// The addresses of a name that may be contacted. `None` if all of them are forbidden.
fn allowed(name: &str, mut found: Vec<SocketAddr>) -> Option<Vec<SocketAddr>> {
    if !is_metadata(name) {
        found.retain(|found| !meanings(found.ip()).any(|address| OF_CLOUDS.contains(&address) || is_service(address)));
    }
    Some(found).filter(|found| !found.is_empty())
}

/// Whether a text can be a part of the name of a host.
pub(crate) fn is_in_names(text: &str) -> bool {
    Url::parse(&format!("https://{text}.example.com")).is_ok()
}

/// Whether requests to a host stay on this machine.
pub(crate) fn is_here(host: &str) -> bool {
    Place::of(host) == Place::Here
}

#[cfg(test)]
mod tests {
    use super::{allowed, is_here, is_metadata};
    use std::net::SocketAddr;
    use url::Url;

    #[test]
    fn services_for_credentials_are_known_in_all_spellings() {
        let urls = [
            "http://169.254.169.254/",
            "http://169.254.170.2/",
            "http://2852039166/",
            "http://0xa9fea9fe/",
            "http://0251.0376.0251.0376/",
            "http://169.254.169.254./",
            "http://[::ffff:169.254.169.254]/",
            "http://[::ffff:a9fe:a9fe]/",
            "http://[::a9fe:a9fe]/",
            "http://[64:ff9b::a9fe:a9fe]/",
            "http://[2002:a9fe:a9fe::1]/",
            "http://[fe80::1]/",
            "http://[fd00:ec2::254]/",
            "http://[fd00:ec2::23]/",
            "http://[fd00:c1::a9fe:a9fe]/",
            "http://[::ffff:0:a9fe:a9fe]/",
            "http://[64:ff9b:1::a9fe:a9fe]/",
            "http://[64:ff9b:1:a9fe:a9:fe00::]/",
            "http://[64:ff9b:1:a9:fe:a9fe::]/",
            "http://[64:ff9b:1::a9:fea9:fe00:0]/",
            "http://100.100.100.200/",
            "http://METADATA.google.internal./",
            "http://\u{ff11}69.254.169.254/",
        ];
        for url in urls {
            assert!(is_metadata(Url::parse(url).unwrap().host_str().unwrap()), "{url}");
        }
        for host in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost"] {
            assert!(is_here(host), "{host}");
        }
        let of = |name: &str, address: &str| allowed(name, vec![SocketAddr::new(address.parse().unwrap(), 0)]);
        for address in
            ["169.254.169.254", "::ffff:169.254.170.2", "fd00:ec2::23", "100.100.100.200", "64:ff9b:1::a9fe:a9fe"]
        {
            assert_eq!(of("example.com", address), None, "{address}");
        }
        assert!(
            of("metadata.google.internal", "169.254.169.254").is_some() && of("host.here", "169.254.1.2").is_some()
        );
        // Where there is no IPv4, all of its addresses are translated.
        assert!(!is_metadata("64:ff9b::c000:201") && !is_metadata("64:ff9b:1::c000:201"));
        assert!(!is_metadata("192.0.2.1") && !is_metadata("metadata.example.com") && !is_here("[::]"));
    }
}
