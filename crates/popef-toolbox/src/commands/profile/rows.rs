//! The rows that `--by` requests.

use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;

use popef_cli::end::wrong;
use popef_cli::format::NETWORK;
use popef_cli::tool::Tool;
use popef_ops::{Error, InFile};
use popef_show::Out;
use popef_show::profile::{Profile, ProfileFormat, ProfileTable, TableRequest, TableWritten};
use poplar_inspect::profile::{Selection, Sort};

use super::args::{Args, Order};
use super::input::Input;

impl Args {
    /// Writes a table, and says on stderr if the format cannot show that rows are left out.
    pub(super) fn table(
        &self,
        tool: &Tool,
        out: &mut Out,
        profile: Profile<'_>,
        input: &Input,
        table: ProfileTable,
    ) -> Result<io::Result<()>, Error> {
        if table.needs_execution() && profile.execution.is_none() {
            return Err(wrong(format!("--by {} needs an execution profile", table.as_str())));
        }
        let request = TableRequest {
            head: self.head(&input.report.remarks),
            file: InFile::from(self.graph()),
            format: self.form(),
            table,
            selection: self.selection(),
            is_selected: self.name.is_some() || self.numbers.is_some(),
            depth: self.depth.map_or(1, NonZeroUsize::get),
            limit: self.limit().unwrap_or(usize::MAX),
            room: self.room(input),
            network: NETWORK,
        };
        match request.write(out, profile) {
            Ok(TableWritten::Nothing) => return Err(self.nothing_selected()),
            Ok(TableWritten::First) if self.top.is_none() => tool.say("these are only the first rows: --top N shows more"),
            Ok(_) => {}
            Err(error) => return Ok(Err(error)),
        }
        Ok(Ok(()))
    }

    /// The error if no row is selected, which is most likely a typing error.
    fn nothing_selected(&self) -> Error {
        let numbers = self.numbers.iter().flatten().map(shown).collect::<Vec<_>>().join(",");
        let given = [("--numbers", Some(numbers)), ("--name", self.name.clone())];
        let given = given.into_iter().filter_map(|(option, value)| Some((option, value.filter(|value| !value.is_empty())?)));
        let given: Vec<_> = given.map(|(option, value)| format!("{option} {value}")).collect();
        wrong(format!("nothing matches {}", given.join(" "))).in_file(self.graph())
    }

    fn selection(&self) -> Selection<'_> {
        let sort = match self.sort.unwrap_or(Order::Size) {
            Order::Size => Sort::Largest,
            Order::Number => Sort::Number,
            Order::Name => Sort::Name,
            Order::Code => Sort::Code,
        };
        // One more row shows that there are more.
        let limit = self.limit().map(|limit| limit.saturating_add(1));
        let all = limit.map_or_else(Selection::default, Selection::largest);
        all.named(self.name.as_deref()).numbered(self.numbers.as_deref()).sorted(sort)
    }

    /// The maximum number of rows.
    fn limit(&self) -> Option<usize> {
        const OF_TEXT: usize = 20;
        let limit = (self.form() == ProfileFormat::Text).then_some(OF_TEXT);
        self.top.map(NonZeroUsize::get).or(limit)
    }

    /// The maximum number of bytes of JSON of the rows, unless the user gives a number of rows. A small report can have a tree
    /// without end, with a long name in each row.
    fn room(&self, input: &Input) -> u64 {
        const MOST: u64 = 1 << 20;
        const MOST_TIMES: u64 = 100;
        let room = MOST.saturating_add(input.unpacked.saturating_mul(MOST_TIMES));
        if self.top.is_some() || self.form() == ProfileFormat::Text { u64::MAX } else { room }
    }
}

/// Numbers in the form of the option: `7`, `3..9` or `3..`.
fn shown(range: &Range<u32>) -> String {
    match range.end.checked_sub(range.start) {
        Some(1) => range.start.to_string(),
        _ if range.end == u32::MAX => format!("{}..", range.start),
        _ => format!("{}..{}", range.start, range.end),
    }
}
