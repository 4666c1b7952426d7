/**
 * What the lab's static pod operators make a revision of, in a cluster with the manifests that the
 * renders of the lab's release left: OpenShift's API server, and a node without a kubelet. Needs components
 * that `npm run lab -- --scenario openshift-components` builds.
 *
 * It is the operators that are tried here, and the manifests that they read: what the product does with these runs
 * everywhere in test/unit/render/openshift.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { z } from 'zod';
import { resources } from '../../../lib/clients/kube/resources.ts';
import { watchUntil } from '../../../lib/clients/kube/watch-objects.ts';
import { keyFingerprintsIn } from '../../../lib/render/private-keys.ts';
import { notBuilt, startRenderedCluster } from './rendered-cluster.ts';

const LIFETIME_MS = 600_000;
const skip = await notBuilt();

/** Names of static pod operators with what belongs to a revision besides the pod. */
const operands = {
  etcd: { namespace: 'openshift-etcd', secrets: [] },
  'kube-apiserver': {
    namespace: 'openshift-kube-apiserver',
    secrets: ['credentials', 'node-kubeconfigs'],
  },
  'kube-controller-manager': {
    namespace: 'openshift-kube-controller-manager',
    secrets: ['credentials'],
  },
  'kube-scheduler': { namespace: 'openshift-kube-scheduler', secrets: ['credentials'] },
} as const;

t.test('static pods of the operators', { skip, timeout: LIFETIME_MS }, async (t) => {
  const cluster = await startRenderedCluster(t, 'rendered', LIFETIME_MS);
  const { assets, manifests, admin, limits } = cluster;
  const dataSchema = z.record(z.string(), z.string());
  await cluster.startOperators();

  /** The keys that openshift-install gave to the bootstrap and that no manifest has. */
  const gone = async () => {
    const texts = await Promise.all(
      (await readdir(join(assets, 'tls'))).map((name) =>
        readFile(join(assets, 'tls', name), 'utf8'),
      ),
    );
    const adopted = new Set(manifests.flatMap(keyFingerprintsIn));
    return texts.flatMap(keyFingerprintsIn).filter((key) => !adopted.has(key));
  };

  for (const [component, { namespace, secrets }] of Object.entries(operands)) {
    await t.test(component, async (t) => {
      const name = `${component}-pod-1`;
      const found = await watchUntil(
        admin,
        resources.configMaps,
        { namespace },
        (all) => all.get(`${namespace}/${name}`),
        { ...limits, what: name, describe: () => 'no revision', report: () => undefined },
      );
      const text = found.data?.['pod.yaml'] ?? '';
      const pod = parse(text);
      t.match(parse(text.replaceAll('REVISION', '1')).metadata.labels, { revision: '1' });
      t.equal(pod.metadata.namespace, namespace);
      t.notMatch(text, /bootstrap-(?:secrets|configs)|etcd-member/, 'nothing of the bootstrap');
      t.match(text, `/etc/kubernetes/static-pod-resources/${component}-pod-REVISION`);
      t.match(text, /while .*ss -Hltn/, 'it waits for its ports');
      for (const secret of secrets) {
        const place = { namespace, name: secret };
        const { data } = await admin.get(resources.secrets, place, limits);
        const texts = Object.values(dataSchema.parse(data)).map((each) =>
          Buffer.from(each, 'base64').toString(),
        );
        const keys = texts.flatMap(keyFingerprintsIn);
        t.ok(keys.length > 0, `${secret} has keys`);
        const left = await gone();
        t.ok(left.length > 0, 'the bootstrap has keys of its own');
        t.same(
          keys.filter((key) => left.includes(key)),
          [],
          `no key of the bootstrap in ${secret}`,
        );
      }
    });
  }
});
