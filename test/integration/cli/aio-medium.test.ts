import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Decrypter } from 'age-encryption';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { decodeDataUrl } from '../../../lib/base/data-url.ts';
import { hostArchitecture } from '../../../lib/host/architecture.ts';
import { parseConfig } from '../../../lib/render/ignition/config.ts';
import { effectiveConfig } from '../../../lib/render/ignition/validate.ts';
import { MEDIUM_LABEL } from '../../../units/aio.ts';
import { agentsExecutable } from '../../unit/cli/agents-executable.ts';
import { edited, GOOD } from '../../unit/cli/install-config-file.ts';
import { type Run, sno } from '../../unit/cli/run-sno.ts';
import { programBytes } from '../../unit/payload/elf/program.ts';

const within = { timeout: 60_000 };
const skip = (await execa('xorriso', ['-version'], { ...within, reject: false })).failed
  ? 'xorriso is not installed'
  : false;
const files = {
  // Names that ISO 9660 alone would cut to the same one.
  'images/kube-controller-manager.tar': randomBytes(300_000),
  'images/kube-controller-runtime.tar': randomBytes(70_001),
  'bin/kubelet': Buffer.concat([programBytes(), randomBytes(200_001)]),
};

/** A folder with install-config.yaml, a payload and an executable beside it. */
async function folder(t: Pick<Test, 'testdir'>, config = GOOD): Promise<string> {
  const root = t.testdir({ cluster: { 'install-config.yaml': config } });
  for (const [path, contents] of Object.entries(files)) {
    await mkdir(join(root, 'payload', path, '..'), { recursive: true });
    await writeFile(join(root, 'payload', path), contents);
  }
  const entry = (path: keyof typeof files) => ({
    size: files[path].length,
    sha256: createHash('sha256').update(files[path]).digest('hex'),
  });
  const images = (['kube-controller-manager', 'kube-controller-runtime'] as const).map((name) => ({
    name,
    reference: `registry.k8s.io/${name}:v1.37.2`,
    id: `sha256:${'a'.repeat(64)}`,
    archive: `images/${name}.tar`,
    ...entry(`images/${name}.tar`),
  }));
  const payload = {
    apiVersion: 'sno-agents/v1',
    kind: 'Payload',
    architecture: hostArchitecture(),
    versions: { kubernetes: 'v1.37.2', etcd: 'v3.6.8' },
    images,
    binaries: [{ name: 'kubelet', file: 'bin/kubelet', ...entry('bin/kubelet') }],
  };
  await writeFile(join(root, 'payload/payload.yaml'), JSON.stringify(payload));
  await writeFile(join(root, 'sno-agents'), agentsExecutable());
  return root;
}

const create = (
  root: string,
  iso: string,
  environment = { PATH: process.env.PATH ?? '' },
  executable = ['--agents-executable', join(root, 'sno-agents')],
) =>
  sno(
    [
      ...['create', 'aio-ignition', '--dir', join(root, 'cluster'), ...executable],
      ...['--payload', join(root, 'payload'), '--medium-iso', join(root, iso)],
    ],
    environment,
  );

t.test('the second medium has executable and payload, under its label', { skip }, async (t) => {
  const root = await folder(t);
  const first: Run = await create(root, 'a.iso');
  const said = first.err.split('\n').filter((line) => line !== '' && !line.startsWith('Notice: '));
  t.strictSame(said, []);
  t.equal(first.code, 0);
  const iso = join(root, 'a.iso');
  t.equal((await stat(iso)).mode & 0o777, 0o600);
  const { stdout, stderr } = await execa('xorriso', ['-indev', iso, '-pvd_info'], within);
  t.match(`${stdout}${stderr}`, new RegExp(`Volume [Ii]d *: '?${MEDIUM_LABEL}'?$`, 'm'));
  const target = join(root, 'extracted');
  await execa('xorriso', ['-osirrox', 'on', '-indev', iso, '-extract', '/', target], within);
  t.same(await readdir(target), ['sno-agents']);
  const contents = join(target, 'sno-agents');
  t.same(await readFile(join(contents, 'sno-agents')), agentsExecutable());
  for (const [path, bytes] of Object.entries(files)) {
    t.ok(bytes.equals(await readFile(join(contents, 'payload', path))), path);
  }
  t.same(
    await readFile(join(contents, 'payload/payload.yaml')),
    await readFile(join(root, 'payload/payload.yaml')),
  );

  t.test('is kept, and named together with the config', async (t) => {
    const { code, err } = await create(root, 'a.iso');
    t.equal(code, 2);
    t.match(err, /2 errors.*\n.*aio\.ign.*\n.*a\.iso/);
  });
});

