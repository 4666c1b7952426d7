/** By what a worker must not be known: what the control plane's host has, and what its API server's certificate names. */
import t from 'tap';
import { ownHost } from '../../../agents/steps/own-host.ts';
import { testHost } from './host/host.ts';

t.test('names and addresses of the API server that are of no interface count, too', async (t) => {
  const plain = await ownHost(testHost(t).context);
  t.match(plain, { ownName: 'edge-0', apiNames: [] });
  t.notOk(plain.ownAddresses.includes('2001:db8::7'));
  const apiNames = ['k8s.example.org', '2001:DB8:0::7'];
  const named = await ownHost(testHost(t, { cluster: { apiNames } }).context);
  t.same(named.apiNames, ['k8s.example.org']);
  t.ok(named.ownAddresses.includes('2001:db8::7'));
});
