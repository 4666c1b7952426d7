import { EXIT } from '../../lib/base/errors/exit-codes.ts';

/** The Jobs of one wave, as numbers and names that are valid. */
export interface WaveOptions {
  readonly selector: string;
  readonly namespace: string;
  readonly image: string;
  /** Sites that the selector matches. */
  readonly count: number;
  readonly canaries: number;
  readonly parallelism: number;
  readonly maxFailed: number;
  /** Of the folder of volumes, without a slash at its end. */
  readonly publishUrl: string;
  /** The API server of the hub, as nodes reach it. */
  readonly hubServer: string;
  /** ConfigMap with its authority as ca.crt; undefined: that of the pods. */
  readonly hubCa: string | undefined;
  /** Names of objects. */
  readonly claim: string;
  readonly signSecret: string;
  readonly serviceAccount: string;
  /** For installations: a file in the folder of volumes. */
  readonly sharedIso?: string;
  readonly configByUrl: boolean;
  /** The pods reach the API of installed nodes. */
  readonly exchange: boolean;
  /** How long a pod waits for the node of its site. */
  readonly collectSeconds: number;
  /** Argo CD starts the Jobs in its waves: none is suspended. */
  readonly argoCd: boolean;
}

/** Of the API server, for an Indexed Job with backoffLimitPerIndex and maxFailedIndexes. */
export const JOB_LIMITS = { sites: 100_000, parallelism: 10_000, failed: 10_000 } as const;

type Phase = 'deliver' | 'collect';

/** How long one pod may take for one site, after which it is a failure. What is waited for has its own deadline before. */
const podSeconds = (phase: Phase, { collectSeconds }: WaveOptions): number =>
  30 * 60 + (phase === 'collect' ? collectSeconds : 0);
const RETRIES = 3;
/** Of the API server, for the deadline of a Job. */
const MOST_SECONDS = 2 ** 31 - 1;
const WEEK_SECONDS = 7 * 24 * 60 * 60;
const PUBLISH = '/srv/sites';
const SIGN = '/etc/sno-fleet/sign';
const HUB = '/etc/sno-fleet/hub';
/** A pod's name is that of its Job with an index of up to five digits and five letters, in 63 characters. */
const LONGEST_NAME = 24;

/** What the names of the Jobs of a wave begin with; undefined if the selector is too long for it. */
export function waveName(selector: string): string | undefined {
  const words = selector
    .toLowerCase()
    .replace(/^wave=/, '')
    .replaceAll(/[^a-z0-9]+/g, '-');
  const name = words.replaceAll(/^-+|-+$/g, '');
  return name === '' || name.length > LONGEST_NAME ? undefined : `sno-fleet-${name}`;
}

/** Canaries, what became of them, the wave, what became of it: Jobs in the order in which they run. */
export function waveJobs(name: string, options: WaveOptions): object[] {
  const canaries = Math.min(options.canaries, options.count);
  const { count, maxFailed, parallelism } = options;
  const small = {
    completions: canaries,
    maxFailed: 0,
    parallelism: Math.min(parallelism, canaries),
  };
  const all = { completions: count, maxFailed: Math.min(maxFailed, count), parallelism };
  const stages = [
    ...(canaries === 0
      ? []
      : ([
          { name: `${name}-canary`, phase: 'deliver', ...small },
          { name: `${name}-canary-collect`, phase: 'collect', ...small },
        ] as const)),
    { name, phase: 'deliver', ...all },
    { name: `${name}-collect`, phase: 'collect', ...all },
  ] as const;
  return stages.map((stage, at) => job(stage, at, options));
}

interface Stage {
  readonly name: string;
  readonly phase: Phase;
  readonly completions: number;
  readonly parallelism: number;
  readonly maxFailed: number;
}

