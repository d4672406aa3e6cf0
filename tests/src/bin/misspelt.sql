create tabel books (id text primary key);
