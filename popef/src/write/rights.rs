//! The permissions of a file, which are given to the file that replaces it. The new file gets what the system allows,
//! and never more than the old one had.

use std::fs::File;
use std::io;

#[cfg(not(unix))]
pub(super) use other::Rights;
#[cfg(unix)]
pub(super) use unix::Rights;

/// Gives a new file the permissions of the one that it replaces, as [`Writer::create`](super::Writer::create) does: its owner,
/// group, mode, access control list and user attributes, as far as the system allows, and never more than that one had. Until
/// then, only its owner should be able to open the new file.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (old, new) = (folder.path().join("report.html"), folder.path().join("new"));
/// # std::fs::write(&old, "old")?;
/// let (old, new) = (std::fs::File::open(&old)?, std::fs::File::create_new(&new)?);
/// popef::write::keep_rights(&old, &new)?;
/// assert_eq!(new.metadata()?.permissions(), old.metadata()?.permissions());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn keep_rights(old: &File, new: &File) -> io::Result<()> {
    Rights::of(old)?.give(new)
}

#[cfg(unix)]
mod unix {
    use std::fs::{File, Permissions};
    use std::io;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};

    use super::extended::{Acl, Attributes};

    /// The owner, group, mode, access control list and user attributes of a file.
    #[derive(Clone, Debug)]
    pub(in super::super) struct Rights {
        owner: u32,
        group: u32,
        mode: u32,
        acl: Acl,
        attributes: Attributes,
    }

    /// The bits of a mode that can be changed.
    const MODE: u32 = 0o7777;
    const SET_USER_ID: u32 = 0o4000;
    const OF_OWNER: u32 = 0o700;

    /// Whether a new file got the owner and the group of the old one.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Kept {
        owner: bool,
        group: bool,
    }

    impl Rights {
        pub(in super::super) fn of(file: &File) -> io::Result<Rights> {
            let metadata = file.metadata()?;
            Ok(Rights {
                owner: metadata.uid(),
                group: metadata.gid(),
                mode: metadata.mode() & MODE,
                acl: Acl::of(file)?,
                attributes: Attributes::of(file)?,
            })
        }

        /// Sets the permissions of a file that only its owner can open. Leaves out those that the system refuses, and
        /// those that would then give any user more access than before.
        pub(in super::super) fn give(&self, to: &File) -> io::Result<()> {
            self.attributes.give(to)?;
            let kept = self.give_owners(to)?;
            // A list has entries for the group and for users. Without the group, it is unknown to whom it gives access.
            let with_acl = (kept.group || self.acl.is_none()) && self.acl.give(to)?;
            let mode = if with_acl { self.mode_for(kept) } else { self.mode_for(kept) & OF_OWNER };
            let Err(refused) = to.set_permissions(Permissions::from_mode(mode)) else { return Ok(()) };
            // File systems without modes refuse to change them.
            let more = to.metadata()?.mode() & MODE & !mode;
            if more == 0 { Ok(()) } else { Err(refused) }
        }

        /// Gives the file the owner and the group, or the group alone, which members of the group may do.
        fn give_owners(&self, to: &File) -> io::Result<Kept> {
            let own = to.metadata()?;
            if (own.uid(), own.gid()) != (self.owner, self.group)
                && fchown(to, Some(self.owner), Some(self.group)).is_err()
            {
                // The file's owners are read below, so an error can be ignored here.
                let _ = fchown(to, None, Some(self.group));
            }
            let now = to.metadata()?;
            Ok(Kept { owner: now.uid() == self.owner, group: now.gid() == self.group })
        }

        /// The mode for a file with these owners. It gives no user more access than the old mode.
        fn mode_for(&self, kept: Kept) -> u32 {
            let mut mode = self.mode;
            if !kept.owner {
                mode &= !SET_USER_ID;
            }
            if !kept.group {
                // Members of the old group are others now, and members of the new group were others before. So both get
                // only what both had. The set-group-ID bit is lost as well.
                let both = (mode >> 3) & mode & 0o7;
                mode = (mode & (OF_OWNER | SET_USER_ID)) | (both << 3) | both;
            }
            mode
        }
    }

    #[cfg(test)]
    impl Rights {
        /// The permissions of a file on the simulated disk.
        pub(in super::super) fn of_mode(mode: u32) -> Rights {
            Rights { owner: 0, group: 0, mode, acl: Acl::default(), attributes: Attributes::default() }
        }

        pub(in super::super) fn mode(&self) -> u32 {
            self.mode
        }
    }

    #[cfg(test)]
    mod tests {
        use super::{Kept, Rights};

        #[test]
        fn a_mode_without_its_group_lets_in_whom_both_groups_let_in() {
            for (mode, left) in [
                (0o644, 0o644),
                (0o664, 0o644),
                (0o660, 0o600),
                (0o640, 0o600),
                (0o604, 0o600),
                (0o666, 0o666),
                (0o751, 0o711),
                (0o2775, 0o755),
                (0o1644, 0o644),
            ] {
                let rights = Rights::of_mode(mode);
                let found = rights.mode_for(Kept { owner: true, group: false });
                assert_eq!(found, left, "{mode:o} became {found:o}");
                assert_eq!(rights.mode_for(Kept { owner: true, group: true }), mode);
            }
            let of_another = Kept { owner: false, group: true };
            assert_eq!(Rights::of_mode(0o4755).mode_for(of_another), 0o755);
            assert_eq!(Rights::of_mode(0o4755).mode_for(Kept { owner: false, group: false }), 0o755);
        }
    }
}

