/** The disk of a host that bootstraps in memory, with real mounts, and with systemctl for the units of the installed host. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { MEMORY_FOLDERS } from '../../../lib/cluster/installation/in-place/places.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { configOf, file, unit } from '../../../lib/render/ignition/entries.ts';
import { cluster } from '../../unit/agents/host/cluster.ts';
import { bundleOf, FOLDER, liveConfig, URL } from '../../unit/agents/in-place/in-place-host.ts';

const BOOT = join(import.meta.dirname, 'boot.ts');
const KILLED = join(import.meta.dirname, 'killed.ts');
const KEY = 'the key of a CA';
const MASTER = configOf({
  files: [file('/etc/kubernetes/pki/server.key', 0o600, 'a key that stays')],
  units: [
    unit('kubelet.service', {
      enabled: true,
      contents: '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n',
    }),
  ],
});

const bundle = await bundleOf(liveConfig);

async function newDisk(root: string): Promise<string> {
  const disk = join(root, 'disk');
  await mkdir(join(disk, FOLDER), { recursive: true });
  await mkdir(join(disk, 'var/lib/sno-agents/bin'));
  await writeFile(join(disk, 'var/lib/sno-agents/bin/sno-agents'), 'the executable');
  await mkdir(join(disk, 'etc/systemd/system'), { recursive: true });
  const { clusterId, name, baseDomain } = cluster;
  const config = {
    ...{ apiVersion: 'sno-agents/v1', clusterId, name, baseDomain },
    bundle: { url: URL, sha256: sha256(bundle.bytes), key: bundle.key },
  };
  await writeFile(join(disk, FOLDER, 'in-place.json'), JSON.stringify(config), { mode: 0o600 });
  await writeFile(join(disk, FOLDER, 'bundle.age'), bundle.bytes);
  return disk;
}

/** What the host has in its folders at the end of that boot. */
async function boot(disk: string, action: string): Promise<{ seen: string[]; state: string[] }> {
  const unshared = ['--mount', '--propagation', 'private', process.execPath, BOOT];
  const { stdout } = await execa('unshare', [...unshared, disk, action], {
    timeout: 90_000,
    env: { MASTER: JSON.stringify(MASTER) },
  });
  return JSON.parse(stdout);
}

/** The files on the disk with this text, seen from outside. */
async function filesWith(disk: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(disk, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    if ((await readFile(path)).includes(text)) found.push(path.slice(disk.length));
  }
  return found.toSorted();
}

t.test('nothing of the bootstrap is on the disk, and the installed host is', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'in-place-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const disk = await newDisk(root);

  const begun = await boot(disk, 'bootstrap');
  t.same(begun.state, ['sno-agents'], 'the executable is where it was');
  t.same(await filesWith(disk, KEY), [], 'the bundle was opened in memory');

  const done = await boot(disk, 'install');
  t.same(done.seen, [], 'what is installed appears after the restart');
  t.same(await filesWith(disk, KEY), []);
  t.same(await filesWith(disk, 'a key that stays'), ['/etc/kubernetes/pki/server.key']);
  t.same(await readdir(join(disk, 'etc/systemd/system/multi-user.target.wants')), [
    'kubelet.service',
  ]);
  t.match(await readFile(join(disk, 'var/lib/sno-agents/installation.json'), 'utf8'), '"finished"');
});

t.test('killed before each of the mounts, each folder is covered once', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'in-place-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const unshared = ['--mount', '--propagation', 'private', process.execPath, KILLED];
  const { stdout } = await execa('unshare', [...unshared, root], { timeout: 90_000 });
  const { whole, results } = JSON.parse(stdout);
  t.ok(results.length > MEMORY_FOLDERS.length, `${results.length} moments`);
  for (const { before, mounted, holds } of results) {
    t.equal(holds, true, `killed before ${before}`);
    t.same(mounted, whole, `killed before ${before}`);
  }
});
