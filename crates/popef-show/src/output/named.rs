//! Enumerations that a command line names.

/// Makes an enumeration of its variants and their names, with `ALL` and `name`.
macro_rules! named {
    ($(#[$about:meta])* pub enum $type:ident { $($(#[$what:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type { $($(#[$what])* $variant,)+ }

        impl $type {
            /// All of them.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$variant),+];

            /// The one with this name, if there is one.
            #[allow(dead_code, reason = "not every command line asks")]
            pub fn named(name: &str) -> Option<$type> {
                $type::ALL.into_iter().find(|it| it.name() == name)
            }

            /// Its name on a command line.
            pub fn name(self) -> &'static str {
                match self { $($type::$variant => $name,)+ }
            }
        }
    };
}

pub(crate) use named;
