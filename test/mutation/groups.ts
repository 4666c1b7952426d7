/**
 * Sources and the test files responsible for them. Patterns are globs from the root. A part of a large test file is a test
 * file, too, and ends sooner.
 */
export interface Group {
  readonly name: string;
  readonly sources: readonly string[];
  readonly excluded?: readonly string[];
  readonly tests: readonly string[];
}

/** The sources in which errors do the most damage. `npm run test:mutation -- NAME...` runs some of them. */
export const GROUPS: readonly Group[] = [
  {
    name: 'workers',
    sources: ['lib/workers/*.ts', 'agents/worker/*.ts', 'agents/node/approve/*.ts'],
    tests: ['test/unit/workers/**/*.test.ts', 'test/unit/agents/{worker,node}/**/*.test.ts'],
  },
  {
    name: 'trial',
    sources: ['lib/trial/*.ts', 'agents/node/trial/*.ts', 'agents/node/or-back.ts'],
    tests: ['test/unit/trial/*.test.ts', 'test/unit/agents/node/{trial,update-reverted}.ts'],
  },
  {
    name: 'update',
    sources: ['lib/update/*.ts', 'agents/node/update/*.ts'],
    tests: [
      'test/unit/update/*.test.ts',
      'test/unit/agents/node/{update,update-prepare,update-reverted}.ts',
      'test/unit/agents/node/update-settle.test.ts',
    ],
  },
  {
    name: 'identity',
    sources: ['lib/identity/*.ts', 'agents/node/{identity,address}/*.ts'],
    tests: [
      'test/unit/identity/*.test.ts',
      'test/unit/agents/node/{identity-command,identity-steps,address,address-command}.ts',
    ],
  },
  {
    name: 'rotate',
    sources: ['agents/node/{rotate,renew,certificates}/*.ts'],
    tests: [
      'test/unit/agents/node/{rotate-command,rotation-*,stage-rotation,replace-*}.ts',
      'test/unit/agents/node/{renew-leaves,laptop-ca,certificates-command,worker-serving,kubelet-*}.ts',
    ],
  },
  {
    name: 'backup',
    sources: ['lib/backup/**/*.ts', 'agents/node/backup/**/*.ts'],
    tests: [
      'test/unit/backup/*.test.ts',
      'test/unit/agents/backup/{command,create,or-undo,restore}.ts',
    ],
  },
  {
    name: 'reconfigure',
    sources: ['agents/node/reconfigure/*.ts', 'lib/{site-config,site-volume}/*.ts'],
    tests: [
      'test/unit/{site,site-config,site-volume}/**/*.test.ts',
      'test/unit/agents/node/reconfigure/every-field.test.ts',
      'test/unit/agents/node/reconfigure/{arrive,console,credentials,fast-clock,hold-back,host-facts}.ts',
      'test/unit/agents/node/reconfigure/{login-keys,network,site-certificate,start,steps,stop,tell-medium}.ts',
    ],
  },
  {
    name: 'relocatable',
    sources: ['lib/relocatable/**/*.ts', 'agents/node/reconfigure/{prepare,validate}/**/*.ts'],
    tests: ['test/unit/{relocatable,agents/relocatable}/**/*.test.ts'],
  },
  {
    name: 'site-openshift',
    sources: ['lib/site-openshift/*.ts', 'agents/node/reconfigure/openshift/*.ts'],
    tests: [
      'test/unit/site-openshift/*.test.ts',
      'test/unit/agents/node/reconfigure/{openshift,openshift-network,openshift-way-back}.ts',
    ],
  },
  { name: 'csr', sources: ['lib/csr/*.ts'], tests: ['test/unit/csr/**/*.test.ts'] },
  {
    name: 'steps',
    sources: ['lib/steps/*.ts', 'lib/errors/*.ts'],
    tests: ['test/unit/{steps,errors}/**/*.test.ts', 'test/integration/steps/notify.test.ts'],
  },
  {
    name: 'agent-steps',
    sources: ['agents/steps/**/*.ts', 'agents/install-to-disk/*.ts', 'agents/bootkube/**/*.ts'],
    tests: ['test/{unit,integration}/agents/**/*.test.ts'],
  },
  {
    name: 'post-reboot',
    sources: ['agents/post-reboot/**/*.ts', 'agents/aiokube/*.ts', 'agents/deferred/*.ts'],
    tests: ['test/unit/agents/**/*.test.ts'],
  },
  {
    name: 'ignition',
    sources: ['lib/ignition/*.ts', 'lib/data-url.ts'],
    tests: ['test/{unit,integration}/ignition/**/*.test.ts'],
  },
  {
    name: 'etcd',
    sources: ['lib/etcd/*.ts'],
    // The wire format: only a real etcd, in the integration tier, can verify it.
    excluded: ['lib/etcd/{descriptor,messages}.ts'],
    tests: ['test/{unit,integration}/etcd/**/*.test.ts'],
  },
  {
    name: 'installation',
    sources: ['lib/installation/*.ts'],
    tests: ['test/{unit,integration}/{installation,disk}/**/*.test.ts'],
  },
  {
    name: 'host',
    sources: ['lib/host/*.ts'],
    tests: ['test/{unit,integration}/{host,disk,network,installation}/**/*.test.ts'],
  },
  {
    name: 'payload',
    sources: ['lib/payload/*.ts'],
    tests: ['test/{unit,integration}/payload/**/*.test.ts'],
  },
  {
    name: 'topology',
    sources: ['lib/topology/*.ts', 'cli/explain/*.ts'],
    tests: ['test/unit/{topology,cli/explain}/**/*.test.ts'],
  },
  { name: 'kube', sources: ['lib/kube/*.ts'], tests: ['test/unit/kube/**/*.test.ts'] },
  {
    name: 'deferred',
    sources: ['lib/deferred/*.ts'],
    tests: ['test/unit/{deferred,agents/deferred}/**/*.test.ts'],
  },
  {
    name: 'seal',
    sources: ['lib/seal/*.ts', 'agents/node/unseal/*.ts'],
    tests: ['test/unit/seal/**/*.test.ts', 'test/unit/agents/node/**/*.test.ts'],
  },
  {
    name: 'metrics',
    sources: ['lib/metrics/*.ts'],
    tests: ['test/unit/metrics/**/*.test.ts'],
  },
  {
    name: 'render',
    sources: ['lib/render/**/*.ts', 'lib/pki/*.ts'],
    tests: ['test/unit/{render,pki}/**/*.test.ts'],
  },
  {
    name: 'redact',
    sources: ['lib/secrets/redact/*.ts'],
    tests: ['test/unit/secrets/**/*.test.ts', 'test/unit/log/**/*.test.ts'],
  },
  {
    name: 'units',
    sources: ['units/**/*.{ts,service,socket,target,timer,path,mount,conf}'],
    tests: ['test/{unit,integration}/units/**/*.test.ts'],
  },
];

/** Share of a group's mutants that its tests must detect. */
export const REQUIRED_SCORE = 0.95;
