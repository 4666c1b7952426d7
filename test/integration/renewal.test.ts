/** Renewal against the rendered control plane, which runs throughout and is never restarted. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import os, { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import type { RenewContext } from '../../agents/steps/certificates/context.ts';
import { etcdAnswer, presentedSerial } from '../../agents/steps/certificates/dial.ts';
import { readAttempts } from '../../agents/upkeep/renew/attempts.ts';
import { concludeRenewal } from '../../agents/upkeep/renew/conclude.ts';
import { kubeletServing } from '../../agents/upkeep/renew/kubelet-serving.ts';
import { renewLeaves } from '../../agents/upkeep/renew/renew-leaves.ts';
import { issueLeaf } from '../../lab/certificates/signed-now.ts';
import { startKubeletEndpoint } from '../../lab/servers/kubelet-endpoint.ts';
import { createLogger } from '../../lib/base/log/logger.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { Progress } from '../../lib/engine/steps/progress.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import { inspectCertificate } from '../../lib/pki/certificate.ts';
import { authorityPaths } from '../../lib/render/kubernetes/authorities.ts';
import { kubeletPaths } from '../../lib/render/kubernetes/kubelet.ts';
import { issuedLeaves } from '../../lib/render/kubernetes/leaves.ts';
import { cluster } from '../unit/agents/host/cluster.ts';
import { requestPem } from '../unit/cluster/csr/requests.ts';
import { rendered, textAt } from '../unit/render/rendered-host.ts';
import { readinessThroughout } from './control-plane/readiness.ts';
import { eventually, NODE, startWorld, type World } from './control-plane/world.ts';

const DAY_MS = 86_400_000;
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
/** Those that this host has: it defers no manifests, and the bootstrap's is not renewed. */
const leaves = Object.values(issuedLeaves).filter(
  (leaf) => leaf.name !== 'deferred' && !('leftover' in leaf),
);

/** The rendered files, with leaves of 300 days. */
async function agedFiles() {
  const contents = new Map<string, string>();
  for (const { certificate, key, authority, subject, usage } of leaves) {
    const ca = authorityPaths(authority);
    const { dnsNames, ipAddresses } = inspectCertificate(textAt(certificate));
    const aged = await issueLeaf(
      { certificate: textAt(ca.certificate), key: textAt(ca.key) },
      { subject, usage, dnsNames, ipAddresses },
      new Date(Date.now() - 300 * DAY_MS),
    );
    contents.set(certificate, aged.certificate);
    contents.set(key, aged.key);
  }
  return rendered.files.map((file) => ({
    ...file,
    contents: contents.get(file.path) ?? file.contents,
  }));
}

const root = await mkdtemp(join(tmpdir(), 'renewal-'));
let stop = async () => {};
t.teardown(async () => {
  await stop();
  await rm(root, { recursive: true, force: true });
});
const world = await startWorld(join(root, 'host'), await agedFiles());
stop = world.stop;
const kubelet = await startKubelet(join(root, 'host'));
t.teardown(() => kubelet[Symbol.dispose]());

/** The kubelet of that host. */
async function startKubelet(hostRoot: string) {
  const clientCa = await readFile(
    join(hostRoot, '/etc/kubernetes/pki/kubelet/client-ca.crt'),
    'utf8',
  );
  const { certificate, key } = authorityPaths('kubelet-serving');
  const serving = await issueLeaf(
    { certificate: textAt(certificate), key: textAt(key) },
    { subject: { commonName: `system:node:${NODE}` }, usage: 'server', dnsNames: [NODE] },
  );
  return startKubeletEndpoint(serving, clientCa);
}

function contextOf(hostRoot: string, renewProofMs: number): RenewContext {
  const at = (port: number) => `https://127.0.0.1:${port}`;
  return {
    paths: hostPaths(hostRoot, {
      api: at(world.plane.port(6443)),
      etcd: at(world.plane.port(2379)),
      etcdPeer: at(world.plane.port(2380)),
      kubelet: kubelet.url,
    }),
    settings: { ...defaultSettings, renewProofMs },
    cluster,
    hostname: () => NODE,
    bootTime: async () => new Date(),
    run: 'this',
  };
}

function progress(): Progress {
  const log = createLogger({ write: (line) => t.comment(line.trim()), priorities: false });
  const endsAt = performance.now() + 240_000;
  return new Progress(AbortSignal.timeout(240_000), endsAt, log, { waiting: () => true });
}

const certificateAt = ({ paths }: RenewContext, path: string) => readFile(paths.at(path), 'utf8');
const serialAt = async (context: RenewContext, path: string) =>
  inspectCertificate(await certificateAt(context, path)).serialNumber;

