import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { stringify } from 'yaml';
import { ensureComponent, isBuilt } from '../../lab/components/component.ts';
import { machineSystem } from '../../lab/components/machine/system.ts';
import { readTextIfPresent } from '../../lib/host/files.ts';
import { createAuthority } from '../../lib/pki/authority.ts';
import { issueLeaf } from '../../lib/pki/leaf.ts';
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
  signal,
  skip,
  sno,
} from './shared-iso-folder.ts';

const SECRET = 'c2VjcmV0LW9mLXRoZS1wYXRo';
const now = new Date();
const time = { now, validFrom: now };
const authority = await createAuthority('files', time);
const leaf = await issueLeaf(
  authority,
  { subject: { commonName: 'files' }, usage: 'server', ipAddresses: ['127.0.0.1'] },
  time,
);

/** A web server that has one file, whatever the path. */
async function serving(t: Tap, contents: () => string): Promise<string> {
  const server = createServer({ cert: leaf.certificate, key: leaf.key }, (_, response) =>
    response.end(contents()),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `https://127.0.0.1:${port}/${SECRET}/site.ign`;
}
type Tap = Pick<typeof t, 'teardown'>;

/** Has the real Ignition fetch what a config on an ISO names: its log, and the config that it would apply. */
async function fetchedBy(program: string, pointer: string, name: string) {
  const work = at(name);
  await mkdir(work);
  const file = join(work, 'config.ign');
  await writeFile(file, pointer);
  const state = ['--config-cache', join(work, 'cache'), '--state-file', join(work, 'state')];
  const { all } = await execa(
    program,
    ['--platform', 'file', '--stage', 'fetch', '--log-to-stdout', '--root', work, ...state],
    { env: { IGNITION_CONFIG_FILE: file }, reject: false, timeout: 60_000, all: true },
  );
  return { log: all, config: await readTextIfPresent(join(work, 'cache')) };
}

t.test('a config that the live host fetches', { skip }, async (t) => {
  await makeInputs();
  t.match(await share('shared.iso', ...payload()), { code: 0 });
  await writeFile(at('ca.pem'), authority.certificate);
  let served = '';
  const url = await serving(t, () => served);
  const byUrl = ['--config-url', url, '--config-url-ca', at('ca.pem')];

  await newSite('a');
  const made = await createSite('a', ...byUrl);
  t.match(made, { code: 0, err: '' });
  t.notMatch(made.out, SECRET, 'the URL is a secret');
  const pointer = await embedded(at('a/single-node.iso'));
  served = await readFile(at('a/site.ign'), 'utf8');
  t.equal(served, await readFile(at(`a/${IGNITION}`), 'utf8'));
  t.equal((await stat(at('a/site.ign'))).mode & 0o777, 0o600);
  t.ok(pointer.length < 2500, `${pointer.length} bytes`);
  t.notMatch(pointer, /PRIVATE|auths|cluster\.json/, 'no secret of the cluster');

  const isThere = await isBuilt(machineSystem);
  await t.test(
    'Ignition applies it, and nothing else from there',
    { skip: isThere ? false : 'the component with Ignition is not built' },
    async (t) => {
      const system = await ensureComponent(machineSystem, { signal, report: () => undefined });
      const program = join(system, 'tree/usr/lib/dracut/modules.d/30ignition/ignition');
      const right = await fetchedBy(program, pointer, 'right');
      t.match(right.config, '/etc/sno-agents/cluster.json', right.log);
      const whole = served;
      served = whole.replace('sno-agents', 'another');
      const changed = await fetchedBy(program, pointer, 'changed');
      t.equal(changed.config, undefined);
      t.match(changed.log, /hash verification failed/);
      served = whole;
    },
  );

  await t.test('one that is too large for an ISO can be served', async (t) => {
    await newSite('large');
    await mkdir(at('large/manifests'));
    const data = { noise: randomBytes(400_000).toString('base64') };
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data };
    await writeFile(at('large/manifests/large.yaml'), stringify(manifest));
    t.match(await createSite('large', '--config-url', url), { code: 0, err: '' });
  });

  await t.test('what cannot work is refused, and nothing is written', async (t) => {
    await newSite('proxied', {
      ...installConfig,
      proxy: { httpsProxy: 'http://192.0.2.3:3128', noProxy: 'files.example.com' },
    });
    t.match(await createSite('proxied', '--config-url', 'https://files.example.com/x.ign'), {
      code: 0,
    });
    const { ignition } = JSON.parse(await embedded(at('proxied/single-node.iso')));
    t.match(ignition.proxy, { httpsProxy: 'http://192.0.2.3:3128', noProxy: /./ });

    await newSite('b');
    const interfaces = [
      { name: 'eth0', type: 'ethernet', state: 'up', ipv4: { enabled: true, dhcp: true } },
    ];
    const bootstrapInPlace = { ...installConfig.bootstrapInPlace, networkConfig: { interfaces } };
    await newSite('static', { ...installConfig, bootstrapInPlace });
    await writeFile(at('key.pem'), leaf.key);
    const before = await readdir(at(), { recursive: true });
    for (const { dir = 'b', args, says } of [
      {
        args: ['--config-url', `http://files.example.com/${SECRET}/x.ign`],
        says: /a URL of http.*requires TLS/,
      },
      {
        args: ['--config-url', `https://me:${SECRET}@files.example.com/x.ign`],
        says: /a user or password/,
      },
      {
        args: ['--config-url', `https://files.example.com/${SECRET}/`],
        says: /no plain file name/,
      },
      {
        args: ['--config-url', `https://files.example.com/${SECRET}/..%2Fx`],
        says: /no plain file name/,
      },
      { args: ['--config-url', `https://files.example.com/x.ign#${SECRET}`], says: /a fragment/ },
      { args: ['--config-url', `${SECRET} x`], says: /not a URL/ },
      { args: ['--config-url-ca', at('ca.pem')], says: /only with --config-url/ },
      {
        args: ['--config-url', url, '--config-url-ca', at('key.pem')],
        says: /key\.pem is not valid.*a private key/,
      },
      {
        args: ['--config-url', url, '--config-url-ca', at('nowhere')],
        says: /nowhere cannot be read/,
      },
      {
        dir: 'a',
        args: ['--config-url', url, '--output', at('new.iso')],
        says: /already .*site\.ign/,
      },
      { dir: 'static', args: ['--config-url', url], says: /not with networkConfig/ },
    ]) {
      const { code, err } = await createSite(dir, ...args);
      t.match({ code, err }, { code: 2, err: says }, `${says}`);
      t.notMatch(err, SECRET);
    }
    t.strictSame(await readdir(at(), { recursive: true }), before);
  });
  t.match(await sno(['verify', 'ignition', at('a/site.ign')]), { code: 0 });
});
