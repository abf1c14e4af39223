//! Links libhakmem.a: that of a published version, which HAKMEM_LIB_DIR names, or one that CMake
//! builds from the tree that this crate lies in.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=HAKMEM_LIB_DIR");
    let folder = match env::var_os("HAKMEM_LIB_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => build(),
    };
    let library = folder.join("libhakmem.a");
    assert!(library.is_file(), "there is no {}", library.display());
    println!("cargo:rerun-if-changed={}", library.display());
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=static=hakmem");
}

fn build() -> PathBuf {
    let root = Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap()).join("hakmem");
    println!("cargo:rerun-if-changed={}", root.join("allocator").display());
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&root).arg("-B").arg(&out).arg("-DCMAKE_BUILD_TYPE=Release");
    for part in ["BENCH", "TRAINING", "TESTS", "INSTALL"] {
        configure.arg(format!("-DHAKMEM_{part}=OFF"));
    }
    run(&mut configure);
    run(Command::new("cmake").arg("--build").arg(&out).args(["--target", "hakmem-static"]));
    out.join("lib")
}

fn run(command: &mut Command) {
    let status = command.status().expect("cmake cannot be started");
    assert!(status.success(), "{command:?} failed");
}
