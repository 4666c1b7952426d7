/** Covers the folders of a fresh disk, killed before each of the mounts, in a mount namespace of its own: `killed.ts FOLDER`. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { coverFolders } from '../../../agents/in-place/cover-folders.ts';
import { createLogger } from '../../../lib/base/log/logger.ts';
import { Progress } from '../../../lib/engine/steps/progress.ts';
import { run } from '../../../lib/host/command.ts';
import { mountsOf } from '../../../lib/host/mounted-type.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';
import { cluster } from '../../unit/agents/host/cluster.ts';
import { dying } from '../../unit/engine/steps/killed-at-any-moment.ts';

const [folder = ''] = process.argv.slice(2);
const signal = AbortSignal.timeout(80_000);
const log = createLogger({ write: (line) => process.stderr.write(line), priorities: false });
const progress = new Progress(signal, performance.now() + 80_000, log, { waiting: () => true });
const { clusterId, name, baseDomain } = cluster;
const described = {
  ...{ apiVersion: 'sno-agents/v1' as const, clusterId, name, baseDomain },
  bundle: { sha256: 'a'.repeat(64), key: 'AGE-SECRET-KEY-1Q' },
};

async function newHost(at: number) {
  const disk = join(folder, `${at}`);
  for (const each of ['etc', 'proc', 'var/lib/sno-agents/bin'])
    await mkdir(join(disk, each), { recursive: true });
  await writeFile(join(disk, 'var/lib/sno-agents/bin/sno-agents'), 'the executable');
  for (const args of [
    ['--bind', disk, disk],
    ['--make-shared', disk],
    ['--rbind', '/proc', join(disk, 'proc')],
  ]) {
    await run('mount', args, { signal, deadlineMs: 10_000 });
  }
  const host = { settings: defaultSettings, cluster: described, bootTime: async () => new Date() };
  return { ...host, paths: hostPaths(disk) };
}

type Host = Awaited<ReturnType<typeof newHost>>;

/** How often something is mounted at each place of this disk. */
async function mounted({ paths }: Host): Promise<string[]> {
  const places = (await mountsOf(paths)).map(({ place }) => place);
  const own = places.filter((place) => place.startsWith(`${paths.root}/`));
  return own
    .map(paths.onHost)
    .filter((place) => !place.startsWith('/proc'))
    .toSorted();
}

const whole = await newHost(-1);
const { effects } = await dying(Number.POSITIVE_INFINITY, false, () =>
  coverFolders.run(whole, progress),
);
const results: { before: string; mounted: string[]; holds: boolean }[] = [];
for (const [at, { text }] of effects.entries()) {
  if (!text.startsWith('mount ')) continue;
  const host = await newHost(at);
  await dying(at, false, () => coverFolders.run(host, progress));
  await coverFolders.run(host, progress);
  const holds = await coverFolders.holds(host, progress);
  results.push({
    before: text.replaceAll(whole.paths.root, ''),
    mounted: await mounted(host),
    holds,
  });
}
process.stdout.write(JSON.stringify({ whole: await mounted(whole), results }));
