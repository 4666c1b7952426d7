import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { Failure } from '../../lib/base/errors/failure.ts';
import { canonicalAddress } from '../../lib/base/network/address.ts';
import type { RunningCheck } from './check.ts';
import { kubectl } from './kubectl.ts';

const API_PORT = 6443;
const KUBELET_PORT = 10_250;
const pki = 'etc/kubernetes/pki';

/** Connects to each address of the host from outside, trusting only the cluster's CA. */
export const certificateNames: RunningCheck = {
  name: 'API server and kubelet answer at every address of the node, with it in their certificate',
  run: async (cluster, signal) => {
    const { rootDir, identity } = cluster.host;
    const authority = (path: string) => readFile(join(rootDir, pki, path), 'utf8');
    const api = await authority('kubelet/api-ca.crt');
    const kubelets = await authority('kube-apiserver/kubelet-serving-ca.crt');
    for (const address of identity.addresses) {
      const names = await addressesServed(address, API_PORT, api, signal);
      const service = await kubectl(
        cluster,
        ['get', 'service', 'kubernetes', '-o', 'jsonpath={.spec.clusterIP}'],
        signal,
      );
      for (const expected of ['127.0.0.1', '::1', ...identity.addresses, service]) {
        if (!names.includes(expected)) throw missing('API server', expected, names);
      }
      const own = await addressesServed(address, KUBELET_PORT, kubelets, signal);
      if (own.toSorted().join() !== identity.addresses.toSorted().join()) {
        throw missing('kubelet', `exactly ${identity.addresses.join(', ')}`, own);
      }
    }
  },
};

function missing(server: string, expected: string, found: readonly string[]): Failure {
  return new Failure('fatal', `the certificate of the ${server} has unexpected addresses`, {
    expected,
    found: found.join(', '),
  });
}

/** The addresses in the certificate; the connection fails if it is not valid for this one. */
function addressesServed(
  host: string,
  port: number,
  ca: string,
  signal: AbortSignal,
): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const within = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
    const socket = connect({ host, port, ca });
    const stop = () => socket.destroy(new Error(`${host} port ${port} did not answer`));
    within.addEventListener('abort', stop, { once: true });
    socket.once('error', reject);
    socket.once('close', () => within.removeEventListener('abort', stop));
    socket.once('secureConnect', () => {
      const names = (socket.getPeerCertificate().subjectaltname ?? '').split(', ');
      socket.destroy();
      resolve(
        names
          .filter((name) => name.startsWith('IP Address:'))
          .map((name) => canonicalAddress(name.slice('IP Address:'.length).toLowerCase())),
      );
    });
  });
}
