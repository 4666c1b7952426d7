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
    sources: ['lib/cluster/workers/*.ts', 'agents/worker/*.ts', 'agents/upkeep/approve/*.ts'],
    tests: [
      'test/unit/cluster/workers/**/*.test.ts',
      'test/unit/cluster/csr/{judge-worker*,worker-*}.test.ts',
      'test/unit/{agents/plans,agents/plan-order,docs/documents}.test.ts',
      'test/unit/structure/touches.test.ts',
      'test/unit/agents/worker/{end,files,identity,inputs,interrupted,resume}.test.ts',
      'test/unit/cli/worker-ignition.test.ts',
      'test/unit/agents/upkeep/{approve-workers,approve-records,rotate-workers,rotation-workers,worker-serving}.test.ts',
    ],
  },
  {
    name: 'trial',
    sources: [
      'lib/engine/trial/*.ts',
      'agents/upkeep/trial/*.ts',
      'lib/change/{or-back,ending,change}.ts',
    ],
    tests: [
      'test/unit/engine/trial/*.test.ts',
      'test/unit/change/{change,ending,or-back}.test.ts',
      'test/unit/agents/upkeep/{trial,trial-steps}.test.ts',
      'test/unit/{agents/plans,agents/plan-order,docs/documents}.test.ts',
    ],
  },
  {
    name: 'update',
    sources: ['lib/change/update/*.ts', 'agents/upkeep/update/{*,worker/*}.ts'],
    tests: [
      'test/unit/change/update/*.test.ts',
      'test/unit/agents/upkeep/{update,update-accepted,update-add-ons,update-backup,update-command}.test.ts',
      'test/unit/agents/upkeep/update-{emulation,interrupted,obstacles,prepare,reverted}.test.ts',
      'test/unit/agents/upkeep/nodes-in-turn.test.ts',
      'test/integration/update-*.test.ts',
      'test/unit/{change/begun-meanwhile,agents/optional-files,agents/bootkube/kubelet-ends}.test.ts',
      'test/unit/agents/reconfigure/way-back-end.test.ts',
      'test/unit/agents/upkeep/update-{said,settle,take-up,worker}.test.ts',
      'test/unit/{agents/plans,docs/documents}.test.ts',
    ],
  },
  {
    name: 'identity',
    sources: ['lib/change/identity/*.ts', 'agents/upkeep/{identity,address}/*.ts'],
    tests: [
      'test/unit/change/identity/*.test.ts',
      'test/unit/agents/upkeep/{identity-*,address,address-command}.test.ts',
      'test/unit/{agents/plans,docs/documents}.test.ts',
      'test/integration/identity.test.ts',
      'test/unit/agents/{aiokube/continue-lost,backup/new-host}.test.ts',
    ],
  },
  {
    name: 'rotate',
    sources: [
      'agents/upkeep/{rotate,renew,certificates}/*.ts',
      'agents/steps/certificates/*.ts',
      'lib/change/rotation/*.ts',
    ],
    tests: [
      'test/unit/agents/upkeep/{rotate-command,rotate-workers,rotation-*,stage-rotation,replace-*}.test.ts',
      'test/unit/render/serving-authority.test.ts',
      'test/unit/agents/{optional-files,plan-order,reconfigure/fast-clock,reconfigure/site-certificate}.test.ts',
      'test/unit/agents/upkeep/{authority-files,dial,named-authorities,prove,renew-leaves,laptop-ca,certificates-command,before-kubelet,worker-serving,kubelet-*}.test.ts',
      'test/unit/{agents/plans,docs/documents}.test.ts',
      'test/unit/engine/metrics/metrics.test.ts',
    ],
  },
  {
    name: 'backup',
    sources: [
      'lib/change/{backup,restore}/**/*.ts',
      'agents/upkeep/backup/**/*.ts',
      'agents/steps/{backup,restore}/*.ts',
    ],
    tests: [
      'test/unit/change/backup/**/*.test.ts',
      'test/integration/backup-push/push.test.ts',
      'test/unit/agents/backup/*.test.ts',
      'test/unit/agents/upkeep/{identity-authorities,identity-from-backup,stage-rotation,trial-steps,update-reverted}.test.ts',
      'test/unit/agents/upkeep/report/changes.test.ts',
      'test/unit/change/{at-once,begun-meanwhile,change,or-back}.test.ts',
      'test/unit/{docs/schemas,relocation/site-volume/volume}.test.ts',
      'test/unit/{agents/aiokube/continue-lost,agents/plan-order,cli/restore-ignition}.test.ts',
      'test/unit/{agents/plans,docs/documents}.test.ts',
      'test/unit/engine/metrics/metrics.test.ts',
    ],
  },
  {
    name: 'reconfigure',
    sources: [
      'agents/reconfigure/*.ts',
      'lib/config/site-config/*.ts',
      'lib/relocation/site-volume/*.ts',
    ],
    tests: [
      'test/unit/{agents/plans,docs/documents}.test.ts',
      'test/unit/structure/touches.test.ts',
      'test/unit/config/{site,site-config}/**/*.test.ts',
      'test/unit/relocation/site-volume/**/*.test.ts',
      'test/unit/agents/reconfigure/every-field.test.ts',
      'test/unit/agents/reconfigure/{arrive,credentials,end,files,hold-back,network}-interrupted.test.ts',
      'test/unit/agents/reconfigure/{arrive,ask-url,asked,console,credentials,fast-clock,hold-back,host-facts,inputs}.test.ts',
      'test/unit/agents/reconfigure/{login-keys,main,network,place-report-to,site-certificate,site-checks,start,steps,sticks,stop,tell-medium}.test.ts',
      'test/unit/agents/reconfigure/{arm,clock,context,dhcp-url,host-keys,objects,openshift-way-back,settle,signal,site-address,way-back-end}.test.ts',
      'test/unit/{agents/relocatable/arrival,relocation/relocatable/files,change/at-once}.test.ts',
      'test/integration/site-volume/{by-url,hostile,signal}.test.ts',
      'test/integration/{media/in-place,media/passed-on,cli/site-volume}.test.ts',
      'test/unit/docs/{site-config,example-files,examples}.test.ts',
      'test/unit/cluster/csr/{administrator,costly}-*.test.ts',
      'test/unit/{cli/repeated-sites,cli/site-volume-notices,agents/reconfigure/openshift}.test.ts',
    ],
  },
  {
    name: 'relocatable',
    sources: [
      'lib/relocation/relocatable/**/*.ts',
      'agents/reconfigure/{prepare,validate}/**/*.ts',
    ],
    tests: [
      'test/unit/{relocation,agents}/relocatable/**/*.test.ts',
      'test/integration/{factory-report,render/relocatable-node}.test.ts',
      'test/unit/agents/{optional-files,plan-order,reconfigure/host-facts}.test.ts',
      'test/unit/{agents/plans,docs/documents}.test.ts',
      'test/unit/structure/touches.test.ts',
    ],
  },
  {
    name: 'site-openshift',
    sources: ['lib/relocation/site-openshift/*.ts', 'agents/reconfigure/openshift/*.ts'],
    tests: [
      'test/unit/relocation/site-openshift/*.test.ts',
      'test/unit/{agents/plans,docs/documents}.test.ts',
      'test/unit/structure/touches.test.ts',
      'test/unit/agents/{plan-order,reconfigure/every-field,reconfigure/fast-clock}.test.ts',
      'test/unit/units/openshift.test.ts',
      'test/unit/agents/reconfigure/openshift-{arrival,host,objects,resumed,routes}.test.ts',
      'test/unit/agents/reconfigure/openshift-{start,stopped}.test.ts',
      'test/unit/agents/relocatable/openshift-*.test.ts',
      'test/unit/agents/reconfigure/{inputs,openshift,openshift-network,openshift-way-back}.test.ts',
    ],
  },
  { name: 'csr', sources: ['lib/cluster/csr/*.ts'], tests: ['test/unit/cluster/csr/**/*.test.ts'] },
  {
    name: 'steps',
    sources: ['lib/engine/steps/*.ts', 'lib/base/errors/*.ts'],
    tests: [
      'test/unit/{engine/steps,base/errors}/**/*.test.ts',
      'test/integration/steps/notify.test.ts',
    ],
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
    sources: ['lib/render/ignition/*.ts', 'lib/base/data-url.ts'],
    tests: ['test/unit/render/ignition/**/*.test.ts', 'test/integration/ignition/**/*.test.ts'],
  },
  {
    name: 'etcd',
    sources: ['lib/clients/etcd/*.ts'],
    // The wire format: only a real etcd, in the integration tier, can verify it.
    excluded: ['lib/clients/etcd/{descriptor,messages}.ts'],
    tests: ['test/unit/clients/etcd/**/*.test.ts', 'test/integration/etcd/**/*.test.ts'],
  },
  {
    name: 'installation',
    sources: ['lib/cluster/installation/*.ts'],
    tests: [
      'test/unit/{cluster/installation,disk}/**/*.test.ts',
      'test/integration/{installation,disk}/**/*.test.ts',
    ],
  },
  {
    name: 'host',
    sources: ['lib/host/*.ts'],
    tests: [
      'test/unit/{host,disk,base/network,cluster/installation}/**/*.test.ts',
      'test/integration/{host,disk,installation}/**/*.test.ts',
    ],
  },
  {
    name: 'payload',
    sources: ['lib/payload/*.ts'],
    tests: ['test/{unit,integration}/payload/**/*.test.ts'],
  },
  {
    name: 'topology',
    sources: ['lib/config/topology/*.ts', 'cli/explain/*.ts'],
    tests: ['test/unit/{config/topology,cli/explain}/**/*.test.ts'],
  },
  {
    name: 'kube',
    sources: ['lib/clients/kube/*.ts'],
    tests: ['test/unit/clients/kube/**/*.test.ts'],
  },
  {
    name: 'deferred',
    sources: ['lib/cluster/deferred/*.ts'],
    tests: ['test/unit/{cluster,agents}/deferred/**/*.test.ts'],
  },
  {
    name: 'seal',
    sources: ['lib/secrets/seal/*.ts', 'agents/upkeep/unseal/*.ts'],
    tests: ['test/unit/secrets/seal/**/*.test.ts', 'test/unit/agents/upkeep/**/*.test.ts'],
  },
  {
    name: 'metrics',
    sources: ['lib/engine/metrics/*.ts'],
    tests: ['test/unit/engine/metrics/**/*.test.ts'],
  },
  {
    name: 'render',
    sources: ['lib/render/**/*.ts', 'lib/pki/*.ts'],
    excluded: ['lib/render/ignition/*.ts'],
    tests: ['test/unit/{render,pki}/**/*.test.ts'],
  },
  {
    name: 'redact',
    sources: ['lib/secrets/redact/*.ts'],
    tests: ['test/unit/secrets/**/*.test.ts', 'test/unit/base/log/**/*.test.ts'],
  },
  {
    name: 'units',
    sources: ['units/**/*.{ts,service,socket,timer,path,mount,conf}'],
    tests: ['test/{unit,integration}/units/**/*.test.ts'],
  },
];

/** Share of a group's mutants that its tests must detect. */
export const REQUIRED_SCORE = 0.95;
