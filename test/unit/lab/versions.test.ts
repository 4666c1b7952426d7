import t from 'tap';
import { ALIGNED_MODULES, modulesOf } from '../../../lab/components/go-modules.ts';
import { kubernetesModule } from '../../../lab/components/kubernetes.ts';
import {
  ETCD_VERSIONS,
  KUBERNETES_VERSIONS,
  kubernetesMinor,
} from '../../../lab/components/versions.ts';
import { INSTALLED_MINORS, SUPPORTED_KUBERNETES } from '../../../lib/payload/supported.ts';

t.test('the lab builds every supported version, and the table says that it was run', async (t) => {
  const built = Object.entries(KUBERNETES_VERSIONS);
  t.strictSame(
    SUPPORTED_KUBERNETES.map(({ minor, ranWith }) => [minor, ranWith.kubernetes]),
    built,
  );
  const databases: readonly string[] = Object.values(ETCD_VERSIONS);
  for (const { minor, ranWith } of SUPPORTED_KUBERNETES) {
    if (!INSTALLED_MINORS.includes(minor)) continue;
    t.strictSame(
      ranWith.etcd.filter((version) => !databases.includes(version)),
      [],
      minor,
    );
  }
});

t.test('what programs share with Kubernetes is compiled once', async (t) => {
  const kubernetes = await modulesOf(kubernetesModule(kubernetesMinor));
  for (const folder of ALIGNED_MODULES) {
    const own = await modulesOf(folder);
    const shared = [...own.keys()].filter((module) => kubernetes.has(module));
    t.ok(shared.includes('k8s.io/client-go'), folder);
    t.strictSame(
      shared.filter((module) => own.get(module) !== kubernetes.get(module)),
      [],
      `${folder}: run lab/components/pin-kubernetes.ts`,
    );
  }
});
