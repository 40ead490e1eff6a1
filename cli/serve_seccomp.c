/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls of a server.
 *
 * SECCOMP-1  What is not in the lists below fails with EPERM: running a
 *            program, starting a process, tracing, mounting, loading code into
 *            the kernel, and all that nobody has thought of.
 * SECCOMP-2  A call that is newer than the kernel's headers at compile time
 *            fails with ENOSYS, as on a kernel that does not have it, so that
 *            the C library does without. clone3() does too: its flags are in
 *            memory, where no filter can see them, and those of clone() are
 *            not.
 * SECCOMP-3  Some calls are allowed for some values of an argument only:
 *            sockets of three families, threads and no processes, the limits
 *            and signals of this process and of no other.
 *
 * The lists are what the tests need under strace, with both stores, TLS, Unix
 * sockets, reload and stop, and what the C library, libuv and OpenSSL may call
 * in place of those.
 */
#include "serve.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define SECCOMP_ARCH AUDIT_ARCH_X86_64
#else
#define SECCOMP_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef PR_SET_VMA
#define SECCOMP_PR_VMA PR_SET_VMA
#else
#define SECCOMP_PR_VMA PR_SET_NAME
#endif

/* Those that are called for each request come first. */
static const unsigned seccomp_allowed[] = {
    SYS_epoll_pwait,
    SYS_read,
    SYS_write,
    SYS_writev,
    SYS_futex,
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_epoll_ctl,
    SYS_accept4,
    SYS_close,
    SYS_fdatasync,
    SYS_pwrite64,
    SYS_pread64,
    SYS_pwritev,
    SYS_preadv,
    SYS_clock_gettime,
    SYS_madvise,
    SYS_mmap,
    SYS_munmap,
    /* Sockets. */
    SYS_accept,
    SYS_bind,
    SYS_connect,
    SYS_getpeername,
    SYS_getsockname,
    SYS_getsockopt,
    SYS_listen,
    SYS_recvfrom,
    SYS_recvmmsg,
    SYS_sendmmsg,
    SYS_sendto,
    SYS_setsockopt,
    SYS_shutdown,
    /* Waiting. */
    SYS_epoll_create1,
    SYS_eventfd2,
    SYS_pipe2,
    SYS_ppoll,
    SYS_pselect6,
    SYS_signalfd4,
    /* Files; which ones, SANDBOX-1 decides. */
    SYS_close_range,
    SYS_dup,
    SYS_dup3,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_fadvise64,
    SYS_fallocate,
    SYS_fchdir,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_fcntl,
    SYS_flock,
    SYS_fstat,
    SYS_fstatfs,
    SYS_fsync,
    SYS_ftruncate,
    SYS_getcwd,
    SYS_getdents64,
    SYS_lseek,
    SYS_mkdirat,
    SYS_newfstatat,
    SYS_openat,
    SYS_openat2,
    SYS_preadv2,
    SYS_pwritev2,
    SYS_readlinkat,
    SYS_readv,
    SYS_renameat,
    SYS_renameat2,
    SYS_statfs,
    SYS_statx,
    SYS_sync_file_range,
    SYS_umask,
    SYS_unlinkat,
    /* Memory. */
    SYS_brk,
    SYS_membarrier,
    SYS_mincore,
    SYS_mprotect,
    SYS_mremap,
    SYS_msync,
    /* Threads, signals, time. */
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_exit,
    SYS_exit_group,
    SYS_get_robust_list,
    SYS_getcpu,
    SYS_gettimeofday,
    SYS_nanosleep,
    SYS_restart_syscall,
    SYS_rseq,
    SYS_rt_sigaction,
    SYS_rt_sigpending,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigtimedwait,
    SYS_sched_getaffinity,
    SYS_sched_yield,
    SYS_set_robust_list,
    SYS_set_tid_address,
    SYS_sigaltstack,
    /* Who and where it is. */
    SYS_getegid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getgroups,
    SYS_getpgid,
    SYS_getpid,
    SYS_getppid,
    SYS_getrandom,
    SYS_getresgid,
    SYS_getresuid,
    SYS_getrlimit,
    SYS_getrusage,
    SYS_gettid,
    SYS_getuid,
    SYS_sysinfo,
    SYS_times,
    SYS_uname,
#if defined(__x86_64__) // others have only the newer forms of these
    SYS_access,
    SYS_arch_prctl,
    SYS_dup2,
    SYS_epoll_create,
    SYS_epoll_wait,
    SYS_getdents,
    SYS_lstat,
    SYS_mkdir,
    SYS_open,
    SYS_pipe,
    SYS_poll,
    SYS_readlink,
    SYS_rename,
    SYS_rmdir,
    SYS_select,
    SYS_stat,
    SYS_time,
    SYS_unlink,
#endif
};

