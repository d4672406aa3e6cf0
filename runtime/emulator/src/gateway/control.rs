//! `/_control`: splits, merges, throttling, faults, the clock and the switches, for tests. Off unless asked for.

use std::sync::PoisonError;

use serde::Deserialize;
use serde_json::json;

use super::Served;
use super::answer::{Answer, Refusal};
use super::asked::Asked;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Split {
    database: String,
    container: String,
    range: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Merge {
    database: String,
    container: String,
    ranges: [String; 2],
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Throttle {
    requests: u64,
    #[serde(default)]
    retry_after_ms: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Clock {
    advance_seconds: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Settings {
    previous_images: Option<bool>,
    empty_current: Option<bool>,
    array_keys: Option<bool>,
    vnext: Option<bool>,
}

impl Served {
    pub(super) fn control(&self, asked: &Asked, path: &[&str]) -> Result<Answer, Refusal> {
        if !self.control {
            return Err(Refusal::new(
                403,
                "Forbidden",
                "the control endpoint is off; start the emulator with --control",
            ));
        }
        // A page in a browser of this machine must not reach it, by whatever name it calls the machine.
        if asked.header("origin").is_some() || !asked.is_to_loopback() {
            return Err(Refusal::new(
                403,
                "Forbidden",
                "the control endpoint is for programs of this machine: without an Origin, and as localhost or 127.0.0.1",
            ));
        }
        if asked.method != "POST" {
            return Err(Refusal::new(
                405,
                "MethodNotAllowed",
                "control requests are posted",
            ));
        }
        match path {
            ["split"] => {
                let Split {
                    database,
                    container,
                    range,
                } = asked.json()?;
                let children = self.container(&database, &container)?.split(&range)?;
                let ids = children.map(|child| child.id);
                Ok(Answer::json(200, &json!({ "ranges": ids })))
            }
            ["merge"] => {
                let Merge {
                    database,
                    container,
                    ranges: [left, right],
                } = asked.json()?;
                let merged = self
                    .container(&database, &container)?
                    .merge([&left, &right])?;
                Ok(Answer::json(200, &json!({ "range": merged.id })))
            }
            ["throttle"] => {
                let Throttle {
                    requests,
                    retry_after_ms,
                } = asked.json()?;
                self.faults.throttle(requests, retry_after_ms);
                Ok(Answer::json(200, &json!({})))
            }
            ["faults"] => {
                let plan: super::faults::Plan = asked.json()?;
                plan.check()?;
                self.faults.plan(plan);
                Ok(Answer::json(200, &json!({})))
            }
            ["clock"] => {
                let Clock { advance_seconds } = asked.json()?;
                let clock = self.clock.as_ref().ok_or_else(|| {
                    Refusal::bad("this emulator runs on a clock that cannot be moved")
                })?;
                clock.advance(advance_seconds);
                Ok(Answer::json(200, &json!({})))
            }
            ["settings"] => {
                let settings: Settings = asked.json()?;
                let mut switches = self
                    .switches
                    .write()
                    .unwrap_or_else(PoisonError::into_inner);
                let now = &mut *switches;
                now.previous_images = settings.previous_images.unwrap_or(now.previous_images);
                now.empty_current = settings.empty_current.unwrap_or(now.empty_current);
                now.array_keys = settings.array_keys.unwrap_or(now.array_keys);
                now.vnext = settings.vnext.unwrap_or(now.vnext);
                Ok(Answer::json(200, &json!({})))
            }
            _ => Err(Refusal::new(
                404,
                "NotFound",
                "the control endpoint has split, merge, throttle, faults, clock and settings",
            )),
        }
    }
}
