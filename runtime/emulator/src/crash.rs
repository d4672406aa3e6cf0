//! Where a crash test dies: in the middle of the append that `PROJECTIONIST_CRASH=journal:N` names.

use crate::medium::Medium;

#[derive(Debug)]
pub(crate) struct Countdown(Option<u64>);

impl Countdown {
    pub(crate) fn from_env() -> Self {
        let point = std::env::var("PROJECTIONIST_CRASH").ok();
        Self(point.and_then(|point| point.strip_prefix("journal:")?.parse().ok()))
    }

    /// Called before each append. Writes half of it and dies when its turn has come.
    pub(crate) fn append(&mut self, medium: &Medium, frame: &[u8], end: u64) {
        let (Some(left), Medium::File(_)) = (&mut self.0, medium) else {
            // What lies in memory dies with the process anyhow.
            return;
        };
        *left = left.saturating_sub(1);
        if *left == 0 {
            eprintln!("crash point journal: dying inside an append at byte {end}");
            let written = medium.append(&frame[..frame.len() / 2], end);
            eprintln!("crash point journal: wrote half: {written:?}");
            die();
        }
    }
}

/// SIGKILL, which neither destructors nor handlers survive. This thread goes no further.
fn die() -> ! {
    let kill = format!("kill -9 {}", std::process::id());
    let sent = std::process::Command::new("sh")
        .args(["-c", &kill])
        .status();
    eprintln!("crash point journal: the kill was not deadly: {sent:?}");
    std::process::abort()
}
