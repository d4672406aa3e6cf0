use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::wire::Endpoint;
use super::*;

fn options() -> Options {
    Options::new(Arc::new(|| Timestamp::from_second(1_000).unwrap()))
        .sync(false)
        .program("tests")
}

fn upsert(text: &str) -> Write {
    Write::Upsert(Bytes::copy_from_slice(text.as_bytes()))
}

#[tokio::test]
async fn another_process_writes_and_reads_through_the_owner() {
    let dir = tempfile::tempdir().unwrap();
    let Handle::Owner(emulator) = Handle::open_or_connect(dir.path(), options())
        .await
        .unwrap()
    else {
        panic!("nobody else owns it");
    };
    let store = emulator
        .create_collection("store", CollectionConfig::new("/pk").ranges(2))
        .unwrap();
    let server = Server::start(emulator.clone(), dir.path()).await.unwrap();

    // Locks of one process exclude each other too, so this stands for a second process.
    let handle = Handle::open_or_connect(dir.path(), options())
        .await
        .unwrap();
    assert!(matches!(handle, Handle::Client(_)), "{handle:?}");
    let key = PartitionKey::string("p");
    let writes = vec![
        upsert("{\"id\":\"1\",\n \"pk\":\"p\", \"n\":1.10}"),
        upsert(r#"{"id":"2","pk":"p"}"#),
        Write::Delete {
            id: "2".to_owned(),
            partition_key: key.clone(),
        },
    ];
    let written = handle.write_many("store", writes).await.unwrap();
    assert_eq!(
        written.iter().map(|one| one.lsn).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    assert_eq!(store.count(), 1);
    let read = handle.read("store", "1", &key).await.unwrap();
    assert_eq!(read, store.read("1", &key).unwrap().current.unwrap());
    assert!(std::str::from_utf8(&read).unwrap().contains("\"n\":1.10"));
    let collections = handle.collections().await.unwrap();
    assert_eq!(collections, [CollectionInfo::of(&store)]);
    handle.delete("store", "1", &key).await.unwrap();
    assert_eq!(store.count(), 0);

    for (result, status, index, says) in [
        (
            handle
                .write_many(
                    "store",
                    vec![upsert(r#"{"id":"3","pk":"p"}"#), upsert("{}")],
                )
                .await
                .unwrap_err(),
            400,
            Some(1),
            "has no \"id\"",
        ),
        (
            handle
                .write_many("store", vec![upsert("{")])
                .await
                .unwrap_err(),
            400,
            Some(0),
            "no JSON",
        ),
        (
            handle.delete("store", "9", &key).await.unwrap_err(),
            404,
            Some(0),
            "no document \"9\"",
        ),
        (
            handle.read("store", "9", &key).await.unwrap_err(),
            404,
            None,
            "no document \"9\"",
        ),
        (
            handle.read("other", "9", &key).await.unwrap_err(),
            404,
            None,
            "no collection \"other\"; there are: store",
        ),
    ] {
        let AccessError::Refused {
            status: got,
            index: at,
            message,
        } = result
        else {
            panic!("{result}");
        };
        assert_eq!((got, at), (status, index), "{message}");
        assert!(message.contains(says), "{message}");
    }
    assert_eq!(store.count(), 0, "a refused group writes nothing");

    drop(server);
    assert!(!Endpoint::path(dir.path()).exists());
    drop((store, emulator));
    let handle = Handle::open_or_connect(dir.path(), options())
        .await
        .unwrap();
    assert!(matches!(handle, Handle::Owner(_)));
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_does_not_serve_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let owner = Emulator::open(dir.path(), options()).unwrap();
    let error = Handle::open_or_connect(dir.path(), options())
        .await
        .unwrap_err();
    let text = error.to_string();
    let pid = std::process::id();
    assert!(
        text.contains(&format!(
            "process {pid} (tests, since 1970-01-01T00:16:40Z)"
        )),
        "{text}"
    );
    drop(owner);
}

#[tokio::test]
async fn strangers_are_not_let_in() {
    let dir = tempfile::tempdir().unwrap();
    let emulator = Emulator::open(dir.path(), options()).unwrap();
    let server = Server::start(emulator, dir.path()).await.unwrap();
    let file = Endpoint::path(dir.path());
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let endpoint: Endpoint = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();

    let port = server.port();
    let right = endpoint.token;
    let wrong = format!("{}0", &right[1..]);
    for (host, token, expected) in [
        (format!("127.0.0.1:{port}"), Some(right.clone()), "200"),
        (format!("localhost:{port}"), Some(right.clone()), "200"),
        (format!("127.0.0.1:{port}"), Some(wrong), "401"),
        (
            format!("127.0.0.1:{port}"),
            Some(right[1..].to_owned()),
            "401",
        ),
        (format!("127.0.0.1:{port}"), None, "401"),
        ("evil.example".to_owned(), Some(right.clone()), "403"),
        (format!("evil.example:{port}"), Some(right.clone()), "403"),
    ] {
        let authorization = token
            .map(|token| format!("authorization: Bearer {token}\r\n"))
            .unwrap_or_default();
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let request = format!(
            "GET /collections HTTP/1.1\r\nhost: {host}\r\n{authorization}connection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert_eq!(&answer[9..12], expected, "{request}{answer}");
    }
}