async function presented(context: RenewContext, url: string | undefined, name: 'serving' | 'etcd') {
  const { certificate, key } = issuedLeaves.etcdPeer;
  const identity = {
    certificate: await certificateAt(context, certificate),
    key: await certificateAt(context, key),
  };
  const server = { url: url ?? '', ca: textAt(authorityPaths(name).certificate) };
  const limits = { signal: AbortSignal.timeout(30_000), deadlineMs: 30_000 };
  return presentedSerial(server, name === 'etcd' ? identity : undefined, limits);
}

/** Holders of the leader election Leases: another identity is another process. */
async function leaders({ plane }: World) {
  const limits = { signal: AbortSignal.timeout(30_000), deadlineMs: 30_000 };
  const held = async (name: string) => {
    const lease = await plane.admin.find(
      resources.leases,
      { namespace: 'kube-system', name },
      limits,
    );
    return lease?.spec?.holderIdentity ?? undefined;
  };
  return {
    controllerManager: await eventually('a leader', () => held('kube-controller-manager')),
    scheduler: await eventually('a leader', () => held('kube-scheduler')),
  };
}

t.test(
  'a certificate that its server does not take up is restored; others are renewed',
  async (t) => {
    // A copy of the host's files, of which the servers know nothing.
    const copy = join(root, 'copy');
    await cp(join(root, 'host', 'etc'), join(copy, 'etc'), { recursive: true });
    const context = contextOf(copy, 1500);
    const servers = ['etcd-server', 'etcd-peer', 'kube-apiserver-serving'];
    const before = new Map<string, string>();
    for (const { name, certificate } of leaves) {
      before.set(name, await certificateAt(context, certificate));
    }
    t.match(await renewLeaves.run(context, progress()), {
      note: `${leaves.length - servers.length} renewed, ${servers.length} failed`,
    });
    for (const { name, certificate } of leaves) {
      const isRestored = (await certificateAt(context, certificate)) === before.get(name);
      t.equal(isRestored, servers.includes(name), name);
    }
    const failed = (await readAttempts(context.paths)).filter(({ failure }) => failure);
    t.same(failed.map(({ name }) => name).toSorted(), servers.toSorted());
    await t.rejects(concludeRenewal.run(context, progress()), {
      kind: 'fatal',
      code: 'renewal-failed',
    });
  },
);

t.test('a client that the API server does not trust any more keeps its certificate', async (t) => {
  const context = contextOf(join(root, 'foreign'), 1500);
  await cp(join(root, 'host', 'etc'), join(root, 'foreign', 'etc'), { recursive: true });
  const { certificate, key } = issuedLeaves.scheduler;
  // The authority that this host signs with is another one than the API server's.
  const foreign = authorityPaths('legacy-unknown');
  const pair = { certificate: textAt(foreign.certificate), key: textAt(foreign.key) };
  const profile = { subject: { commonName: 'system:kube-scheduler' }, usage: 'client' } as const;
  const aged = await issueLeaf(pair, profile, new Date(Date.now() - 300 * DAY_MS));
  const admin = authorityPaths('admin');
  for (const [path, text] of [
    [certificate, aged.certificate],
    [key, aged.key],
    [admin.certificate, pair.certificate],
    [admin.key, pair.key],
  ] as const) {
    await writeFile(context.paths.at(path), text);
  }
  await renewLeaves.run(context, progress());
  t.equal(await certificateAt(context, certificate), aged.certificate);
  const attempts = await readAttempts(context.paths);
  const own = attempts.find(({ name }) => name === 'kube-scheduler');
  t.equal(own?.failure?.code, 'leaf-not-accepted');
  t.match(own?.failure?.cause?.cause?.found, /status 401/);
});

t.test('etcd answers no client of another authority', async (t) => {
  const context = contextOf(join(root, 'host'), 1500);
  const server = {
    url: context.paths.endpoints.etcd ?? '',
    ca: textAt(authorityPaths('etcd').certificate),
  };
  const limits = { signal: AbortSignal.timeout(30_000), deadlineMs: 30_000 };
  const answerTo = ({ certificate, key }: { certificate: string; key: string }) =>
    etcdAnswer(server, { certificate: textAt(certificate), key: textAt(key) }, limits);
  t.equal(await answerTo(issuedLeaves.agentsEtcdClient), 'etcd accepts it');
  await t.rejects(answerTo(issuedLeaves.scheduler), { code: /^ERR_SSL|^ECONNRESET/ });
});

