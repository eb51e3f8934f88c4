//! One line on stderr that says how far long work has come, if somebody sits there.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::time::{Duration, Instant};

use super::human::count;

/// Shows nothing where stderr is no terminal, and nothing of work that is done at once.
pub(crate) struct Progress {
    what: &'static str,
    total: u64,
    done: u64,
    shown: bool,
    next: Option<Instant>,
}

impl Progress {
    /// Of work that prints nothing meanwhile: `total` of `what`.
    pub(crate) fn new(what: &'static str, total: u64) -> Self {
        let next = stderr().is_terminal().then(|| Instant::now() + PATIENCE);
        Progress { what, total, done: 0, shown: false, next }
    }

    /// Of work that prints to stdout meanwhile. Where stdout is a terminal, that shows well enough how far it is.
    pub(crate) fn beside_output(what: &'static str, total: u64) -> Self {
        let progress = Progress::new(what, total);
        if stdout().is_terminal() { Progress { next: None, ..progress } } else { progress }
    }

    /// `n` more are done.
    pub(crate) fn add(&mut self, n: u64) {
        self.done = self.done.saturating_add(n);
        let Some(next) = self.next else { return };
        let now = Instant::now();
        if now < next {
            return;
        }
        self.next = Some(now + INTERVAL);
        self.shown = true;
        let percent = 100 * u128::from(self.done) / u128::from(self.total.max(1));
        let _ = write!(
            stderr(),
            "\r\x1b[K{} of {} {} ({percent} %)",
            count(self.done),
            count(self.total),
            self.what
        );
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

/// How long work goes on before it says anything.
const PATIENCE: Duration = Duration::from_millis(400);

const INTERVAL: Duration = Duration::from_millis(100);
