import t from 'tap';
import { parse, stringify } from 'yaml';
import { inventoryItem } from '../../../lib/pki/inventory.ts';
import { authorityPaths, laptopAdminCa } from '../../../lib/render/kubernetes/authorities.ts';
import { inventory } from '../../../lib/render/kubernetes/inventory.ts';
import { leafCatalogue, renewableLeaves } from '../../../lib/render/kubernetes/leaves.ts';
import {
  readOnceOf,
  readOncePaths,
  withReadOnce,
} from '../../../lib/render/kubernetes/read-once.ts';
import { trustFiles } from '../../../lib/render/kubernetes/trust.ts';
import { byPath, rendered, textAt } from './rendered-host.ts';

const entryOf = new Map(inventory.map((entry) => [entry.path, entry]));
const hasSecret = /-----BEGIN (CERTIFICATE|PRIVATE KEY|PUBLIC KEY)-----|secretbox/;

t.test('every certificate and key that is rendered is in the inventory, by its kind', async (t) => {
  for (const { path, contents, keyClass } of rendered.files) {
    const entry = entryOf.get(path);
    t.equal(entry !== undefined, hasSecret.test(contents) || keyClass !== undefined, path);
    if (entry === undefined) continue;
    const [, block = 'none'] = /^-----BEGIN ([A-Z ]+)-----/.exec(contents) ?? [];
    const blocks: Record<string, string> = {
      leaf: 'CERTIFICATE',
      authority: 'CERTIFICATE',
      trust: 'CERTIFICATE',
      'private-key': 'PRIVATE KEY',
      'public-key': 'PUBLIC KEY',
      'symmetric-key': 'none',
    };
    t.equal(block, blocks[entry.kind], `${path} is ${entry.kind}`);
    const { state, error } = inventoryItem(entry, contents, new Date());
    t.equal(state, block === 'CERTIFICATE' ? 'valid' : undefined, `${path}: ${error}`);
  }
});

t.test(
  'the inventory names no other file, except those that the kubelet requests or a site gives',
  async (t) => {
    t.equal(entryOf.size, inventory.length, 'no path twice');
    t.same(
      inventory.filter(({ path }) => !byPath.has(path)).map(({ path }) => path),
      [
        '/var/lib/kubelet/pki/kubelet-client-current.pem',
        '/var/lib/kubelet/pki/kubelet-server-current.pem',
        '/etc/kubernetes/pki/kube-apiserver/site-api.crt',
        '/etc/kubernetes/pki/kube-apiserver/site-api.key',
      ],
    );
  },
);

t.test(
  'every leaf has a renewer, except those that are deleted after the bootstrap, and that of a site',
  async (t) => {
    const leaves = inventory.filter(({ kind }) => kind.startsWith('leaf'));
    t.same(
      leaves.map(({ name }) => name).toSorted(),
      [...leafCatalogue.map(({ name }) => name), 'kubelet-serving', 'site-api'].toSorted(),
    );
    const by = (renewer: string) =>
      leaves.filter(({ renewedBy }) => renewedBy === renewer).map(({ name }) => name);
    t.same(by('nobody'), ['csr-approver', 'bootstrap-admin', 'site-api']);
    t.same(by('kubelet'), ['kubelet-client', 'kubelet-serving']);
    t.same(
      by('sno-renew'),
      renewableLeaves.map(({ name }) => name),
    );
  },
);

t.test('what is only taken up by a restart', async (t) => {
  const restarts = inventory.filter(({ takeUp }) => takeUp !== 'itself');
  t.same(
    Object.fromEntries(restarts.map(({ path, takeUp, usedBy }) => [path, [takeUp, ...usedBy]])),
    {
      '/etc/kubernetes/pki/etcd/ca.crt': ['pod-restart', 'etcd'],
      '/etc/kubernetes/pki/kube-apiserver/etcd-ca.crt': ['pod-restart', 'kube-apiserver'],
      '/etc/kubernetes/pki/kube-apiserver/kubelet-serving-ca.crt': [
        'pod-restart',
        'kube-apiserver',
      ],
      '/etc/kubernetes/pki/kube-controller-manager/api-ca.crt': [
        'pod-restart',
        'kube-controller-manager',
      ],
      '/etc/kubernetes/pki/kube-scheduler/api-ca.crt': ['pod-restart', 'kube-scheduler'],
      '/etc/kubernetes/pki/kubelet/api-ca.crt': ['kubelet-restart', 'kubelet'],
      '/etc/kubernetes/pki/service-account/service-account.key': [
        'pod-restart',
        'kube-apiserver',
        'kube-controller-manager',
      ],
      '/etc/kubernetes/pki/service-account/service-account.pub': ['pod-restart', 'kube-apiserver'],
      '/etc/kubernetes/kube-apiserver/encryption.yaml': ['pod-restart', 'kube-apiserver'],
    },
  );
});

t.test('the controller-manager uses the authorities that its flags name', async (t) => {
  const manifest = rendered.staticPods.find(({ component }) =>
    /controller-manager/.test(component),
  );
  const flags = manifest?.manifest.match(/(?<=cluster-signing-[a-z-]+-cert-file=)\S+/g) ?? [];
  const used = inventory.filter(
    ({ kind, usedBy }) => kind === 'authority' && usedBy.includes('kube-controller-manager'),
  );
  t.same(used.map(({ path }) => path).toSorted(), flags.toSorted());
  t.not(used.length, 0);
});

t.test('the authorities in each file of trusted ones', async (t) => {
  for (const { path, authorities, trustsLaptop } of trustFiles) {
    const files = authorities.map((name) => authorityPaths(name).certificate);
    const all = trustsLaptop ? [...files, laptopAdminCa] : files;
    t.equal(textAt(path), all.map(textAt).join(''), path);
  }
});

t.test('a static pod changes with the files that it reads once, and with no other', async (t) => {
  const contents = new Map(rendered.files.map(({ path, contents }) => [path, contents]));
  for (const pod of rendered.staticPods) {
    t.equal(withReadOnce(pod, contents), pod.manifest, pod.component);
    for (const { path } of inventory) {
      const other = new Map(contents).set(path, 'changed');
      const isRead = readOncePaths(pod.component).includes(path);
      const changed = withReadOnce(pod, other);
      t.equal(changed !== pod.manifest, isRead, `${pod.component}: ${path}`);
      t.equal(withReadOnce({ ...pod, manifest: changed }, contents), pod.manifest, 'and back');
    }
  }
});

t.test('a manifest of an earlier release says nothing of what was read', async (t) => {
  const [pod] = rendered.staticPods;
  const { metadata, ...rest } = parse(pod?.manifest ?? '');
  const { annotations: _, ...others } = metadata;
  const manifest = stringify({ ...rest, metadata: others });
  t.equal(readOnceOf(manifest), undefined);
  t.not(withReadOnce({ component: 'etcd', manifest }, new Map()), manifest);
});
