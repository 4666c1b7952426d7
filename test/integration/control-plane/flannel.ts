import t from 'tap';
import { z } from 'zod';
import type { Caller } from './request.ts';
import { eventually, NODE, OTHER_NODE, type World } from './world.ts';

const SYSTEM = '/api/v1/namespaces/kube-system';
const PUBLIC_IP = 'flannel.alpha.coreos.com/public-ip';
const tokenSchema = z.object({ status: z.object({ token: z.string() }) });

/** What whoever has root on a worker can do with the token of its flannel pod. After nodeAttacks. */
export function flannelAttacks(world: World): void {
  t.test('flannel announces the address of its own node, and changes nothing else', async (t) => {
    const { api, admin, otherNode } = world;
    const create = async (path: string, body: object) => {
      const { code, body: text } = await api({ ...admin, method: 'POST', path, body });
      t.equal(code, 201, text);
      return text;
    };
    const tokenFor = async (bound: object): Promise<Caller> => {
      const spec = { expirationSeconds: 3600, ...bound };
      const path = `${SYSTEM}/serviceaccounts/flannel/token`;
      return tokenSchema.parse(JSON.parse(await create(path, { spec }))).status;
    };
    await create(`${SYSTEM}/pods`, {
      metadata: { name: 'flannel-x' },
      spec: {
        nodeName: OTHER_NODE,
        serviceAccountName: 'flannel',
        containers: [{ name: 'flannel', image: 'example.test/flannel:1' }],
      },
    });
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'flannel-x' };
    const worker = await tokenFor({ boundObjectRef });
    const patch = (caller: Caller, node: string, body: object, part = '/status') =>
      api({ ...caller, method: 'PATCH', path: `/api/v1/nodes/${node}${part}`, body });
    const announce = { metadata: { annotations: { [PUBLIC_IP]: '192.0.2.20' } } };

    const status = { status: { addresses: [{ type: 'InternalIP', address: '192.0.2.66' }] } };
    // The API server needs a moment before a new policy decides.
    await eventually('the policy', async () =>
      (await patch(worker, NODE, announce)).code === 422 ? true : undefined,
    );
    t.equal((await patch(worker, OTHER_NODE, announce)).code, 200, 'its own');
    t.equal((await patch(worker, OTHER_NODE, announce)).code, 200, 'again, after a restart');
    const ownNode = /only the Node that its pod runs on/;
    const denied: [title: string, caller: Caller, node: string, body: object, says: RegExp][] = [
      ['another node', worker, NODE, announce, ownNode],
      ['a token of no pod', await tokenFor({}), OTHER_NODE, announce, ownNode],
      ['its addresses', worker, OTHER_NODE, status, /may not change the status/],
      [
        'its labels',
        worker,
        OTHER_NODE,
        { metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } } },
        /may not change the labels/,
      ],
      [
        'an annotation of another program',
        worker,
        OTHER_NODE,
        { metadata: { annotations: { owner: 'me' } } },
        /only annotations that begin with/,
      ],
    ];
    t.equal(
      (await patch(otherNode, OTHER_NODE, { metadata: { annotations: { a: 'b' } } })).code,
      200,
    );
    denied.push([
      'the deletion of such an annotation',
      worker,
      OTHER_NODE,
      { metadata: { annotations: { a: null } } },
      /only annotations that begin with/,
    ]);
    for (const [title, caller, node, body, says] of denied) {
      t.match(await patch(caller, node, body), { code: 422, body: says }, title);
    }
    for (const node of [NODE, OTHER_NODE]) {
      t.equal((await patch(worker, node, { spec: { unschedulable: true } }, '')).code, 403, node);
    }
    t.equal((await patch(otherNode, OTHER_NODE, status)).code, 200, 'the kubelet is not limited');
  });
}
