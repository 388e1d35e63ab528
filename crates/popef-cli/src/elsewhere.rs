//! New files that go to buckets.

use std::path::Path;

use popef_ops::{Overwrite, Target};

/// A path, or an object in a bucket.
pub(crate) fn target(path: &Path, overwrite: Overwrite) -> Target<'_> {
    #[cfg(feature = "remote")]
    if popef_open::is_elsewhere(path) {
        return Target::Store(Box::new(object::Object { path, overwrite, is_trial: false }));
    }
    Target::Path(path, overwrite)
}

/// The target of a dry run, which does not look into buckets.
pub(crate) fn trial(path: &Path, overwrite: Overwrite) -> Target<'_> {
    #[cfg(feature = "remote")]
    if popef_open::is_elsewhere(path) {
        return Target::Store(Box::new(object::Object { path, overwrite, is_trial: true }));
    }
    Target::Trial(path, overwrite)
}

#[cfg(feature = "remote")]
mod object {
    use std::fs;
    use std::path::Path;

    use popef::error::ErrorCode;
    use popef_ops::{Code, Error, Overwrite, Store};
    use popef_remote::Replace;

    pub(super) struct Object<'p> {
        pub(super) path: &'p Path,
        pub(super) overwrite: Overwrite,
        pub(super) is_trial: bool,
    }

    impl Object<'_> {
        fn replace(&self) -> Replace {
            match self.overwrite {
                Overwrite::Never => Replace::Nothing,
                Overwrite::Others => Replace::Anything,
                Overwrite::Inputs => Replace::Opened,
            }
        }

        fn error(&self, error: std::io::Error) -> Error {
            match error.kind() {
                std::io::ErrorKind::AlreadyExists => Error::new(ErrorCode::FileExists, error.to_string()),
                _ => Error::io("write the object", error),
            }
            .in_file(self.path)
        }
    }

    impl Store for Object<'_> {
        fn is_trial(&self) -> bool {
            self.is_trial
        }

        fn check(&self, inputs: &[&Path]) -> Result<(), Error> {
            if self.overwrite != Overwrite::Inputs && inputs.contains(&self.path) {
                let message = "the output is the same object as the input";
                return Err(Error::new(Code::OutputIsInput, message).in_file(self.path));
            }
            let checked = if self.is_trial {
                popef_open::check_output_elsewhere(self.path)
            } else {
                popef_open::check_write_elsewhere(self.path, &self.replace())
            };
            checked.map_err(|error| self.error(error))
        }

        fn put(self: Box<Self>, file: fs::File) -> Result<(), Error> {
            popef_open::write_elsewhere(self.path, file, &self.replace()).map_err(|error| self.error(error))
        }
    }
}
