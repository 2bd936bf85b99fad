//===- hide_avx512.c - Run a process as on a CPU without AVX-512 -----------===//
//
// LD_PRELOAD this where `cpuid_fault` is a flag of the CPU: engines that ask CPUID which instructions there are, and
// have no option for it, then see AVX2 and FMA and nothing beyond. Instructions that nobody asked about still run.
//
//===----------------------------------------------------------------------===//

#define _GNU_SOURCE
#include <asm/prctl.h>
#include <cpuid.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef ARCH_CPUID_SET
#define ARCH_CPUID_SET 0x1012
#endif

// Leaf 7: what AVX-512, its extensions and AMX are called there, by register.
enum {
  kLeaf7EBX = 1u << 16 | 1u << 17 | 1u << 21 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 30 | 1u << 31,
  kLeaf7ECX = 1u << 1 | 1u << 6 | 1u << 11 | 1u << 12 | 1u << 14,
  kLeaf7EDX = 1u << 2 | 1u << 3 | 1u << 8 | 1u << 22 | 1u << 23 | 1u << 24 | 1u << 25,
  kLeaf7Sub1EAX = 1u << 5,
};

static void answer(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  const unsigned char *code = (const unsigned char *)registers[REG_RIP];
  if (code[0] != 0x0f || code[1] != 0xa2) { // a fault like any other
    raise(SIGABRT);
    return;
  }
  unsigned leaf = (unsigned)registers[REG_RAX], sub = (unsigned)registers[REG_RCX], eax, ebx, ecx, edx;
  syscall(SYS_arch_prctl, ARCH_CPUID_SET, 1);
  __cpuid_count(leaf, sub, eax, ebx, ecx, edx);
  syscall(SYS_arch_prctl, ARCH_CPUID_SET, 0);
  if (leaf == 7 && sub == 0) {
    ebx &= ~kLeaf7EBX;
    ecx &= ~kLeaf7ECX;
    edx &= ~kLeaf7EDX;
  } else if (leaf == 7 && sub == 1) {
    eax &= ~kLeaf7Sub1EAX;
  }
  registers[REG_RAX] = eax;
  registers[REG_RBX] = ebx;
  registers[REG_RCX] = ecx;
  registers[REG_RDX] = edx;
  registers[REG_RIP] += 2;
}

// Compilers and linkers that an engine starts install handlers for this signal, which would take ours away: they are
// told that theirs are installed.
int sigaction(int signal, const struct sigaction *action, struct sigaction *old) {
  static int (*next)(int, const struct sigaction *, struct sigaction *);
  if (!next)
    next = (int (*)(int, const struct sigaction *, struct sigaction *))dlsym(RTLD_NEXT, "sigaction");
  return next(signal, signal == SIGSEGV && action && action->sa_sigaction != answer ? NULL : action, old);
}

sighandler_t signal(int signal, sighandler_t handler) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
  return sigaction(signal, &action, &old) ? SIG_ERR : old.sa_handler;
}

__attribute__((constructor)) static void start(void) {
  struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  sigaction(SIGSEGV, &action, NULL);
  if (syscall(SYS_arch_prctl, ARCH_CPUID_SET, 0)) {
    fputs("hide_avx512: requires a CPU with the flag cpuid_fault\n", stderr);
    exit(1);
  }
}
