create table if not exists books (id text primary key, copies integer not null) strict;