enum {
    SECCOMP_ALLOWED = sizeof(seccomp_allowed) / sizeof(seccomp_allowed[0]),
    SECCOMP_VALUES = 6,
    SECCOMP_CHECKED = 7,
    SECCOMP_STEPS =
        16 + 2 * SECCOMP_ALLOWED + SECCOMP_CHECKED * (SECCOMP_VALUES + 4),
    /* Newer calls than this are not known here. */
    SECCOMP_NEWEST = SYS_landlock_restrict_self
};

/* A call that is allowed if an argument is one of some values, or, for a test
 * of bits, has the first. */
struct seccomp_check {
    unsigned call;
    unsigned argument;
    bool is_bit;
    size_t count;
    unsigned values[SECCOMP_VALUES];
};

#define SECCOMP_FAIL(error) (SECCOMP_RET_ERRNO | ((error)&SECCOMP_RET_DATA))

struct seccomp_filter {
    size_t count;
    struct sock_filter steps[SECCOMP_STEPS];
};

static void
seccomp_add(struct seccomp_filter *filter, unsigned code, uint32_t k,
            size_t if_true, size_t if_false)
{
    filter->steps[filter->count++] = (struct sock_filter){
        (uint16_t)code, (uint8_t)if_true, (uint8_t)if_false, k};
}

static void
seccomp_load(struct seccomp_filter *filter, size_t offset)
{
    seccomp_add(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void
seccomp_end(struct seccomp_filter *filter, uint32_t result)
{
    seccomp_add(filter, BPF_RET | BPF_K, result, 0, 0);
}

/* The low half of an argument: both processors have it first, and the kernel
 * reads no more of these. */
static void
seccomp_add_check(struct seccomp_filter *filter,
                  const struct seccomp_check *check)
{
    const unsigned test =
        BPF_JMP | BPF_K | (check->is_bit ? BPF_JSET : BPF_JEQ);
    const size_t count = check->count;

    seccomp_add(filter, BPF_JMP | BPF_JEQ | BPF_K, check->call, 0, count + 3);
    seccomp_load(filter, offsetof(struct seccomp_data, args[0]) +
                             check->argument * sizeof(uint64_t));
    for (size_t i = 0; i < count; i++)
        seccomp_add(filter, test, check->values[i], count - i, 0);
    seccomp_end(filter, SECCOMP_FAIL(EPERM));
    seccomp_end(filter, SECCOMP_RET_ALLOW);
}

/* SECCOMP-3 */
static void
seccomp_add_checks(struct seccomp_filter *filter)
{
    const unsigned self = (unsigned)getpid();
    const struct seccomp_check checks[SECCOMP_CHECKED] = {
        {SYS_socket, 0, false, 3, {AF_UNIX, AF_INET, AF_INET6}},
        {SYS_socketpair, 0, false, 1, {AF_UNIX}},
        {SYS_clone, 0, true, 1, {CLONE_THREAD}},
        {SYS_prctl,
         0,
         false,
         4,
         {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, SECCOMP_PR_VMA}},
        {SYS_ioctl,
         1,
         false,
         6,
         {FIONBIO, FIONREAD, FIOCLEX, SIOCOUTQ, TCGETS, TIOCGWINSZ}},
        {SYS_prlimit64, 0, false, 2, {0, self}},
        {SYS_tgkill, 0, false, 1, {self}},
    };

    for (size_t i = 0; i < SECCOMP_CHECKED; i++)
        seccomp_add_check(filter, &checks[i]);
}

/* What a number of another architecture would mean is refused. */
static void
seccomp_make_filter(struct seccomp_filter *filter)
{
    const unsigned equal = BPF_JMP | BPF_JEQ | BPF_K;

    filter->count = 0;
    seccomp_load(filter, offsetof(struct seccomp_data, arch));
    seccomp_add(filter, equal, SECCOMP_ARCH, 1, 0);
    seccomp_end(filter, SECCOMP_FAIL(EPERM));
    seccomp_load(filter, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < SECCOMP_ALLOWED; i++) {
        seccomp_add(filter, equal, seccomp_allowed[i], 0, 1);
        seccomp_end(filter, SECCOMP_RET_ALLOW);
    }
    seccomp_add_checks(filter);
    // SECCOMP-2
    seccomp_add(filter, equal, SYS_clone3, 1, 0);
    seccomp_add(filter, BPF_JMP | BPF_JGT | BPF_K, SECCOMP_NEWEST, 0, 1);
    seccomp_end(filter, SECCOMP_FAIL(ENOSYS));
    seccomp_end(filter, SECCOMP_FAIL(EPERM)); // SECCOMP-1
}

bool
serve_seccomp(void)
{
    struct seccomp_filter filter;
    struct sock_fprog program = {.filter = filter.steps};

    seccomp_make_filter(&filter);
    program.len = (unsigned short)filter.count;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                   SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}
