import { judgeWorker } from '../../../../lib/cluster/csr/judge-worker.ts';
import type { NodeView } from '../../../../lib/cluster/csr/views.ts';
import type { AllowedWorker } from '../../../../lib/cluster/workers/entry.ts';
import { now, signingRequest, type Variation } from './requests.ts';

export const CONTROL_PLANE = 'sno.example.com';
export const WORKER = 'worker-0.example.com';
export const CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet';
export const TOKEN = 'system:bootstrap:abcdef';
export const GROUPS = [
  'system:bootstrappers',
  'system:bootstrappers:sno-workers',
  'system:authenticated',
];

const entry: AllowedWorker = {
  name: WORKER,
  addresses: ['192.0.2.20', '2001:db8::20'],
  expires: new Date('2030-01-02T00:00:00Z'),
};
export const subjectOf = (name: string) => [
  { O: ['system:nodes'] },
  { CN: [`system:node:${name}`] },
];
export const dns = (value: string) => ({ type: 'dns' as const, value });
export const ip = (value: string) => ({ type: 'ip' as const, value });

export interface Row {
  readonly title: string;
  readonly request?: Variation;
  readonly worker?: Partial<AllowedWorker>;
  readonly nodes?: readonly NodeView[];
  readonly rule?: string;
}

/** A right request for the first client certificate, varied. */
export const first = ({ spec, ...variation }: Variation = {}): Variation => ({
  subject: subjectOf(WORKER),
  names: [],
  ...variation,
  spec: {
    signerName: CLIENT,
    username: TOKEN,
    groups: GROUPS,
    usages: ['digital signature', 'client auth'],
    ...spec,
  },
});

/** A right request of a registered worker for its serving certificate, varied. */
export const serving = ({ spec, ...variation }: Variation = {}): Variation => ({
  subject: subjectOf(WORKER),
  names: [dns(WORKER), ip('192.0.2.20')],
  ...variation,
  spec: { username: `system:node:${WORKER}`, ...spec },
});
export const registered: NodeView = { name: WORKER, internalIps: ['192.0.2.20'] };

/** What a row's request is compared with. */
export function viewOf({ worker, nodes = [] }: Row) {
  return {
    ownName: CONTROL_PLANE,
    allowed: [
      { ...entry, name: 'worker-9', addresses: ['192.0.2.29'] },
      { ...entry, ...worker },
    ],
    nodes: new Map(nodes.map((node) => [node.name, node])),
  };
}

export async function verdict(row: Row) {
  return judgeWorker(await signingRequest(row.request), viewOf(row), now);
}

export const fingerprintOf = async (request: Variation) => {
  const certificate = (await signingRequest(request)).certificate();
  return 'unreadable' in certificate ? '' : certificate.keySha256;
};
