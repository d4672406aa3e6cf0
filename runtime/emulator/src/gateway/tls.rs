//! HTTPS with a certificate that the gateway makes for itself.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::serve::Listener;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The certificate's file in the folder that was named.
const FILE: &str = "gateway-certificate.pem";

/// A certificate with its key.
pub(super) struct Certificate {
    pub(super) file: PathBuf,
    acceptor: TlsAcceptor,
}

impl Certificate {
    /// Makes one for loopback, and writes it, without its key, for clients that want to trust it.
    pub(super) fn make(folder: &Path) -> io::Result<Self> {
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(names).map_err(io::Error::other)?;
        fs::create_dir_all(folder)?;
        let file = folder.join(FILE);
        fs::write(&file, cert.pem())?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .map_err(io::Error::other)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self {
            file,
            acceptor: TlsAcceptor::from(Arc::new(config)),
        })
    }
}

/// A listener whose connections are encrypted. One that is slow to shake hands holds up no other.
pub(super) struct TlsListener<L> {
    listener: L,
    acceptor: TlsAcceptor,
    shaking: JoinSet<(io::Result<TlsStream<TcpStream>>, SocketAddr)>,
}

impl<L> TlsListener<L> {
    pub(super) fn new(listener: L, certificate: Certificate) -> Self {
        Self {
            listener,
            acceptor: certificate.acceptor,
            shaking: JoinSet::new(),
        }
    }
}

impl<L: Listener<Io = TcpStream, Addr = SocketAddr>> Listener for TlsListener<L> {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            tokio::select! {
                (stream, address) = self.listener.accept() => {
                    let accept = self.acceptor.accept(stream);
                    self.shaking.spawn(async move { (accept.await, address) });
                }
                Some(ended) = self.shaking.join_next() => match ended {
                    Ok((Ok(stream), address)) => return (stream, address),
                    Ok((Err(error), address)) => {
                        tracing::debug!(%error, %address, "a connection did not become an encrypted one");
                    }
                    Err(error) => tracing::debug!(%error, "a handshake was cut off"),
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}
