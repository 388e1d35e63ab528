//! Recognises JSON without keeping any of it.

/// How deep objects and arrays may nest. Readers of JSON have such a limit too.
const NESTING: usize = 128;

/// Whether the text is JSON whose outermost value is an object or an array.
pub(super) fn is_object_or_array(text: &str) -> bool {
    let text = text.trim_matches(SPACES);
    if !text.starts_with(['{', '[']) {
        return false;
    }
    let mut scanner = Scanner { rest: text };
    scanner.value(NESTING).is_some() && scanner.rest.is_empty()
}

const SPACES: [char; 4] = [' ', '\t', '\n', '\r'];

struct Scanner<'t> {
    rest: &'t str,
}

/// Each method reads one piece of JSON from the front of the rest. `None` if there is none.
impl Scanner<'_> {
    fn value(&mut self, nesting: usize) -> Option<()> {
        self.spaces();
        match self.rest.bytes().next()? {
            b'{' => self.list('{', '}', nesting, |scanner, nesting| {
                scanner.spaces();
                scanner.string()?;
                scanner.spaces();
                scanner.symbol(':')?;
                scanner.value(nesting)
            }),
            b'[' => self.list('[', ']', nesting, Self::value),
            b'"' => self.string(),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number(),
        }
    }

    fn list(
        &mut self,
        open: char,
        close: char,
        nesting: usize,
        element: impl Fn(&mut Self, usize) -> Option<()>,
    ) -> Option<()> {
        let inside = nesting.checked_sub(1)?;
        self.symbol(open)?;
        self.spaces();
        if self.symbol(close).is_some() {
            return Some(());
        }
        loop {
            element(self, inside)?;
            self.spaces();
            if self.symbol(',').is_none() {
                return self.symbol(close);
            }
        }
    }

    fn string(&mut self) -> Option<()> {
        self.symbol('"')?;
        loop {
            let at = self.rest.find(|letter: char| matches!(letter, '"' | '\\') || letter < ' ')?;
            self.rest = self.rest.get(at..)?;
            if self.symbol('"').is_some() {
                return Some(());
            }
            self.symbol('\\')?;
            let escape = self.rest.chars().next().filter(|letter| "\"\\/bfnrtu".contains(*letter))?;
            self.symbol(escape)?;
            if escape == 'u' {
                let digits = self.rest.get(..4)?;
                self.word(digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(digits)?)?;
            }
        }
    }

    fn number(&mut self) -> Option<()> {
        let _ = self.symbol('-');
        if self.symbol('0').is_none() {
            self.digits()?;
        }
        if self.symbol('.').is_some() {
            self.digits()?;
        }
        if self.symbol('e').or_else(|| self.symbol('E')).is_some() {
            let _ = self.symbol('-').or_else(|| self.symbol('+'));
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let rest = self.rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
        if rest.len() == self.rest.len() {
            return None;
        }
        self.rest = rest;
        Some(())
    }

    fn spaces(&mut self) {
        self.rest = self.rest.trim_start_matches(SPACES);
    }

    fn symbol(&mut self, symbol: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(symbol)?;
        Some(())
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::is_object_or_array;

    #[test]
    fn json_is_told_from_other_text() {
        let deep = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        for json in [
            "{}",
            " [ ] \n",
            r#"{"a": [1, -0.5e+3, 0, true, false, null], "b\u00e9\"": {"c": ""}}"#,
            r#"["\\", "\/", 1E5, 10.25]"#,
            &deep(128),
        ] {
            assert!(is_object_or_array(json), "{json}");
        }
        for text in [
            "",
            "1",
            "\"a\"",
            "null",
            "{",
            "[1,]",
            "{\"a\"}",
            "{\"a\":1,}",
            "{a:1}",
            "[01]",
            "[1.]",
            "[.5]",
            "[-]",
            "[1e]",
            "[\"\\x\"]",
            "[\"\\u12g4\"]",
            "[\"a]",
            "[\"\n\"]",
            "[1] 2",
            "[tru]",
            "{} {}",
            "[1 2]",
            &deep(129),
        ] {
            assert!(!is_object_or_array(text), "{text}");
        }
        // What the reader of JSON in the tests accepts and refuses.
        for text in ["[1e]", "[01]", "[1,]", "[\"\\u12g4\"]", "[-]", "[-1.5e-7]", "{\"a\" : {}}"] {
            assert_eq!(is_object_or_array(text), serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
        }
    }
}
