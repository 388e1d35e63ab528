use popef::read::ExecutableBlob;
use popef::types::ExecutableInside;

use super::{Failure, Options};

/// What an executable's own bytes say of it. Read only when asked for: it takes the first of the executable's data.
pub(crate) fn inside(executable: &ExecutableBlob<'_>, options: &Options) -> Option<Result<ExecutableInside, Failure>> {
    options.verbose.then(|| executable.inside().map_err(Failure::from))
}
