create table if not exists audit (
    change text primary key,
    operation text not null,
    expired boolean not null,
    partition_key text not null,
    document_id text not null,
    written_at text not null,
    -- Empty unless the container retains previous images.
    before text,
    after text
);

create index if not exists audit_document on audit (partition_key, document_id);
