/** Signatures of updates by the real ssh-keygen: who may sign, what is signed, and what is refused. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { acceptUpdate } from '../../agents/upkeep/update/accept.ts';
import { runUpdate } from '../../agents/upkeep/update/main.ts';
import { productVersion } from '../../lib/base/version.ts';
import { updateText } from '../../lib/change/update/manifest.ts';
import { updateChange } from '../../lib/change/update/request.ts';
import { UPDATE_SIGNATURE } from '../../lib/change/update/signature.ts';
import { readTaken, writeTaken } from '../../lib/change/update/taken.ts';
import { readAsked, writeWanted } from '../../lib/change/update/wanted.ts';
import { hostArchitecture } from '../../lib/host/architecture.ts';
import { namesIn, sha256 } from '../../lib/host/files.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { signText } from '../../lib/pki/signature/ssh-signature.ts';
import { refuse } from '../unit/agents/host/api.ts';
import { signedApi, type WritableEndpoints } from '../unit/agents/host/approver.ts';
import { cluster } from '../unit/agents/host/cluster.ts';
import { testHost } from '../unit/agents/host/host.ts';
import { writePayload } from '../unit/agents/host/payload.ts';

const limits = { signal: AbortSignal.timeout(120_000), deadlineMs: 60_000 };
const skip =
  (await execa('ssh-keygen', ['-?'], { reject: false })).code === 'ENOENT' && 'no ssh-keygen';

async function makeKey(folder: string, name: string) {
  const path = join(folder, name);
  await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', path]);
  return { path, text: readFileSync(`${path}.pub`, 'utf8').trim() };
}

const manifest = (sha256: string, version = '1.0.0', order: object = {}) =>
  updateText({
    ...order,
    apiVersion: 'sno-agents/v1',
    kind: 'Update',
    architecture: hostArchitecture() ?? 'amd64',
    executable: { version, size: 10, sha256: 'c'.repeat(64) },
    payload: { versions: { kubernetes: 'v1.34.4', etcd: 'v3.6.8' }, size: 20, sha256 },
  });

/** An installed host that knows a key, and a folder for updates. */
async function installed(t: Test, sshKeys: (key: string) => readonly string[] = (key) => [key]) {
  const folder = t.testdir();
  const key = await makeKey(folder, 'administrator');
  const host = testHost(t, { programs: 'real' });
  const payload = writePayload(host, '/var/lib/sno-agents/payload');
  host.write('/var/lib/sno-agents/bin/sno-agents', 'executable');
  host.write('/var/lib/sno-agents/record.json', '{}');
  const { installation: _, ...description } = cluster;
  host.write(
    '/etc/sno-agents/cluster.json',
    JSON.stringify({ ...description, sshKeys: sshKeys(key.text) }),
  );
  const update = join(folder, 'update');
  mkdirSync(update);
  const write = (text: string, signature: string) => {
    writeFileSync(join(update, 'update.json'), text);
    writeFileSync(join(update, 'update.json.sig'), signature);
  };
  return { host, folder, key, payload, update, write };
}

const accept = (root: string, from: string) =>
  acceptUpdate(
    hostPaths(root),
    { from, accepted: { removedApis: false } },
    AbortSignal.timeout(60_000),
  );

t.test('signed by a key of the host', { skip }, async (t) => {
  const { host, key, payload, update, write } = await installed(t);
  const text = manifest(payload);
  write(text, await signText(text, key.path, UPDATE_SIGNATURE, limits));
  const request = await accept(host.root, update);
  t.match(request, { from: update, signedBy: /^SHA256:/, manifest: JSON.parse(text) });
  t.notOk(host.has('/var/lib/sno-agents/sno-update'), 'accepting changes nothing');
  t.same(await namesIn(host.at('/run/sno-agents')), [], 'nothing is left');
  if (request === undefined) throw new Error('it is not the one in use');
  t.same(request.before, { kubernetes: 'v1.34.4', etcd: 'v3.6.8' }, 'what the host has now');
  await updateChange.write(host.paths, request);
  t.strictSame(await updateChange.read(host.paths), request, 'the unit reads what was accepted');
  await updateChange.remove(host.paths);
  t.not((await accept(host.root, update))?.id, request.id, 'each request is one of its own');
});

t.test('a person and a hub may ask at the same moment', { skip }, async (t) => {
  const { host, key, payload, update, write } = await installed(t);
  const text = manifest(payload);
  write(text, await signText(text, key.path, UPDATE_SIGNATURE, limits));
  const asked = Array.from({ length: 6 }, () => accept(host.root, update));
  t.equal(new Set((await Promise.all(asked)).map((request) => request?.id)).size, 6);
  t.same(await namesIn(host.at('/run/sno-agents')), [], 'nothing is left');
});

