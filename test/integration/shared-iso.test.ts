import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  copyFile,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { stringify } from 'yaml';
import { filesOnIso } from '../../cli/iso/iso-files.ts';
import { runSno } from '../../cli/sno.ts';
import { makeLiveIso } from '../../lab/components/live-iso.ts';
import { decodeDataUrl } from '../../lib/base/data-url.ts';
import { sha256 } from '../../lib/host/files.ts';
import { parseConfig } from '../../lib/render/ignition/config.ts';
import { agentsExecutable } from '../unit/cli/agents-executable.ts';
import { installerIgnition } from '../unit/cli/take-over/installer-ignition.ts';
import { installConfig, missingForIso, writeIsoPayload } from './iso-inputs.ts';

const IGNITION = 'bootstrap-in-place-for-live-iso.ign';
const signal = AbortSignal.timeout(20 * 60_000);
const within = { timeout: 60_000 };
const skip = (await missingForIso(signal)) ?? false;
const folder = await mkdtemp(join(tmpdir(), 'shared-iso-'));
t.teardown(() => rm(folder, { recursive: true }));
const at = (name: string) => join(folder, name);

/** `executable`: whether there is one for the ISO. */
async function sno(args: readonly string[], { executable = false } = {}) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runSno(args, {
    environment: {
      PATH: process.env.PATH,
      ...(executable ? { SNO_AGENTS_EXECUTABLE: at('executable') } : {}),
    },
    print: (line) => out.push(line),
    complain: (text) => err.push(text),
    signal,
  });
  return {
    code,
    out: out.join('\n'),
    err: err.filter((text) => !text.startsWith('Notice: ')).join('\n'),
  };
}

const share = (output: string, ...more: string[]) =>
  sno(['create', 'shared-iso', '--iso', at('live.iso'), '--output', at(output), ...more], {
    executable: true,
  });
const createSite = (dir: string, ...more: string[]) =>
  sno(['create', 'single-node-iso', '--dir', at(dir), '--shared', at('shared.iso'), ...more]);
const payload = () => ['--payload', at('payload')];
const embedded = async (iso: string) =>
  (
    await execa('coreos-installer', ['iso', 'ignition', 'show', iso], {
      ...within,
      stripFinalNewline: false,
    })
  ).stdout;

async function newSite(name: string, config: object = installConfig): Promise<void> {
  await mkdir(at(name));
  await writeFile(at(`${name}/install-config.yaml`), stringify(config));
}

/** A copy of the shared ISO with a changed byte in one of its files. */
async function damagedCopy(name: string, path: string): Promise<string> {
  const extent = (await filesOnIso(at('shared.iso'), '/sno-agents', signal)).get(path);
  await copyFile(at('shared.iso'), at(name));
  await using file = await open(at(name), 'r+');
  await file.write(Buffer.from('!'), 0, 1, (extent?.offset ?? 0) + 30);
  return at(name);
}

