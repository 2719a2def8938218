//! A certificate authority that lives as long as one command. Its key never leaves the memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::lock::lock;

/// The names in the certificates, for people who look at them. They differ, because clients take a
/// certificate that is issued by its own name for one that nobody has signed.
const AUTHORITY: &str = "retold, for one command only";
const HOST: &str = "a host that retold records";

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// It cannot be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// It cannot be used.
    #[error("cannot use a certificate: {0}")]
    Tls(#[from] rustls::Error),
}

/// A certificate authority for one command.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    /// What each host is served with.
    hosts: Mutex<BTreeMap<String, Arc<ServerConfig>>>,
}

impl Authority {
    /// A new one.
    ///
    /// # Errors
    /// [`AuthorityError`].
    pub(crate) fn new() -> Result<Self, AuthorityError> {
        let key = KeyPair::generate()?;
        let mut params = certificate_params(Vec::new(), AUTHORITY)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let pem = params.self_signed(&key)?.pem();
        Ok(Authority { issuer: Issuer::new(params, key), pem, hosts: Mutex::default() })
    }

    /// Its own certificate, which clients have to trust.
    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    /// The TLS configuration for a host.
    ///
    /// # Errors
    /// [`AuthorityError`] if there cannot be a certificate for this name.
    pub(crate) fn host(&self, host: &str) -> Result<Arc<ServerConfig>, AuthorityError> {
        let mut hosts = lock(&self.hosts);
        if let Some(config) = hosts.get(host) {
            return Ok(config.clone());
        }
        let key = KeyPair::generate()?;
        let mut params = certificate_params(vec![host.to_owned()], HOST)?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&key, &self.issuer)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let config = Arc::new(config);
        hosts.insert(host.to_owned(), config.clone());
        Ok(config)
    }
}

fn certificate_params(hosts: Vec<String>, name: &str) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(hosts)?;
    params.distinguished_name.push(DnType::CommonName, name);
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_has_one_certificate_and_no_key_is_in_what_is_shown() {
        let authority = Authority::new().unwrap();
        let first = authority.host("api.example").unwrap();
        assert!(Arc::ptr_eq(&first, &authority.host("api.example").unwrap()));
        assert!(!Arc::ptr_eq(&first, &authority.host("127.0.0.1").unwrap()));
        assert!(authority.host("not a host\0").is_err() || authority.host("\u{e4}").is_err());
        assert!(authority.pem().contains("BEGIN CERTIFICATE") && !authority.pem().contains("KEY"));
        assert_ne!(authority.pem(), Authority::new().unwrap().pem());
    }
}