function job(stage: Stage, at: number, options: WaveOptions): object {
  const { name, phase, completions, maxFailed } = stage;
  const parallelism = Math.min(stage.parallelism, completions);
  const labels = {
    'app.kubernetes.io/part-of': 'sno-fleet',
    'fleet.sno-agents.io/phase': phase,
    'fleet.sno-agents.io/order': String(at),
  };
  const rounds = Math.ceil(completions / Math.max(1, parallelism)) * (RETRIES + 1);
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace: options.namespace,
      labels,
      annotations: { 'argocd.argoproj.io/sync-wave': String(at + 1) },
    },
    spec: {
      completionMode: 'Indexed',
      completions,
      parallelism,
      suspend: !options.argoCd && at > 0,
      backoffLimitPerIndex: RETRIES,
      maxFailedIndexes: maxFailed,
      podFailurePolicy: failurePolicy(phase),
      activeDeadlineSeconds: Math.min(MOST_SECONDS, rounds * podSeconds(phase, options)),
      ttlSecondsAfterFinished: WEEK_SECONDS,
      template: { metadata: { labels }, spec: pod(phase, options) },
    },
  };
}

/**
 * What is worth another pod (docs/reference/sno.md has the exit codes): 1 is, and so is a delivery that takes longer, since
 * the next one goes on with it. What is wrong with the site, or has failed there, is not. A pod that the hub takes away
 * counts for nothing.
 */
const failurePolicy = (phase: Phase) => ({
  rules: [
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    {
      action: 'FailIndex',
      onExitCodes: {
        containerName: 'sno',
        operator: 'In',
        values: [EXIT.usage, ...(phase === 'collect' ? [EXIT.deadline] : []), EXIT.fatal],
      },
    },
  ],
});

function pod(phase: Phase, options: WaveOptions): object {
  const { claim, signSecret, serviceAccount, hubCa } = options;
  const user = 65_532;
  return {
    restartPolicy: 'Never',
    activeDeadlineSeconds: podSeconds(phase, options),
    terminationGracePeriodSeconds: 30,
    serviceAccountName: serviceAccount,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: user,
      runAsGroup: user,
      fsGroup: user,
      // Thousands of volumes: their owner is changed once, not for each pod.
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [container(phase, options)],
    volumes: [
      { name: 'volumes', persistentVolumeClaim: { claimName: claim } },
      // Only site volumes are signed. Without it, a pod says so, and does not wait for it.
      { name: 'sign', secret: { secretName: signSecret, defaultMode: 0o440, optional: true } },
      ...(hubCa === undefined ? [] : [{ name: 'hub', configMap: { name: hubCa } }]),
      { name: 'tmp', emptyDir: { sizeLimit: '256Mi' } },
    ],
  };
}

const container = (phase: Phase, options: WaveOptions) => ({
  name: 'sno',
  image: options.image,
  command: ['sno'],
  args: workerArguments(phase, options),
  env: [{ name: 'HOME', value: '/tmp' }],
  // What it said last is in the status of the pod, also after its log is gone.
  terminationMessagePolicy: 'FallbackToLogsOnError',
  resources: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '512Mi' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  volumeMounts: [
    { name: 'volumes', mountPath: PUBLISH },
    { name: 'sign', mountPath: SIGN, readOnly: true },
    ...(options.hubCa === undefined ? [] : [{ name: 'hub', mountPath: HUB, readOnly: true }]),
    { name: 'tmp', mountPath: '/tmp' },
  ],
});

const workerArguments = (phase: Phase, options: WaveOptions) => [
  'fleet',
  'site',
  ...['--namespace', options.namespace],
  ...['--selector', options.selector],
  ...['--index', '$(JOB_COMPLETION_INDEX)'],
  ...['--phase', phase],
  ...['--publish', PUBLISH],
  ...['--publish-url', literal(options.publishUrl)],
  ...['--sign', `${SIGN}/id`],
  ...['--hub-server', literal(options.hubServer)],
  ...(options.hubCa === undefined ? [] : ['--hub-ca', `${HUB}/ca.crt`]),
  ...(phase === 'deliver' ? installing(options) : collecting(options)),
];

const installing = ({ sharedIso, configByUrl }: WaveOptions) => [
  ...(sharedIso === undefined ? [] : ['--shared', `${PUBLISH}/${sharedIso}`]),
  ...(configByUrl ? ['--config-by-url'] : []),
];

const collecting = ({ collectSeconds, exchange }: WaveOptions) => [
  ...['--deadline', `${collectSeconds}s`],
  ...(exchange ? [] : ['--no-exchange']),
];

/** Kubernetes replaces `$(NAME)` in arguments. */
const literal = (text: string) => text.replaceAll('$(', () => '$$(');
