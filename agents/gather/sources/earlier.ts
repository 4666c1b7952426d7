import { mkdir, mkdtemp, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { exists } from '../../../lib/host/files.ts';
import type { ArchiveLimits } from '../../../report/archive/read-archive.ts';
import { isReportInput } from '../../../report/inputs.ts';
import type { GatherHost } from '../gather-host.ts';
import type { GatherPhase, Source, SourceGroup } from '../source.ts';
import { usual } from './command.ts';
import { formatOf } from './file.ts';
import { missing } from './made.ts';
import { type UnpackedFile, unpack, unpackedContents } from './unpack.ts';

const FOLDER = 'log-bundle-bootstrap';
/** The live stage's bundle is limited by the Ignition config that carried it. */
const MAX_BYTES = 512 << 20;
const LIMITS = { entries: 10_000, fileBytes: 128 << 20 } as const;
/** Limit of a diagnosis file, as elsewhere. */
const SMALL_BYTES = usual.limitBytes;

/** The earlier bundle's own report is outdated; this bundle's rules read the files it was based on. */
const REPORTS = new Set(['report.html', 'report.json', 'SUMMARY.txt']);
/** The live stage's bundle, brought to the installed host by Ignition, as part of this one. */
export const earlier: SourceGroup = {
  name: 'earlier',
  deadlineMs: 30_000,
  async list(host, signal) {
    const archive = host.paths.at('/var/log/log-bundle-bootstrap.tar.gz');
    if (!(await exists(archive))) return [];
    const { files, refused, failure } = await unpack(
      archive,
      await folderFor(host),
      await limitsFor(host),
      signal,
    );
    const faults = [
      ...(failure === undefined ? [] : [failure]),
      ...(refused.length === 0
        ? []
        : [new Failure('fatal', `left out of ${archive}`, { found: refused.join(', ') })]),
    ];
    return [
      ...files.filter(({ name }) => !REPORTS.has(name)).map(sourceOf),
      ...faults.map((fault, index) => missing(`${FOLDER}/unread-${index + 1}.txt`, fault)),
    ];
  },
};

function sourceOf({ name, place }: UnpackedFile): Source {
  const phase = phaseOf(name);
  const limitBytes = phase === 'diagnosis' ? SMALL_BYTES : LIMITS.fileBytes;
  return {
    ...usual,
    path: `${FOLDER}/${name}`,
    format: formatOf(name),
    phase,
    limitBytes,
    deadlineMs: phase === 'diagnosis' ? 10_000 : 60_000,
    ...(name.endsWith('.gz') ? { gzipped: true } : {}),
    open: (_, signal) => unpackedContents(place, MAX_BYTES, signal),
  };
}

/** The collection phase of a file of the earlier bundle, by its path in it. */
export function phaseOf(name: string): GatherPhase {
  return isReportInput(`${FOLDER}/${name}`) ? 'diagnosis' : 'bulk';
}

/** A fresh folder: a repeated listing starts over. */
async function folderFor({ work }: GatherHost): Promise<string> {
  await mkdir(work, { recursive: true, mode: 0o700 });
  return mkdtemp(join(work, 'earlier-'));
}

/** Unpacked, it uses no more disk space than a gather may. */
async function limitsFor({ work, settings }: GatherHost): Promise<ArchiveLimits> {
  const { bavail, bsize } = await statfs(work);
  const share = (bavail * bsize * settings.gatherDiskSharePercent) / 100;
  return { ...LIMITS, bytes: Math.min(MAX_BYTES, share) };
}
