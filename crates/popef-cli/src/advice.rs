//! Advice in the words of the tools: it names commands and options.

use popef::error::Advice;
use popef::seam::word_advice;

/// From now on, all advice of the process names commands and options.
pub fn name_options() {
    word_advice(words);
}

fn words(advice: Advice) -> Option<&'static str> {
    Some(match advice {
        Advice::AfterPickle => "Copy or export the file again. Do not load the pickle.",
        Advice::AllowFindings => "Make another change, or allow the findings: without --strict.",
        Advice::AllowHttp => "Use https, or allow http with --allow-http.",
        Advice::AllowOverwriting => "Choose another path, or allow overwriting with --force.",
        Advice::ChooseKept => {
            "Choose with --keep first or last, keep all blobs but executables with --keep all, or leave out one of the files."
        }
        Advice::ChooseMeant => "Say which one is meant: set has --model NAME and --type TYPE for it.",
        Advice::DropPrefix => "Put that file first, or leave out what comes before PopEF with --drop-prefix.",
        Advice::GiveCredentials => {
            "Give credentials in the environment (docs/REMOTE.md has the variables of each store), or --header for https."
        }
        Advice::GiveHeader => {
            "Look at the address in a browser; if that asks who you are, give --header, such as \"Authorization: Bearer ...\"."
        }
        Advice::GiveRegion => "Give its region with --region or AWS_REGION.",
        Advice::KeepBlobsBefore => {
            "Copy or export the file again, or keep the blobs before this one with popef recover."
        }
        Advice::KeepWholeBlobs => "Export the file again, or keep the blobs that are whole with popef recover.",
        Advice::ListBlobs => "popef ls shows the blobs of a file: their numbers, types and names.",
        Advice::RaiseLimit => {
            "No option raises this limit. If you trust the file, a program of your own can: see Limits in the library."
        }
        Advice::ReadStream => "Give its bytes on standard input (-), or copy it to a regular file first.",
        Advice::ReplaceInput => "Choose another output. Commands that change one file replace it with --in-place.",
        Advice::SeeHelp => "See the help of the command.",
        Advice::WriteElsewhere => "Write to another name with -o, and compare before you replace it.",
        Advice::WriteStream => "Write to it through standard output.",
        Advice::WriteUnchecked => {
            "Give data of the shape and type that the anchor has, or write it all the same: popef pack --unchecked."
        }
        _ => return None,
    })
}