t.test('a verifier that is killed has not refused anything', { skip }, async (t) => {
  const { host, folder, key, payload, update, write } = await installed(t);
  const text = manifest(payload);
  write(text, await signText(text, key.path, UPDATE_SIGNATURE, limits));
  writeFileSync(join(folder, 'ssh-keygen'), '#!/bin/sh\nkill -9 $$\n', { mode: 0o755 });
  const { PATH } = process.env;
  process.env.PATH = `${folder}:${PATH}`;
  t.teardown(() => {
    process.env.PATH = PATH;
  });
  await t.rejects(accept(host.root, update), { kind: 'retry', message: /ssh-keygen.*SIGKILL/ });
});

t.test('what the host runs already is none', { skip }, async (t) => {
  const { host, key, payload, update, write } = await installed(t);
  const same = manifest(payload, productVersion).replace('c'.repeat(64), sha256('executable'));
  for (const [text, isOther] of [
    [same, false],
    [manifest(payload, productVersion), true],
    [same.replace(payload, 'd'.repeat(64)), true],
  ] as const) {
    write(text, await signText(text, key.path, UPDATE_SIGNATURE, limits));
    t.equal((await accept(host.root, update)) !== undefined, isOther);
  }
});

t.test('the cluster is asked before another minor version', { skip }, async (t) => {
  const { host, key, payload, update, write } = await installed(t);
  const endpoints: WritableEndpoints = {};
  await signedApi(t, host, endpoints, { 'GET /readyz': () => refuse(500) });
  const offered = async (text: string) => {
    write(text, await signText(text, key.path, UPDATE_SIGNATURE, limits));
    const order = { from: update, accepted: { removedApis: false } };
    return acceptUpdate(hostPaths(host.root, endpoints), order, AbortSignal.timeout(60_000));
  };
  const text = manifest(payload);
  t.ok(await offered(text.replace('v1.34.4', 'v1.34.9')), 'not before a patch release');
  await t.rejects(offered(text.replace('v1.34.4', 'v1.35.0')), {
    code: 'update-refused',
    message: /the API server is not ready/,
  });
});

t.test(
  'signers of a file of the administrator replace the keys of the installation',
  { skip },
  async (t) => {
    const { host, folder, key, payload, update, write } = await installed(t);
    const other = await makeKey(folder, 'release');
    host.write(
      '/etc/sno-agents/allowed_signers',
      `sno-update namespaces="sno-agents-update" ${other.text}\n`,
    );
    const text = manifest(payload);
    write(text, await signText(text, key.path, UPDATE_SIGNATURE, limits));
    await t.rejects(accept(host.root, update), { kind: 'usage', code: 'update-refused' });
    write(text, await signText(text, other.path, UPDATE_SIGNATURE, limits));
    t.ok(await accept(host.root, update));
  },
);

t.test('not while something else changes the host', { skip }, async (t) => {
  const { host, key, payload, update, write } = await installed(t);
  const text = manifest(payload);
  write(text, await signText(text, key.path, UPDATE_SIGNATURE, limits));
  for (const agent of ['sno-identity', 'sno-rotate', 'sno-backup-restore']) {
    const request = `/var/lib/sno-agents/${agent}/request.json`;
    host.write(request, '{}');
    await t.rejects(
      accept(host.root, update),
      { kind: 'usage', message: /"sno-\S+ status"/ },
      agent,
    );
    host.remove(request);
  }
  t.ok(await accept(host.root, update));
});

t.test('refused', { skip }, async (t) => {
  const { host, folder, key, payload, update, write } = await installed(t);
  const stranger = await makeKey(folder, 'stranger');
  const text = manifest(payload);
  const good = await signText(text, key.path, UPDATE_SIGNATURE, limits);
  const file = join(folder, 'for-git');
  writeFileSync(file, text);
  await execa('ssh-keygen', ['-Y', 'sign', '-n', 'git', '-f', key.path, file]);
  const cases: readonly (readonly [why: string, text: string, signature: string, said: RegExp])[] =
    [
      [
        'a key that the host does not know',
        text,
        await signText(text, stranger.path, UPDATE_SIGNATURE, limits),
        /not signed by an allowed key/,
      ],
      [
        'a manifest that was changed',
        manifest(payload, '9.0.0'),
        good,
        /not signed by an allowed key/,
      ],
      [
        'a signature for something else',
        text,
        readFileSync(`${file}.sig`, 'utf8'),
        /not signed by an allowed key/,
      ],
      ['no signature', text, '', /not signed by an allowed key/],
      ['text in place of a signature', text, 'trust me', /not signed by an allowed key/],
      [
        'an older release, signed',
        manifest(payload, '0.0.0-x').replace('v1.34.4', 'v1.34.3'),
        '',
        /not signed/,
      ],
    ];
  for (const [why, changed, signature, message] of cases) {
    write(changed, signature);
    await t.rejects(
      accept(host.root, update),
      { kind: 'usage', code: 'update-refused', message },
      why,
    );
  }
  const older = text.replace('v1.34.4', 'v1.34.3');
  write(older, await signText(older, key.path, UPDATE_SIGNATURE, limits));
  await t.rejects(
    accept(host.root, update),
    { message: /Kubernetes v1\.34\.3 is older/ },
    'signed, but older',
  );
  rmSync(join(update, 'update.json.sig'));
  await t.rejects(accept(host.root, update), {
    kind: 'usage',
    message: /update\.json\.sig cannot be used/,
  });
  await t.rejects(accept(host.root, 'update'), {
    kind: 'usage',
    message: /neither a folder nor a URL/,
  });
  t.notOk(host.has('/var/lib/sno-agents/sno-update'), 'nothing was changed');
});

