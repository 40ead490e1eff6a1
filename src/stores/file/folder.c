/* SPDX-License-Identifier: Apache-2.0 */
/* Which folders are accepted, and why others are refused; see folder.h. */
#include "stores/file/folder.h"

#include "base/fault.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

const char *const lbx__folder_names[] = {
    LBX__DATA, LBX__LOCK, LBX__JOURNAL, LBX__WAKE, LBX__JOURNAL_NEW, NULL,
};

/* File systems whose locks and shared memory do not reach other machines. */
static bool
folder_is_remote(unsigned long type)
{
    static const unsigned long types[] = {
        0x6969,     // NFS
        0x517b,     // SMB
        0xff534d42, // CIFS
        0xfe534d42, // SMB 2
        0x01021997, // 9P
        0x00c36400, // Ceph
        0x5346414f, // AFS
        0x0bd00bd0, // Lustre
        0x73757245, // Coda
        0x564c,     // NCP
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if ((type & 0xffffffff) == types[i])
            return true;
    }
    return false;
}

/* FOLD-1. `group`: its group is trusted. */
static lbx_status
folder_check_rights(const struct stat *found, const char *name, bool group,
                    lbx_fault *fault)
{
    const bool is_groups = (found->st_mode & S_IWGRP) != 0;

    if (found->st_uid != geteuid() &&
        !(group && is_groups &&
          (group_member(found->st_gid) || getegid() == found->st_gid)))
        return lbx__fault_set(
            fault, LBX_DENIED, "%s belongs to someone else%s", name,
            is_groups && !group ? ", and options.group is not set" : "");
    if (found->st_mode & S_IWOTH)
        return lbx__fault_set(fault, LBX_DENIED, "others may write to %s",
                              name);
    if (is_groups && !group)
        return lbx__fault_set(fault, LBX_DENIED,
                              "others may write to %s, its group, and "
                              "options.group is not set",
                              name);
    return LBX_OK;
}

/* One of the store's files, if it is there. */
static lbx_status
folder_check_file(const lbx__folder *folder, const char *name, off_t *ret_size,
                  lbx_fault *fault)
{
    struct stat found;

    *ret_size = -1;
    if (fstatat(folder->fd, name, &found, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno == ENOENT)
            return LBX_OK;
        return lbx__fault_set(fault, lbx__io_status(-errno), "%s: %s", name,
                              strerror(errno));
    }
    if (!S_ISREG(found.st_mode))
        return lbx__fault_set(fault, LBX_DENIED, "%s is not a plain file",
                              name);
    *ret_size = found.st_size;
    return folder_check_rights(&found, name, folder->group, fault);
}

lbx_status
lbx__folder_look(lbx__folder *folder, lbx_fault *fault)
{
    off_t data, journal, other;
    lbx_status status = folder_check_file(folder, LBX__DATA, &data, fault);

    if (status == LBX_OK)
        status = folder_check_file(folder, LBX__JOURNAL, &journal, fault);
    if (status == LBX_OK)
        status = folder_check_file(folder, LBX__LOCK, &other, fault);
    if (status == LBX_OK)
        status = folder_check_file(folder, LBX__WAKE, &other, fault);
    if (status != LBX_OK)
        return status;
    folder->has_data = data > 0;
    folder->has_journal = journal >= 0;
    return LBX_OK;
}

static lbx_status
folder_check(lbx__folder *folder, const char *path, lbx_fault *fault)
{
    struct stat found;
    struct statfs system;
    lbx_status status;

    if (fstat(folder->fd, &found) < 0 || fstatfs(folder->fd, &system) < 0)
        return lbx__fault_set(fault, LBX_IO, "%s: %s", path, strerror(errno));
    folder->device = found.st_dev;
    folder->inode = found.st_ino;
    status = folder_check_rights(&found, path, folder->group, fault);
    if (status != LBX_OK)
        return status;
    if (folder_is_remote((unsigned long)system.f_type))
        return lbx__fault_set(fault, LBX_DENIED,
                              "%s is on a network file system", path);
    return lbx__folder_look(folder, fault);
}

/* Whether a file may lie where a store is made: one that an unfinished store
 * has left, or a hidden one. */
static bool
folder_is_harmless(const char *name)
{
    if (name[0] == '.' || strcmp(name, "lost+found") == 0)
        return true;
    for (int i = 0; lbx__folder_names[i]; i++) {
        if (strcmp(name, lbx__folder_names[i]) == 0)
            return true;
    }
    return false;
}

/* A store is not made among foreign files: a URL without the name of a box
 * would put it into the folder above the one that was meant. */
