import { execa } from 'execa';

/** KVM: the processor runs the guest. TCG: qemu translates every instruction. */
export type Accelerator = 'kvm' | 'tcg';

/** How much longer the same work takes in a machine than in a container, at most. */
export const SLOWER: Readonly<Record<Accelerator, number>> = { kvm: 2, tcg: 6 };

const PROBE_MS = 10_000;

/**
 * KVM if a kernel runs with it: one that has no root and restarts for that. That /dev/kvm is there says nothing, and
 * neither does a program of a few instructions: where this host is itself a machine, the first one in 64-bit mode may
 * never end.
 */
export async function probeAccelerator(kernel: string, signal: AbortSignal): Promise<Accelerator> {
  const args = [
    ...['-machine', 'q35', '-accel', 'kvm', '-cpu', 'host', '-smp', '2', '-m', '512'],
    ...['-display', 'none', '-nodefaults', '-no-reboot'],
    ...['-kernel', kernel, '-append', 'panic=-1'],
  ];
  const { exitCode } = await execa('qemu-system-x86_64', args, {
    reject: false,
    stdin: 'ignore',
    timeout: PROBE_MS,
    killSignal: 'SIGKILL',
    cancelSignal: signal,
  });
  signal.throwIfAborted();
  return exitCode === 0 ? 'kvm' : 'tcg';
}
