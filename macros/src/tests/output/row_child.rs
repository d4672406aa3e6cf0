const _: () = {
    #[allow(unused_imports, reason = "generated")]
    use renamed::__private0 as __p;
    #[allow(unused_imports, reason = "generated")]
    use __p::AsJson as _;
    #[automatically_derived]
    impl __p::Row for Line {
        const COLUMNS: &'static [__p::Column] = &[
            __p::Column {
                name: "sku",
                kind: __p::Probe::<String>::KIND,
                is_nullable: __p::Probe::<String>::IS_NULLABLE,
                is_key: true,
            },
            __p::Column {
                name: "count",
                kind: __p::Probe::<i64>::KIND,
                is_nullable: __p::Probe::<i64>::IS_NULLABLE,
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
            }
            impl __p::Slots for __Slots {
                const NODES: &'static [__p::Node] = &[
                    __p::Node {
                        name: "sku",
                        slots: &[0usize],
                        inside: &[],
                    },
                    __p::Node {
                        name: "count",
                        slots: &[1usize],
                        inside: &[],
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
                        _ => ::core::unreachable!(),
                    }
                    ::core::result::Result::Ok(())
                }
                fn path(__slot: usize) -> &'static str {
                    match __slot {
                        0usize => "sku",
                        1usize => "count",
                        _ => ::core::unreachable!(),
                    }
                }
            }
            let __slots: __Slots = __p::read_slots(__deserializer)?;
            ::core::result::Result::Ok(Self {
                sku: __p::take(__slots.f0, __p::Probe::<String>::absent, "sku")?,
                count: __p::take(
                    __slots.f1,
                    || ::core::option::Option::Some(
                        <i64 as ::core::default::Default>::default(),
                    ),
                    "count",
                )?,
            })
        }
        fn put(self, __rows: &mut __p::Rows) {
            let Self { sku, count } = self;
            __p::Probe::<String>::put(sku, __rows.column(0usize));
            __p::Probe::<i64>::put(count, __rows.column(1usize));
            __rows.end();
        }
    }
};
