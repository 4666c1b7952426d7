import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { requireServed, type ServedOptions } from '../../../cli/create/served.ts';
import { decodeDataUrl } from '../../../lib/base/data-url.ts';
import { clusterSchema } from '../../../lib/config/cluster/cluster.ts';
import { parseConfig } from '../../../lib/render/ignition/config.ts';
import { agentsExecutable } from './agents-executable.ts';
import { sno } from './run-sno.ts';

const DIGEST = 'a'.repeat(64);
const pinned = { payloadSha256: DIGEST };

const GOOD: readonly ServedOptions[] = [
  {},
  { agentsUrl: 'http://boot.example.com/sno-agents' },
  { agentsUrl: 'https://[2001:db8::1]:8443/a/b%20c/sno-agents', ...pinned },
  { payloadUrl: 'https://boot.example.com/payload/', ...pinned },
  { payloadUrl: 'http://192.0.2.1', payload: 'p' },
  { payload: 'p' },
];
const BAD: readonly { options: ServedOptions; says: RegExp }[] = [
  { options: { payloadUrl: 'https://h/p' }, says: /requires the digest/ },
  { options: { payload: 'p', ...pinned }, says: /use one of them/ },
  { options: { payloadSha256: DIGEST.toUpperCase() }, says: /64 hexadecimal digits/ },
  { options: { agentsUrl: 'https://user:word@h/x' }, says: /no user or password/ },
  { options: { agentsUrl: 'https://user@h/x' }, says: /no user or password/ },
  { options: { agentsUrl: 'https://h/x?token=1' }, says: /no "\?" and no "#"/ },
  { options: { agentsUrl: 'https://h/x#y' }, says: /no "\?" and no "#"/ },
  { options: { agentsUrl: 'ftp://h/x' }, says: /http or https URL/ },
  { options: { agentsUrl: 'file:///etc/shadow' }, says: /http or https URL/ },
  { options: { agentsUrl: '--output' }, says: /http or https URL/ },
  { options: { agentsUrl: 'https://h/x"\noutput = "/etc/passwd' }, says: /plain characters/ },
  { options: { agentsUrl: 'https://h/%n' }, says: /plain characters/ },
  { options: { agentsUrl: 'https://h/{a,b}' }, says: /plain characters/ },
  { options: { agentsUrl: 'https://h/$(id)' }, says: /plain characters/ },
  { options: { agentsUrl: 'https://h/a\\b' }, says: /plain characters/ },
  { options: { agentsUrl: 'https://h/ä' }, says: /plain characters/ },
  { options: { agentsUrl: 'https://h:99999/x' }, says: /http or https URL/ },
];

t.test('accepted addresses', async (t) => {
  for (const options of GOOD) t.doesNotThrow(() => requireServed(options), JSON.stringify(options));
});

t.test('refused addresses', async (t) => {
  for (const { options, says } of BAD) {
    t.throws(
      () => requireServed(options),
      { kind: 'usage', message: says },
      JSON.stringify(options),
    );
  }
  t.throws(() => requireServed({ agentsUrl: 'x', payloadUrl: 'y' }), {
    message: /--agents-url[\s\S]*--payload-url[\s\S]*--payload-url requires/,
  });
});

const INSTALL_CONFIG = `apiVersion: v1
baseDomain: example.com
metadata: {name: sno}
compute: [{name: worker, replicas: 0}]
controlPlane: {name: master, replicas: 1}
platform: {none: {}}
bootstrapInPlace: {installationDisk: /dev/vda}
pullSecret: '{"auths":{"fake":{"auth":"aWQ6cGFzcwo="}}}'
`;

t.test('workers need what is served: they do not use the live medium', async (t) => {
  const workers = INSTALL_CONFIG.replace('replicas: 0', 'replicas: 1');
  const dir = t.testdir({ 'install-config.yaml': workers, agents: agentsExecutable() });
  const create = ['create', 'single-node-ignition-config', '--dir', dir];
  const pinned = ['--agents-executable', join(dir, 'agents'), '--payload-sha256', DIGEST];
  const from = ['--agents-url', 'https://h/sno-agents', '--payload-url', 'http://h/payload'];
  t.match(await sno([...create, ...pinned.slice(0, 2)]), {
    code: 2,
    err: /workers cannot use the live medium; nothing was written/,
  });
  t.notOk(existsSync(join(dir, 'auth')));
  t.match(await sno([...create, ...pinned, ...from]), { code: 0, out: /worker\.ign/ });
  const read = async (name: string) => parseConfig(await readFile(join(dir, name), 'utf8'), name);
  const live = await read('bootstrap-in-place-for-live-iso.ign');
  const paths = live.storage?.files?.map(({ path }) => path) ?? [];
  t.ok(paths.includes('/opt/openshift/tls/worker-token.json'));
  const worker = await read('worker.ign');
  t.ok(worker.systemd?.units?.some(({ name }) => name === 'sno-worker.service'));
});

t.test('the live host is told what to download, with digests', async (t) => {
  const dir = t.testdir({ 'install-config.yaml': INSTALL_CONFIG, agents: agentsExecutable() });
  const create = ['create', 'single-node-ignition-config', '--dir', dir];
  const agents = ['--agents-executable', join(dir, 'agents')];
  const from = ['--agents-url', 'https://h/a%20b/sno-agents', '--payload-url', 'http://h/payload'];
  t.match(await sno([...create, ...agents, ...from]), { code: 2, err: /requires the digest/ });
  t.notOk(existsSync(join(dir, 'auth')));
  const run = await sno([...create, ...agents, ...from, '--payload-sha256', DIGEST]);
  t.match(run, { code: 0, out: /from the payload at http:\/\/h\/payload/ });

  const name = 'bootstrap-in-place-for-live-iso.ign';
  const config = parseConfig(await readFile(join(dir, name), 'utf8'), name);
  const contents = (path: string) =>
    decodeDataUrl(config.storage?.files?.find((file) => file.path === path)?.contents ?? {});
  t.match(clusterSchema.parse(JSON.parse(`${contents('/etc/sno-agents/cluster.json')}`)), {
    payloadUrl: 'http://h/payload',
    payloadSha256: DIGEST,
    executableSha256: createHash('sha256').update(agentsExecutable()).digest('hex'),
  });
  t.equal(
    `${contents('/etc/sno-agents/executable.curl')}`,
    'url = "https://h/a%20b/sno-agents"\nproto-redir = "=https"\n',
  );
  const units = config.systemd?.units?.filter((unit) => unit.name === 'sno-executable.service');
  t.equal(units?.length, 1);
  t.match(units?.[0]?.contents, /ExecStart=\/usr\/bin\/curl .*--config \/etc\/sno-agents/);
  t.notMatch(units?.[0]?.contents, 'run/media');
});
