import { dirname } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { inspectCertificate } from '../../../lib/pki/certificate.ts';
import { publicKeyFingerprint } from '../../../lib/pki/keys.ts';
import { kubernetesRenderer } from '../../../lib/render/kubernetes/index.ts';
import { byPath, host, input, pods, rendered } from './rendered-host.ts';

t.test('every private key has a class and mode 0600, and no other file has a class', async (t) => {
  for (const { path, mode, contents, keyClass, leftover } of rendered.files) {
    const holdsKey = /PRIVATE KEY|secretbox|client-key-data/.test(contents);
    t.equal(keyClass !== undefined, holdsKey, `${path}: class`);
    const isPrivate = holdsKey || path.endsWith('kubeconfig');
    t.equal(mode, isPrivate ? 0o600 : 0o644, `${path}: mode`);
    t.equal(keyClass === 'gone', holdsKey && leftover !== undefined, `${path}: gone is a leftover`);
  }
});

t.test('only keys of agents of the installation end with it', async (t) => {
  const gone = rendered.files.filter(({ keyClass }) => keyClass === 'gone');
  t.same(
    gone.map(({ path }) => path),
    ['/etc/sno-agents/csr-approver.key', '/etc/sno-agents/bootstrap-admin.key'],
  );
  const leftovers = rendered.files.filter(({ leftover }) => leftover !== undefined);
  t.same(
    leftovers.map(({ path }) => path).toSorted(),
    ['bootstrap-admin', 'csr-approver'].flatMap((name) =>
      ['crt', 'key', 'kubeconfig'].map((end) => `/etc/sno-agents/${name}.${end}`),
    ),
  );
  for (const { leftover } of leftovers) {
    t.match(leftover, /until the installation has ended|on the live host/);
  }
});

t.test('no key is rendered twice', async (t) => {
  const keys = rendered.files.filter(({ contents }) => contents.includes('PRIVATE KEY'));
  const fingerprints = keys.map(({ contents }) => publicKeyFingerprint(contents));
  t.equal(new Set(fingerprints).size, keys.length);
});

t.test('every folder that a pod mounts is rendered', async (t) => {
  const directories = new Map(rendered.directories.map((folder) => [folder.path, folder]));
  for (const { component, spec } of pods) {
    for (const { hostPath } of spec.volumes) {
      const folder = directories.get(hostPath.path);
      t.equal(folder?.mode, 0o700, `${component}: ${hostPath.path}`);
      t.equal(hostPath.type, 'Directory', 'not created on demand');
    }
  }
});

t.test('a folder is listed before what is in it', async (t) => {
  const order = rendered.directories.map(({ path }) => path);
  t.equal(new Set(order).size, order.length);
  for (const [index, path] of order.entries()) {
    t.notOk(order.slice(index + 1).includes(dirname(path)), path);
  }
});

t.test('every file that an argument names is rendered and mounted', async (t) => {
  for (const { component, container } of pods) {
    const mounts = container.volumeMounts.map(({ mountPath }) => mountPath);
    const named = container.command.flatMap((flag) => /=(\/\S+)$/.exec(flag)?.[1] ?? []);
    t.ok(named.length > 0);
    for (const path of named.filter((name) => !/kubelet-plugins|audit\.log$/.test(name))) {
      t.ok(
        mounts.some((mount) => path === mount || path.startsWith(`${mount}/`)),
        path,
      );
      t.ok(byPath.has(path) || path === '/var/lib/etcd', `${component}: ${path}`);
    }
  }
});

t.test(
  'without deferred manifests there is neither an identity nor rights to apply them',
  async (t) => {
    const plain = await kubernetesRenderer.render({ ...input, deferredGroups: [] });
    const paths = (files: typeof rendered.files) => files.map(({ path }) => path);
    const only = paths(rendered.files).filter((path) => !paths(plain.files).includes(path));
    t.same(
      only.toSorted(),
      ['crt', 'key', 'kubeconfig'].map((end) => `/etc/sno-agents/deferred.${end}`),
    );
    t.match(JSON.stringify(rendered.manifests), 'sno-agents:deferred');
    t.notMatch(JSON.stringify(plain), /sno-agents[:/]deferred/);
  },
);

t.test('on an overlay root the kubelet does not measure local storage', async (t) => {
  const { files } = await kubernetesRenderer.render({
    ...input,
    host: { ...host, rootIsOverlay: true },
  });
  for (const name of ['kubelet.yaml', 'kubelet-live.yaml']) {
    const config = files.find(({ path }) => path === `/etc/kubernetes/${name}`);
    t.match(parse(config?.contents ?? ''), { localStorageCapacityIsolation: false }, name);
  }
});

t.test('the same input renders the same, except keys and certificates', async (t) => {
  const again = await kubernetesRenderer.render(input);
  // The annotation depends on keys and certificates. YAML quotes it if it looks like a number.
  const withoutFingerprint = (pods: typeof rendered.staticPods) =>
    pods.map(({ manifest, ...pod }) => ({
      ...pod,
      manifest: manifest.replace(/read-once: \S+/, ''),
    }));
  t.same(withoutFingerprint(again.staticPods), withoutFingerprint(rendered.staticPods));
  t.same(again.manifests, rendered.manifests);
  t.same(again.directories, rendered.directories);
  const settled = (files: typeof rendered.files) =>
    files.map(({ contents, ...file }) =>
      /BEGIN |secretbox/.test(contents) ? file : { ...file, contents },
    );
  t.same(settled(again.files), settled(rendered.files));
  const keysOf = (files: typeof rendered.files) =>
    files
      .filter(({ path, keyClass }) => keyClass !== undefined && !/ca\/(admin|serving)/.test(path))
      .map(({ contents }) => contents);
  const kept = keysOf(again.files).filter((key) => keysOf(rendered.files).includes(key));
  t.same(kept, [], 'keys are new each time, except those in the input');
});

t.test('a host that is named like its API has each name once', async (t) => {
  const hostname = 'api.edge.example.test';
  const { files } = await kubernetesRenderer.render({ ...input, host: { ...host, hostname } });
  const serving = files.find(({ path }) => path.endsWith('/kube-apiserver/serving.crt'));
  const { dnsNames } = inspectCertificate(serving?.contents ?? '');
  t.equal(dnsNames.filter((name) => name === hostname).length, 1);
});

t.test('a payload without a component is rejected', async (t) => {
  const { etcd: _, ...images } = host.images;
  await t.rejects(kubernetesRenderer.render({ ...input, host: { ...host, images } }), {
    kind: 'fatal',
    message: /no image of etcd/,
  });
});
