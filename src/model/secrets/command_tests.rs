//! What is left of a command, word for word.

use super::{Secrets, command_without_keys};

fn shown(words: &[&str]) -> String {
    let mut keys = Secrets::default();
    keys.add("hunter22");
    command_without_keys(words.iter().map(|word| (*word).to_owned()), &keys).join(" ")
}

#[test]
fn keys_are_left_out() {
    for (command, due) in [
        (&["python", "s.py", "--api-key", "abc"][..], "python s.py --api-key [key]"),
        (&["python", "s.py", "--api-key=abc", "-v"], "python s.py --api-key=[key] -v"),
        (&["python", "s.py", "--token", "--dry"], "python s.py --token --dry"),
        (
            &["sh", "-c", "OPENAI_API_KEY='xyz' run --key abc; ls"],
            "sh -c OPENAI_API_KEY='[key]' run --key [key]; ls",
        ),
        (&["sh", "-c", "A=1 curl -H 'x: sk-verysecret1' u"], "sh -c A=1 curl -H 'x: [key]' u"),
        (&["env", "X=sk-verysecret1", "a"], "env X=[key] a"),
        (
            &["curl", "-H", "Authorization: Bearer eyJ.abc.def", "-u", "me:pass", "u"],
            "curl -H Authorization: Bearer [key] -u [key] u",
        ),
        (&["sh", "-c", "c -H 'x-auth-token: 12ab' u"], "sh -c c -H 'x-auth-token: [key]' u"),
        (&["curl", "-H", "Authorization: Token abc", "u"], "curl -H Authorization: Token [key] u"),
        (&["curl", "-H", "X-Api-Key:abc", "-ume:pw", "u"], "curl -H X-Api-Key:[key] -ume:[key] u"),
        (
            &["curl", "--user=me:pw", "--header=Cookie: a=b; c=d"],
            "curl --user=me:[key] --header=Cookie: [key]",
        ),
        (
            &["curl", "-H", "Cookie: a=b; c=d", "-H", "Accept: x"],
            "curl -H Cookie: [key] -H Accept: x",
        ),
        (
            &[
                "sh",
                "-c",
                "curl -H 'X-Amz-Security-Token: a b' -H \"cf-aig-authorization: Bearer c d\" http://h:80/x",
            ],
            "sh -c curl -H 'X-Amz-Security-Token: [key]' -H \"cf-aig-authorization: Bearer [key]\" http://h:80/x",
        ),
        (
            &[
                "sh",
                "-c",
                "c -H Ocp-Apim-Subscription-Key:abc http://h/?%6Bey=x&AWSAccessKeyId=y&code=z",
            ],
            "sh -c c -H Ocp-Apim-Subscription-Key:[key] http://h/?%6Bey=[key]&AWSAccessKeyId=[key]&code=[key]",
        ),
        (
            &["python", "-c", "print('model: m')", "session:1"],
            "python -c print('model: m') session:[key]",
        ),
        (&["a", "--apikey", "xyz", "--credential=1"], "a --apikey [key] --credential=[key]"),
        (
            &["a", "{\"api_key\": \"xyz\", \"key\" : 7, \"model\":\"m\"}"],
            "a {\"api_key\": \"[key]\", \"key\" : [key], \"model\":\"m\"}",
        ),
        (&["a", "hunter22"], "a [key]"),
        (&["curl", "http://u:pw@h.example/x?q=1"], "curl http://[key]@h.example/x?q=1"),
        (&["curl", "--url=https://h/x?sig=ab%3D&q=1"], "curl --url=https://h/x?sig=[key]&q=1"),
        (
            &["sh", "-c", "A=http://u@h B=ftp://v:w@i; c http://h/?a=1&api_key=x"],
            "sh -c A=http://[key]@h B=ftp://[key]@i; c http://h/?a=1&api_key=[key]",
        ),
        (&["python", "monkey.py", "--monkey", "ape", "sk-1"], "python monkey.py --monkey ape sk-1"),
    ] {
        assert_eq!(shown(command), due);
    }
}