t.test('an older serial and an update that has expired are refused', { skip }, async (t) => {
  const { host, key, payload, update, write } = await installed(t);
  const offered = async (order: object) => {
    const text = manifest(payload, '1.0.0', order);
    write(text, await signText(text, key.path, UPDATE_SIGNATURE, limits));
    return accept(host.root, update);
  };
  t.match(await offered({ serial: 7 }), { manifest: { serial: 7 } });
  await writeTaken(host.paths, 7);
  await writeTaken(host.paths, 3);
  await writeTaken(host.paths, undefined);
  t.equal(await readTaken(host.paths), 7, 'it never goes back');
  t.ok(await offered({ serial: 8 }));
  t.ok(await offered({ serial: 7 }), 'the same again');
  await t.rejects(offered({ serial: 6 }), { message: /its serial 6 is older than 7/ });
  await t.rejects(offered({}), { message: /it has no serial/ });
  await t.rejects(offered({ serial: 8, expires: '2026-01-01T00:00:00Z' }), {
    code: 'update-refused',
    message: /it has expired/,
  });
  t.ok(await offered({ serial: 8, expires: '2999-01-01T00:00:00Z' }));
});

t.test('a key with options does not sign', { skip }, async (t) => {
  for (const options of ['command="true"', 'from="10.0.0.0/8"', 'expiry-time="20200101"']) {
    const { host, key, payload, update, write } = await installed(t, (key) => [
      `${options} ${key}`,
    ]);
    const text = manifest(payload);
    write(text, await signText(text, key.path, UPDATE_SIGNATURE, limits));
    await t.rejects(accept(host.root, update), { message: /no key is known/ }, options);
  }
});

t.test('a host without a key takes no update', { skip }, async (t) => {
  const { host, key, payload, update, write } = await installed(t, () => []);
  const text = manifest(payload);
  write(text, await signText(text, key.path, UPDATE_SIGNATURE, limits));
  await t.rejects(accept(host.root, update), { kind: 'usage', message: /no key is known/ });
});

t.test('a key that cannot sign is a mistake of the user', { skip }, async (t) => {
  const folder = t.testdir({ none: 'not a key' });
  await t.rejects(signText('text', join(folder, 'none'), UPDATE_SIGNATURE, limits), {
    kind: 'usage',
    message: /cannot sign/,
  });
});

/** Serves a folder until the end of the test, or until it is stopped. */
async function served(t: Test, folder: string) {
  const server = createServer((request, response) => {
    try {
      response.end(readFileSync(join(folder, request.url ?? '')));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => new Promise<void>((resolve) => void server.close(() => resolve()));
  t.teardown(stop);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, stop };
}

t.test('what a hub names is taken by the same rules', { skip }, async (t) => {
  const { host, folder, key, payload, update, write } = await installed(t);
  const stranger = await makeKey(folder, 'stranger');
  const { url, stop } = await served(t, update);
  const paths = hostPaths(host.root);
  const sign = async (serial: number, by = key) => {
    const text = manifest(payload, '1.0.0', { serial });
    write(text, await signText(text, by.path, UPDATE_SIGNATURE, limits));
  };
  let serial = 0;
  const takeUp = async (wanted: number) => {
    serial += 1;
    await writeWanted(paths, { schemaVersion: 1, site: 'x', serial, url, update: wanted });
    const said: string[] = [];
    const code = await runUpdate(paths, ['take-up'], { write: (text) => void said.push(text) });
    return { code, said: said.join(''), outcome: (await readAsked(paths))?.outcome };
  };
  const refused = { code: 1, outcome: 'refused' };
  await sign(170, stranger);
  t.match(await takeUp(170), { ...refused, said: /not signed by an allowed key/ });
  await sign(171);
  t.match(await takeUp(170), { ...refused, said: /has another update.*171/ });
  t.notOk(host.has('/var/lib/sno-agents/sno-update/request.json'), 'nothing was asked for');
  await sign(170);
  t.match(await takeUp(170), { code: 0, outcome: 'accepted' });
  t.match(await updateChange.read(paths), { from: url, asked: 3, manifest: { serial: 170 } });
  t.match(await takeUp(171), { code: 0, said: '' }, 'one after the other');
  await updateChange.remove(paths);
  await stop();
  t.match(await takeUp(170), { code: 1, outcome: 'waiting', said: /not taken yet/ });
});
