import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import pMap from 'p-map';
import { ensureComponent } from '../lab/components/component.ts';
import { containerd, debianContainerd } from '../lab/components/containerd.ts';
import { payload as payloadComponent } from '../lab/payload.ts';
import { connectRuntime } from '../lib/clients/cri/runtime.ts';
import { containerdImporter } from '../lib/payload/containerd.ts';
import { importImages } from '../lib/payload/images.ts';
import { type Payload, payloadPath, readPayload } from '../lib/payload/payload.ts';
import type { BenchContext, Benchmark, Row } from './benchmark.ts';
import { compare, interleaved, type Pair } from './statistics.ts';

const REPETITIONS = 3;
const START_MS = 60_000;
const IMPORT_MS = 5 * 60_000;
const BUILD_MS = 60 * 60_000;
const AT_ONCE = 2;
const note =
  'both import two images at a time and sync the file system; processor time is that of containerd, of ctr and of the importing program';

interface Cost {
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
}

/** A containerd with an empty root. */
interface Runtime {
  readonly programs: string;
  readonly root: string;
  readonly socket: string;
  readonly pid: number;
}

type Import = (runtime: Runtime, payload: Payload, signal: AbortSignal) => Promise<void>;

/** Images of a payload: their layers placed in containerd's store, compared with `ctr images import`. */
export const images: Benchmark = {
  name: 'images',
  compares: "importing the lab's payload into containerd, compared with ctr images import",
  deadlineMs: BUILD_MS,
  async run(signal, context) {
    const build = { signal, report: context.report };
    const payload = await readPayload(await ensureComponent(payloadComponent, build));
    const rows: Row[] = [];
    for (const component of [debianContainerd, containerd]) {
      const programs = await ensureComponent(component, build);
      const measured = (way: Import) => () => measure(programs, payload, way, signal, context);
      const pairs = await interleaved(REPETITIONS, measured(placed), measured(whole));
      rows.push(...rowsOf(`containerd ${component.version}`, pairs));
    }
    return { rows, versions: { kubernetes: payload.versions.kubernetes } };
  },
};

const placed: Import = async ({ root, socket }, payload, signal) => {
  using runtime = connectRuntime(socket);
  const silent = { report: () => undefined, warn: () => undefined, verify: async () => undefined };
  const limits = { signal, deadlineMs: IMPORT_MS, imported: new Set<string>() };
  await importImages(payload, containerdImporter(runtime, root), { ...limits, ...silent });
};

const whole: Import = async ({ socket }, payload, signal) => {
  const limits = { cancelSignal: signal, timeout: IMPORT_MS };
  await pMap(
    payload.images,
    async ({ archive }) => {
      const path = await payloadPath(payload, archive);
      await execa('ctr', ['-a', socket, '-n', 'k8s.io', 'images', 'import', path], limits);
    },
    { concurrency: AT_ONCE },
  );
};

async function measure(
  programs: string,
  payload: Payload,
  way: Import,
  signal: AbortSignal,
  { folder, report }: BenchContext,
): Promise<Cost> {
  return withRuntime(programs, folder, signal, async (runtime) => {
    const cpu = await cpuSeconds(runtime.pid);
    const start = performance.now();
    await way(runtime, payload, signal);
    await execa('sync', ['--file-system', runtime.root], { timeout: IMPORT_MS });
    const wallSeconds = (performance.now() - start) / 1000;
    report(`${way === placed ? 'ours' : 'ctr'}: ${wallSeconds.toFixed(1)} s`);
    return { wallSeconds, cpuSeconds: (await cpuSeconds(runtime.pid)) - cpu };
  });
}

async function withRuntime<T>(
  programs: string,
  folder: string,
  signal: AbortSignal,
  use: (runtime: Runtime) => Promise<T>,
): Promise<T> {
  const place = join(folder, 'containerd');
  const [root, socket] = [join(place, 'root'), join(place, 'sock')];
  await mkdir(place, { recursive: true });
  const config = [
    ...['version = 2', `root = "${root}"`, `state = "${join(place, 'state')}"`],
    ...[`[grpc]\naddress = "${socket}"`, `[ttrpc]\naddress = "${socket}.ttrpc"`],
    `[plugins."io.containerd.internal.v1.opt"]\npath = "${join(place, 'opt')}"`,
  ];
  await writeFile(join(place, 'config.toml'), config.join('\n'));
  const before = process.env.PATH;
  process.env.PATH = `${programs}:${before}`;
  const server = execa('containerd', ['--config', join(place, 'config.toml')], {
    ...{ reject: false, stdin: 'ignore', all: true, cleanup: true, cancelSignal: signal },
  });
  try {
    if (server.pid === undefined) throw new Error('containerd does not start');
    await untilServed(socket, signal);
    return await use({ programs, root, socket, pid: server.pid });
  } finally {
    process.env.PATH = before;
    server.kill('SIGKILL');
    await server;
    await rm(place, { recursive: true, force: true });
  }
}

async function untilServed(socket: string, signal: AbortSignal): Promise<void> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(START_MS)]);
  using runtime = connectRuntime(socket);
  for (;;) {
    const limits = { signal: within, deadlineMs: START_MS, waitForReady: true };
    const answers = await runtime.status(limits).then(
      () => true,
      () => false,
    );
    if (answers) return;
    await sleep(100, undefined, { signal: within });
  }
}

/** Of a process and of this one, each with its ended children: proc_pid_stat(5), fields 14 to 17. */
async function cpuSeconds(pid: number): Promise<number> {
  const texts = await Promise.all(
    [`${pid}`, 'self'].map((each) => readFile(`/proc/${each}/stat`, 'utf8')),
  );
  const ticks = texts.map((text) => {
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  });
  return ticks.reduce((sum, each) => sum + each, 0) / 100;
}

function rowsOf(what: string, pairs: readonly Pair<Cost>[]): Row[] {
  const row = (quantity: string, pick: (cost: Cost) => number) =>
    compare(
      { what: `${what}, ${quantity}`, unit: 's', note },
      pairs.map(({ ours }) => pick(ours)),
      pairs.map(({ theirs }) => pick(theirs)),
    );
  return [
    row('wall time', ({ wallSeconds }) => wallSeconds),
    row('processor time', ({ cpuSeconds }) => cpuSeconds),
  ];
}
