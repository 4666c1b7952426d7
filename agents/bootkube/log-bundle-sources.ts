import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../lib/host/command.ts';
import { redact } from '../../lib/log/redact.ts';
import { journalPath } from '../../lib/steps/agent-command.ts';
import { describeError } from '../../lib/steps/failure.ts';
import { objectsFolder } from './api-objects.ts';
import type { LiveContext } from './context.ts';

/** One file of the bundle: its name in there, and its text before the redaction. */
export interface Source {
  readonly name: string;
  read(signal: AbortSignal): Promise<string>;
}

const UNITS = [
  'bootkube',
  'install-to-disk',
  'approve-csr',
  'progress',
  'sno-executable',
  'sno-network',
  'kubelet',
  'containerd',
  'crio',
] as const;

/** Of each source, the newest part: a bundle travels in the Ignition, which has to stay small. */
export const MAX_SOURCE_LENGTH = 512 * 1024;
/** Far more than is kept, so that what is redacted does not make the kept part short. */
export const MAX_READ_BYTES = 4 * 1024 * 1024;
/** More than a private key in PEM has. */
const LONGEST_KEY = 16_384;
/** All of them together, if each one hangs, end before the step's deadline. */
const JOURNAL_DEADLINE_MS = 20_000;

/** What the bundle is made of. None of it is an Ignition, a manifest or a folder with keys. */
export async function bundleSources(context: LiveContext): Promise<Source[]> {
  const { paths } = context;
  return [
    ...journalSources(),
    ...(await folderSources(paths.at('/var/log/containers'), 'bootstrap/containers')),
    ...(await folderSources(paths.serviceRecords, 'bootstrap/services')),
    ...(await folderSources(objectsFolder(context), 'resources')),
    fileSource(journalPath(paths, 'bootkube'), 'bootstrap/steps/bootkube.jsonl'),
  ];
}

/** The newest part of a source without secrets, or the reason why there is none. */
export async function safeText(source: Source, signal: AbortSignal): Promise<string> {
  const text = await source
    .read(signal)
    .catch((error: unknown) => `could not be read: ${describeError(error)}\n`);
  // Before the cut: the end of a key has nothing that tells it from other text.
  return newest(withoutCutKey(redact(text)));
}

function journalSources(): Source[] {
  const journal = (name: string, args: readonly string[]): Source => ({
    name: `bootstrap/journals/${name}.log`,
    read: (signal) =>
      run('journalctl', ['--boot', '--no-pager', '--output=short-iso', '--lines=4000', ...args], {
        signal,
        deadlineMs: JOURNAL_DEADLINE_MS,
      }),
  });
  return [
    ...UNITS.map((unit) => journal(unit, [`--unit=${unit}`])),
    journal('warnings', ['--priority=warning']),
  ];
}

/** The files of a folder; a folder that is not there has none. */
async function folderSources(folder: string, inBundle: string): Promise<Source[]> {
  try {
    const names = await readdir(folder);
    return names.toSorted().map((name) => fileSource(join(folder, name), `${inBundle}/${name}`));
  } catch {
    return [];
  }
}

const fileSource = (path: string, name: string): Source => ({
  name,
  read: () => readEnd(path),
});

/** The end of a file, from the beginning of a line. */
async function readEnd(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const length = Math.min(size, MAX_READ_BYTES);
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(length),
      position: size - length,
    });
    const text = buffer.toString('utf8', 0, bytesRead);
    return length === size ? text : text.slice(text.indexOf('\n') + 1);
  } finally {
    await file.close();
  }
}

/** Without the end of a key whose beginning was rotated away, or cut where the text was read. */
function withoutCutKey(redacted: string): string {
  const parts = redacted.split(/-----END [A-Z ]*PRIVATE KEY-----/);
  const last = parts.length - 1;
  return parts
    .map((part, index) => (index < last ? part.slice(0, -LONGEST_KEY) : part))
    .join('<redacted>');
}

const newest = (text: string) =>
  text.length <= MAX_SOURCE_LENGTH
    ? text
    : `(the beginning was left out)\n${text.slice(-MAX_SOURCE_LENGTH)}`;
