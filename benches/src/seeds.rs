//! Rounds of random tests: what seed each has, and how to run one again.

use std::cell::Cell;
use std::env;
use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use fastrand::Rng;

/// Runs `check` on `rounds` seeds and panics with a list of those that failed.
///
/// `MARQUETRY_ROUNDS` multiplies the rounds (`10` runs ten times as many); `MARQUETRY_SEED` runs that one seed alone.
pub fn rounds(name: &str, rounds: u64, mut check: impl FnMut(&mut Rng) -> Result<(), Failure>) {
    let seeds: Vec<u64> = match variable("MARQUETRY_SEED") {
        Some(seed) => vec![seed],
        None => (0..rounds * variable("MARQUETRY_ROUNDS").unwrap_or(1)).collect(),
    };
    let mut report = Report::new(name);
    for seed in seeds {
        report.check(format_args!("MARQUETRY_SEED={seed}"), || check(&mut Rng::with_seed(seed)));
    }
    report.finish();
}

/// Why a check did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The rival cannot write or read this itself: there is nothing to compare with.
    Rival(String),
    /// Marquetry's answer, or something in these tests, is wrong.
    Wrong(String),
}

impl Failure {
    /// The same, with the place put before it.
    pub fn at(self, place: impl Display) -> Self {
        match self {
            Failure::Rival(text) => Failure::Rival(format!("{place}: {text}")),
            Failure::Wrong(text) => Failure::Wrong(format!("{place}: {text}")),
        }
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Failure::Wrong(text)
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Rival(text) => write!(f, "rival: {text}"),
            Failure::Wrong(text) => f.write_str(text),
        }
    }
}

/// The failures of a test that goes on after one, so that a run shows them all.
pub struct Report {
    name: String,
    checks: usize,
    failures: Vec<String>,
    /// What the rival could not do.
    refusals: Vec<String>,
}

impl Report {
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), checks: 0, failures: Vec::new(), refusals: Vec::new() }
    }

    /// Notes what `check` says, and a panic of it as a failure like any other.
    pub fn check(&mut self, what: impl Display, check: impl FnOnce() -> Result<(), Failure>) {
        self.checks += 1;
        match caught(check).unwrap_or_else(|panic| Err(Failure::Wrong(panic))) {
            Ok(()) => {}
            Err(Failure::Rival(text)) => self.refusals.push(format!("{what}: {text}")),
            Err(Failure::Wrong(text)) => self.failures.push(format!("{what}: {text}")),
        }
    }

    /// Panics with the first failures where there are any, or where the rival could do less than half.
    ///
    /// What it could not do is printed: `--nocapture` shows it.
    pub fn finish(self) {
        let shown = variable("MARQUETRY_SHOWN").map_or(SHOWN, |shown| shown as usize);
        let list = |lines: &[String]| lines.iter().take(shown).cloned().collect::<Vec<_>>().join("\n");
        let Self { name, checks, failures, refusals } = self;
        if !refusals.is_empty() {
            println!("{name}: the rival cannot do {} of {checks}\n{}", refusals.len(), list(&refusals));
        }
        assert!(failures.is_empty(), "{name}: {} of {checks} failed\n{}", failures.len(), list(&failures));
        assert!(refusals.len() * 2 <= checks, "{name}: the rival cannot do {} of {checks}", refusals.len());
    }
}

/// What `run` gives, or the text of its panic, which is not printed.
pub fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    thread_local!(static QUIET: Cell<bool> = const { Cell::new(false) });
    static HOOK: Once = Once::new();
    // A report and a trace of each would take longer than the tests.
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(before);
    outcome.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        format!("panic: {}", text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("?"))
    })
}

fn variable(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

const SHOWN: usize = 12;
