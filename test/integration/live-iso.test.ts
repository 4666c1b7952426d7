import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { stringify } from 'yaml';
import { runSno } from '../../cli/sno.ts';
import { makeLiveIso } from '../../lab/components/live-iso.ts';
import { decodeDataUrl } from '../../lib/base/data-url.ts';
import { sha256 } from '../../lib/host/files.ts';
import { parseConfig } from '../../lib/render/ignition/config.ts';
import { agentsExecutable } from '../unit/cli/agents-executable.ts';
import { installerIgnition } from '../unit/cli/take-over/installer-ignition.ts';
import { ARM64 } from '../unit/payload/elf/program.ts';
import {
  payloadContents as files,
  installConfig,
  missingForIso,
  writeIsoPayload,
} from './iso-inputs.ts';

const SECTOR = 2048;
const IGNITION = 'bootstrap-in-place-for-live-iso.ign';
const signal = AbortSignal.timeout(20 * 60_000);
const within = { timeout: 60_000 };

const skip = await missingForIso(signal);
const folder = await mkdtemp(join(tmpdir(), 'iso-'));
t.teardown(() => rm(folder, { recursive: true }));
const at = (name: string) => join(folder, name);

const create = (dir: string, ...more: string[]) =>
  createIso(dir, '--payload', at('payload'), ...more);

/** What was said of the work under way. */
const stages: string[] = [];
async function createIso(dir: string, ...more: string[]) {
  const complaints: string[] = [];
  const iso = ['--iso', at('live.iso')];
  const code = await runSno(['create', 'single-node-iso', '--dir', at(dir), ...iso, ...more], {
    environment: { ...process.env, SNO_AGENTS_EXECUTABLE: at('executable') },
    print: () => undefined,
    complain: (text) =>
      void (
        text.startsWith('Notice: ') || (/^ *\S+s {2}/.test(text) ? stages : complaints).push(text)
      ),
    columns: 80,
    signal,
  });
  return { code, err: complaints.join('\n') };
}

/** Extracts a file or folder from an ISO. */
async function extract(iso: string, path: string, name: string): Promise<string> {
  const target = at(name);
  await execa('xorriso', ['-osirrox', 'on', '-indev', iso, '-extract', path, target], within);
  return target;
}

async function bootEntries(iso: string): Promise<string[]> {
  const args = ['-indev', iso, '-report_el_torito', 'plain'];
  const { stdout } = await execa('xorriso', args, { ...within, stderr: 'ignore' });
  return stdout.split('\n').filter((line) => /UEFI|img path|img opts/.test(line));
}

