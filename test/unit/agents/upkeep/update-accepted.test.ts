/** What of a host decides whether it takes an update that somebody has signed whom it trusts, and what it notes before. */
import { mkdirSync } from 'node:fs';
import t, { type Test } from 'tap';
import { acceptUpdate } from '../../../../agents/upkeep/update/accept.ts';
import { runUpdate } from '../../../../agents/upkeep/update/main.ts';
import { updateChange } from '../../../../lib/change/update/request.ts';
import { writeTaken } from '../../../../lib/change/update/taken.ts';
import { hostArchitecture } from '../../../../lib/host/architecture.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { writeBackup } from '../../change/backup/backup-folder.ts';
import { diskOf } from '../../host/disk-of.ts';
import { input } from '../../render/rendered-host.ts';
import { listOf } from '../host/api.ts';
import { cluster } from '../host/cluster.ts';
import { fakeRuntime } from '../host/runtime.ts';
import {
  BACKUPS,
  EARLIER_BACKUP,
  EXECUTABLE,
  OWN_BACKUP,
  PAYLOAD,
  SOURCE,
  updating,
} from './updating-host.ts';

const PRESENT = { kubernetes: 'v1.34.4', etcd: 'v3.6.8' };
const OPENSHIFT = {
  controlPlane: 'openshift',
  openshift: {
    ...{ releaseImage: 'r.test/release:1', version: '4.21', clusterId: cluster.clusterId },
    ...{ infrastructureName: 'edge-x1', platform: 'none' },
  },
};

/** An installed host, and an update in a folder. */
async function offered(t: Test, kubernetes = 'v1.34.9', executable: object = {}) {
  const { host, context } = await updating(t, { answers: { 'GET /api/v1/nodes': () => listOf() } });
  await updateChange.remove(host.paths);
  const describe = (more: object) =>
    host.write('/etc/sno-agents/cluster.json', JSON.stringify({ ...cluster, ...more }), 0o600);
  describe({});
  host.write('/etc/sno-agents/allowed_signers', 'anybody');
  host.write('/var/lib/sno-agents/record.json', '{}');
  host.programs.give('ssh-keygen', "echo 'Good signature with ED25519 key SHA256:abc'");
  mkdirSync(host.paths.run, { recursive: true });
  const { manifest, from } = context.request;
  const update = {
    ...manifest,
    architecture: hostArchitecture() ?? 'amd64',
    executable: { ...manifest.executable, size: 1000, ...executable },
    payload: { ...manifest.payload, size: 20_000, versions: { ...PRESENT, kubernetes } },
  };
  host.write(`${SOURCE}/update.json`, JSON.stringify(update));
  host.write(`${SOURCE}/update.json.sig`, 'a signature');
  const order = { from, accepted: { removedApis: true } };
  const accept = (named: { serial?: number } = {}) =>
    acceptUpdate(host.paths, { ...order, ...named }, AbortSignal.timeout(60_000));
  return { host, from, describe, accept };
}

t.test('the backups that are there already are not those of the update', async (t) => {
  const { host, accept } = await offered(t);
  for (const name of [EARLIER_BACKUP, OWN_BACKUP]) writeBackup(host.at(`${BACKUPS}/${name}`));
  t.match(await accept(), { backups: [EARLIER_BACKUP, OWN_BACKUP], before: PRESENT });
});

t.test('a host that is not installed, or is none of ours, takes none', async (t) => {
  const refused = { kind: 'usage', code: 'update-refused', message: /this host cannot be updated/ };
  const { host, describe, accept } = await offered(t);
  describe(OPENSHIFT);
  await t.rejects(accept(), refused);
  describe({});
  t.ok(await accept());
  host.remove('/var/lib/sno-agents/record.json');
  await t.rejects(accept(), refused);
});

t.test('a folder that cannot be opened is not one without an update', async (t) => {
  const { host } = await offered(t);
  for (const [from, found] of [
    [host.at('/nowhere'), /update\.json cannot be used.*found no such file/],
    [host.at(`/${'x'.repeat(256)}`), /update\.json cannot be used.*found name too long/],
  ] as const) {
    const order = { from, accepted: { removedApis: true } };
    const asked = acceptUpdate(host.paths, order, AbortSignal.timeout(60_000));
    await t.rejects(asked, { code: 'update-refused', message: found });
  }
});

t.test('the room for what is new is there before, and for nothing else', async (t) => {
  // For logs and the database, meanwhile.
  const margin = 536_870_912;
  let free = 0;
  diskOf(t, () => ({ free }));
  for (const [executable, hasPayload, needed] of [
    [{}, false, 21_000],
    [{ sha256: sha256('the old executable') }, false, 20_000],
    [{}, true, 1000],
  ] as const) {
    const { host, accept } = await offered(t, 'v1.34.9', executable);
    t.equal(host.read(EXECUTABLE), 'the old executable');
    const payload = host.read(`${SOURCE}/payload/payload.yaml`);
    if (hasPayload) host.write(`${PAYLOAD}/payload.yaml`, payload);
    free = margin + needed;
    t.ok(await accept());
    free -= 1;
    await t.rejects(accept(), {
      code: 'update-refused',
      message: `needs ${margin + needed} bytes`,
    });
  }
});

t.test(
  'none is taken that was signed before the last one, or is not the one asked for',
  async (t) => {
    const { host, accept } = await offered(t);
    await t.rejects(accept({ serial: 170 }), {
      ...{ kind: 'usage', code: 'update-refused' },
      message: /has another update; expected the serial 170; found the serial 7\./,
    });
    t.ok(await accept({ serial: 7 }));
    for (const serial of [8, 3, undefined]) await writeTaken(host.paths, serial);
    await t.rejects(accept(), { code: 'update-refused', message: /serial 7 is older than 8/ });
    // The next release reads it, too.
    t.ok(host.has('/var/lib/sno-agents/sno-update/taken.json'));
  },
);

t.test('a control plane that still emulates takes no further minor version', async (t) => {
  const { host, accept } = await offered(t, 'v1.35.1');
  const { authorities: _, ...keyless } = input;
  await saveRenderInput(host.paths, { ...keyless, host: { ...keyless.host, emulates: '1.33' } });
  await t.rejects(accept(), { message: /still emulates Kubernetes 1\.33/ });
});

t.test('a runtime that the next kubelet cannot use is known before', async (t) => {
  const { host, accept } = await offered(t, 'v1.38.0');
  await fakeRuntime(t, host, () => []);
  await t.rejects(accept(), { message: /4 minor versions newer.*does not tell a kubelet/ });
});

t.test('with settings that are not valid, a person begins none', async (t) => {
  const { host, from } = await offered(t);
  host.write('/etc/sno-agents/settings.json', '{"updateWindowMs":"soon"}');
  const write = () => undefined;
  t.equal(await runUpdate(host.paths, ['run', '--from', from, '--no-wait'], { write }), 2);
  t.equal(await updateChange.read(host.paths), undefined);
  t.same(host.programs.calls('systemctl'), []);
});

t.test('what was requested while it was announced comes first', async (t) => {
  const { host, from } = await offered(t, 'v1.35.1');
  const write = () => host.write('/var/lib/sno-agents/sno-rotate/request.json', '{}');
  const args = ['run', '--from', from, '--no-wait', '--accept-removed-apis'];
  t.equal(await runUpdate(host.paths, args, { write }), 2);
  t.equal(await updateChange.read(host.paths), undefined);
  t.same(host.programs.calls('systemctl'), []);
});
