/** The administrator of an earlier serial: nobody else has it, so it is never lost. */
import t from 'tap';
import { Hub } from '../../../../cli/fleet/worker/hub.ts';
import { type Kept, setAside } from '../../../../cli/fleet/worker/kept.ts';
import type { HubSite } from '../../../../cli/fleet/worker/kinds.ts';
import { startFakeApi } from '../../clients/kube/fake-api.ts';

const SECRETS = '/api/v1/namespaces/fleet/secrets';

const site = (uid: string): HubSite => ({
  apiVersion: 'fleet.sno-agents.io/v1alpha1',
  kind: 'Site',
  metadata: { name: 'berlin', namespace: 'fleet', uid },
  spec: { action: 'relocate', serial: 2 },
});

const keptBy = (uid: string, iso: string): Kept => ({
  ...{ serial: 1, uid, source: 'x', machines: [], iso: iso.repeat(32), asked: [] },
  made: {
    credentials: { kind: 'request', request: `the request of ${uid}` },
    outputs: [{ path: 'auth/kubeconfig', contents: `the kubeconfig of ${uid}` }],
  },
  reportTo: undefined,
  sha256: undefined,
});

t.test('a Site that has the name of an earlier one sets its own aside, too', async (t) => {
  const { api, client } = await startFakeApi(t);
  const hub = new Hub(client, 'fleet', AbortSignal.timeout(30_000));
  const kubeconfigs = () =>
    [...api.all()]
      .filter(([path]) => path.startsWith(`${SECRETS}/berlin-auth-1`))
      .map(([, { data }]) => Buffer.from(Object(data).kubeconfig ?? '', 'base64').toString());
  await setAside(hub, site('first'), keptBy('first', 'a'));
  await setAside(hub, site('second'), keptBy('second', 'b'));
  t.same(kubeconfigs(), ['the kubeconfig of first', 'the kubeconfig of second']);
  await setAside(hub, site('first'), keptBy('first', 'a'));
  await setAside(hub, site('second'), keptBy('second', 'b'));
  t.equal(kubeconfigs().length, 2, 'again after an interruption');
});
