import t from 'tap';
import { ETCD_VERSIONS, KUBERNETES_VERSIONS } from '../../../lab/components/versions.ts';
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
