use super::halt::Halt;
use super::input::PickleBytes;
use super::is_marked;
use super::op::Op;
use crate::read::Data;

/// Returns where the pickles end with which the data begins. Only reads opcodes, so it needs no memory for values.
pub(super) fn end_of(data: &Data<'_>) -> Result<Option<u64>, Halt> {
    let mut source = PickleBytes::new(*data);
    let mut input = source.input();
    let mut end = None;
    while is_marked(input.peek(2)?) {
        while !matches!(Op::read(&mut input)?, Op::Stop) {}
        end = Some(input.position());
    }
    Ok(end)
}
