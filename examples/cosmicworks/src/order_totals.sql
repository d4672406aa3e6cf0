create table if not exists order_totals (
    customer_id text primary key,
    orders integer not null,
    revenue text not null
);

-- What the totals are made of.
create table if not exists order_amounts (
    customer_id text not null,
    order_id text not null,
    amount text not null,
    primary key (customer_id, order_id)
);
