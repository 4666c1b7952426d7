import { readFile } from 'node:fs/promises';
import { Failure } from '../../../lib/errors/failure.ts';
import type { Installation } from '../../installation.ts';

const COMMAND_MS = 60_000;

/** What the kernel says of an access, or the message bus, which names no program: permissions, and contexts. */
const DENIED = /avc: +denied +(\{.*?\}) for +(.*?)(scontext=\S+ tcontext=\S+ tclass=\S+)/g;

/** Each access once that was denied in a boot's journal, or would have been if SELinux enforced. */
export const deniedIn = (journal: string): string[] => [
  ...new Set(
    Array.from(journal.matchAll(DENIED), ([, permissions, of = '', contexts]) =>
      [permissions, /\bcomm=(\S+)/.exec(of)?.[1] ?? 'a message', contexts].join(' '),
    ),
  ),
];

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
