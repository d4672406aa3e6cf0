create table if not exists t (id text primary key);