static lbx_status
folder_check_empty(const lbx__folder *folder, const lbx__io *io,
                   const char *path, lbx_fault *fault)
{
    const int fd = io->open(io, folder->fd, ".", O_RDONLY | O_DIRECTORY);
    DIR *listing = fd < 0 ? NULL : fdopendir(fd);
    lbx_status status = LBX_OK;
    const struct dirent *entry;

    if (!listing) {
        const int error = fd < 0 ? -fd : errno;

        if (fd >= 0)
            (void)close(fd);
        return lbx__fault_set(fault, lbx__io_status(-error), "%s: %s", path,
                              strerror(error));
    }
    while (status == LBX_OK && (entry = readdir(listing)) != NULL) {
        if (!folder_is_harmless(entry->d_name))
            status = lbx__fault_set(fault, LBX_DENIED,
                                    "%s has no store but other files, such as "
                                    "%.30s: a store is made in a new or empty "
                                    "folder, and a box in it is file:DIR/BOX",
                                    path, entry->d_name);
    }
    (void)closedir(listing);
    return status;
}

/* Why a path is not accepted as a folder. */
static lbx_status
folder_refuse_kind(const char *path, int error, lbx_fault *fault)
{
    char shown[LBX__FAULT_PATH_BYTES];
    struct stat found;

    (void)lbx__fault_path(path, shown);
    if (lstat(path, &found) < 0)
        return lbx__fault_set(fault, lbx__io_status(-error), "%s: %s", shown,
                              strerror(error));
    if (S_ISLNK(found.st_mode))
        return lbx__fault_set(fault, LBX_DENIED, "%s is a symbolic link",
                              shown);
    return lbx__fault_set(fault, LBX_INVALID, "%s is not a folder", shown);
}

/* Lets its group use a folder that was just made; without that it is gone. */
static lbx_status
folder_give_to_group(const lbx__io *io, const char *path)
{
    const int fd = io->open(io, AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
    int result = fd;

    if (fd >= 0) {
        result = fchmod(fd, 02770) < 0 ? -errno : 0;
        (void)close(fd);
    }
    if (result < 0)
        (void)rmdir(path);
    return lbx__io_status(result);
}

/* Makes the folder, and its name in the one above durable. */
static lbx_status
folder_make(const lbx__io *io, const char *path, bool group)
{
    char above[PATH_MAX];
    const char *slash;
    size_t size = strlen(path);
    lbx_status status;
    int fd, result;

    while (size > 1 && path[size - 1] == '/')
        size--;
    if (size >= sizeof(above))
        return LBX_INVALID;
    if (mkdir(path, 0700) == 0) {
        status = group ? folder_give_to_group(io, path) : LBX_OK;
        if (status != LBX_OK)
            return status;
    } else if (errno != EEXIST) {
        return lbx__io_status(-errno);
    }
    slash = memrchr(path, '/', size);
    size = slash ? (size_t)(slash - path) : 0;
    memcpy(above, path, size);
    above[size] = '\0';
    // Not through io->open: the path may lead over symbolic links.
    fd = open(size    ? above
              : slash ? "/"
                      : ".",
              O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return lbx__io_status(-errno);
    result = io->fsync(io, fd);
    (void)close(fd);
    return lbx__io_status(result);
}

lbx_status
lbx__folder_open(lbx__folder *folder, const lbx__io *io, const char *path,
                 bool must_exist, bool group, lbx_fault *fault)
{
    const int flags = O_RDONLY | O_DIRECTORY;
    char buffer[LBX__FAULT_PATH_BYTES];
    const char *shown = lbx__fault_path(path, buffer);
    lbx_status status;

    *folder = (lbx__folder){.fd = io->open(io, AT_FDCWD, path, flags),
                            .group = group};
    if (folder->fd == -ENOENT && !must_exist) {
        status = folder_make(io, path, group);
        if (status != LBX_OK)
            return lbx__fault_set(fault, status, "%s cannot be made: %s", shown,
                                  lbx_status_text(status));
        folder->fd = io->open(io, AT_FDCWD, path, flags);
    }
    if (folder->fd == -ELOOP || folder->fd == -ENOTDIR)
        return folder_refuse_kind(path, -folder->fd, fault);
    if (folder->fd < 0)
        return lbx__fault_set(fault, lbx__io_status(folder->fd), "%s: %s",
                              shown, strerror(-folder->fd));
    status = folder_check(folder, shown, fault);
    if (status == LBX_OK && !folder->has_data && !folder->has_journal)
        status = must_exist ? lbx__fault_set(fault, LBX_NOT_FOUND,
                                             "there is no store in %s", shown)
                            : folder_check_empty(folder, io, shown, fault);
    if (status != LBX_OK)
        lbx__folder_close(folder);
    return status;
}

lbx_status
lbx__folder_watch(lbx__folder *folder)
{
    struct stat found;

    for (int i = 0; i < LBX__FOLDER_FILES; i++) {
        if (fstatat(folder->fd, lbx__folder_names[i], &found,
                    AT_SYMLINK_NOFOLLOW) < 0)
            return LBX_IO;
        folder->inodes[i] = found.st_ino;
    }
    folder->watched = true;
    return LBX_OK;
}

void
lbx__folder_close(lbx__folder *folder)
{
    if (folder->fd >= 0)
        (void)close(folder->fd);
    folder->fd = -1;
}
