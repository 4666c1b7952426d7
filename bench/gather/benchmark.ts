import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../lib/host/command.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { type BenchContext, type Benchmark, NotRunHere, type Row } from '../benchmark.ts';
import { bundledProgram } from '../bundled-program.ts';
import { expectGnuTime, measureProcess, type ProcessCost } from '../measured-process.ts';
import { compare, interleaved } from '../statistics.ts';
import { expectJournalRemote, type GatherData, makeData } from './data.ts';

const GIB = 2 ** 30;
const MIB = 2 ** 20;
const REPETITIONS = 3;
const ONE_MS = 10 * 60_000;

/** The shell's gather: journal and logs are written to a folder, and the folder to an archive. */
const PIPELINE = `
set -eu
mkdir -p "$3/b/journals" "$3/b/containers"
journalctl --directory="$1" --no-pager --no-hostname --output=short-iso-precise | pigz > "$3/b/journals/journal.log.gz"
cp "$2"/* "$3/b/containers/"
tar -C "$3" -c b | pigz > "$4"
rm -r "$3/b"
`;

interface Cost extends ProcessCost {
  readonly bundleMiB: number;
}

export const gatherBench: Benchmark = {
  name: 'gather',
  compares:
    '1 GiB of journal files and 1 GiB of container logs: gather compared with journalctl, cp, tar and pigz',
  deadlineMs: 60 * 60_000,
  async run(signal, context) {
    await expectGnuTime();
    await expectJournalRemote();
    await expectPigz(signal);
    context.report('making journals and logs');
    const data = await makeData(context.folder, GIB, signal);
    const size = (bytes: number) => `${Math.round(bytes / MIB)} MiB`;
    context.report(`${size(data.journalBytes)} of journals, ${size(data.logBytes)} of logs`);
    return { rows: rowsOf(await measureBoth(data, signal, context)), versions: {} };
  },
};

async function expectPigz(signal: AbortSignal): Promise<void> {
  await run('pigz', ['--version'], { signal, deadlineMs: 10_000 }).catch(() => {
    throw new NotRunHere('pigz is missing');
  });
}

async function measureBoth(
  { journals, logs }: GatherData,
  signal: AbortSignal,
  { folder, report }: BenchContext,
) {
  const program = await bundledProgram(join(import.meta.dirname, 'ours.ts'), folder);
  const root = await makeRoot(join(folder, 'root'));
  const target = join(folder, 'bundle.tar.gz');
  const measured = async (name: string, file: string, args: readonly string[]): Promise<Cost> => {
    const cost = await measureProcess(file, args, folder, { signal, deadlineMs: ONE_MS });
    const bundleMiB = (await stat(target)).size / MIB;
    await rm(target);
    report(`${name}: ${cost.wallSeconds.toFixed(1)} s, ${Math.round(cost.peakMiB)} MiB`);
    return { ...cost, bundleMiB };
  };
  return interleaved(
    REPETITIONS,
    () => measured('gather', process.execPath, [program, journals, logs, root, target]),
    () => measured('pipeline', 'sh', ['-c', PIPELINE, 'sh', journals, logs, folder, target]),
  );
}

/** Of a host that has only gather's working folders, and none of its limits. */
async function makeRoot(root: string): Promise<string> {
  const { config, at } = hostPaths(root);
  await mkdir(config, { recursive: true });
  await mkdir(at('/var/tmp'), { recursive: true });
  const settings = { gatherMs: ONE_MS, gatherDiskSharePercent: 90 };
  await writeFile(join(config, 'settings.json'), JSON.stringify(settings));
  return root;
}

const note =
  'Ours also redacts secrets and keeps the bundle within its limits; it compresses at a lower level.';

function rowsOf(pairs: Awaited<ReturnType<typeof measureBoth>>): Row[] {
  const row = (what: string, unit: string, pick: (cost: Cost) => number) =>
    compare(
      { what, unit, note },
      pairs.map(({ ours }) => pick(ours)),
      pairs.map(({ theirs }) => pick(theirs)),
    );
  return [
    row('wall time', 's', ({ wallSeconds }) => wallSeconds),
    row('processor time', 's', ({ cpuSeconds }) => cpuSeconds),
    row('peak memory', 'MiB', ({ peakMiB }) => peakMiB),
    row('bundle size', 'MiB', ({ bundleMiB }) => bundleMiB),
  ];
}