/// On other systems, only whether a file is read-only is kept.
#[cfg(not(unix))]
mod other {
    use std::fs::{File, Permissions};
    use std::io;

    #[derive(Clone, Debug)]
    pub(in super::super) struct Rights(Permissions);

    impl Rights {
        pub(in super::super) fn of(file: &File) -> io::Result<Rights> {
            Ok(Rights(file.metadata()?.permissions()))
        }

        pub(in super::super) fn give(&self, to: &File) -> io::Result<()> {
            to.set_permissions(self.0.clone())
        }
    }
}

/// Extended attributes. Linux also keeps access control lists in them.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod extended {
    use std::ffi::{CStr, CString};
    use std::fs::File;
    use std::io;

    use rustix::buffer::spare_capacity;
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
    use rustix::io::Errno;

    const ACL: &CStr = c"system.posix_acl_access";
    /// The prefix of user attributes. Others (security labels, capabilities) are set by the system.
    const OF_USERS: &[u8] = b"user.";
    /// The largest size of a value, and of the list of all names.
    const LONGEST: usize = 64 << 10;

    /// A POSIX access control list in the system's form. `None` if the mode says everything.
    #[derive(Clone, Debug, Default)]
    pub(super) struct Acl(Option<Vec<u8>>);

    impl Acl {
        pub(super) fn of(file: &File) -> io::Result<Acl> {
            get(file, ACL).map(Acl)
        }

        pub(super) fn is_none(&self) -> bool {
            self.0.is_none()
        }

        /// Gives the list to a file, or removes a list that the file inherited from its folder. Returns `false` if the
        /// system refuses.
        pub(super) fn give(&self, to: &File) -> io::Result<bool> {
            let given = match &self.0 {
                Some(list) => fsetxattr(to, ACL, list, XattrFlags::empty()),
                None => match fremovexattr(to, ACL) {
                    Err(e) if is_none(e) => Ok(()),
                    result => result,
                },
            };
            match given {
                Ok(()) => Ok(true),
                Err(Errno::PERM | Errno::ACCESS | Errno::INVAL | Errno::OPNOTSUPP) => Ok(false),
                Err(e) => Err(e.into()),
            }
        }
    }

    /// The user attributes of a file, with their values.
    #[derive(Clone, Debug, Default)]
    pub(super) struct Attributes(Vec<(CString, Vec<u8>)>);

    impl Attributes {
        pub(super) fn of(file: &File) -> io::Result<Attributes> {
            let mut attributes = Vec::new();
            for name in names(file)? {
                if let Some(value) = get(file, &name)? {
                    attributes.push((name, value));
                }
            }
            Ok(Attributes(attributes))
        }

        pub(super) fn give(&self, to: &File) -> io::Result<()> {
            self.0.iter().try_for_each(|(name, value)| Ok(fsetxattr(to, name, value, XattrFlags::empty())?))
        }
    }

    fn names(file: &File) -> io::Result<Vec<CString>> {
        let mut list = Vec::with_capacity(LONGEST);
        match flistxattr(file, spare_capacity(&mut list)) {
            Err(e) if is_none(e) => return Ok(Vec::new()),
            result => result?,
        };
        let names = list.split(|&byte| byte == 0).filter(|name| name.starts_with(OF_USERS));
        // `CString::new` cannot fail, because the names were split at NULs.
        Ok(names.filter_map(|name| CString::new(name).ok()).collect())
    }

    /// The value of an attribute, if the file has it.
    fn get(file: &File, name: &CStr) -> io::Result<Option<Vec<u8>>> {
        let mut value = Vec::with_capacity(LONGEST);
        match fgetxattr(file, name, spare_capacity(&mut value)) {
            Err(e) if is_none(e) => return Ok(None),
            result => result?,
        };
        value.shrink_to_fit();
        Ok(Some(value))
    }

    /// Whether the file has no such attribute, or its file system has no attributes.
    fn is_none(error: Errno) -> bool {
        matches!(error, Errno::NODATA | Errno::OPNOTSUPP)
    }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
mod extended {
    use std::fs::File;
    use std::io;

    /// Access control lists are not kept on this system.
    #[derive(Clone, Debug, Default)]
    pub(super) struct Acl;

    impl Acl {
        pub(super) fn of(_file: &File) -> io::Result<Acl> {
            Ok(Acl)
        }

        pub(super) fn is_none(&self) -> bool {
            true
        }

        pub(super) fn give(&self, _to: &File) -> io::Result<bool> {
            Ok(true)
        }
    }

    /// Attributes are not kept on this system.
    #[derive(Clone, Debug, Default)]
    pub(super) struct Attributes;

    impl Attributes {
        pub(super) fn of(_file: &File) -> io::Result<Attributes> {
            Ok(Attributes)
        }

        pub(super) fn give(&self, _to: &File) -> io::Result<()> {
            Ok(())
        }
    }
}
