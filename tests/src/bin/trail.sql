create table if not exists trail (operation text not null, id text not null) strict;
