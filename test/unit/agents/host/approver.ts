import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import type { Test } from 'tap';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { readKubeconfig } from '../../../../lib/clients/kube/kubeconfig.ts';
import { fingerprintOf } from '../../../../lib/cluster/csr/views.ts';
import type { HostEndpoints } from '../../../../lib/host/paths.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import { credential } from '../../cluster/csr/requests.ts';
import { servingAuthority } from '../../gather/cluster/serve-api.ts';
import { type ApiAnswer, fakeApi, kubeconfigs } from './api.ts';
import type { TestHost } from './host.ts';
import { giveAddresses } from './network.ts';

const signer = await createAuthority('admin-ca');
/** Of the kubelet's serving certificates. */
export const servingSigner = await createAuthority('kubelet-serving-ca');
const CLIENT = '/var/lib/kubelet/pki/kubelet-client-current.pem';
const client = await issueLeaf(await createAuthority('kubelet-client-ca'), {
  subject: { commonName: 'system:node:edge-0', organizations: ['system:nodes'] },
  usage: 'client',
});

/** `extra` of a request that the kubelet of this host sent. */
export const ofKubelet = credential(fingerprintOf(client.certificate) ?? '');

export type WritableEndpoints = { -readonly [Name in keyof HostEndpoints]: HostEndpoints[Name] };

/**
 * The host edge-0 with the address 192.0.2.10, whose agents sign their identity in memory, with an API that answers so (host/api.ts): no
 * kubeconfig exists on it. `endpoints` are those of the host, and get the address of the API.
 */
export async function approvingHost(
  t: Test,
  host: TestHost,
  endpoints: WritableEndpoints,
  answers: Readonly<Record<string, ApiAnswer>>,
) {
  host.write('/etc/hostname', 'edge-0\n');
  giveAddresses(host, '192.0.2.10/24');
  t.teardown(() => syncBuiltinESMExports());
  t.capture(os, 'hostname', () => 'edge-0');
  t.capture(os, 'networkInterfaces', () => ({
    eth0: [{ address: '192.0.2.10', internal: false }],
  }));
  syncBuiltinESMExports();
  const api = await signedApi(t, host, endpoints, answers);
  for (const path of accessTo('kubernetes').kubeletServingAuthorities)
    host.write(path, servingSigner.certificate);
  host.write(CLIENT, client.certificate + client.key, 0o600);
  return api;
}

/** An API as of fakeApi, for agents that sign their identity in memory. `endpoints` are those of the host. */
export async function signedApi(
  t: Test,
  host: TestHost,
  endpoints: WritableEndpoints,
  answers: Readonly<Record<string, ApiAnswer>>,
) {
  const api = await fakeApi(t, host, answers);
  endpoints.api = (await readKubeconfig(host.at(kubeconfigs.bootstrapAdmin))).server.href;
  for (const path of Object.values(kubeconfigs)) host.remove(path);
  const { gather } = accessTo('kubernetes');
  host.write(gather.ca, servingAuthority);
  host.write(gather.signer.certificate, signer.certificate);
  host.write(gather.signer.key, signer.key, 0o600);
  return api;
}
