//! The objects of a log, as somebody reaches them who does not use the program.

use super::lab::Lab;

impl Lab {
    /// The names of all objects below the log, in order.
    pub(super) fn objects(&self) -> Vec<String> {
        let mut names = match self.moto() {
            Some(moto) => {
                let listed = moto.ask("GET", "/lab?list-type=2&prefix=study/", Vec::new()).body;
                let listed = String::from_utf8(listed).unwrap();
                let keys = listed.split("<Key>study/").skip(1);
                keys.map(|rest| rest.split_once("</Key>").unwrap().0.to_owned()).collect()
            }
            None => files(&self.place.path("lab"), ""),
        };
        names.sort();
        names
    }

    /// The bytes of an object.
    pub(super) fn object(&self, name: &str) -> Vec<u8> {
        match self.moto() {
            Some(moto) => {
                let answer = moto.ask("GET", &target(name), Vec::new());
                assert_eq!(answer.status, 200, "{name}");
                answer.body
            }
            None => std::fs::read(self.place.path("lab").join(name)).unwrap(),
        }
    }

    /// Writes an object, whether or not there is one.
    pub(super) fn put(&self, name: &str, bytes: Vec<u8>) {
        self.touched.lock().unwrap().insert(name.to_owned());
        match self.moto() {
            Some(moto) => assert_eq!(moto.ask("PUT", &target(name), bytes).status, 200, "{name}"),
            None => {
                let path = self.place.path("lab").join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, bytes).unwrap();
            }
        }
    }

    pub(super) fn remove(&self, name: &str) {
        self.touched.lock().unwrap().insert(name.to_owned());
        match self.moto() {
            Some(moto) => {
                assert_eq!(moto.ask("DELETE", &target(name), Vec::new()).status, 204, "{name}");
            }
            None => std::fs::remove_file(self.place.path("lab").join(name)).unwrap(),
        }
    }

    /// All objects with their bytes.
    pub(super) fn everything(&self) -> Vec<(String, Vec<u8>)> {
        self.objects().into_iter().map(|name| (name.clone(), self.object(&name))).collect()
    }

    /// Makes the log what it was: puts back what was put or removed since.
    pub(super) fn restore(&self, everything: &[(String, Vec<u8>)]) {
        let touched = std::mem::take(&mut *self.touched.lock().unwrap());
        for name in touched {
            match everything.iter().find(|(of, _)| *of == name) {
                Some((name, bytes)) => self.put(name, bytes.clone()),
                None => self.remove(&name),
            }
        }
        self.touched.lock().unwrap().clear();
    }
}

fn target(name: &str) -> String {
    let escaped = name.chars().map(|c| match c.is_ascii_control() {
        true => format!("%{:02X}", u32::from(c)),
        false => c.to_string(),
    });
    format!("/lab/study/{}", escaped.collect::<String>())
}

/// The files below a folder, with `/` between the parts of their names.
fn files(folder: &std::path::Path, before: &str) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{before}{}", entry.file_name().to_str().unwrap());
        match entry.file_type().unwrap().is_dir() {
            true => names.extend(files(&entry.path(), &format!("{name}/"))),
            false => names.push(name),
        }
    }
    names
}
