import { writeGoYaml } from '../../base/go-yaml/write.ts';
import type { RenderedFile } from '../renderer.ts';
import { publicFile } from './files.ts';
import { paths } from './paths.ts';

/** Flags of the API server: about 600 MB of logs at most. */
export const auditFlags = {
  'audit-policy-file': `${paths.configOf('kube-apiserver')}/audit-policy.yaml`,
  'audit-log-path': `${paths.auditLogs}/audit.log`,
  'audit-log-maxsize': 100,
  'audit-log-maxbackup': 5,
  'audit-log-maxage': 30,
} as const;

/** The first matching rule decides. */
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  // Logging the arrival of a request would add only volume to its completion.
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'None', nonResourceURLs: ['/healthz*', '/livez*', '/readyz*', '/version'] },
    // Heartbeats: most requests, all alike.
    {
      level: 'None',
      verbs: ['get', 'update', 'patch'],
      resources: [{ group: 'coordination.k8s.io', resources: ['leases'] }],
    },
    { level: 'None', resources: [{ group: '', resources: ['events'] }] },
    { level: 'None', resources: [{ group: 'events.k8s.io', resources: ['events'] }] },
    // Every access to a Secret, also by nodes: a node that tries another node's Secrets must be seen.
    { level: 'Metadata', resources: [{ group: '', resources: ['secrets'] }] },
    {
      level: 'None',
      users: ['system:kube-controller-manager', 'system:kube-scheduler', 'system:apiserver'],
      verbs: ['get', 'list', 'watch'],
    },
    { level: 'None', userGroups: ['system:nodes'], verbs: ['get', 'list', 'watch'] },
    // Who was granted access, and by whom: with bodies, which contain no secret.
    {
      level: 'RequestResponse',
      verbs: ['create', 'update', 'patch', 'delete'],
      resources: [
        {
          group: 'certificates.k8s.io',
          resources: ['certificatesigningrequests', 'certificatesigningrequests/approval'],
        },
        { group: 'rbac.authorization.k8s.io' },
      ],
    },
    // Everything else without bodies: Secrets, tokens and ConfigMaps stay out of the log.
    { level: 'Metadata' },
  ],
};

export function auditPolicyFile(): RenderedFile {
  return publicFile(auditFlags['audit-policy-file'], writeGoYaml(policy));
}
