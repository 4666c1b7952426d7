import t from 'tap';
import { watchRequests } from '../../../../agents/approve-csr/watch-requests.ts';
import { describeError } from '../../../../lib/base/errors/failure.ts';
import { fakeApi, kubeconfigs, listOf } from '../host/api.ts';
import { testHost } from '../host/host.ts';
import { giveAddresses } from '../host/network.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const request = {
  metadata: { name: 'csr-1', uid: 'u', creationTimestamp: '2030-01-01T00:00:00Z' },
  spec: {
    signerName: 'kubernetes.io/kube-apiserver-client',
    username: 'somebody',
    request: 'bm90IGEgcmVxdWVzdA==',
    usages: ['client auth'],
  },
};

t.test('watch-requests', async (t) => {
  t.test('leaves each request pending and reports it, until bootkube has finished', async (t) => {
    const host = testHost(t);
    giveAddresses(host, '192.0.2.10/24');
    const { requests } = await fakeApi(t, host, {
      'GET /api/v1/nodes': () => listOf(),
      [`GET ${REQUESTS}`]: () => listOf(request),
    });
    t.equal(await host.holds(watchRequests), false, 'before');
    const running = host.run(watchRequests);
    await host.said(
      /Did not approve request csr-1 of somebody to \S+kube-apiserver-client request=csr-1 rule=/,
    );
    host.write(host.paths.bootkubeDone);
    t.same(await running, { kind: 'done' });
    t.equal(await host.holds(watchRequests), true, 'after');
    t.notOk(
      requests.some((each) => !each.startsWith('GET ')),
      'nothing is approved',
    );
    t.equal(await watchRequests.input(host.context), host.context.cluster.clusterId);
  });

  t.test('without an API it still ends with bootkube', async (t) => {
    const host = testHost(t);
    t.notOk(host.has(kubeconfigs.csrApprover));
    const running = host.run(watchRequests);
    host.write(host.paths.bootkubeDone);
    t.same(await running, { kind: 'done' });
  });

  t.test('it waits for its kubeconfig', async (t) => {
    const host = testHost(t);
    const stop = new AbortController();
    const running = watchRequests
      .run(host.context, host.progress(stop.signal))
      .catch(describeError);
    stop.abort(new Error('stopped by the test'));
    t.match(await running, /stopped by the test/);
  });
});
