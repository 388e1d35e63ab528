//! Profiles of Amazon's own tools, which are in `~/.aws/credentials` and `~/.aws/config`.

use std::env;
use std::fs;
use std::path::PathBuf;

use crate::environment::variable;

/// The content of a profile. It has no `Debug`, because it has secrets.
#[derive(Default)]
pub(crate) struct Profile {
    pub(crate) key_id: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) region: Option<String>,
    pub(crate) endpoint: Option<String>,
}

/// The profile that the environment selects. The error says why it cannot be used.
pub(crate) fn of_environment() -> Result<Profile, String> {
    let named = variable("AWS_PROFILE");
    let text = |path: &str, name: &str| {
        let of_home = || env::home_dir().map(|home| home.join(".aws").join(name));
        let path = env::var_os(path).filter(|path| !path.is_empty()).map(PathBuf::from).or_else(of_home);
        path.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default()
    };
    let (credentials, config) = (text("AWS_SHARED_CREDENTIALS_FILE", "credentials"), text("AWS_CONFIG_FILE", "config"));
    let profile = read(named.as_deref().unwrap_or("default"), &credentials, &config);
    match (profile, named) {
        (Some(profile), Some(name)) if profile.key.is_none() => Err(format!(
            "the profile {name:?} has no keys of its own; export some: \
             eval \"$(aws configure export-credentials --profile {name} --format env)\""
        )),
        (Some(profile), _) => Ok(profile),
        (None, Some(name)) => Err(format!("there is no profile {name:?} in ~/.aws/credentials and ~/.aws/config")),
        (None, None) => Ok(Profile::default()),
    }
}

/// Reads a profile from both files. The one with the credentials counts first.
fn read(name: &str, credentials: &str, config: &str) -> Option<Profile> {
    let mut found = None;
    for (text, is_config) in [(credentials, false), (config, true)] {
        let mut is_inside = false;
        // Keys of two files do not belong together.
        let has_keys = found.as_ref().is_some_and(|profile: &Profile| profile.key_id.is_some());
        for line in text.lines() {
            if let Some(section) = line.trim().strip_prefix('[').and_then(|rest| rest.split(']').next()) {
                let section = section.trim();
                let of_profile = section.strip_prefix("profile ").map(str::trim).filter(|_| is_config);
                is_inside = of_profile == Some(name) || (section == name && (!is_config || name == "default"));
                if is_inside {
                    found.get_or_insert_with(Profile::default);
                }
            }
            // An indented line belongs to the line before.
            let (Some((key, value)), Some(profile)) = (line.split_once('='), &mut found) else { continue };
            if !is_inside || line.starts_with([' ', '\t', '#', ';']) {
                continue;
            }
            let place = match key.trim().to_ascii_lowercase().as_str() {
                "aws_access_key_id" | "aws_secret_access_key" | "aws_session_token" if has_keys => continue,
                "aws_access_key_id" => &mut profile.key_id,
                "aws_secret_access_key" => &mut profile.key,
                "aws_session_token" => &mut profile.token,
                "region" => &mut profile.region,
                "endpoint_url" => &mut profile.endpoint,
                _ => continue,
            };
            place.get_or_insert_with(|| value.trim().to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_what_both_files_say_of_it() {
        let credentials = "# mine\n[default]\naws_access_key_id = A\naws_secret_access_key=b=/+\n[work]\nAWS_ACCESS_KEY_ID=C\r\n\
                           aws_secret_access_key = d\naws_session_token = t\n";
        let config = "[default]\nregion = eu-west-1\n[profile work]\ns3 =\n  endpoint_url = http://nested\nregion=us-west-2\n\
                      endpoint_url = http://localhost:9000\naws_access_key_id = other\n[profile sso]\nsso_session = s\n[work]\nregion = no\n";
        let of = |name: &str| {
            let profile = read(name, credentials, config)?;
            Some(
                [profile.key_id, profile.key, profile.token, profile.region, profile.endpoint]
                    .map(Option::unwrap_or_default),
            )
        };
        assert_eq!(of("default").unwrap(), ["A", "b=/+", "", "eu-west-1", ""]);
        assert_eq!(of("work").unwrap(), ["C", "d", "t", "us-west-2", "http://localhost:9000"]);
        assert_eq!(of("sso").unwrap(), [""; 5]);
        assert_eq!(of("none"), None);
        assert_eq!(of("profile work"), None);
    }
}
