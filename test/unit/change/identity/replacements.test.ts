import t from 'tap';
import { identityOf, inputFor } from '../../../../lib/change/identity/identity.ts';
import { replacements } from '../../../../lib/change/identity/replacements.ts';
import { addOns } from '../../../../lib/payload/add-ons.ts';
import { manifests } from '../../../../lib/render/kubernetes/manifests.ts';
import { input } from '../../render/rendered-host.ts';

/** With every add-on, so that each object that depends on the identity is among them. */
const images = Object.fromEntries(addOns.map(({ name }) => [name, `example.test/${name}:1`]));
const full = { ...input, host: { ...input.host, images: { ...input.host.images, ...images } } };
const of = (change: object) =>
  manifests({ ...full, ...inputFor(full, { ...identityOf(full), ...change }) });

t.test('the objects of an installation that name the Node', async (t) => {
  const renamed = replacements(manifests(full), of({ hostname: 'edge-9' }));
  t.strictSame(
    renamed.map(({ resource, name }) => [resource.plural, name]),
    [
      ['clusterroles', 'sno-agents:csr-approver'],
      ['daemonsets', 'flannel'],
    ],
  );
  for (const { body } of renamed) {
    t.match(JSON.stringify(body), /"edge-9"/);
    t.notMatch(JSON.stringify(body), /"edge-0"/);
  }
  t.strictSame(replacements(manifests(full), of({})), []);
  t.strictSame(replacements(manifests(full), of({ baseDomain: 'example.org' })), []);
  t.strictSame(replacements(manifests(full), of({ nodeIps: ['192.0.2.77'] })), []);
});

t.test('another network opens node ports in it, by a new pod of kube-proxy', async (t) => {
  const moved = replacements(manifests(full), of({ machineNetwork: ['198.51.100.0/24'] }));
  t.strictSame(
    moved.map(({ resource, namespace, name }) => [resource.plural, namespace, name]),
    [
      ['configmaps', 'kube-system', 'kube-proxy'],
      ['daemonsets', 'kube-system', 'kube-proxy'],
    ],
  );
});

t.test('an object of a kind that nobody has thought of is found by this test', async (t) => {
  const text = (name: string) =>
    `apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {a: ${name}}`;
  t.throws(
    () => replacements([{ name: 'a', contents: text('b') }], [{ name: 'a', contents: text('c') }]),
    { kind: 'bug', message: /Service x depends on the identity/ },
  );
});
