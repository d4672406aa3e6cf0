//! I11: a hook that does not come back is a state that an operator sees, while the process runs.

use serde_json::Value;

use crate::program::{Place, Running, STUBBORN, things, until};

/// A running process, with its hook in hand of a document that says how.
fn with_a_hook_that(how: &str) -> (Place, Running) {
    let settings = format!(
        "hook_timeout = \"400ms\"\nbackoff_max = \"100ms\"\n{}",
        things(1)
    );
    let place = Place::new(STUBBORN, &settings);
    let document = format!(r#"{{"id": "x", "key": "k", "how": "{how}"}}"#);
    place.succeed(&["dev", "put", "things", &document]);
    let running = place.start(&["run"]);
    running.says("listening");
    (place, running)
}

/// Asks for the status until the projection is in this state.
fn status(place: &Place, state: &str) -> Value {
    until(&format!("the status is {state}"), || {
        let out = place.succeed(&["status", "--json"]).out;
        let line: Value = serde_json::from_str(out.trim()).map_err(|error| error.to_string())?;
        if line["state"] == state {
            Ok(line)
        } else {
            Err(out)
        }
    })
}

#[test]
fn a_hook_that_hangs_is_read_again_and_says_so() {
    let (place, running) = with_a_hook_that("hangs");
    let line = status(&place, "waiting");
    let error = line["error"].as_str().unwrap();
    assert!(
        error.contains("document `x`") && error.contains("hung"),
        "{error}"
    );
    assert!(line["attempts"].as_u64() > Some(0), "{line}");
    running.signal("TERM");
    running.signal("TERM");
    running.end();
    assert_eq!(place.things().count, 1, "nothing was lost");
}

#[test]
fn a_hook_that_blocks_its_thread_is_seen_from_outside() {
    let (place, running) = with_a_hook_that("blocks");
    let line = status(&place, "hung");
    let error = line["error"].as_str().unwrap();
    assert!(error.contains("does not come back"), "{error}");
    place.write("go", "");
    let line = status(&place, "idle");
    assert_eq!(line["applied"], 1, "{line}");
    running.signal("TERM");
    let ended = running.end();
    assert_eq!(ended.status.code(), Some(0), "{ended:#?}");
}
