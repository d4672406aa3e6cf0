//! What it costs to bring a change to a hook: filter, dispatch, arguments, verdict; no store.
//!
//! The reference is a loop that decodes the same bodies into the same type.

mod common;

use std::hint::black_box;
use std::sync::atomic::AtomicUsize;

use projectionist::extract::state::States;
use projectionist::page::{Page, PageInfo};
use projectionist::prelude::*;
use tokio_util::sync::CancellationToken;

use self::common::Order;

#[projection(collection = "orders", name = "noop", register = false)]
struct Noop;

impl Noop {
    #[on_upsert]
    async fn keep(&self, order: Change<Order>) {
        black_box(&order.0);
    }
}

fn main() {
    // Floors: 0.80 and 0.90 of the reference's speed, 3 allocations a change.
    for (size, name, floor) in [(1_024, "1k", 0.80), (10_240, "10k", 0.90)] {
        let changes = common::changes(7, 100, size);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime without drivers needs nothing");
        let states = States::default();
        let cancellation = CancellationToken::new();
        let progress = AtomicUsize::new(0);
        let by_hand = || {
            for change in &changes {
                let body = change.current.as_ref().expect("every change has a body");
                let order: Order =
                    serde_json::from_slice(&body.json()).expect("every body decodes");
                black_box(&order);
            }
        };
        let ours = || {
            runtime.block_on(async {
                let info = PageInfo {
                    projection: "noop",
                    collection: "bench",
                    range_id: "0",
                    attempt: 1,
                    cancellation: &cancellation,
                    progress: &progress,
                };
                let page = Page::new(&Noop::SPEC, &Noop::HOOKS, &changes, &states, None, info);
                let outcome = Noop::apply_page(Some(&Noop), page).await;
                assert_eq!(outcome.applied, changes.len());
            });
        };
        let repeat = |run: &dyn Fn()| (0..50).for_each(|_| run());
        let ratio = common::ratio(15, || repeat(&by_hand), || repeat(&ours));
        common::figure(&format!("dispatch/{name}"), ratio, floor);

        let allocations = |run: &dyn Fn()| {
            let count = allocation_counter::measure(run).count_total;
            f64::from(u32::try_from(count).expect("a page makes thousands, not billions"))
        };
        let page = f64::from(u32::try_from(changes.len()).expect("a page is small"));
        let more = (allocations(&ours) - allocations(&by_hand)) / page;
        println!("dispatch/{name}: {more:.2} allocations a change more than by hand");
        common::figure(
            &format!("dispatch_allocations/{name}"),
            if more > 0.0 { 3.0 / more } else { 3.0 },
            1.0,
        );
    }
}
