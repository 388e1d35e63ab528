//! Who may open new files: only users who may open all files that they are made from. Like `cp`, this compares modes,
//! whatever the owners and groups are, and removes the permissions that the process forbids for new files (`umask`).
//!
//! On systems other than Unix, the folder alone decides who may open a file.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::path::Path;

use popef::File;

/// The most permissions that new files get, as a file mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Most(u32);

impl Most {
    /// The permissions of new files that are made from nothing.
    pub(crate) const USUAL: Most = Most(0o666);

    /// Only the owner may read and write.
    pub(crate) const OWNER: Most = Most(0o600);

    /// The permissions of a file made from these. Streams and files from other machines do not limit them.
    pub(crate) fn of<'f>(files: impl IntoIterator<Item = &'f File>) -> Self {
        files.into_iter().fold(Most::USUAL, Most::and)
    }

    fn and(self, file: &File) -> Self {
        // A file without a path is a copy of a stream.
        file.path().and_then(|_| file.permissions()).map_or(self, |permissions| self.within(&permissions))
    }

    /// The permissions of a file that is also made from one at a path.
    pub(crate) fn and_at(self, path: impl AsRef<Path>) -> Self {
        // A file whose mode cannot be read cannot be read either.
        fs::metadata(path).map_or(self, |found| self.within(&found.permissions()))
    }

    #[cfg(unix)]
    fn within(self, permissions: &Permissions) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        Most(self.0 & permissions.mode())
    }

    #[cfg(not(unix))]
    fn within(self, _: &Permissions) -> Self {
        self
    }

    /// As a file mode. The owner could read all inputs, and may read the result.
    pub(crate) fn mode(self) -> u32 {
        0o400 | self.0
    }

    /// As a folder mode: users who may read the files may list them, and the owner may do everything.
    #[cfg(unix)]
    fn folder_mode(self) -> u32 {
        0o700 | self.0 | (self.0 & 0o444) >> 2
    }

    /// Opens new files so.
    pub(crate) fn limit(self, options: &mut OpenOptions) -> &mut OpenOptions {
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(self.mode());
        }
        options
    }

    /// What makes new folders so.
    pub(crate) fn folders(self) -> DirBuilder {
        #[allow(unused_mut, reason = "only Unix has modes")]
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt as _;
            builder.mode(self.folder_mode());
        }
        builder
    }

    /// The permissions that a new folder gets, without those that the process forbids.
    #[cfg(unix)]
    pub(crate) fn folder_permissions(self) -> Permissions {
        use std::os::unix::fs::PermissionsExt as _;
        Permissions::from_mode(self.folder_mode())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::Most;

    #[test]
    fn folders_can_be_listed_by_whom_files_can_be_read() {
        for (file, folder) in
            [(0o666, 0o777), (0o644, 0o755), (0o600, 0o700), (0o444, 0o755), (0o040, 0o750), (0o060, 0o770)]
        {
            let found = Most(file).folder_mode();
            assert_eq!(found, folder, "{file:o}: {found:o}");
        }
    }
}
