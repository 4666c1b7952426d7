/** What on the host and in its cluster is in the way of an update, before anything is changed. */
import t, { type Test } from 'tap';
import {
  clusterObstacles,
  platformObstacles,
  removedApiFaults,
  roomObstacles,
} from '../../../../agents/upkeep/update/obstacles.ts';
import { newerThanApi } from '../../../../lib/change/update/successor.ts';
import { deprecatedApisIn } from '../../../../lib/clients/kube/deprecated-apis.ts';
import { diskOf } from '../../host/disk-of.ts';
import { type ApiAnswer, listOf, refuse } from '../host/api.ts';
import { updating } from './updating-host.ts';

const METRICS = `# HELP apiserver_requested_deprecated_apis [STABLE] Gauge of deprecated APIs that have been requested
# TYPE apiserver_requested_deprecated_apis gauge
apiserver_requested_deprecated_apis{group="networking.k8s.io",removed_release="1.37",resource="ipaddresses",subresource="",version="v1beta1"} 1
apiserver_requested_deprecated_apis{group="",removed_release="",resource="componentstatuses",subresource="",version="v1"} 1
apiserver_requested_deprecated_apis{group="x.test",removed_release="1.36",resource="a\\"b}s",subresource="status",version="v1alpha1"} 1
apiserver_requested_deprecated_apis{group="x.test",removed_release="1.36",resource="never",subresource="",version="v1"} 0
apiserver_request_total{code="200",resource="apiserver_requested_deprecated_apis{"} 7
`;

t.test('the metric of an API server names deprecated APIs that were used', async (t) => {
  t.same(deprecatedApisIn(METRICS), [
    { resource: 'ipaddresses.v1beta1.networking.k8s.io', removedIn: '1.37' },
    { resource: 'componentstatuses.v1', removedIn: '' },
    { resource: 'a\\"b}s.v1alpha1.x.test', removedIn: '1.36' },
  ]);
  t.same(deprecatedApisIn(''), []);
});

t.test('only those count that the next version does not serve', async (t) => {
  const apis = deprecatedApisIn(METRICS);
  t.same(removedApiFaults('v1.35.4', apis), []);
  t.match(removedApiFaults('v1.36.3', apis), [
    { found: /^Kubernetes v1\.36\.3 does not serve what is in use: a\S+ \(until 1\.36\)$/ },
  ]);
  t.match(removedApiFaults('v1.37.2', apis), [
    { found: /ipaddresses\.v1beta1\.networking\.k8s\.io \(until 1\.37\), a/, fix: /audit\.log/ },
  ]);
  t.equal(removedApiFaults('v1.100.0', apis).length, 1);
});

t.test('a runtime that the next kubelet cannot use is in the way', async (t) => {
  const platform = { cgroup: 1, runtime: { name: 'containerd 1.6.20', hasConfig: false } } as const;
  t.same(platformObstacles({ kubernetes: 'v1.37.2', etcd: 'v3.6.16' }, platform), []);
  t.match(platformObstacles({ kubernetes: 'v1.38.0', etcd: 'v3.7.3' }, platform), [
    { found: /containerd 1\.6\.20 does not tell/, fix: /containerd 2\.0 or newer/ },
  ]);
});

const node = (name: string, kubeletVersion?: string) => ({
  metadata: { name, uid: name },
  status: kubeletVersion === undefined ? {} : { nodeInfo: { kubeletVersion } },
});

const asked = async (
  test: Test,
  answers: Readonly<Record<string, ApiAnswer>>,
  readyz: ApiAnswer = () => ({}),
) => {
  const { context } = await updating(test, {
    readyz,
    answers: { 'GET /metrics': () => ({}), 'GET /api/v1/nodes': () => listOf(), ...answers },
  });
  const accepted = { removedApis: false };
  const versions = { kubernetes: 'v1.37.2', etcd: 'v3.6.16' };
  const on = { ...context, hostname: () => 'edge-0' };
  return clusterObstacles(on, versions, accepted, AbortSignal.timeout(60_000));
};

t.test('a worker whose kubelet would be too old is named, the own Node is not', async (t) => {
  const found = await asked(t, {
    'GET /api/v1/nodes': () =>
      listOf(node('edge-0', 'v1.30.0'), node('w1', 'v1.33.0'), node('w2', 'v1.36.0'), node('w3')),
  });
  t.match(found, [{ found: /w1 has the kubelet v1\.33\.0/ }, { found: /w3 .*cannot be compared/ }]);
});

t.test('an API server that cannot say what is in the way is in the way', async (t) => {
  const unready = await asked(t, {}, () => refuse(500));
  t.match(unready, [{ found: /the API server is not ready/, fix: /wait-steady/ }]);
  const silent = await asked(t, { 'GET /metrics': () => refuse(503) });
  t.match(silent, [{ found: /cannot be asked: GET \/metrics.*503/ }]);
  t.same(await asked(t, {}), []);
});

t.test('whoever stops asking has found nothing in the way', async (t) => {
  const { context } = await updating(t);
  const versions = { kubernetes: 'v1.37.2', etcd: 'v3.6.16' };
  const stopped = AbortSignal.abort(new Error('stopped by the test'));
  await t.rejects(clusterObstacles(context, versions, { removedApis: true }, stopped), {
    message: 'stopped by the test',
  });
});

t.test('a version that cannot be compared is not refused for being newer', async (t) => {
  t.same(newerThanApi('unknown', '1.34'), []);
  t.same(newerThanApi('v1.34.9', '1.34'), []);
  t.match(newerThanApi('v1.35.0', '1.34'), [{ found: /is newer than the API server/ }]);
});

t.test('the room on the disk is known before', async (t) => {
  const needed = 1000;
  // For logs and the database, meanwhile.
  const margin = 536_870_912;
  let free = needed + margin;
  diskOf(t, () => ({ free }));
  t.same(await roomObstacles('/', needed), []);
  free -= 1;
  t.match(await roomObstacles('/', needed), [
    {
      found: `the disk has no room for the update: it needs 536871912 bytes, and ${free} are free`,
    },
  ]);
});