t.test('the executable on the medium is the pinned one', { skip }, async (t) => {
  const root = await folder(t);
  // As in a built sno: it knows a digest, and its release has the executable beside it.
  Object.assign(globalThis, { __SNO_AGENTS_SHA256__: 'f'.repeat(64) });
  t.teardown(() => Reflect.deleteProperty(globalThis, '__SNO_AGENTS_SHA256__'));
  t.intercept(process, 'execPath', { value: join(root, 'sno') });
  const { code, err } = await create(root, 'd.iso', undefined, []);
  t.equal(code, 0, err);
  const target = join(root, 'extracted');
  const path = join(target, 'sno-agents');
  const iso = ['-osirrox', 'on', '-indev', join(root, 'd.iso')];
  await execa('xorriso', [...iso, '-extract', '/sno-agents/sno-agents', path], within);
  const ignition = parseConfig(await readFile(join(root, 'cluster/aio.ign'), 'utf8'), 'aio.ign');
  const pinned = ignition.storage?.files?.find(({ path }) => path.endsWith('/executable.sha256'));
  t.equal(
    decodeDataUrl(pinned?.contents ?? {})
      .toString('utf8')
      .split(' ')[0],
    createHash('sha256')
      .update(await readFile(path))
      .digest('hex'),
  );
});

t.test(
  'in place, the medium has the bundle too, and the user data its key',
  { skip },
  async (t) => {
    const self = edited([
      ['  installationDisk: /dev/disk/by-id/wwn-0x1\n', '  target: self\n'],
      ['  existingSystem: overwrite\n', ''],
    ]);
    const root = await folder(t, self);
    const dir = join(root, 'cluster');
    const iso = join(root, 'e.iso');
    const { code, err } = await sno(
      [
        ...['create', 'in-place-ignition', '--dir', dir, '--medium-iso', iso],
        ...['--payload', join(root, 'payload'), '--agents-executable', join(root, 'sno-agents')],
      ],
      { PATH: process.env.PATH ?? '' },
    );
    t.equal(code, 0, err);
    t.match(err, /remove the medium and delete it/);
    t.notOk(existsSync(join(dir, 'in-place.bundle')), 'it is on the medium only');
    const target = join(root, 'extracted');
    const extract = ['-osirrox', 'on', '-indev', iso, '-extract', '/sno-agents', target];
    await execa('xorriso', extract, within);
    t.same((await readdir(target)).toSorted(), ['in-place.bundle', 'payload', 'sno-agents']);
    const text = await readFile(join(dir, 'in-place.ign'), 'utf8');
    const { config } = effectiveConfig(parseConfig(text, 'in-place.ign'));
    const written = config.storage?.files ?? [];
    const described = written.find(({ path }) => path.endsWith('/in-place.json'));
    const { bundle } = JSON.parse(decodeDataUrl(described?.contents ?? {}).toString('utf8'));
    t.equal(bundle.url, undefined);
    const bytes = await readFile(join(target, 'in-place.bundle'));
    t.equal(bundle.sha256, createHash('sha256').update(bytes).digest('hex'));
    const decrypter = new Decrypter();
    decrypter.addIdentity(bundle.key);
    t.match(await decrypter.decrypt(bytes, 'text'), 'kube-apiserver-serving-ca.key');
    const units = config.systemd?.units?.map(({ name }) => name) ?? [];
    for (const name of ['run-media-iso.mount', 'sno-executable.service', 'sno-in-place.service'])
      t.ok(units.includes(name), name);
    t.notOk(
      written.some(({ path }) => path.endsWith('/executable.curl')),
      'nothing is fetched',
    );
  },
);

t.test('nothing is written without the program that makes it', async (t) => {
  const root = await folder(t);
  const { code, err } = await create(root, 'b.iso', { PATH: join(root, 'nowhere') });
  t.equal(code, 2);
  t.match(err, /needs xorriso \(the package xorriso\)/);
  t.notMatch(err, /coreos-installer/);
  t.notOk(existsSync(join(root, 'b.iso')));
  t.same(await readdir(join(root, 'cluster')), ['install-config.yaml']);
});

t.test('a damaged payload is refused', async (t) => {
  const root = await folder(t);
  await writeFile(join(root, 'payload/bin/kubelet'), 'another');
  const { code, err } = await create(root, 'c.iso');
  t.equal(code, 2);
  t.match(err, /payload .*is damaged[\s\S]*bin\/kubelet/);
  t.same(await readdir(join(root, 'cluster')), ['install-config.yaml']);
});
