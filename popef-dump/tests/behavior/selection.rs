//! Options, filters and order.

use crate::common::{golden, interop, run};

#[test]
fn wrong_values_are_told_in_plain_words() {
    let cases: &[(&[&str], &str)] = &[
        (&["--values=ten", "x"], "invalid value 'ten' for '--values[=<N>]': this is not a whole number, such as 10"),
        (&["--values=-1", "x"], "invalid value '-1' for '--values[=<N>]': this is not a whole number, such as 10"),
        (&["--values=", "x"], "this is not a whole number"),
        (&["--filter", "[z-a]", "x"], "for '--filter <GLOB>': the range z-a is backwards; write a-z"),
        (&["--exclude", "a[", "x"], "for '--exclude <GLOB>': a `[` has no `]` after it; `[[]` is the letter `[`"),
        (&[""], "invalid value '' for '[FILE]...': the name is empty"),
        (&["--validate", "x", ""], "the name is empty; is a variable of the shell not set?"),
        (&["--files-from", ""], "for '--files-from <LIST>': the name is empty"),
        (&["--validate", "--policy=", "x"], "for '--policy <POLICY>': the name is empty"),
        (&["--explain", "101"], "there is no rule \"101\"; did you mean PE101?"),
    ];
    for (args, said) in cases {
        let run = run(&interop(), args);
        assert!((run.status, run.out.as_str()) == (2, "") && run.err.contains(said), "{args:?}: {run:?}");
    }
    let all = "99999999999999999999999";
    assert_eq!(run(&interop(), &[&format!("--values={all}"), "executable.popef"]).status, 0);
}

