import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { COMPANIONS, INDEPENDENT } from '../../../cli/payload/fetch/upstream.ts';
import { FLANNEL_VERSION } from '../../../lab/components/flannel.ts';
import { goModuleFolder } from '../../../lab/components/go-build.ts';
import { kubernetesModule } from '../../../lab/components/kubernetes.ts';
import { LOCAL_PATH_PROVISIONER_VERSION } from '../../../lab/components/local-path-provisioner.ts';
import { isKubernetesMinor } from '../../../lab/components/versions.ts';
import { SUPPORTED_KUBERNETES } from '../../../lib/payload/supported.ts';

const signal = AbortSignal.timeout(20 * 60_000);

for (const { minor, ...companions } of COMPANIONS) {
  t.test(`what Kubernetes ${minor} is released with is what its source says`, async (t) => {
    if (!isKubernetesMinor(minor)) throw new Error('the lab has no source of it');
    const work = join(t.testdir(), 'module');
    const source = await goModuleFolder(kubernetesModule(minor), 'k8s.io/kubernetes', work, signal);
    const constants = readFileSync(join(source, 'cmd/kubeadm/app/constants/constants.go'), 'utf8');
    const value = (name: string) =>
      new RegExp(`^\\t${name} += "v?([^"]+)"`, 'm').exec(constants)?.[1];
    const dependencies = readFileSync(join(source, 'build/dependencies.yaml'), 'utf8');
    t.strictSame(
      {
        etcd: value('DefaultEtcdVersion'),
        coredns: value('CoreDNSVersion'),
        pause: value('PauseVersion'),
        cni: /- name: "cni"\n +version: (\S+)/.exec(dependencies)?.[1],
      },
      { ...companions, etcd: `${companions.etcd}-0` },
    );
  });
}

t.test('every supported version has a row, and the rest is what the lab runs', async (t) => {
  t.same(
    COMPANIONS.map(({ minor }) => minor),
    SUPPORTED_KUBERNETES.map(({ minor }) => minor),
  );
  for (const { minor, etcd } of SUPPORTED_KUBERNETES) {
    const companion = COMPANIONS.find((each) => each.minor === minor)?.etcd ?? '';
    t.ok(
      etcd.some((known) => companion.startsWith(`${known}.`)),
      `etcd ${companion}`,
    );
  }
  t.same(INDEPENDENT, { flannel: FLANNEL_VERSION, localPath: LOCAL_PATH_PROVISIONER_VERSION });
});