t.test('a live ISO gets Ignition, executable and payload', { skip: skip ?? false }, async (t) => {
  await writeIsoPayload(at('payload'));
  await writeFile(at('executable'), Buffer.concat([agentsExecutable(), randomBytes(500_000)]));
  await writeFile(at('os.raw.zst'), randomBytes(1_000_000));
  await makeLiveIso(at('live.iso'), at('os.raw.zst'), signal);
  const original = await readFile(at('live.iso'));
  await mkdir(at('cluster'));
  await writeFile(at('cluster/install-config.yaml'), stringify(installConfig));

  t.strictSame(await create('cluster'), { code: 0, err: '' });
  t.match(stages, [/Verifying/, /Copying .*live\.iso, \d+ MiB/, /Adding .* \d+ MiB/, /Embedding/]);
  const output = at('cluster/single-node.iso');
  t.equal((await stat(output)).mode & 0o777, 0o600, 'it holds secrets');
  const made = await readFile(output);
  t.ok(original.equals(await readFile(at('live.iso'))), 'the original stays as it is');

  const show = (what: string, iso: string) =>
    execa('coreos-installer', ['iso', what, 'show', iso], { ...within, stripFinalNewline: false });
  const ignition = await readFile(at(`cluster/${IGNITION}`), 'utf8');
  t.equal(
    (await show('ignition', output)).stdout,
    ignition,
    'the config is where it is looked for',
  );
  t.equal((await show('kargs', output)).stdout, (await show('kargs', at('live.iso'))).stdout);

  const carried = await extract(output, '/sno-agents', 'carried');
  t.strictSame((await readdir(join(carried, 'payload'))).toSorted(), [
    'bin',
    'images',
    'payload.yaml',
  ]);
  for (const [path, content] of Object.entries(files)) {
    t.ok(content.equals(await readFile(join(carried, 'payload', path))), path);
  }
  const executable = join(carried, 'sno-agents');
  t.ok((await readFile(at('executable'))).equals(await readFile(executable)));
  const { mode, uid, mtimeMs } = await stat(executable);
  t.strictSame([mode & 0o777, uid, mtimeMs], [0o755, 0, Date.UTC(1980, 0, 1)]);

  t.test('existing files on it are unchanged', async (t) => {
    const volumeSectors = original.readUInt32LE(16 * SECTOR + 80);
    const changed: number[] = [];
    // The system area and the volume descriptors come before.
    for (let sector = 19; sector < volumeSectors; sector += 1) {
      const [from, to] = [sector * SECTOR, (sector + 1) * SECTOR];
      if (!original.subarray(from, to).equals(made.subarray(from, to))) changed.push(sector);
    }
    const area = original.subarray(
      (changed[0] ?? 0) * SECTOR,
      ((changed.at(-1) ?? 0) + 1) * SECTOR,
    );
    t.ok(changed.length > 0 && area.length <= 256 * 1024, 'only the place for the config changed');
    t.ok(
      area.every((byte) => byte === 0),
      'which was empty',
    );
    t.strictSame(await bootEntries(output), await bootEntries(at('live.iso')));
  });

  t.test('on a USB stick, the mounted partition reaches the end of the ISO', async (t) => {
    t.equal(made.readUInt16LE(510), 0xaa55, 'a master boot record');
    t.equal(made.readUInt32LE(446 + 8), 0, 'from the beginning');
    t.equal(made.readUInt32LE(446 + 12) * 512, made.length, 'to the end');
    t.equal(made.subarray(512, 520).toString(), 'EFI PART');
    t.equal(made.subarray(-512, -504).toString(), 'EFI PART', 'the second table is at the end');
  });

  t.test('the same input produces the same bytes', async (t) => {
    await mkdir(at('other'));
    await copyFile(at(`cluster/${IGNITION}`), at(`other/${IGNITION}`));
    const { code } = await create('other', '--output', at('other/named.iso'));
    t.equal(code, 0);
    t.ok(made.equals(await readFile(at('other/named.iso'))));
  });

  t.test('an ISO for Arm, without BIOS and partition table, is accepted too', async (t) => {
    await makeLiveIso(at('arm.iso'), at('os.raw.zst'), signal, { bios: false });
    const arm = at('cluster/arm.iso');
    t.strictSame(await create('cluster', '--iso', at('arm.iso'), '--output', arm), {
      code: 0,
      err: '',
    });
    t.equal((await show('ignition', arm)).stdout, ignition);
    t.strictSame(await bootEntries(arm), await bootEntries(at('arm.iso')));
  });

  t.test('a config older than its folder is refused, with the changes', async (t) => {
    const config = at('cluster/install-config.yaml');
    const manifest = at('cluster/manifests/late.yaml');
    const output = ['--output', at('late.iso')];
    const changed = { ...installConfig, bootstrapInPlace: { installationDisk: '/dev/vdb' } };
    await writeFile(config, stringify({ ...changed, baseDomain: 'example.org' }));
    t.match(await create('cluster', ...output), {
      code: 2,
      err: /another install-config.*changes of baseDomain, installation\. Undo/,
    });
    await writeFile(
      config,
      stringify({ ...installConfig, pullSecret: '{"auths":{"a.io":{"auth":"YTpi"}}}' }),
    );
    const { code, err } = await create('cluster', ...output);
    t.match({ code, err }, { code: 2, err: /changes of \/root\/\.docker\/config\.json, / });
    t.notMatch(err, /YTpi/);
    await writeFile(config, `# a comment changes nothing\n${stringify(installConfig)}`);
    await mkdir(at('cluster/manifests'));
    await writeFile(manifest, '{apiVersion: v1, kind: ConfigMap, metadata: {name: late}}');
    t.match(await create('cluster', ...output), {
      code: 2,
      err: /changes of .*manifests\/late\.yaml/,
    });
    await rm(at('cluster/manifests'), { recursive: true });
    t.match(await create('cluster', ...output), { code: 0 });
    await rm(at('late.iso'));
  });

  t.test(
    'what a person adds is in a config that it creates, and too late for another',
    async (t) => {
      t.match(await create('cluster', '--output', at('late.iso'), '--set', 'finishMs=1000'), {
        code: 2,
        err: /--set is too late for .*bootstrap-in-place-for-live-iso\.ign; nothing was written/,
      });
      await mkdir(at('adding'));
      await writeFile(at('adding/install-config.yaml'), stringify(installConfig));
      const iso = at('adding/single-node.iso');
      t.match(await create('adding', '--output', iso, '--set', 'finishMs=1000'), { code: 0 });
      t.match((await show('ignition', iso)).stdout, /settings\.json/);
    },
  );

  t.test('a config that pins no payload is pinned on the medium', async (t) => {
    await mkdir(at('unpinned'));
    await writeFile(at('unpinned/install-config.yaml'), stringify(installConfig));
    const args = ['create', 'single-node-ignition-config', '--dir', at('unpinned')];
    const printed: string[] = [];
    const code = await runSno(args, {
      environment: { SNO_AGENTS_EXECUTABLE: at('executable') },
      print: () => undefined,
      complain: (text) => printed.push(text),
      signal,
    });
    t.equal(code, 0);
    t.match(printed.join('\n'), /Notice: the payload is not pinned.*--payload/);
    t.strictSame(await create('unpinned'), { code: 0, err: '' });
    const embedded = (await show('ignition', at('unpinned/single-node.iso'))).stdout;
    const cluster = parseConfig(embedded, 'embedded').storage?.files?.find(({ path }) =>
      path.endsWith('/cluster.json'),
    );
    const digest = sha256(await readFile(at('payload/payload.yaml')));
    t.match(
      decodeDataUrl(cluster?.contents ?? {}).toString('utf8'),
      `"payloadSha256": "${digest}"`,
    );
  });

  t.test('a config that was taken over needs no payload', async (t) => {
    for (const name of ['installer', 'openshift']) await mkdir(at(name));
    await writeFile(at(`installer/${IGNITION}`), JSON.stringify(await installerIgnition('4.19')));
    const options = ['--from-ignition', at('installer'), '--dir', at('openshift')];
    const complaints: string[] = [];
    const code = await runSno(['create', 'single-node-ignition-config', ...options], {
      environment: { SNO_AGENTS_EXECUTABLE: at('executable') },
      print: () => undefined,
      complain: (text) => complaints.push(text),
      signal,
    });
    const said = complaints.filter((line) => !line.startsWith('Notice: '));
    t.strictSame({ code, said }, { code: 0, said: [] });
    const output = at('openshift/single-node.iso');
    t.match(await create('openshift'), { code: 2, err: /--payload: not with a config of/ });
    t.strictSame(await createIso('openshift'), { code: 0, err: '' });
    const ignition = await readFile(at(`openshift/${IGNITION}`), 'utf8');
    t.equal((await show('ignition', output)).stdout, ignition, 'as it was taken over');
    const carried = await extract(output, '/sno-agents', 'carried-to-openshift');
    t.strictSame((await readdir(carried)).toSorted(), ['medium.json', 'sno-agents']);
    await writeFile(at('openshift/install-config.yaml'), 'not: read');
    const again = ['--output', at('again.iso')];
    t.strictSame(await createIso('openshift', ...again), { code: 0, err: '' });
    await rm(at('again.iso'));
    const strange = ['--agents-executable', at('carried/payload/bin/kubelet'), ...again];
    t.match(await createIso('openshift', ...strange), { code: 2 });
    await mkdir(at('without'));
    await writeFile(at('without/install-config.yaml'), stringify(installConfig));
    t.match(await createIso('without'), {
      code: 2,
      err: /--payload: missing; nothing was written/,
    });
  });

  t.test('impossible requests are refused, and nothing is left behind', async (t) => {
    const before = await readdir(folder, { recursive: true });
    await writeFile(at('strange'), Buffer.concat([agentsExecutable(), Buffer.from('another')]));
    await writeFile(at('arm'), agentsExecutable({ machine: ARM64 }));
    await writeFile(at('not.iso'), randomBytes(100_000));
    await mkdir(at('damaged'));
    await execa('cp', ['-r', `${at('payload')}/.`, at('damaged')], within);
    await writeFile(at('damaged/bin/kubelet'), 'damaged');
    const made = await readdir(folder, { recursive: true });
    const elsewhere = ['--output', at('new.iso')];
    const cases: readonly { args: string[]; says: RegExp }[] = [
      { args: [], says: /already .*single-node\.iso/ },
      { args: ['--iso', output, ...elsewhere], says: /already contains an Ignition config/ },
      { args: ['--iso', at('not.iso'), ...elsewhere], says: /is not a CoreOS live ISO/ },
      { args: ['--iso', at('nowhere'), ...elsewhere], says: /nowhere/ },
      { args: ['--payload', at('damaged'), ...elsewhere], says: /bin\/kubelet: expected SHA-256/ },
      {
        args: ['--agents-executable', at('strange'), ...elsewhere],
        says: /created for another medium\n.*strange has the SHA-256 \w{64}, .* requires \w{64}/,
      },
      {
        args: ['--agents-executable', at('arm'), ...elsewhere],
        says: /different architectures.*for arm64/,
      },
      {
        args: ['--agents-executable', '/etc/hostname', ...elsewhere],
        says: /hostname is not a Lin/,
      },
      {
        args: ['--iso', '/dev/null', ...elsewhere],
        says: /\/dev\/null is not a regular file.*device/,
      },
      { args: ['--output', '/dev/null'], says: /\/dev\/null is a device.*Name a new file/ },
      { args: ['--output', at('nowhere/x.iso')], says: /nowhere cannot be written to/ },
    ];
    for (const { args, says } of cases) {
      t.match(await create('cluster', ...args), { code: 2, err: says }, args.join(' '));
    }
    t.strictSame(await readdir(folder, { recursive: true }), made);
    t.ok(made.length > before.length);
  });
});