#[test]
fn a_filter_goes_by_any_name() {
    let names = |args: &[&str]| {
        let document = run(&golden(), &[&["--format", "json"], args].concat()).json();
        let blobs = document["files"][0]["blobs"].as_array().unwrap().clone();
        blobs.iter().map(|blob| blob["info"]["name"].as_str().unwrap_or("-").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        names(&["--filter", "layer.?.*", "natural.popef"]),
        ["layer.2.weight", "layer.1.weight", "layer.2.bias"]
    );
    assert_eq!(names(&["--filter", "*[!1]", "--filter", "bias", "natural.popef"]).len(), 5);
    assert_eq!(names(&["--filter", "größe/*", "hostile-names.popef"]), ["größe/вес/重み/हिन्दी"]);
    assert_eq!(names(&["--filter", "user_*", "../interop/executable.popef"]), ["-"]);
    let anchors = run(&interop(), &["-a", "--filter", "user_*", "executable.popef"]).out;
    assert_eq!((anchors.matches("Name:").count(), anchors.matches("user_input").count()), (1, 2));
}

#[test]
fn what_shows_nothing_says_so() {
    let cases: &[(&[&str], &str)] = &[
        (&["--filter", "nosuch"], "nothing matches --filter nosuch"),
        (&["-t", "--filter", "nosuch", "--filter=x*"], "nothing matches --filter nosuch --filter x*"),
        (&["--format", "ndjson", "--filter", "nosuch", "add-clean.popef"], "nothing matches --filter nosuch"),
        (&["-t", "--filter", "*", "--exclude", "*"], "nothing matches --filter * --exclude *"),
        // The name is one of an anchor.
        (&["-t", "--filter", "user_input"], "nothing matches --filter user_input"),
        // The name is the executable's, and only anchors are shown.
        (&["-a", "--filter", "3284579348837926701"], "nothing matches --filter 3284579348837926701"),
        (&["--format", "ndjson", "empty.popef"], "empty.popef: the file has no blobs"),
    ];
    for (args, said) in cases {
        let run = run(&interop(), &[args, &["executable.popef"][..]].concat());
        assert_eq!((run.status, run.err), (0, format!("popef-dump: {said}\n")), "{args:?}");
    }
    let weights: &[(&[&str], &str)] = &[
        (&["-m"], "the file has no metadata"),
        (&["--format", "json", "-m", "-o"], "the file has no metadata or opaque blobs"),
        (&["-u"], "the file has no anchors whose data you must provide"),
        (&["-e", "-f", "empty.popef"], "none of the files has executables or feeds"),
        (&["-m", "--filter", "*"], "nothing matches --filter *"),
    ];
    for (args, said) in weights {
        let run = run(&interop(), &[args, &["split-tensors.popef"][..]].concat());
        assert_eq!((run.status, run.err), (0, format!("popef-dump: {said}\n")), "{args:?}");
    }
    for (args, said) in
        [(&["--all"][..], true), (&["--all", "--format=ndjson"], true), (&["--format=json"], false), (&[], false)]
    {
        let run = run(&interop(), &[args, &["empty.popef"]].concat());
        assert_eq!(run.err, if said { "popef-dump: empty.popef: the file has no blobs\n" } else { "" }, "{args:?}");
    }
    assert_eq!(run(&interop(), &["-m", "none.popef"]).err.lines().count(), 2);
    for args in [&["-a", "--filter", "user_input"][..], &["-t", "--filter", "input*"], &["-t"], &["-m"]] {
        assert_eq!(run(&interop(), &[args, &["add-clean.popef", "executable.popef"]].concat()).err, "", "{args:?}");
    }
    for parts in [&["-a"][..], &["-e", "-m"], &["-u"]] {
        let run = run(&interop(), &[parts, &["--values", "executable.popef"]].concat());
        assert!(run.status == 2 && run.out.is_empty() && run.err.contains("--tensors or --feeds"), "{run:?}");
    }
}

/// Each message names the option that is missing, or the two that exclude each other.
#[test]
fn options_without_effect_are_errors() {
    let cases: &[(&[&str], &str)] = &[
        (&["--deep"], "--deep needs --validate"),
        (&["--strict"], "--strict needs --validate"),
        (&["--for", "triton"], "--for needs --validate"),
        (&["-q"], "--quiet needs --validate"),
        (&["--allow-empty", "--policy=p", "--deep"], "--deep, --policy and --allow-empty need --validate"),
        (&["--validate", "-m"], "--metadata cannot be used with --validate"),
        (&["--validate", "-t", "--values=3"], "--tensors and --values cannot be used with --validate"),
        (&["--validate", "--generate=man"], "FILE and --validate cannot be used with --generate"),
        (&["--generate=man", "--full-names"], "FILE and --full-names cannot be used with --generate"),
        (&["--explain=PE101", "-v"], "FILE and --verbose cannot be used with --explain"),
        (&["--explain", "--generate=man"], "FILE and --explain cannot be used with --generate"),
        (&["-i"], "--ignore-case needs --filter or --exclude"),
        (&["--full-names", "-m"], "--full-names is for the overview: other listings always have full names"),
        (&["--full-names", "--format=json"], "--full-names is for the overview: other listings always have full names"),
        (&["-o", "--values"], "--values shows elements of tensors and feeds: it needs --tensors or --feeds"),
        (&["--format=sarif"], "--format sarif is for findings: it needs --validate"),
    ];
    for (args, said) in cases {
        let refused = run(&interop(), &[args, &["executable.popef"][..]].concat());
        let expected = crate::common::Run { out: String::new(), err: format!("popef-dump: {said}\n"), status: 2 };
        assert_eq!(refused, expected, "{args:?}");
    }
    for args in [&["--generate=man"][..], &["--explain"]] {
        for useless in [&["-v"][..], &["--each"], &["--filter=x"], &["-i"], &["--values"], &["--sort=name"], &["-q"]] {
            let refused = run(&interop(), &[args, useless].concat());
            assert!(refused.status == 2 && refused.out.is_empty(), "{args:?} {useless:?}: {refused:?}");
        }
        // An alias may have it.
        assert_eq!(run(&interop(), &[args, &["--color=never"]].concat()).status, 0);
    }
}

#[test]
fn sorting_is_natural_by_name_and_largest_first_by_size() {
    let names = |order: &str| {
        let out = run(&golden(), &["-t", "--sort", order, "natural.popef"]).out;
        out.lines()
            .filter_map(|line| Some(line.trim().strip_prefix("Name: \"")?.trim_end_matches("\":").to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(names("name"), ["bias", "layer.1.weight", "layer.2.bias", "layer.2.weight", "layer.10.weight"]);
    assert_eq!(names("size"), ["bias", "layer.2.weight", "layer.10.weight", "layer.2.bias", "layer.1.weight"]);
    assert_eq!(names("offset")[0], "layer.10.weight");
}

/// Boost's program options, which the vendor's tool uses, take any unambiguous beginning.
#[test]
fn options_can_be_shortened() {
    for (beginning, option) in [("--meta", "-m"), ("--e", "-e"), ("--ex", "-e"), ("--al", "--all")] {
        let expected = run(&interop(), &[option, "executable.popef"]);
        assert_eq!(run(&interop(), &[beginning, "executable.popef"]), expected, "{beginning}");
    }
    assert!(run(&interop(), &["--", "--e"]).err.contains("--e: cannot open"));
}

/// What is excluded is what is missing, for any filter.
#[test]
fn excluding_is_the_opposite_of_filtering() {
    let shown = |args: &[&str]| {
        let lines = run(&golden(), &[&["--format=ndjson"], args, &["natural.popef"]].concat()).json_lines();
        lines.iter().map(|line| line["index"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let all = shown(&[]);
    for glob in ["*", "*.weight", "b?as", "LAYER*", "[l-z]*", "none"] {
        for case in [&[][..], &["--ignore-case"]] {
            let of = |option| shown(&[&[option, glob], case].concat());
            let mut both = [of("--filter"), of("--exclude")].concat();
            both.sort_unstable();
            assert_eq!(both, all, "{glob}");
        }
        let lower = glob.to_lowercase();
        assert_eq!(shown(&["-i", "--filter", glob]), shown(&["--filter", &lower]), "{glob}");
    }
}

/// Metadata whose executable is excluded is left out, with its anchors. An anchor is left out alone.
#[test]
fn anchors_and_metadata_are_excluded_by_name() {
    let anchors = |args: &[&str]| {
        let document = run(&interop(), &[&["-a", "--format=json"], args, &["executable.popef"]].concat()).json();
        let metadata = document["files"][0]["blobs"].as_array().unwrap().clone();
        metadata.iter().map(|blob| blob["info"]["anchors"].as_array().unwrap().len()).collect::<Vec<_>>()
    };
    assert_eq!(anchors(&[]), [4]);
    assert_eq!(anchors(&["--exclude", "user_input"]), [3]);
    assert_eq!(anchors(&["--exclude", "328*"]), [0_usize; 0]);
    assert_eq!(anchors(&["--filter", "*input*", "--exclude", "user_input"]), [2]);
}
