create table if not exists product_names (
    category_id text not null,
    id text not null,
    name text not null,
    category_name text,
    -- What the product's own document says.
    stated text,
    primary key (category_id, id)
);

create table if not exists categories (
    id text primary key,
    name text not null
);
