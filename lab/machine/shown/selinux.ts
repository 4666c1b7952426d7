import { readFile } from 'node:fs/promises';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { Installation } from '../../installation.ts';

const COMMAND_MS = 60_000;

/** What the kernel says of an access, or the message bus, which names no program: permissions, and contexts. */
const DENIED = /avc: +denied +(\{.*?\}) for +(.*?)(scontext=\S+ tcontext=\S+ tclass=\S+)/g;

/** Of programs of the system, which Debian's policy denies with or without the agents. */
const OF_THE_SYSTEM: readonly RegExp[] = [
  // udev has it look at each new disk, and it asks whether multipathd has a unit.
  /^\{ read \} "multipath" scontext=\S+:lvm_t:s0 tcontext=\S+:(systemd_unit_t|init_runtime_t):s0 tclass=dir$/,
  // The kubelet gives its folders container_file_t, which that policy does not know, and does not insist on it.
  /^\{ associate \} "kubelet" scontext=\S+:unlabeled_t:s0 tcontext=\S+:tmpfs_t:s0 tclass=filesystem$/,
];

/** Each access once that was denied in a boot's journal, or would have been if SELinux enforced. */
export function deniedIn(journal: string): string[] {
  const denied = Array.from(journal.matchAll(DENIED), ([, permissions, of = '', contexts]) =>
    [permissions, /\bcomm=(\S+)/.exec(of)?.[1] ?? 'a message', contexts].join(' '),
  );
  return [...new Set(denied)].filter((each) => !OF_THE_SYSTEM.some((known) => known.test(each)));
}

/**
 * SELinux enforces, and has denied nothing in any boot so far: agents, kubelet and containers get everything that they
 * need, and what they write has the labels with which others may read it.
 */
export async function requireEnforced({ booted, context, journals }: Installation): Promise<void> {
  const { signal } = context;
  const { stdout } = await booted.exec(['getenforce'], { timeoutMs: COMMAND_MS }, signal);
  if (stdout !== 'Enforcing') {
    const found = stdout || 'nothing';
    throw new Failure('fatal', 'SELinux does not enforce', { expected: 'Enforcing', found });
  }
  const denied = new Set<string>();
  for (const journal of journals) {
    for (const each of deniedIn(await readFile(journal, 'utf8'))) denied.add(each);
  }
  if (denied.size > 0) {
    throw new Failure('fatal', 'SELinux has denied something', { found: [...denied].join('\n') });
  }
}
