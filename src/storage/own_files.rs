//! Files and folders that this program creates at known paths. Another user may have created a different file there, so
//! links are not followed and files of other users are not written to.

use std::fs::{File, Metadata, OpenOptions};
use std::path::Path;
use std::{fs, io};

#[cfg(unix)]
use super::platform::folder_of;
use super::platform::remove_if_there;

#[cfg(windows)]
const FILE_SHARE_READ: u32 = 1;
#[cfg(windows)]
const FILE_SHARE_DELETE: u32 = 4;

/// Opens a file of this program for reading and writing, without truncating it. It must be a regular file without
/// further hard links. Symbolic links are not followed, because another user may have created them. On Windows, other
/// processes can read but not write the file until it is closed.
pub(crate) fn open_own(path: &Path, create: bool) -> io::Result<File> {
    if let Ok(metadata) = path.symlink_metadata() {
        // Checked before it is opened, because opening a device may have side effects.
        check_own(&metadata)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(create).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NOFOLLOW.bits().cast_signed(),
    );
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::share_mode(
        &mut options,
        FILE_SHARE_READ | FILE_SHARE_DELETE,
    );
    let file = options.open(path)?;
    check_own(&file.metadata()?)?;
    Ok(file)
}

fn check_own(metadata: &Metadata) -> io::Result<()> {
    let problem = if metadata.is_symlink() {
        "it exists and is a symbolic link"
    } else if !metadata.is_file() {
        "it exists and is not a regular file"
    } else if hard_links(metadata) > 1 {
        "it exists and has several hard links"
    } else {
        return Ok(());
    };
    let message = format!(
        "{problem}, so writing to it could change another file; find out who created it, then remove it"
    );
    Err(io::Error::new(io::ErrorKind::AlreadyExists, message))
}

/// Number of hard links; 0 for a removed file.
#[cfg(unix)]
fn hard_links(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

/// Windows reports the number only for open files, and only in unstable Rust.
#[cfg(not(unix))]
fn hard_links(_metadata: &Metadata) -> u64 {
    1
}

/// Creates a folder that only this user can read and write. Checks an existing folder for the same permissions.
#[cfg(unix)]
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    fs::create_dir_all(folder_of(folder))?;
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        created => return created,
    }
    let metadata = folder.symlink_metadata()?;
    let problem = if !metadata.is_dir() {
        "it is not a folder, or a link to one: remove it"
    } else if metadata.uid() != rustix::process::geteuid().as_raw() {
        "it belongs to another user: remove it"
    } else if metadata.mode() & 0o077 != 0 {
        "other users can access it: remove it, or `chmod 700` it if all of its content is yours"
    } else {
        return Ok(());
    };
    let message = format!("{problem}; or set another folder with --tmp-dir");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

/// Does not set permissions: on Windows each user has a separate folder for temporary files.
#[cfg(not(unix))]
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// Creates a file with these bytes. Removes an existing file instead of overwriting it, because it may be a link that
/// another user created.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<File> {
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
    fn links_and_devices_are_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let [own, other, link] = ["own", "other", "link"].map(|name| folder.path().join(name));
        fs::write(&other, "precious").unwrap();
        assert_eq!(open_own(&own, false).unwrap_err().kind(), io::ErrorKind::NotFound);
        drop(open_own(&own, true).unwrap());
        drop(open_own(&own, true).unwrap());
        for target in [&other, &folder.path().join("nothing"), &folder.path().to_owned()] {
            symlink(target, &link).unwrap();
            let message = open_own(&link, true).unwrap_err().to_string();
            assert_data_eq!(
                message,
                str![
                    "it exists and is a symbolic link, so writing to it could change another file; find out who created it, then remove it"
                ]
            );
            fs::remove_file(&link).unwrap();
        }
        fs::hard_link(&other, &link).unwrap();
        let messages = [&link, Path::new("/dev/null")]
            .map(|path| open_own(path, true).unwrap_err().to_string());
        assert_data_eq!(
            messages.join("\n"),
            str![[r"
it exists and has several hard links, so writing to it could change another file; find out who created it, then remove it
it exists and is not a regular file, so writing to it could change another file; find out who created it, then remove it
"]]
        );
        assert!(!folder.path().join("nothing").exists());
    }

    #[test]
    fn replacing_a_link_does_not_change_its_target() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["path", "other"].map(|name| folder.path().join(name));
        fs::write(&other, "precious").unwrap();
        symlink(&other, &path).unwrap();
        drop(replace(&path, b"new").unwrap());
        drop(replace(&path, b"newer").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"newer");
        assert_eq!(fs::read(&other).unwrap(), b"precious");
        assert!(path.symlink_metadata().unwrap().is_file());
    }

    #[test]
    fn private_folders_are_accessible_to_their_owner_only() {
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
                "it is not a folder, or a link to one: remove it; or set another folder with --tmp-dir"
            ]
        );
        for mode in [0o755, 0o770, 0o777] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_data_eq!(
                refusal(&path),
                str![
                    "other users can access it: remove it, or `chmod 700` it if all of its content is yours; or set another folder with --tmp-dir"
                ]
            );
        }
        // Only root can change the owner of a folder.
        if rustix::process::geteuid().is_root() {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
            std::os::unix::fs::chown(&path, Some(1), None).unwrap();
            assert_data_eq!(
                refusal(&path),
                str!["it belongs to another user: remove it; or set another folder with --tmp-dir"]
            );
        }
    }
}
