import t, { type Test } from 'tap';
import {
  etcdImage,
  memberToRestore,
} from '../../../../../agents/post-reboot/openshift/restore/etcd-image.ts';
import { openShiftRestorePlan } from '../../../../../agents/post-reboot/openshift/restore/plan.ts';
import { hostArchitecture } from '../../../../../lib/host/architecture.ts';
import { sha256 } from '../../../../../lib/host/files.ts';
import { defaultSettings } from '../../../../../lib/host/settings.ts';
import { cluster } from '../../host/cluster.ts';
import { openShiftHost } from './cluster-objects.ts';

const RESTORE = '/var/lib/sno-agents/restore';
const DATABASE = '/var/lib/etcd/member/snap/db';
const IMAGE = 'registry.test/etcd@sha256:abc';
const POD = `kind: Pod
spec:
  containers:
  - name: etcd
    image: ${IMAGE}
    command: [sh, -c, "etcd --initial-advertise-peer-urls=https://192.0.2.10:2380"]
    env: [{name: ETCD_NAME, value: etcd-edge-0}]
`;
const record = {
  clusterId: cluster.clusterId,
  sha256: sha256('the snapshot'),
  bytes: 12,
  revision: 4711,
  hash: 99,
  compactRevision: 4700,
  etcdVersion: '3.6.8',
  hostname: 'edge-0',
  nodeIps: ['192.0.2.10'],
};

/** An installed host whose podman has what it has pulled; etcdutl in it restores and hashes. */
function host(t: Test, etcdVersion = record.etcdVersion, hash = record.hash) {
  const it = openShiftHost(t);
  it.write(`${RESTORE}/etcd-snapshot.json`, JSON.stringify({ ...record, etcdVersion }));
  it.write(`${RESTORE}/etcd-snapshot.db`, 'the snapshot');
  it.write(`${RESTORE}/etcd-pod.yaml`, POD);
  it.programs.give('systemctl', ':');
  it.programs.give(
    'systemd-run',
    'while [ "$1" != -- ]; do case "$1" in --setenv=*) export "$(echo "$1" | cut -c10-)" ;; esac; shift; done; shift; exec "$@"',
  );
  const image = JSON.stringify([
    { Digest: 'sha256:abc', RepoDigests: [], Architecture: hostArchitecture() },
  ]);
  it.programs.give(
    'podman',
    `printf '%s\\n' "auth $REGISTRY_AUTH_FILE" >> $ROOT/auth
    case "$1" in
      pull) touch $ROOT/pulled ;;
      image) [ -e $ROOT/pulled ] || exit 125; echo '${image}' ;;
      run)
        while [ "$1" != '${IMAGE}' ]; do shift; done
        case "$2" in
          snapshot) mkdir -p "$6/member/snap" && cp "$4" "$6/member/snap/db" ;;
          hashkv) echo '{"hash":${hash},"hashRevision":4711,"compactRevision":4700}' ;;
        esac ;;
    esac`,
  );
  return it;
}

const stepOf = (name: string) => {
  const step = openShiftRestorePlan(defaultSettings).steps.find((each) => each.name === name);
  if (step === undefined) throw new Error(name);
  return step;
};

t.test("etcd's image is pulled with the kubelet's pull secret, once", async (t) => {
  const it = host(t);
  t.equal(await it.holds(etcdImage), false);
  t.same(await it.run(etcdImage), { kind: 'done', note: IMAGE });
  t.equal(await it.holds(etcdImage), true);
  t.equal(await etcdImage.input(it.context), IMAGE);
  t.match(it.programs.calls('podman pull'), [`podman pull --quiet -- ${IMAGE}`]);
  t.same(
    new Set(it.read('/auth').trim().split('\n')),
    new Set(['auth /var/lib/kubelet/config.json']),
  );
});

t.test('the database is restored as the member that its pod starts', async (t) => {
  const it = host(t);
  const restore = stepOf('restore-database');
  t.same(await memberToRestore(it.context), {
    name: 'etcd-edge-0',
    peerUrl: 'https://192.0.2.10:2380',
    token: 'etcd-cluster',
    image: IMAGE,
  });
  t.equal(await it.holds(restore), false);
  t.same(await it.run(restore), { kind: 'done', note: 'revision 4711, hash 99 verified' });
  t.equal(it.read(DATABASE), 'the snapshot');
  const [call = ''] = it.programs.calls('podman run');
  t.match(call, '--name etcd-edge-0 --initial-cluster etcd-edge-0=https://192.0.2.10:2380');
  t.match(call, '--network=none');
  t.match(call, '--security-opt=label=disable', 'labels of /var/lib stay');
  t.equal(await it.holds(restore), true);
});

t.test('another hash is refused', async (t) => {
  const it = host(t, '3.6.8', 98);
  t.match(await it.failureOf(stepOf('restore-database')), {
    kind: 'fatal',
    code: 'snapshot-unusable',
  });
  t.notOk(it.has(DATABASE));
});

t.test('etcdutl before 3.6 cannot hash: the snapshot itself is verified', async (t) => {
  const it = host(t, '3.5.21');
  t.same(await it.run(stepOf('restore-database')), {
    kind: 'done',
    note: 'revision 4711, its hash is not verified',
  });
  t.equal(it.programs.calls('podman run').filter((call) => call.includes('hashkv')).length, 0);
});
