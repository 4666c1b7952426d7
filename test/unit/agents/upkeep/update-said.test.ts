/** What a person is told who asks for an update, before it begins; and of one that a hub asks for. */
import t from 'tap';
import { runUpdate } from '../../../../agents/upkeep/update/main.ts';
import { type UpdateRequest, updateChange } from '../../../../lib/change/update/request.ts';
import { writeAsked } from '../../../../lib/change/update/wanted.ts';
import { hostArchitecture } from '../../../../lib/host/architecture.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import {
  kubeletEnvironmentPath,
  kubeletEnvironmentText,
} from '../../../../lib/host/kubelet-environment.ts';
import { listOf } from '../host/api.ts';
import { cluster } from '../host/cluster.ts';
import type { TestHost } from '../host/host.ts';
import { EXECUTABLE, PAYLOAD, SOURCE, updating } from './updating-host.ts';
import { NODE, nodeOf, updatingWorker } from './updating-worker.ts';

type Manifest = UpdateRequest['manifest'];

/** Asks for an update that somebody has signed whom the host trusts. */
async function asking(host: TestHost, manifest: Manifest, payload: Partial<Manifest['payload']>) {
  await updateChange.remove(host.paths);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster), 0o600);
  host.write('/etc/sno-agents/allowed_signers', 'anybody');
  host.write('/var/lib/sno-agents/record.json', '{}');
  const architecture = hostArchitecture() ?? 'amd64';
  const offered = { ...manifest, architecture, payload: { ...manifest.payload, ...payload } };
  host.write(`${SOURCE}/update.json`, JSON.stringify(offered));
  host.write(`${SOURCE}/update.json.sig`, 'a signature');
  host.programs.give('ssh-keygen', "echo 'Good signature with ED25519 key SHA256:abc'");
  host.programs.forgetCalls();
  return said(host, 'run', '--from', host.at(SOURCE), '--no-wait');
}

async function said(host: TestHost, ...args: string[]) {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  const code = await runUpdate(host.paths, args, { write });
  return { code, text };
}

/** A host with these versions, and an update in a folder. */
async function updatable(t: Parameters<typeof updating>[0], versions: object) {
  const it = await updating(t, {
    answers: { 'GET /metrics': () => ({}), 'GET /api/v1/nodes': () => listOf() },
  });
  const payload = JSON.parse(it.host.read(`${PAYLOAD}/payload.yaml`));
  it.host.write(`${PAYLOAD}/payload.yaml`, JSON.stringify({ ...payload, versions }));
  return { host: it.host, manifest: it.context.request.manifest };
}

const PRESENT = { kubernetes: 'v1.34.4', etcd: 'v3.6.8' };

for (const [name, present, next, expected] of [
  ['a patch release loses nothing', PRESENT, { ...PRESENT, kubernetes: 'v1.34.9' }, /^Begun: /],
  [
    'the next minor version behaves as the one before until it is confirmed',
    PRESENT,
    { ...PRESENT, kubernetes: 'v1.35.1' },
    /^Until it is confirmed, the control plane behaves as Kubernetes 1\.34: nothing .*\n.*\nBegun: /,
  ],
  [
    'that of etcd loses what is written meanwhile, if it is taken back',
    { ...PRESENT, etcd: 'v3.5.21' },
    PRESENT,
    /^If it is taken back, etcd is restored from a backup .*\n.* is lost then\.\nBegun: /,
  ],
] as const) {
  t.test(`before it begins: ${name}`, async (t) => {
    const { host, manifest } = await updatable(t, present);
    const { code, text } = await asking(host, manifest, { versions: next });
    t.match(text, expected);
    t.match(text, `${next.kubernetes}, signed by SHA256:abc.\n`);
    t.equal(code, 0);
    t.match(await updateChange.read(host.paths), { before: present, signedBy: 'SHA256:abc' });
  });
}

t.test('a host that runs it already begins nothing', async (t) => {
  const { host, manifest } = await updatable(t, PRESENT);
  const digest = (path: string) => sha256(host.read(path));
  const executable = { ...manifest.executable, sha256: digest(EXECUTABLE) };
  const payload = { versions: PRESENT, sha256: digest(`${PAYLOAD}/payload.yaml`) };
  t.same(await asking(host, { ...manifest, executable }, payload), {
    code: 0,
    text: 'This host runs it already.\n',
  });
  const expired = { ...manifest, executable, expires: '2020-01-01T00:00:00Z' };
  t.equal((await asking(host, expired, payload)).code, 2, 'but not in the name of an old one');
  t.equal(await updateChange.read(host.paths), undefined);
  t.same(host.programs.calls('systemctl'), []);
});

t.test('a worker whose kubelet gets another minor version is to be drained', async (t) => {
  const { host, api, context } = await updatingWorker(t);
  const environment = { nodeIps: ['192.0.2.20'], nodeName: 'worker-0' };
  host.write(kubeletEnvironmentPath(host.paths), kubeletEnvironmentText(environment));
  api.rule(({ path }) =>
    path === '/version' ? { code: 200, body: { gitVersion: 'v1.35.1' } } : undefined,
  );
  const ask = async (kubernetes: string) => {
    const versions = { ...PRESENT, kubernetes };
    return (await asking(host, context.request.manifest, { versions })).text;
  };
  t.match(await ask('v1.34.9'), /^Begun: /);
  t.match(
    await ask('v1.35.1'),
    /^Pods of this node keep running\. .*\n"kubectl drain worker-0 .*" before, and "kubectl uncordon worker-0" afterwards\.\nBegun: /,
  );
  api.set(NODE, nodeOf({ unschedulable: true }));
  t.match(await ask('v1.35.1'), /^Begun: /, 'nor if people have');
});

t.test('the status says why what a hub asks for is not carried out', async (t) => {
  const { host } = await updating(t);
  await updateChange.remove(host.paths);
  const asked = {
    schemaVersion: 1,
    site: 'berlin',
    serial: 4,
    at: '2030-01-03T00:00:00Z',
  } as const;
  const failure = { code: 'update-refused', kind: 'usage', what: 'by a stranger' } as const;
  const status = async () => (await said(host, 'status')).text;
  await writeAsked(host.paths, { ...asked, outcome: 'refused', failure });
  t.match(
    await status(),
    /\nwhat a hub asks for was refused: by a stranger, 2030-01-03T00:00:00Z\n$/,
  );
  const { text } = await said(host, 'status', '--json');
  t.match(JSON.parse(text).asked, { serial: 4, outcome: 'refused', failure });
  await writeAsked(host.paths, { ...asked, outcome: 'waiting', failure });
  t.match(await status(), /\nwhat a hub asks for waits: by a stranger, /);
  await writeAsked(host.paths, { ...asked, outcome: 'accepted' });
  t.notMatch(await status(), /a hub/);
});

t.test('its help says how to ask for one', async (t) => {
  const { host } = await updating(t);
  const help: string[] = [];
  t.capture(process.stdout, 'write', (text: string) => help.push(text) > 0);
  t.equal((await said(host, '--help')).code, 0);
  t.match(help.join(''), /"sno-update run --from FOLDER\|URL" updates this host/);
  t.notMatch(help.join(''), /prepare/, 'that is for the release before it');
});
