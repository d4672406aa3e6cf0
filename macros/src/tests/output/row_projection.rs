#[derive(Debug)]
pub struct Order {
    id: String,
    total: i64,
    amount: Amount,
    note: Option<String>,
    lines: Vec<Line>,
}
const _: () = {
    #[allow(unused_imports, reason = "generated")]
    use ::projectionist::__private0 as __p;
    #[allow(unused_imports, reason = "generated")]
    use __p::{AsJson as _, NoHooks as _};
    #[automatically_derived]
    impl __p::Projection for Order {
        const SPEC: __p::Spec = __p::Spec {
            name: "orders",
            collection: "store",
            only: &[
                __p::Condition {
                    path: &["type"],
                    test: __p::Test::In(&[__p::Literal::Text("salesOrder")]),
                },
            ],
            soft_delete: ::core::option::Option::Some(__p::Condition {
                path: &["deletedAt"],
                test: __p::Test::Set,
            }),
            start: ::core::option::Option::None,
            batch: ::core::option::Option::None,
            ddl: ::core::option::Option::None,
            table: ::core::option::Option::Some(__p::Table {
                name: "orders",
                columns: <Self as __p::Row>::COLUMNS,
                children: &[
                    __p::Child {
                        name: "order_lines",
                        columns: <Line as __p::Row>::COLUMNS,
                    },
                ],
                on_delete: __p::OnDelete::Set(
                    &[
                        ("total", __p::Literal::Integer(0i64)),
                        ("note", __p::Literal::Text("gone")),
                    ],
                ),
            }),
        };
        const HOOKS: __p::Hooks = {
            let __hooks = __p::Hooks {
                on_upsert: Self::__projection_on_upsert,
                on_create: Self::__projection_on_create,
                on_replace: Self::__projection_on_replace,
                on_delete: Self::__projection_on_delete,
                on_expire: Self::__projection_on_expire,
            };
            __hooks
        };
        const MODE: __p::Mode = <Self as __p::Projection>::HOOKS.mode(true);
        fn build(__states: &__p::States) -> ::core::result::Result<Self, __p::BoxError> {
            let _ = __states;
            ::core::unreachable!()
        }
        fn put_row(
            __document: &__p::Document,
            __rows: &mut __p::Rows,
        ) -> ::core::result::Result<(), __p::JsonError> {
            __p::put_row::<Self>(__document, __rows)
        }
        fn apply_page<'__a>(
            __this: ::core::option::Option<&'__a Self>,
            mut __page: __p::Page<'__a>,
        ) -> __p::BoxFuture<'__a, __p::Outcome> {
            ::std::boxed::Box::pin(async move {
                while let ::core::option::Option::Some((__kind, __cx)) = __page.advance()
                {
                    let __answer = match __kind {
                        __p::Kind::Upsert => {
                            Self::__a_projection_has_one_on_upsert(__this, __cx).await
                        }
                        __p::Kind::Create => {
                            Self::__a_projection_has_one_on_create(__this, __cx).await
                        }
                        __p::Kind::Replace => {
                            Self::__a_projection_has_one_on_replace(__this, __cx).await
                        }
                        __p::Kind::Delete => {
                            Self::__a_projection_has_one_on_delete(__this, __cx).await
                        }
                        __p::Kind::Expire => {
                            Self::__a_projection_has_one_on_expire(__this, __cx).await
                        }
                        _ => ::core::unreachable!(),
                    };
                    if __page.settle(__answer).is_break() {
                        break;
                    }
                }
                __page.finish()
            })
        }
    }
    #[automatically_derived]
    impl __p::Row for Order {
        const COLUMNS: &'static [__p::Column] = &[
            __p::Column {
                name: "id",
                kind: __p::Probe::<String>::KIND,
                is_nullable: __p::Probe::<String>::IS_NULLABLE,
                is_key: true,
            },
            __p::Column {
                name: "total",
                kind: __p::Probe::<i64>::KIND,
                is_nullable: __p::Probe::<i64>::IS_NULLABLE,
                is_key: false,
            },
            __p::Column {
                name: "amount",
                kind: __p::Probe::<Amount>::KIND,
                is_nullable: __p::Probe::<Amount>::IS_NULLABLE,
                is_key: false,
            },
            __p::Column {
                name: "note",
                kind: __p::Probe::<Option<String>>::KIND,
                is_nullable: __p::Probe::<Option<String>>::IS_NULLABLE,
                is_key: false,
            },
        ];
        fn read<'de, __D: __p::Deserializer<'de>>(
            __deserializer: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            #[derive(::core::default::Default)]
            struct __Slots {
                f0: ::core::option::Option<String>,
                f1: ::core::option::Option<i64>,
                f2: ::core::option::Option<Amount>,
                f3: ::core::option::Option<Option<String>>,
                f4: ::core::option::Option<Vec<Line>>,
            }
            impl __p::Slots for __Slots {
                const NODES: &'static [__p::Node] = &[
                    __p::Node {
                        name: "id",
                        slots: &[0usize],
                        inside: &[],
                    },
                    __p::Node {
                        name: "amount",
                        slots: &[2usize],
                        inside: &[
                            __p::Node {
                                name: "total",
                                slots: &[1usize],
                                inside: &[],
                            },
                        ],
                    },
                    __p::Node {
                        name: "note",
                        slots: &[3usize],
                        inside: &[],
                    },
                    __p::Node {
                        name: "details",
                        slots: &[],
                        inside: &[
                            __p::Node {
                                name: "lines",
                                slots: &[4usize],
                                inside: &[],
                            },
                        ],
                    },
                ];
                fn fill<'de, __D: __p::Deserializer<'de>>(
                    &mut self,
                    __slot: usize,
                    __deserializer: __D,
                ) -> ::core::result::Result<(), __D::Error> {
                    match __slot {
                        0usize => {
                            self.f0 = ::core::option::Option::Some(
                                __p::Probe::<String>::read(__deserializer)?,
                            );
                        }
                        1usize => {
                            self.f1 = __p::Probe::<
                                ::core::option::Option<i64>,
                            >::read(__deserializer)?;
                        }
                        2usize => {
                            self.f2 = ::core::option::Option::Some(
                                __p::read_with::<_, _, _, Amount>(__deserializer, parse)?,
                            );
                        }
                        3usize => {
                            self.f3 = ::core::option::Option::Some(
                                __p::Probe::<Option<String>>::read(__deserializer)?,
                            );
                        }
                        4usize => {
                            self.f4 = ::core::option::Option::Some(
                                __p::read_each(__deserializer)?,
                            );
                        }
                        _ => ::core::unreachable!(),
                    }
                    ::core::result::Result::Ok(())
                }
                fn path(__slot: usize) -> &'static str {
                    match __slot {
                        0usize => "id",
                        1usize => "amount.total",
                        2usize => "amount",
                        3usize => "note",
                        4usize => "details.lines",
                        _ => ::core::unreachable!(),
                    }
                }
            }
            let __slots: __Slots = __p::read_slots(__deserializer)?;
            ::core::result::Result::Ok(Self {
                id: __p::take(__slots.f0, __p::Probe::<String>::absent, "id")?,
                total: __p::take(
                    __slots.f1,
                    || ::core::option::Option::Some(7),
                    "amount.total",
                )?,
                amount: __p::take(__slots.f2, __p::Probe::<Amount>::absent, "amount")?,
                note: __p::take(
                    __slots.f3,
                    __p::Probe::<Option<String>>::absent,
                    "note",
                )?,
                lines: __p::take(
                    __slots.f4,
                    || ::core::option::Option::Some(::std::vec::Vec::new()),
                    "details.lines",
                )?,
            })
        }
        fn put(self, __rows: &mut __p::Rows) {
            let Self { id, total, amount, note, lines } = self;
            __p::Probe::<String>::put(id, __rows.column(0usize));
            __p::Probe::<i64>::put(total, __rows.column(1usize));
            __p::Probe::<Amount>::put(amount, __rows.column(2usize));
            __p::Probe::<Option<String>>::put(note, __rows.column(3usize));
            __rows.each(0usize, lines);
            __rows.end();
        }
    }
    const _: () = {
        let __hooks = <Order as __p::Projection>::HOOKS;
        if !(Order::__projection_on_update || Order::__projection_on_insert
            || Order::__projection_on_write || Order::__projection_on_change
            || Order::__projection_on_remove)
        {
            ::core::assert!(
                ! __hooks.take_self(),
                "a hook of a row projection is an associated function: it takes no `&self`, for there is no instance"
            );
            ::core::assert!(
                __hooks.on_delete.is_none(),
                "a delete is either the row's, `on_delete` on the struct, or the hook's, `on_delete` on a method"
            );
            ::core::assert!(
                __p::are_apart(< Order as __p::Row > ::COLUMNS, < Line as __p::Row >
                ::COLUMNS,), "{}",
                "a column of `Line` has the name of a key of its parent, or of `position`: rename the field and say where it is read, `#[column(from = /"…/")]`"
            );
            ::core::assert!(
                __hooks.on_upsert.is_none() || __hooks.on_create.is_none() || __hooks
                .on_replace.is_none(),
                "`on_upsert` can never run beside both `on_create` and `on_replace`"
            );
            ::core::assert!(
                __hooks.have_room_for(2usize),
                "this projection and its hooks have more than 128 conditions"
            );
            ::core::assert!(
                __hooks.on_delete.is_some() || true,
                "`soft_delete` makes a delete of a write, but no hook takes it: add `#[on_delete]`"
            );
        }
    };
    __p::inventory::submit! {
        __p::ProjectionDef::of:: < Order > (__p::Location { file : ::core::file!(), line
        : ::core::line!(), })
    }
};
