//! nginx: https with ranges, ETags and redirects, and certificates of an authority of our own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::process::{self, program};

pub(crate) struct Nginx {
    server: process::Server,
    /// The certificate of the authority.
    pub(crate) authority: PathBuf,
    /// The port for http.
    pub(crate) plain: u16,
    _keys: tempfile::TempDir,
}

impl Nginx {
    /// Starts it with the files of a folder, under `/files/`. `/moved/` redirects there, `/plain/` to the same over http,
    /// `/whole/` has no ranges, and `/private/` wants a token.
    pub(crate) fn start(files: &Path) -> Option<Nginx> {
        let nginx = program("nginx", &[PathBuf::from("/usr/sbin")])?;
        let openssl = program("openssl", &[])?;
        let keys = tempfile::tempdir().expect("a folder can be made");
        make_keys(&openssl, keys.path());
        let plain = process::free_port();
        let server = process::Server::start(|port, folder| {
            let conf = folder.join("nginx.conf");
            fs::write(&conf, configuration(port, plain, folder, keys.path(), files)).expect("a file can be written");
            let mut command = Command::new(&nginx);
            command.arg("-p").arg(folder).arg("-e").arg(folder.join("errors")).arg("-c").arg(conf);
            command
        });
        Some(Nginx { server, authority: keys.path().join("ca.crt"), plain, _keys: keys })
    }

    /// The name is `localhost`, for which it has a certificate.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://localhost:{}/{path}", self.server.port)
    }
}

fn make_keys(openssl: &Path, folder: &Path) {
    let run = |arguments: &[&str]| {
        let done = Command::new(openssl).args(arguments).current_dir(folder).output().expect("openssl starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let authority =
        ["req", "-x509", "-subj", "/CN=An authority for tests", "-days", "30", "-keyout", "ca.key", "-out", "ca.crt"];
    run(&[&authority[..], &key[..]].concat());
    let request = ["req", "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr"];
    run(&[&request[..], &key[..]].concat());
    fs::write(folder.join("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n").expect("a file can be written");
    run(&[
        "x509",
        "-req",
        "-in",
        "server.csr",
        "-CA",
        "ca.crt",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-days",
        "30",
        "-extfile",
        "names",
        "-out",
        "server.crt",
    ]);
}

fn configuration(port: u16, plain: u16, folder: &Path, keys: &Path, files: &Path) -> String {
    let (folder, keys, files) = (folder.display(), keys.display(), files.display());
    format!(
        r#"daemon off;
master_process off;
pid "{folder}/pid";
events {{}}
http {{
    access_log off;
    client_body_temp_path "{folder}/body";
    proxy_temp_path "{folder}/proxy";
    fastcgi_temp_path "{folder}/fastcgi";
    uwsgi_temp_path "{folder}/uwsgi";
    scgi_temp_path "{folder}/scgi";
    default_type application/octet-stream;
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate "{keys}/server.crt";
        ssl_certificate_key "{keys}/server.key";
        location /files/ {{ alias "{files}/"; }}
        location /moved/ {{ rewrite ^/moved/(.*)$ https://localhost:{port}/files/$1 redirect; }}
        location /plain/ {{ rewrite ^/plain/(.*)$ http://localhost:{plain}/files/$1 redirect; }}
        location /whole/ {{ alias "{files}/"; max_ranges 0; }}
        location /private/ {{
            alias "{files}/";
            if ($http_authorization != "Bearer open sesame") {{ return 403; }}
        }}
    }}
    server {{
        listen 127.0.0.1:{plain};
        location /files/ {{ alias "{files}/"; }}
    }}
}}
"#
    )
}
