//! The outer side of each example: arguments in, an exit code out, errors told in words.

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// An example as a program.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) run: fn(lexopt::Parser, &mut dyn Write) -> Result<(), Failure>,
}

/// Why a program ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It was asked for its help.
    Help,
    /// It was called wrongly.
    Usage(String),
    /// It met an error. `subject` is the file (or the like) that the error is about.
    Error { subject: String, error: Box<dyn Error> },
    /// The output cannot be written.
    Output(io::Error),
}

impl Program {
    /// Runs with the arguments of the process.
    pub(crate) fn main(&self) -> ExitCode {
        let mut out = BufWriter::new(io::stdout().lock());
        ExitCode::from(self.run(lexopt::Parser::from_env(), &mut out, &mut io::stderr()))
    }

    /// Runs with these arguments; the program's own name is not among them.
    pub(crate) fn run_with<A: Into<OsString>>(
        &self,
        args: impl IntoIterator<Item = A, IntoIter: 'static>,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> u8 {
        self.run(lexopt::Parser::from_args(args), out, err)
    }

    fn run(&self, args: lexopt::Parser, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
        let result = (self.run)(args, out);
        // What was found before an error is shown before the error.
        let result = match out.flush() {
            Err(e) if result.is_ok() => Err(Failure::Output(e)),
            _ => result,
        };
        match result {
            Ok(()) => 0,
            Err(failure) => self.tell(&failure, out, err),
        }
    }

    /// Nobody is left to hear of it when `out` or `err` fail here.
    fn tell(&self, failure: &Failure, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
        match failure {
            Failure::Help => {
                let _ = write!(out, "{}", self.help).and_then(|()| out.flush());
                0
            }
            Failure::Usage(what) => {
                let _ = write!(err, "{}: {what}\n\n{}", self.name, self.help);
                2
            }
            // The reader of a pipe had enough: `... | head`.
            Failure::Output(e) if e.kind() == io::ErrorKind::BrokenPipe => 0,
            Failure::Output(e) => {
                let _ = writeln!(err, "{}: cannot write the output: {e}", self.name);
                1
            }
            Failure::Error { subject, error } => {
                let separator = if subject.is_empty() { "" } else { ": " };
                let _ = writeln!(err, "{}: {subject}{separator}{}", self.name, chain(error.as_ref()));
                1
            }
        }
    }
}

/// An error with all that stands behind it, what a text says already left out.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut last = text.clone();
    let mut source = error.source();
    while let Some(error) = source {
        let behind = error.to_string();
        if !last.contains(&behind) {
            text = format!("{text}\n  because: {behind}");
        }
        last = behind;
        source = error.source();
    }
    text
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Failure::Usage(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

/// Says what an error is about.
pub(crate) trait About<T> {
    fn about(self, subject: impl Display) -> Result<T, Failure>;
}

impl<T, E: Into<Box<dyn Error>>> About<T> for Result<T, E> {
    fn about(self, subject: impl Display) -> Result<T, Failure> {
        self.map_err(|error| Failure::Error { subject: subject.to_string(), error: error.into() })
    }
}

/// The usage error of an argument too many, an unknown option, or a call for help.
pub(crate) fn unexpected(arg: lexopt::Arg<'_>) -> Failure {
    match arg {
        lexopt::Arg::Short('h') | lexopt::Arg::Long("help") => Failure::Help,
        other => other.unexpected().into(),
    }
}

/// The usage error of an argument too few.
pub(crate) fn missing(what: &str) -> Failure {
    Failure::Usage(format!("{what} is missing"))
}