t.test('every leaf is renewed, and the API server is ready throughout', async (t) => {
  const context = contextOf(join(root, 'host'), defaultSettings.renewProofMs);
  const before = await leaders(world);
  const old = new Map<string, string>();
  for (const { name, certificate } of leaves) old.set(name, await serialAt(context, certificate));
  const began = performance.now();
  const answers = await readinessThroughout(world, async () => {
    t.same(await renewLeaves.run(context, progress()), {
      kind: 'done',
      note: `${leaves.length} renewed`,
    });
  });
  const seconds = (performance.now() - began) / 1000;
  for (const { name, certificate } of leaves) {
    const pem = await certificateAt(context, certificate);
    t.not(inspectCertificate(pem).serialNumber, old.get(name), name);
    t.ok(inspectCertificate(pem).notAfter.getTime() > Date.now() + 300 * DAY_MS, name);
  }
  const { endpoints } = context.paths;
  const { apiServerServing, etcdServer, etcdPeer } = issuedLeaves;
  for (const [url, name, leaf] of [
    [endpoints.api, 'serving', apiServerServing],
    [endpoints.etcd, 'etcd', etcdServer],
    [endpoints.etcdPeer, 'etcd', etcdPeer],
  ] as const) {
    t.equal(
      await presented(context, url, name),
      await serialAt(context, leaf.certificate),
      leaf.name,
    );
  }
  t.same(
    answers.filter((answer) => answer !== 200),
    [],
    `${answers.length} requests of /readyz`,
  );
  t.same(await leaders(world), before, 'nothing was restarted');
  t.same(await concludeRenewal.run(context, progress()), { kind: 'done' });
  t.comment(`${leaves.length} renewed in ${seconds.toFixed(1)} s, ${answers.length} x /readyz`);
});

t.test("the kubelet's request is approved with rights that outlive the installation", async (t) => {
  const context = contextOf(join(root, 'host'), defaultSettings.renewProofMs);
  const address = '192.0.2.10';
  const file = context.paths.at(kubeletPaths.servingPair);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(context.paths.at('/etc/hostname'), `${NODE}\n`);
  await giveAddress(t, address);
  const { certificate = '', key = '' } = world.node;
  await writeFile(context.paths.at(kubeletPaths.clientPair), certificate + key);
  // No key of the approver is on this host.
  await rm(context.paths.at(issuedLeaves.csrApprover.key));
  const post = async (path: string, body: object, caller = world.node) => {
    const { code, body: answer } = await world.api({ ...caller, method: 'POST', path, body });
    t.equal(code, 201, `${path}: ${answer}`);
  };
  await post('/api/v1/nodes', {
    metadata: { name: NODE },
    status: { addresses: [{ type: 'InternalIP', address }] },
  });
  const pem = await requestPem({
    subject: [{ O: ['system:nodes'] }, { CN: [`system:node:${NODE}`] }],
    names: [
      { type: 'dns', value: NODE },
      { type: 'ip', value: address },
    ],
  });
  await post(CSRS, {
    metadata: { name: 'csr-serving' },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kubelet-serving',
      usages: ['digital signature', 'server auth'],
    },
  });
  const running = kubeletServing.run(context, progress());
  // What a kubelet does: it waits for the certificate and writes it.
  const issued = eventually('a serving certificate', async () => {
    const limits = { signal: AbortSignal.timeout(30_000), deadlineMs: 30_000 };
    const place = { name: 'csr-serving' };
    const { status } = await world.plane.admin.get(
      resources.certificateSigningRequests,
      place,
      limits,
    );
    return status?.certificate;
  });
  await writeFile(file, Buffer.from(await issued, 'base64'));
  t.same(await running, { kind: 'done', note: 'the kubelet has a new one' });
  t.match(inspectCertificate(await readFile(file, 'utf8')), {
    subject: { commonName: `system:node:${NODE}` },
    issuer: { commonName: 'kubelet-serving-ca' },
  });
});

/** Gives this process the view of a host with that address. */
async function giveAddress(t: Test, address: string): Promise<void> {
  const programs = join(root, 'bin');
  const addr_info = [{ local: address, prefixlen: 24, scope: 'global' }];
  const text = JSON.stringify([{ ifname: 'eth0', addr_info }]);
  await mkdir(programs);
  await writeFile(join(programs, 'ip'), `#!/bin/sh\necho '${text}'\n`, { mode: 0o755 });
  const path = process.env.PATH;
  process.env.PATH = `${programs}${delimiter}${path}`;
  t.teardown(() => {
    process.env.PATH = path;
    syncBuiltinESMExports();
  });
  t.capture(os, 'networkInterfaces', () => ({ eth0: [{ address, internal: false }] }));
  syncBuiltinESMExports();
}
