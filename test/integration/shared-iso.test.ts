import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { execa } from 'execa';
import t from 'tap';
import { decodeDataUrl } from '../../lib/base/data-url.ts';
import { sha256 } from '../../lib/host/files.ts';
import { parseConfig } from '../../lib/render/ignition/config.ts';
import { installerIgnition } from '../unit/cli/take-over/installer-ignition.ts';
import { installConfig } from './iso-inputs.ts';
import {
  at,
  createSite,
  embedded,
  IGNITION,
  makeInputs,
  newSite,
  payload,
  share,
  skip,
  sno,
  within,
} from './shared-iso-folder.ts';

t.test('an ISO that sites share', { skip }, async (t) => {
  await makeInputs();
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
    t.notOk(shared.includes('aWQ6cGFzcwo'), 'no pull secret on it');
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
});