t.test('an ISO that sites share', { skip }, async (t) => {
  await writeIsoPayload(at('payload'));
  await writeFile(at('executable'), Buffer.concat([agentsExecutable(), randomBytes(500_000)]));
  await writeFile(at('os.raw.zst'), randomBytes(1_000_000));
  await makeLiveIso(at('live.iso'), at('os.raw.zst'), signal);
  const made = await share('shared.iso', ...payload());
  t.match(made, { code: 0, out: /Wrote .*shared\.iso \(\d+ MiB, without secrets\)/, err: '' });
  const shared = await readFile(at('shared.iso'));
  t.match(made.out, sha256(shared));
  t.equal((await stat(at('shared.iso'))).mode & 0o777, 0o644, 'for a web server');

  await t.test('it has no config, and the same input gives the same bytes', async (t) => {
    await t.rejects(embedded(at('shared.iso')), /No embedded Ignition config/);
    await mkdir(at('elsewhere'));
    await copyFile(at('live.iso'), at('elsewhere/live.iso'));
    t.match(await share('elsewhere/again.iso', ...payload(), '--iso', at('elsewhere/live.iso')), {
      code: 0,
    });
    t.ok(shared.equals(await readFile(at('elsewhere/again.iso'))));
    t.match(await sno(['verify', 'shared-iso', at('shared.iso')]), {
      code: 0,
      out: /no Ignition config.*\n5 files, each with the digest/,
    });
  });

  await t.test('a site needs neither executable nor payload, and pins those on it', async (t) => {
    await newSite('a');
    t.match(await createSite('a'), { code: 0, err: '' });
    const site = at('a/single-node.iso');
    t.equal((await stat(site)).mode & 0o777, 0o600, 'it has secrets');
    const ignition = await readFile(at(`a/${IGNITION}`), 'utf8');
    t.equal(await embedded(site), ignition);
    const file = parseConfig(ignition, 'a').storage?.files?.find(({ path }) =>
      path.endsWith('/cluster.json'),
    );
    const cluster = decodeDataUrl(file?.contents ?? {}).toString();
    t.match(cluster, `"executableSha256": "${sha256(await readFile(at('executable')))}"`);
    t.match(cluster, `"payloadSha256": "${sha256(await readFile(at('payload/payload.yaml')))}"`);
    t.ok(shared.equals(await readFile(at('shared.iso'))), 'the shared one stays as it is');
    t.match(await sno(['verify', 'shared-iso', site]), {
      code: 2,
      err: /already contains an Ignition/,
    });
  });

  await t.test('it is the ISO that is made directly, byte for byte', async (t) => {
    const direct = [
      'create',
      'single-node-iso',
      '--dir',
      at('a'),
      '--iso',
      at('live.iso'),
      '--output',
      at('direct.iso'),
    ];
    t.match(await sno([...direct, ...payload()], { executable: true }), { code: 0, err: '' });
    const site = await readFile(at('a/single-node.iso'));
    t.ok(site.equals(await readFile(at('direct.iso'))));
    await copyFile(at('direct.iso'), at('removed.iso'));
    await execa('coreos-installer', ['iso', 'ignition', 'remove', at('removed.iso')], within);
    t.ok(shared.equals(await readFile(at('removed.iso'))), 'without its config, the shared one');
  });

  await t.test('two sites differ in nothing but the place for the config', async (t) => {
    await newSite('b', { ...installConfig, metadata: { name: 'other' } });
    t.match(await createSite('b'), { code: 0 });
    const [a, b] = await Promise.all(
      ['a', 'b'].map((name) => readFile(at(`${name}/single-node.iso`))),
    );
    const differing = [...(a ?? []).keys()].filter((index) => a?.[index] !== b?.[index]);
    t.ok(differing.length > 0);
    t.ok((differing.at(-1) ?? 0) - (differing[0] ?? 0) < 256 * 1024);
  });

  await t.test('a config without a payload takes a shared ISO without one', async (t) => {
    t.match(await share('bare.iso'), { code: 0 });
    await newSite('served');
    const digest = sha256(await readFile(at('payload/payload.yaml')));
    const urls = ['--payload-url', 'http://192.0.2.1/payload', '--payload-sha256', digest];
    const config = ['create', 'single-node-ignition-config', '--dir', at('served'), ...urls];
    t.match(await sno(config, { executable: true }), { code: 0 });
    await mkdir(at('installer'));
    await writeFile(at(`installer/${IGNITION}`), JSON.stringify(await installerIgnition('4.19')));
    const taken = ['--from-ignition', at('installer'), '--dir', at('openshift')];
    await mkdir(at('openshift'));
    t.match(await sno(['create', 'single-node-ignition-config', ...taken], { executable: true }), {
      code: 0,
    });
    for (const [name, refusal] of [
      ['served', /downloads it from http/],
      ['openshift', /was taken over/],
    ] as const) {
      t.match(await createSite(name), { code: 2, err: refusal });
      t.match(await createSite(name, '--shared', at('bare.iso')), { code: 0, err: '' });
      t.equal(
        await embedded(at(`${name}/single-node.iso`)),
        await readFile(at(`${name}/${IGNITION}`), 'utf8'),
      );
    }
    const direct = [
      'create',
      'single-node-iso',
      '--dir',
      at('served'),
      '--iso',
      at('live.iso'),
      '--output',
      at('served/direct.iso'),
    ];
    t.match(await sno([...direct, ...payload()], { executable: true }), {
      code: 2,
      err: /--payload: not with a config that downloads it/,
    });
    t.match(await sno(direct, { executable: true }), { code: 0, err: '' });
  });

  await t.test('what cannot be right is refused, and nothing is left behind', async (t) => {
    await newSite('c');
    await newSite('large');
    await mkdir(at('large/manifests'));
    const data = { noise: randomBytes(400_000).toString('base64') };
    await writeFile(
      at('large/manifests/large.yaml'),
      stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data }),
    );
    await writeFile(at('not.iso'), randomBytes(100_000));
    await copyFile(at('shared.iso'), at('short.iso'));
    await truncate(at('short.iso'), shared.length - 1_000_000);
    const payloadFile = await damagedCopy('text.iso', '/sno-agents/payload/payload.yaml');
    const description = await damagedCopy('description.iso', '/sno-agents/medium.json');
    const image = await damagedCopy(
      'image.iso',
      '/sno-agents/payload/images/kube-controller-manager.tar',
    );
    await mkdir(at('other-payload'));
    await execa('cp', ['-r', `${at('payload')}/.`, at('other-payload')], within);
    await writeFile(
      at('other-payload/payload.yaml'),
      `# other\n${await readFile(at('payload/payload.yaml'), 'utf8')}`,
    );
    t.match(await share('other.iso', '--payload', at('other-payload')), { code: 0 });
    const before = await readdir(folder, { recursive: true });
    const elsewhere = ['--output', at('new.iso')];
    const sharing = (path: string) => ['--shared', path, ...elsewhere];
    for (const { dir = 'c', args, says } of [
      { dir: 'a', args: [], says: /already .*a\/single-node\.iso/ },
      { args: sharing(at('not.iso')), says: /not\.iso is not a CoreOS live ISO/ },
      {
        args: sharing(at('live.iso')),
        says: /live\.iso is not a shared ISO.*sno create shared-iso/,
      },
      { args: sharing(at('a/single-node.iso')), says: /already contains an Ignition config/ },
      { args: sharing(at('nowhere')), says: /nowhere cannot be read/ },
      { args: sharing('/dev/null'), says: /is not a regular file/ },
      {
        args: sharing(at('short.iso')),
        says: /short\.iso is not a CoreOS live ISO.*ISO image is incomplete/,
      },
      {
        args: sharing(payloadFile),
        says: /text\.iso is damaged.*\n.*payload\.yaml: expected SHA-256/,
      },
      {
        args: sharing(description),
        says: /description\.iso is not a shared ISO that this sno can read/,
      },
      { args: sharing(at('bare.iso')), says: /payload on .*bare\.iso: missing/ },
      {
        dir: 'a',
        args: sharing(at('other.iso')),
        says: /created for another medium\n.*other\.iso has the SHA-256 \w{64}, .* requires/,
      },
      { dir: 'large', args: elsewhere, says: /does not fit the live ISO.*\n.*large\.yaml/ },
      {
        args: ['--iso', at('live.iso'), ...payload(), ...elsewhere],
        says: /--iso and --payload: not with --shared/,
      },
    ]) {
      const { code, err } = await createSite(dir, ...args);
      t.match({ code, err }, { code: 2, err: says }, args.join(' '));
      t.notMatch(err, /fake|cGFzcwo/, 'no secret');
    }
    t.match(await sno(['create', 'single-node-iso', '--dir', at('c'), ...elsewhere]), {
      code: 2,
      err: /--iso: missing.*--shared/,
    });
    t.match(await share('shared.iso', ...payload()), { code: 2, err: /already .*shared\.iso/ });
    t.match(await share('new.iso', ...payload(), '--iso', at('a/single-node.iso')), {
      code: 2,
      err: /already contains/,
    });
    t.match(await share('nowhere/new.iso', ...payload()), { code: 2, err: /cannot be written/ });
    t.match(await sno(['verify', 'shared-iso', image]), {
      code: 2,
      err: /image\.iso is damaged.*\n.*controller-manager\.tar: expected/,
    });
    t.strictSame(await readdir(folder, { recursive: true }), before);
  });

  const isRoot = process.getuid?.() === 0;
  await t.test(
    'a disk without space',
    { skip: isRoot ? false : 'mounting needs root' },
    async (t) => {
      const disk = at('small');
      await mkdir(disk);
      execFileSync('mount', [
        '-t',
        'tmpfs',
        '-o',
        `size=${shared.length + 66 * 2 ** 20}`,
        'iso-test',
        disk,
      ]);
      t.teardown(() => execFileSync('umount', [disk]));
      const onDisk = ['--output', join(disk, 'new.iso')];
      t.match(await createSite('c', '--output', join(disk, 'fits.iso')), { code: 0 });
      t.match(await createSite('c', ...onDisk), {
        code: 2,
        err: /Not enough space in .*small; nothing was written/,
      });
      t.match(await share('small/new.iso', ...payload()), { code: 2, err: /Not enough space/ });
      t.strictSame(await readdir(disk), ['fits.iso']);
    },
  );
});
