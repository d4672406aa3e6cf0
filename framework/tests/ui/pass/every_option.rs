//! Every option at once, and hooks in another module.
#![deny(warnings)]

use projectionist::prelude::*;

#[projection(
    collection = "users",
    name = "every-option_1",
    mode = latest_version,
    only(type = "user", contact.kind in ("a", -1, true, null), "odd-name" = 7,),
    soft_delete(status in ("gone", "left")),
    start = "2026-01-31T00:00:00Z",
    batch = 1_000,
    ddl(sqlite = "create table if not exists t (id text)", postgres = "every_option.sql"),
    init = |_| Billing { cents: 7 },
    register = true,
    crate = ::projectionist,
)]
pub struct Billing {
    cents: i64,
}

mod hooks {
    use projectionist::prelude::*;

    impl super::Billing {
        #[on_upsert(only(r#in = 1))]
        #[on_delete]
        pub(crate) async fn keep(
            &self,
            _: Option<Change<String>>,
            tx: Option<Tx<'_, Sqlite>>,
        ) -> Result<Verdict, String> {
            drop((self.cents, tx));
            Ok(Verdict::Done)
        }
    }
}

fn main() {
    let spec = Billing::SPEC;
    assert_eq!(spec.only.len(), 3);
    assert_eq!(spec.only[2].path, ["odd-name"]);
    assert_eq!(spec.batch, Some(1000));
    assert!(spec.ddl.is_some_and(|ddl| ddl.postgres != ddl.sqlite));
    assert_eq!(Billing::HOOKS.on_upsert.map(|hook| hook.only[0].path), Some(&["in"][..]));
    assert!(matches!(Billing::MODE, Mode::LatestVersion));
}
