//! The objects that a prefix or a pattern means.

use std::collections::BTreeSet;

use futures_util::StreamExt as _;
use globset::{GlobBuilder, GlobMatcher};
use tokio::time::{Instant, timeout_at};

use crate::error::{Code, RemoteError};
use crate::gate::{TRACE, Trace};
use crate::location::{Location, Place, has_pattern};
use crate::object::Context;
use crate::store::{Stores, path_of};

/// The names of files that a prefix means.
const NAMES: [&str; 2] = [".popef", ".poptorch"];

/// Maximum number of objects in a listing.
const MOST: usize = 10_000_000;
/// Maximum number of bytes of names that are kept.
const MOST_BYTES: usize = 64 << 20;

/// The locations of all objects that a location means, in the order of their names.
pub(crate) async fn list(
    stores: &Stores,
    location: &Location,
    context: &Context,
) -> Result<Vec<Location>, RemoteError> {
    let Place::Bucket { kind, bucket, key } = &location.place else { return Ok(vec![location.clone()]) };
    let matcher = matcher(key).map_err(|what| context.error(Code::Url, what))?;
    let fixed = key.split(['*', '?', '[']).next().unwrap_or_default();
    let folder = fixed.rsplit_once('/').map_or("", |(folder, _)| folder);
    let folder = path_of(folder).map_err(|what| context.error(Code::Url, what))?;
    let store = stores.bucket(*kind, bucket, location)?;
    let trace = Trace::new(context.usage.clone());
    let work = async {
        let mut objects = store.list(Some(&folder).filter(|folder| !folder.as_ref().is_empty()));
        let mut keys = BTreeSet::new();
        let (mut count, mut kept) = (0_usize, 0_usize);
        let longest = context.options.list_timeout;
        let mut end = Instant::now().checked_add(longest);
        loop {
            // A store may send pages in which nothing fits, but not for ever.
            let next = match end {
                Some(end) => timeout_at(end, objects.next()).await,
                None => Ok(objects.next().await),
            };
            let none = || context.error(Code::Timeout, format!("no object that fits came for {longest:?}"));
            let Some(object) = next.map_err(|_| none())? else { break };
            let name = object.map_err(|error| context.explained(&error, &trace))?.location;
            count = count.saturating_add(1);
            if count > MOST || kept > MOST_BYTES {
                return Err(context.error(Code::Listing, format!("there are more than {count} objects")));
            }
            // Consoles make folders visible by empty objects whose keys end with a slash.
            if trace.takes_folder(name.as_ref()) {
                continue;
            }
            let fits = match &matcher {
                Some(matcher) => matcher.is_match(name.as_ref()),
                None => name.as_ref().starts_with(key) && NAMES.iter().any(|end| name.as_ref().ends_with(end)),
            };
            if fits {
                kept = kept.saturating_add(name.as_ref().len());
                if !keys.insert(name.to_string()) {
                    return Err(context.error(Code::Listing, "it has a key twice, as if it began again"));
                }
                end = Instant::now().checked_add(longest);
            }
        }
        Ok(keys)
    };
    let keys = TRACE.scope(trace.clone(), work).await?;
    if keys.is_empty() {
        let what = if matcher.is_some() { "" } else { "there is no .popef or .poptorch in it" };
        return Err(context.error(Code::NoMatch, what));
    }
    Ok(keys.into_iter().map(|key| Location::of_object(*kind, bucket.clone(), key)).collect())
}

/// The pattern of a key. `None` if the key is not a pattern.
fn matcher(key: &str) -> Result<Option<GlobMatcher>, String> {
    if !has_pattern(key) {
        return Ok(None);
    }
    let glob = GlobBuilder::new(key).literal_separator(true).build().map_err(|error| error.kind().to_string())?;
    Ok(Some(glob.compile_matcher()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stays_within_a_folder() {
        let fits = |pattern: &str, key: &str| matcher(pattern).unwrap().unwrap().is_match(key);
        assert!(fits("models/*.popef", "models/a.popef") && !fits("models/*.popef", "models/x/a.popef"));
        assert!(fits("models/**/*.popef", "models/x/y/a.popef") && fits("models/**/*.popef", "models/a.popef"));
        assert!(fits("m[12]?.popef", "m1x.popef") && !fits("m[12]?.popef", "m3x.popef"));
        assert!(matcher("m[1").is_err() && matcher("models/").unwrap().is_none());
    }
}
