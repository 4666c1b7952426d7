import t from 'tap';
import { z } from 'zod';
import { catalogue } from '../../../../agents/gather/catalogue.ts';
import type { GatherHost } from '../../../../agents/gather/gather-host.ts';
import type { Source } from '../../../../agents/gather/source.ts';
import { hostAt, textOf } from '../../../unit/gather/sources/host.ts';

const ON_THIS_MACHINE = new Set(['systemd', 'network', 'disks', 'node', 'kubelet']);

async function everything(host: GatherHost): Promise<Source[]> {
  const lists = await Promise.all(
    catalogue.map((group) => group.list(host, AbortSignal.timeout(group.deadlineMs))),
  );
  return lists.flat();
}

t.test('every path is unique and inside the bundle', async (t) => {
  const hosts = {
    live: hostAt('/', t.testdir(), { stage: 'live', folder: 'bootstrap' }),
    installed: hostAt('/', t.testdir()),
    part: hostAt('/', t.testdir(), { folder: '' }),
  };
  for (const [name, host] of Object.entries(hosts)) {
    const paths = (await everything(host)).map(({ path }) => path);
    t.ok(paths.length > 50, `${name}: ${paths.length} sources`);
    t.equal(new Set(paths).size, paths.length, `${name}: no path twice`);
    for (const path of paths) {
      const isInside = path
        .split('/')
        .every((part) => part !== '' && part !== '.' && part !== '..');
      t.ok(isInside, `${name}: ${path}`);
    }
  }
});

t.test('on an empty host nothing fails because it is absent', async (t) => {
  const root = t.testdir({});
  const host = hostAt(root, root);
  for (const group of catalogue) {
    await t.resolves(group.list(host, AbortSignal.timeout(group.deadlineMs)), group.name);
  }
});

t.test('the diagnosis is small and quick by its limits', async (t) => {
  for (const { path, phase, limitBytes, deadlineMs } of await everything(
    hostAt('/', t.testdir()),
  )) {
    if (phase === 'bulk') continue;
    t.ok(limitBytes <= 4 << 20, `${path}: at most 4 MiB`);
    t.ok(deadlineMs <= 10_000, `${path}: at most 10 s`);
  }
});

t.test('the oldest journals are left out first', async (t) => {
  t.equal(catalogue.at(-1)?.name, 'journals');
  const first = catalogue.findIndex(({ name }) => name === 'journals');
  t.not(first, catalogue.length - 1, 'those of this boot come earlier');
});

t.test('each source of this machine has contents or names its reason', async (t) => {
  const host = hostAt('/', t.testdir());
  for (const group of catalogue.filter(({ name }) => ON_THIS_MACHINE.has(name))) {
    for (const source of await group.list(host, AbortSignal.timeout(group.deadlineMs))) {
      if (source.phase === 'bulk') continue;
      const reason = await textOf(source, host).then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : ''),
      );
      t.not(reason, '', `${source.path}: ${reason ?? 'read'}`);
    }
  }
});

t.test('files that every Linux has are collected unchanged', async (t) => {
  const host = hostAt('/', t.testdir());
  const sources = new Map((await everything(host)).map((source) => [source.path, source]));
  const text = async (path: string) => {
    const source = sources.get(`control-plane/master/${path}`);
    if (source === undefined) throw new Error(`no ${path}`);
    return textOf(source, host);
  };
  t.match(await text('proc/meminfo.txt'), /^MemTotal: /);
  t.match(await text('proc/mounts.txt'), / \/proc proc /);
  t.match(await text('proc/processes.txt'), new RegExp(`^ *${process.pid} `, 'm'));
  t.match(await text('os-release.txt'), /^ID=/m);
  const df: unknown = JSON.parse(await text('disks/df.json'));
  t.match(df, [{ target: String, type: String, sizeBytes: Number, filesFree: Number }]);
  const written = z.array(z.object({ writes: z.array(z.string()) })).parse(df);
  t.ok(
    written.some(({ writes }) => writes.includes('/var/log')),
    'the file system of each folder is known by what df says of it',
  );
});
