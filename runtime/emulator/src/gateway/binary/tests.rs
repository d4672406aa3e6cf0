use super::*;

fn text(hex: &str) -> std::result::Result<String, BinaryError> {
    let digits: String = hex.split_whitespace().collect();
    let bytes: Vec<u8> = (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect();
    to_text(&bytes).map(|text| String::from_utf8(text).unwrap())
}

#[test]
fn each_form_of_a_value_is_read() {
    for (hex, expected) in [
        ("80 D0", "null"),
        ("80 D1", "false"),
        ("80 D2", "true"),
        ("80 00", "0"),
        ("80 1F", "31"),
        ("80 C8 FF", "255"),
        ("80 C9 FEFF", "-2"),
        ("80 CA 00000080", "-2147483648"),
        ("80 CB FFFFFFFFFFFFFF7F", "9223372036854775807"),
        ("80 C7 FFFFFFFFFFFFFFFF", "18446744073709551615"),
        ("80 CC 000000000000F83F", "1.5"),
        ("80 CE 0000000000000080", "-0.0"),
        ("80 CD 0000203F", "0.625"),
        ("80 D7 07", "7"),
        ("80 D8 FF", "-1"),
        ("80 D9 0001", "256"),
        ("80 DA 01000000", "1"),
        ("80 DB 0100000000000000", "1"),
        ("80 DC FFFFFFFF", "4294967295"),
        ("80 2C", r#""id""#),
        ("80 3F", r#""_id""#),
        ("80 83 616263", r#""abc""#),
        ("80 C0 02 C3A9", r#""é""#),
        ("80 C1 0100 22", r#""\"""#),
        ("80 C2 01000000 0A", r#""\n""#),
        ("80 78 03 A10B", r#""1ab""#),
        ("80 79 02 BA", r#""AB""#),
        ("80 7A 04 1332", r#""2012""#),
        ("80 7B 02 41 21", r#""BC""#),
        ("80 7E 02 C120", r#""AA""#),
        ("80 7F 0200 C120", r#""AA""#),
        (
            "80 75 10325476 98BADCFE 10325476 98BADCFE",
            r#""01234567-89ab-cdef-0123-456789abcdef""#,
        ),
        (
            "80 76 10325476 98BADCFE 10325476 98BADCFE",
            r#""01234567-89AB-CDEF-0123-456789ABCDEF""#,
        ),
        (
            "80 77 10325476 98BADCFE 10325476 98BADCFE",
            r#""\"01234567-89ab-cdef-0123-456789abcdef\"""#,
        ),
        (
            "80 D3 67452301 AB89 EFCD 0123456789ABCDEF",
            r#""01234567-89ab-cdef-0123-456789abcdef""#,
        ),
        ("80 71 01 01 6162", r#""YWI=""#),
        ("80 71 01 FE 6162", r#""YWI""#),
        ("80 74 0100 00 FBFFBF", r#""-_-_""#),
        ("80 DD 02 6162", r#""YWI=""#),
        ("80 E0", "[]"),
        ("80 E1 01", "[1]"),
        ("80 E2 02 01 02", "[1,2]"),
        ("80 E3 0100 01", "[1]"),
        ("80 E4 01000000 01", "[1]"),
        ("80 E5 02 02 01 02", "[1,2]"),
        ("80 E8", "{}"),
        ("80 E9 2C 8131", r#"{"id":"1"}"#),
        ("80 EA 05 2C 8131 27 D0", r#"{"id":"1","_ts":null}"#),
        ("80 ED 05 02 2C 8131 27 D0", r#"{"id":"1","_ts":null}"#),
        ("80 F0 D7 03 010203", "[1,2,3]"),
        ("80 F1 D8 0200 FF01", "[-1,1]"),
        ("80 F2 F0 D7 02 02 01020304", "[[1,2],[3,4]]"),
    ] {
        assert_eq!(text(hex).as_deref(), Ok(expected), "{hex}");
    }
    // A reference to the string at offset 3: after the preamble, the array's marker and its length.
    assert_eq!(text("80 E2 04 8161 C3 03").as_deref(), Ok(r#"["a","a"]"#));
}

#[test]
fn what_is_no_body_is_an_error_that_names_its_place() {
    for hex in [
        "",
        "7B7D",
        "80",
        "80 E2 05 01",
        "80 83 61",
        "80 D0 D0",
        "80 C3 00",
        "80 C3 01",
        "80 C3 FF",
        "80 FF",
        "80 40",
        "80 CC 000000000000F07F",
        "80 E5 01 02 01",
        "80 F0 C8 01 01",
        "80 F2 F1 D7 01 01 01",
        "80 81 FF",
        "80 CF 0000",
        "80 E9 01 01",
    ] {
        assert!(text(hex).is_err(), "{hex}");
    }
    let deep = [vec![0x80], vec![0xE1; 100_000], vec![0x01]].concat();
    assert_eq!(
        to_text(&deep).unwrap_err().what,
        "values lie too deep inside each other"
    );
}

#[test]
fn references_do_not_blow_it_up() {
    let mut body = vec![0x80, 0xE4, 0, 0, 0, 0, 0xC1, 0xFF, 0xFF];
    body.extend(vec![b'x'; 0xFFFF]);
    for _ in 0..100_000 {
        body.extend([0xC3, 0x06]);
    }
    let length = u32::try_from(body.len() - 6).unwrap();
    body[2..6].copy_from_slice(&length.to_le_bytes());
    assert_eq!(
        to_text(&body).unwrap_err().what,
        "it becomes too long a text"
    );
}

#[test]
fn no_bytes_make_it_panic() {
    let mut rng = fastrand::Rng::with_seed(3);
    let body = b"\x80\xEA\x10\x2C\x81\x31\x35\xE2\x03\x01\x02\x03\x27\xCB\x01\0\0\0\0\0\0\0";
    for _ in 0..100_000 {
        let mut bytes = if rng.bool() {
            body.to_vec()
        } else {
            (0..rng.usize(0..40)).map(|_| rng.u8(..)).collect()
        };
        if let Some(first) = bytes.first_mut() {
            *first = 0x80;
        }
        for _ in 0..rng.usize(0..4) {
            if !bytes.is_empty() {
                let at = rng.usize(..bytes.len());
                bytes[at] = rng.u8(..);
            }
        }
        if let Ok(text) = to_text(&bytes) {
            serde_json::from_slice::<serde::de::IgnoredAny>(&text).unwrap();
        }
    }
}
