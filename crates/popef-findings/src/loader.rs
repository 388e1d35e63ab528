use popef::seam::named;

/// A program that loads PopEF files and has requirements of its own.
///
/// ```
/// use popef_findings::Loader;
///
/// assert_eq!("poptorch".parse(), Ok(Loader::Poptorch));
/// assert_eq!(Loader::Triton.to_string(), "triton");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Loader {
    /// PopART, and programs that use its sessions.
    Popart,
    /// PopTorch.
    Poptorch,
    /// TensorFlow for the IPU.
    Tensorflow,
    /// Triton's backend and the model runtimes, which do not use a framework.
    Triton,
}

named! {
    Loader, "a loader": Popart = "popart", Poptorch = "poptorch", Tensorflow = "tensorflow", Triton = "triton"
}
