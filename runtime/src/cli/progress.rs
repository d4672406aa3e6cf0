//! How far long work is: a bar on a terminal, a line now and then elsewhere. Always on stderr.

use std::io::{self, IsTerminal as _};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::note;

/// The progress of one piece of work.
#[derive(Debug)]
pub(crate) enum Progress {
    /// On a terminal.
    Bar(ProgressBar),
    /// Elsewhere: a line for each tenth.
    Lines {
        what: &'static str,
        total: u64,
        done: u64,
        tenth: u64,
    },
}

impl Progress {
    pub(crate) fn new(what: &'static str, total: u64) -> Self {
        if !io::stderr().is_terminal() {
            return Self::Lines {
                what,
                total,
                done: 0,
                tenth: 0,
            };
        }
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {elapsed}")
            .expect("the template is valid");
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
        bar.set_style(style);
        bar.set_message(what);
        Self::Bar(bar)
    }

    pub(crate) fn add(&mut self, more: usize) {
        let more = more as u64;
        match self {
            Self::Bar(bar) => bar.inc(more),
            Self::Lines {
                what,
                total,
                done,
                tenth,
            } => {
                *done += more;
                let now = (*done * 10).checked_div(*total).unwrap_or(10);
                if now > *tenth {
                    *tenth = now;
                    note(&format!("{what}: {done} of {total}\n"));
                }
            }
        }
    }

    pub(crate) fn end(self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
