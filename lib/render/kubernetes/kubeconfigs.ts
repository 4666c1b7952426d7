import { kubeconfig } from '../../pki/kubeconfig.ts';
import type { KeylessInput, RenderedFile, RenderInput } from '../renderer.ts';
import type { Authorities } from './authorities.ts';
import { privateFile, publicFile } from './files.ts';
import {
  bootstrapAdminPurpose,
  csrApproverPurpose,
  deferredLeafFiles,
  hasDeferred,
  issuedLeaves,
  type Leaf,
} from './leaves.ts';
import { localApi, paths } from './paths.ts';

/** Kubeconfigs that the agents use. */
export const agentKubeconfigs = {
  bootstrapAdmin: `${paths.agents}/bootstrap-admin.kubeconfig`,
  csrApprover: `${paths.agents}/csr-approver.kubeconfig`,
  deferred: `${paths.agents}/deferred.kubeconfig`,
} as const;

export const agentsTrust = `${paths.agents}/api-ca.crt`;

/**
 * A kubeconfig for a client on the host. It names the files instead of embedding them,
 * so that renewing a certificate rewrites one file.
 */
export function componentKubeconfig(
  path: string,
  { name, certificate, key }: Pick<Leaf, 'name' | 'certificate' | 'key'>,
  authority: string,
  options: Parameters<typeof privateFile>[2] = {},
): RenderedFile {
  const text = kubeconfig({
    server: localApi,
    cluster: 'local',
    user: name,
    credentials: { kind: 'files', authority, certificate, key },
  });
  return privateFile(path, text, options);
}

/** What only the agent of deferred manifests uses, for a host that was installed without it. */
export const deferredIdentityFiles = async (
  input: KeylessInput,
  { admin, serving }: Pick<Authorities, 'admin' | 'serving'>,
): Promise<RenderedFile[]> => [
  ...(await deferredLeafFiles(input, admin)),
  publicFile(agentsTrust, serving.certificate),
  componentKubeconfig(agentKubeconfigs.deferred, issuedLeaves.deferred, agentsTrust),
];

export function agentKubeconfigFiles(input: RenderInput, { serving }: Authorities): RenderedFile[] {
  const { bootstrapAdmin, csrApprover, deferred } = agentKubeconfigs;
  return [
    publicFile(agentsTrust, serving.certificate, {
      uses: ['bootstrap', 'csr-approval', 'deferred-manifests'],
    }),
    componentKubeconfig(csrApprover, issuedLeaves.csrApprover, agentsTrust, {
      uses: ['csr-approval'],
      leftover: csrApproverPurpose,
    }),
    componentKubeconfig(bootstrapAdmin, issuedLeaves.bootstrapAdmin, agentsTrust, {
      uses: ['bootstrap'],
      leftover: bootstrapAdminPurpose,
    }),
    ...(hasDeferred(input)
      ? [
          componentKubeconfig(deferred, issuedLeaves.deferred, agentsTrust, {
            uses: ['deferred-manifests'],
          }),
        ]
      : []),
  ];
}
