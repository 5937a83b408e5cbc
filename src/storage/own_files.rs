//! Files and folders of this program's own making, where others may put something of theirs in their place: no link is
//! followed, and nothing of another user is written to.

use std::fs::{File, Metadata, OpenOptions};
use std::path::Path;
use std::{fs, io};

#[cfg(unix)]
use super::platform::folder_of;
use super::platform::remove_if_there;

/// Opens a file of this program for reading and writing, without truncating it. It must be a regular file with no other
/// name. Links are not followed, because another user may have created them.
pub(crate) fn open_own(path: &Path, create: bool) -> io::Result<File> {
    if let Ok(metadata) = path.symlink_metadata() {
        // To open a device may do something.
        check_own(&metadata)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(create).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NOFOLLOW.bits().cast_signed(),
    );
    let file = options.open(path)?;
    check_own(&file.metadata()?)?;
    Ok(file)
}

fn check_own(metadata: &Metadata) -> io::Result<()> {
    let what = if metadata.is_symlink() {
        "a link stands there, which is not followed"
    } else if !metadata.is_file() {
        "what stands there is no regular file"
    } else if names(metadata) > 1 {
        "the file there has another name, too"
    } else {
        return Ok(());
    };
    let text =
        format!("{what}: this program makes no such thing; look whose it is, and take it away");
    Err(io::Error::new(io::ErrorKind::AlreadyExists, text))
}

/// Number of names of the file; 0 once it is removed.
#[cfg(unix)]
fn names(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

/// Windows tells the number only for open files, and only to unstable Rust.
#[cfg(not(unix))]
fn names(_metadata: &Metadata) -> u64 {
    1
}

/// Creates a folder that only this user can read and write, or checks that an existing folder is one.
#[cfg(unix)]
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    fs::create_dir_all(folder_of(folder))?;
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        created => return created,
    }
    let metadata = folder.symlink_metadata()?;
    let what = if !metadata.is_dir() {
        "it is no folder, or a link to one: take it away"
    } else if metadata.uid() != rustix::process::geteuid().as_raw() {
        "it belongs to another user: take it away"
    } else if metadata.mode() & 0o077 != 0 {
        "other users can look into it: take it away, or `chmod 700` it if all in it is yours"
    } else {
        return Ok(());
    };
    let text = format!("{what}; or name another place with --tmp-dir");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
}

/// On Windows each user has a folder for temporary files.
#[cfg(not(unix))]
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// Creates a file with these bytes. An existing file is removed and not overwritten: it may be a link created by
/// another user.
pub(crate) fn write_anew(path: &Path, bytes: &[u8]) -> io::Result<File> {
    remove_if_there(path)?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    io::Write::write_all(&mut file, bytes)?;
    Ok(file)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn only_files_of_our_own_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let [own, other, link] = ["own", "other", "link"].map(|name| folder.path().join(name));
        fs::write(&other, "precious").unwrap();
        assert_eq!(open_own(&own, false).unwrap_err().kind(), io::ErrorKind::NotFound);
        drop(open_own(&own, true).unwrap());
        drop(open_own(&own, true).unwrap());
        for target in [&other, &folder.path().join("nothing"), &folder.path().to_owned()] {
            symlink(target, &link).unwrap();
            let told = open_own(&link, true).unwrap_err().to_string();
            assert_data_eq!(
                told,
                str![
                    "a link stands there, which is not followed: this program makes no such thing; look whose it is, and take it away"
                ]
            );
            fs::remove_file(&link).unwrap();
        }
        fs::hard_link(&other, &link).unwrap();
        let told = [&link, Path::new("/dev/null")]
            .map(|path| open_own(path, true).unwrap_err().to_string());
        assert_data_eq!(
            told.join("\n"),
            str![[r"
the file there has another name, too: this program makes no such thing; look whose it is, and take it away
what stands there is no regular file: this program makes no such thing; look whose it is, and take it away
"]]
        );
        assert!(!folder.path().join("nothing").exists());
    }

    #[test]
    fn what_is_written_anew_is_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["path", "other"].map(|name| folder.path().join(name));
        fs::write(&other, "precious").unwrap();
        symlink(&other, &path).unwrap();
        drop(write_anew(&path, b"new").unwrap());
        drop(write_anew(&path, b"newer").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"newer");
        assert_eq!(fs::read(&other).unwrap(), b"precious");
        assert!(path.symlink_metadata().unwrap().is_file());
    }

    #[test]
    fn folders_for_temporary_files_are_of_one_user() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link] = ["new/private", "link"].map(|name| folder.path().join(name));
        create_private_folder(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        create_private_folder(&path).unwrap();
        symlink(&path, &link).unwrap();
        let refusal = |path| create_private_folder(path).unwrap_err().to_string();
        assert_data_eq!(
            refusal(&link),
            str![
                "it is no folder, or a link to one: take it away; or name another place with --tmp-dir"
            ]
        );
        for mode in [0o755, 0o770, 0o777] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_data_eq!(
                refusal(&path),
                str![
                    "other users can look into it: take it away, or `chmod 700` it if all in it is yours; or name another place with --tmp-dir"
                ]
            );
        }
        // Whoever is no root owns no folder of root.
        if rustix::process::geteuid().is_root() {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
            std::os::unix::fs::chown(&path, Some(1), None).unwrap();
            assert_data_eq!(
                refusal(&path),
                str![
                    "it belongs to another user: take it away; or name another place with --tmp-dir"
                ]
            );
        }
    }
}
