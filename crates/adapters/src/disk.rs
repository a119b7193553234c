//! Properties of the filesystem under a path: free space, networked or not, writable or not.

use std::{io, path::Path};

use rustix::fs::{Access, access, statvfs};

/// Filesystems that another machine serves. Locks and shared memory do not work over them as SQLite
/// needs them to.
const NETWORKED: [&str; 12] = [
    "9p",
    "afs",
    "ceph",
    "cifs",
    "fuse.glusterfs",
    "fuse.sshfs",
    "gfs2",
    "lustre",
    "nfs",
    "nfs4",
    "smb3",
    "virtiofs",
];

/// Bytes available to users on the filesystem of `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let disk = statvfs(path)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Whether this process may write to a file or into a folder. Nothing is written to find out.
pub fn is_writable(path: &Path) -> bool {
    access(path, Access::WRITE_OK).is_ok()
}

/// The networked filesystem that `path` is on, if any; Linux only.
pub fn networked(path: &Path) -> Option<String> {
    let path = path.canonicalize().ok()?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    filesystem(&mounts, &path).filter(|kind| NETWORKED.contains(&kind.as_str()))
}

/// The kind of the innermost mount that holds `path`, by `mountinfo`: the fifth word is the mount
/// point, the first one after a lone dash the kind.
fn filesystem(mounts: &str, path: &Path) -> Option<String> {
    let read = mounts.lines().filter_map(|line| {
        let at = line.split(' ').nth(4)?.replace("\\040", " ");
        let kind = line.split(" - ").nth(1)?.split(' ').next()?;
        path.starts_with(&at).then(|| (at.len(), kind.to_owned()))
    });
    // Of two mounts at one path the later one counts.
    read.max_by_key(|(depth, _)| *depth).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_mount_counts() {
        let mounts = "22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n\
                      90 22 0:44 / /srv/news rw - nfs4 nas:/news rw\n\
                      91 90 0:45 / /srv/news/a\\040b rw - tmpfs none rw\n";
        for (path, expected) in [
            ("/var/lib", "ext4"),
            ("/srv/news/almanack.db", "nfs4"),
            ("/srv/harness", "ext4"),
            ("/srv/news/a b/c", "tmpfs"),
        ] {
            let found = filesystem(mounts, Path::new(path));
            assert_eq!(found.as_deref(), Some(expected), "{path}");
        }
    }

    #[test]
    fn this_machine_has_room_and_a_folder_to_write_to() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free_bytes(folder.path()).unwrap() > 0);
        assert!(is_writable(folder.path()));
        assert!(!is_writable(&folder.path().join("none")));
    }
}
