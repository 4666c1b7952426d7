import t from 'tap';
import { clean } from '../../../../agents/steps/clean.ts';
import { workerKubelet } from '../../../../agents/steps/kubelet.ts';
import { verifyClean } from '../../../../agents/steps/verify-clean.ts';
import { finishWorker } from '../../../../agents/worker/finish.ts';
import { workerLeftovers } from '../../../../agents/worker/leftovers.ts';
import { awaitOwnNodeReady } from '../../../../agents/worker/node-ready.ts';
import { workerServingCertificate } from '../../../../agents/worker/serving-certificate.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { markerOf, readMarker, writeMarker } from '../../../../lib/cluster/installation/marker.ts';
import { isWorker } from '../../../../lib/cluster/workers/paths.ts';
import { fakeRuntime } from '../host/runtime.ts';
import { endPauses } from '../host/timers.ts';
import { NODES, workerHost } from './worker-host.ts';

const UNITS = '/etc/systemd/system';
const SERVING = '/var/lib/kubelet/pki/kubelet-server-current.pem';
const GONE = [
  '/etc/sno-agents/worker-bootstrap.kubeconfig',
  '/etc/sno-agents/executable.curl',
  '/etc/sno-agents/executable-part.sha256',
  `${UNITS}/progress.service`,
  `${UNITS}/sno-executable.service`,
];
const STAYS = [
  '/etc/sno-agents/cluster.json',
  '/etc/sno-agents/api.env',
  '/etc/kubernetes/pki/kubelet/api-ca.crt',
  `${UNITS}/sno-api.service`,
  `${UNITS}/sno-worker.service`,
];

t.test('the kubelet of a worker requires the payload alone', async (t) => {
  const { host } = await workerHost(t);
  host.programs.give(
    'systemctl',
    'case "$1" in enable|restart|daemon-reload|start) ;; show) echo ActiveState=active; echo NRestarts=0 ;; *) exit 97 ;; esac',
  );
  const answers = [false, true];
  t.capture(globalThis, 'fetch', async () => {
    if (answers.shift() === false) throw new TypeError('fetch failed');
    return new Response('ok');
  });
  endPauses(t, 5000);
  t.same(await host.run(workerKubelet), { kind: 'done' });
  t.same(host.programs.calls().slice(0, 4), [
    'systemctl enable --no-reload sno-payload.service kubelet.service',
    'systemctl restart systemd-modules-load.service',
    'systemctl daemon-reload',
    'systemctl start --no-block kubelet.service',
  ]);
});

t.test('serving-certificate waits for the file of the kubelet', async (t) => {
  const { host } = await workerHost(t);
  const authority = await createAuthority('kubelet-serving-ca');
  const pem = async (name: string) => {
    const profile = { subject: { commonName: name }, usage: 'server', dnsNames: [name] } as const;
    const { certificate, key } = await issueLeaf(authority, profile);
    return `${certificate}${key}`;
  };
  t.equal(await host.holds(workerServingCertificate), false);
  host.write(SERVING, await pem('edge-0'), 0o600);
  t.equal(await host.holds(workerServingCertificate), false, 'that of another host');
  t.ok(await host.waitsFor(workerServingCertificate, /on the control-plane host/), 'it waits');
  const running = host.run(workerServingCertificate);
  await host.said(/Waiting for the serving certificate to be approved on the control-plane host/);
  host.write(SERVING, await pem('worker-0'), 0o600);
  t.same(await running, { kind: 'done' });
  t.equal(await host.holds(workerServingCertificate), true);
});

t.test('node-ready asks as the node itself', async (t) => {
  const { host, api } = await workerHost(t);
  const running = host.run(awaitOwnNodeReady);
  await host.said(/node worker-0 to be Ready: the node is not registered/);
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2030-01-01T00:00:01Z' }];
  api.set(`${NODES}/worker-0`, { metadata: { name: 'worker-0' }, status: { conditions } });
  t.same(await running, { kind: 'done' });
  const [first] = api.requests;
  t.equal(first?.query.fieldSelector, 'metadata.name=worker-0', 'a node may read no other');
});

t.test('the token is deleted at the end, and what the worker needs is not', async (t) => {
  const { host } = await workerHost(t);
  t.equal(await isWorker(host.paths), false);
  for (const path of [...GONE.slice(1), ...STAYS]) host.write(path, `contents of ${path}`);
  host.programs.give('systemctl', 'case "$1" in disable|daemon-reload) ;; *) exit 97 ;; esac');
  await fakeRuntime(t, host, () => [], {});
  t.equal(await host.holds(workerLeftovers), false);
  t.same(await host.run(workerLeftovers), { kind: 'done', note: `${GONE.length} files` });
  t.equal(await host.holds(workerLeftovers), true);
  t.match(await host.run(clean), { kind: 'done' });
  t.match(await host.run(verifyClean), { kind: 'done' });
  for (const unit of ['progress.service', 'sno-executable.service'])
    t.match(host.programs.calls().join('\n'), new RegExp(`disable .*${unit}`), unit);
  for (const path of GONE) t.notOk(host.has(path), path);
  for (const path of STAYS) t.ok(host.has(path), path);
  t.equal(await isWorker(host.paths), true);
});

t.test('finish marks the disk', async (t) => {
  const { host } = await workerHost(t);
  host.write('/etc/machine-id', 'one\n');
  t.equal(await host.holds(finishWorker), false);
  await writeMarker(host.paths.at('/var'), markerOf(host.context.cluster, 'writing'));
  t.equal(await host.holds(finishWorker), false, 'it has only begun');
  t.same(await host.run(finishWorker), { kind: 'done' });
  t.equal(await host.holds(finishWorker), true);
  t.match(await readMarker(host.paths.at('/var')), {
    state: 'finished',
    machine: 'machine-id:one',
  });
});
