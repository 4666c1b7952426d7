import { createWriteStream } from 'node:fs';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';
import { run } from '../../lib/host/command.ts';
import { exists } from '../../lib/host/files.ts';
import { redact } from '../../lib/log/redact.ts';
import { journalPath } from '../../lib/steps/agent-command.ts';
import { describeError } from '../../lib/steps/failure.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import { objectsFolder } from './api-objects.ts';
import type { LiveContext } from './context.ts';

export const bundlePath = ({ paths }: LiveContext) =>
  join(paths.assets, 'log-bundle-bootstrap.tar.gz');

const UNITS = [
  'bootkube',
  'install-to-disk',
  'approve-csr',
  'progress',
  'sno-executable',
  'kubelet',
  'containerd',
  'crio',
] as const;

/** Of each source, the newest part: a bundle travels in the Ignition, which has to stay small. */
const MAX_SOURCE_BYTES = 512 * 1024;

interface Source {
  readonly name: string;
  read(): Promise<string>;
}

/**
 * Packs journals, container logs, the objects of the API and the step journal, in
 * the layout of the installer's bundle. Text goes through the redaction of the log;
 * a source that fails leaves its reason in its place.
 */
export const logBundle: StepBody<LiveContext> = {
  name: 'log-bundle',
  leaves: '/opt/openshift/log-bundle-bootstrap.tar.gz (0600)',
  input: ({ cluster }) => cluster.clusterId,
  holds: (context) => exists(bundlePath(context)),
  async run(context, { signal }) {
    const archive = pack();
    const partial = `${bundlePath(context)}.partial`;
    const target = createWriteStream(partial, { mode: 0o600 });
    try {
      const [count] = await Promise.all([
        addSources(archive, context, signal),
        pipeline(archive, createGzip(), target, { signal }),
      ]);
      await rename(partial, bundlePath(context));
      return done(`${count} files`);
    } finally {
      await rm(partial, { force: true });
    }
  },
};

async function addSources(
  archive: Pack,
  context: LiveContext,
  signal: AbortSignal,
): Promise<number> {
  const sources = [
    ...journalSources(signal),
    ...(await folderSources('/var/log/containers', 'bootstrap/containers')),
    ...(await folderSources(context.paths.serviceRecords, 'bootstrap/services')),
    ...(await folderSources(objectsFolder(context), 'resources')),
    fileSource(journalPath(context.paths, 'bootkube'), 'bootstrap/steps/bootkube.jsonl'),
  ];
  for (const { name, read } of sources) {
    const text = await read().catch(
      (error: unknown) => `could not be read: ${describeError(error)}\n`,
    );
    const safe = redact(newest(text));
    archive.entry({ name: `log-bundle-bootstrap/${name}`, mode: 0o600 }, safe);
  }
  archive.finalize();
  return sources.length;
}

function journalSources(signal: AbortSignal): Source[] {
  const read = (args: readonly string[]) =>
    run('journalctl', ['--boot', '--no-pager', '--output=short-iso', ...args], {
      signal,
      deadlineMs: 30_000,
    });
  return [
    ...UNITS.map((unit) => ({
      name: `bootstrap/journals/${unit}.log`,
      read: () => read([`--unit=${unit}`, '--lines=4000']),
    })),
    {
      name: 'bootstrap/journals/warnings.log',
      read: () => read(['--priority=warning', '--lines=4000']),
    },
  ];
}

async function folderSources(folder: string, inBundle: string): Promise<Source[]> {
  try {
    const names = await readdir(folder);
    return names.map((name) => fileSource(join(folder, name), `${inBundle}/${name}`));
  } catch {
    return [];
  }
}

const fileSource = (path: string, name: string): Source => ({
  name,
  read: () => readFile(path, 'utf8'),
});

const newest = (text: string) =>
  text.length <= MAX_SOURCE_BYTES
    ? text
    : `(the beginning was left out)\n${text.slice(-MAX_SOURCE_BYTES)}`;
