import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { FakePodman, installerFiles, results } from './fake-podman.ts';
import { liveHostOf, releaseImage } from './live-host.ts';
import { referenceOf } from './release.ts';

t.test('each stage finds what it needs and nothing else', async (t) => {
  const podman = new FakePodman(results());
  const { render } = liveHostOf(t, podman);
  await render();
  const installers = Object.keys(installerFiles());
  const added = (stage: string) =>
    podman.found
      .get(stage)
      ?.filter((path) => !installers.includes(path))
      .filter((path) => path !== 'image-references' && !/manifests.99_/.test(path));
  t.same(added('etcd-bootstrap'), []);
  t.same(added('kube-scheduler-bootstrap'), []);
  t.same(added('kube-controller-manager-bootstrap'), ['manifests/0000_10_apiservers.crd.yaml']);
  t.same(added('kube-apiserver-bootstrap'), [
    'manifests/0000_10_apiservers.crd.yaml',
    'manifests/etcd-signer.yaml',
    'tls/etcd-ca-bundle.crt',
    'tls/etcd-client.crt',
    'tls/etcd-client.key',
  ]);
  t.ok(podman.found.get('etcd-bootstrap')?.includes('manifests/99_machineconfig.yaml'));
  const [mco] = podman.runs.filter(({ name }) => name === 'sno-render-mco-bootstrap');
  t.match(mco, { user: '0', network: 'host', image: referenceOf('machine-config-operator') });
  const [cvo] = podman.runs.filter(({ name }) => name === 'sno-render-cvo-bootstrap');
  t.match(cvo, { image: releaseImage, user: undefined });
});

t.test('stages run at the same time, and their order of ending changes nothing', async (t) => {
  const stages = Object.keys(results());
  const texts = [];
  for (const turns of [
    (stage: string) => stages.indexOf(stage) + 1,
    (stage: string) => stages.length - stages.indexOf(stage),
  ]) {
    // Two stages with a file of the same name: the later one in the table wins, as in the shell.
    const files = results();
    files['etcd-bootstrap'] = {
      ...files['etcd-bootstrap'],
      'etcd-bootstrap/manifests/scc.yaml': 'early\n',
    };
    const podman = new FakePodman(files);
    podman.turns = turns;
    podman.together = 4;
    const { render } = liveHostOf(t, podman);
    const rendered = await render();
    t.equal(rendered.manifests.find(({ name }) => name === 'scc.yaml')?.contents, 'kind: SCC\n');
    t.ok(podman.mostAtOnce >= 4, 'more with more processors');
    texts.push(JSON.stringify(rendered));
  }
  t.equal(texts[0], texts[1]);
});

t.test(
  'a second attempt finds nothing of the first, nor does it change the installer’s files',
  async (t) => {
    const podman = new FakePodman(results());
    podman.failing = 'kube-apiserver-bootstrap';
    const { paths, render } = liveHostOf(t, podman);
    await t.rejects(render(), { message: /sno-render-kube-apiserver-bootstrap failed/ });
    rmSync(join(paths.assets, 'render'), { recursive: true });
    podman.failing = undefined;
    podman.found.clear();
    await render();
    t.same(
      podman.found.get('api-bootstrap')?.filter((path) => path.startsWith('manifests/')),
      [
        'manifests/99_feature-gate.yaml',
        'manifests/99_machineconfig.yaml',
        'manifests/cluster-config.yaml',
        'manifests/cluster-infrastructure-02-config.yml',
        'manifests/cluster-network-02-config.yml',
        'manifests/openshift-config-secret-pull-secret.yaml',
      ],
    );
  },
);

t.test('what cannot be rendered is named', async (t) => {
  const without = (stage: string, path: string) => {
    const files = results();
    const { [path]: _, ...rest } = files[stage] ?? {};
    return { ...files, [stage]: rest };
  };
  const scheduler = 'kube-scheduler-bootstrap';
  const incomplete = new FakePodman(without(scheduler, `${scheduler}/config`));
  await t.rejects(liveHostOf(t, incomplete).render(), {
    kind: 'retry',
    code: 'render-failed',
    message: /kube-scheduler-bootstrap has not rendered kube-scheduler-bootstrap\/config/,
  });

  const unknown = new FakePodman(results());
  unknown.version = '4.12.1';
  await t.rejects(liveHostOf(t, unknown).render(), { kind: 'usage', message: /4\.12\.1/ });

  const lacking = liveHostOf(t, new FakePodman(results()));
  rmSync(join(lacking.paths.assetsTls, 'service-account.key'));
  await t.rejects(lacking.render(), {
    kind: 'fatal',
    message: /\/opt\/openshift\/tls\/service-account\.key does not exist.*kube-controller-manager/,
  });

  const noPod = results();
  noPod['cvo-bootstrap'] = {
    ...noPod['cvo-bootstrap'],
    'cvo-bootstrap/bootstrap/bootstrap-pod.yaml': 'kind: Service\n',
  };
  await t.rejects(liveHostOf(t, new FakePodman(noPod)).render(), {
    kind: 'fatal',
    message: /bootstrap-pod\.yaml cannot be used/,
  });
});
