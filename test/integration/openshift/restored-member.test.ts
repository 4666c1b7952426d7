/**
 * A real etcd as OpenShift's bootstrap pod starts it, its restore as the same member, and its start as the
 * pod of etcd's operator starts it afterwards, under another name.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { stringify } from 'yaml';
import { etcdBinaries } from '../../../lab/servers/binaries.ts';
import { startDaemon } from '../../../lab/servers/daemon.ts';
import { etcdKeys } from '../../../lab/servers/etcd-keys.ts';
import { limits, makeTls } from '../../../lab/servers/etcd-member.ts';
import { freePort } from '../../../lab/servers/free-port.ts';
import { connectEtcd } from '../../../lib/clients/etcd/client.ts';
import type { Etcdutl } from '../../../lib/clients/etcd/etcdutl.ts';
import { restoreSnapshot } from '../../../lib/clients/etcd/restore.ts';
import { takeSnapshot } from '../../../lib/clients/etcd/snapshot.ts';
import { etcdMemberOf } from '../../../lib/render/openshift/etcd-member.ts';

const programs = await etcdBinaries(AbortSignal.timeout(600_000));
const folder = t.testdir();
const tls = await makeTls();
const peerUrl = `http://127.0.0.1:${await freePort()}`;
const manifest = stringify({
  kind: 'Pod',
  spec: {
    containers: [
      {
        name: 'etcd',
        image: 'registry.test/etcd@sha256:0',
        command: ['/bin/sh', '-c', `exec etcd \\\n  --initial-advertise-peer-urls=${peerUrl} \\\n`],
        env: [{ name: 'ETCD_NAME', value: 'etcd-edge-0' }],
      },
    ],
  },
});

/** Starts etcd on a data folder with further arguments of its pod. */
async function start(dataDir: string, args: readonly string[]) {
  const clientUrl = `https://127.0.0.1:${await freePort()}`;
  const pki = join(folder, 'pki');
  await mkdir(pki, { recursive: true });
  for (const [name, text] of Object.entries(tls)) {
    await writeFile(join(pki, name), text, { mode: 0o600 });
  }
  const daemon = startDaemon(
    programs.etcd,
    [
      ...['--data-dir', dataDir, '--log-level', 'error', '--unsafe-no-fsync'],
      ...['--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl],
      ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
      ...['--cert-file', join(pki, 'cert'), '--key-file', join(pki, 'key')],
      ...['--client-cert-auth', '--trusted-ca-file', join(pki, 'ca')],
      ...args,
    ],
    join(folder, 'etcd.log'),
    120_000,
  );
  const client = connectEtcd(clientUrl, tls);
  const keys = etcdKeys(clientUrl, tls);
  await client.status({ ...limits(30_000), waitForReady: true });
  return {
    client,
    keys,
    async stop() {
      client[Symbol.dispose]();
      keys[Symbol.dispose]();
      await daemon.stop();
    },
  };
}

/** As podman does it in the image. */
const etcdutl: Etcdutl = async (args, { signal, deadlineMs }) =>
  (await execa(programs.etcdutl, [...args], { cancelSignal: signal, timeout: deadlineMs })).stdout;

t.test('the restored member is the one that both pods start', async (t) => {
  // Neither the initial cluster nor a token: etcd derives the one from its name and has the other.
  const bootstrap = ['--name', 'etcd-edge-0'];
  const live = await start(join(folder, 'live'), bootstrap);
  await live.keys.put('/kubernetes.io/thing', Buffer.from('value'), limits());
  const revision = await live.client.revision(limits());
  await live.client.compact(revision, true, limits());
  const { hash, compactRevision } = await live.client.hashKv(revision, limits());
  const snapshot = join(folder, 'snapshot.db');
  const taken = await takeSnapshot(live.client, snapshot, limits());
  const before = await live.client.members(limits());
  await live.stop();

  const { image: _, ...member } = etcdMemberOf(manifest);
  const restored = join(folder, 'restored');
  const outcome = await restoreSnapshot(snapshot, restored, {
    ...member,
    expected: { sha256: taken.sha256, revision, history: { hash, compactRevision } },
    etcdutl,
    ...limits(60_000),
  });
  t.equal(outcome, 'restored');

  const operators = ['--initial-cluster-state', 'existing', '--initial-cluster'];
  for (const [title, name, args] of [
    ['the bootstrap pod', 'etcd-edge-0', bootstrap],
    ["the operator's pod", 'edge-0', ['--name', 'edge-0', ...operators, `edge-0=${peerUrl}`]],
  ] as const) {
    const started = await start(restored, args);
    t.equal((await started.keys.get('/kubernetes.io/thing', limits()))?.toString(), 'value', title);
    await started.keys.put('/kubernetes.io/thing', Buffer.from('value'), limits());
    const members = await started.client.members(limits());
    const identity = (all: typeof members) => all.map(({ id, peerUrls }) => ({ id, peerUrls }));
    t.same(identity(members), identity(before), `${title}: the same member`);
    t.same(
      members.map((each) => each.name),
      [name],
      `${title}: under its name`,
    );
    await started.stop();
  }
});
