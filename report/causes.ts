import type { Finding } from './bundle-view.ts';

/** Rules that report how agents and units ended, for whatever reason. */
const ENDINGS = ['unit-failed', 'step-failed', 'step-waiting'] as const;
const POD_TROUBLE = [
  'pod-crash-looping',
  'pod-unschedulable',
  'aggregated-api-unavailable',
  'webhook-failing',
  'cluster-operator-degraded',
] as const;
const NODE_TROUBLE = ['kubelet-not-registered', 'node-not-ready', 'csr-pending'] as const;
/** Consequences of a control plane that is down. */
const API_TROUBLE = ['api-not-answering', ...NODE_TROUBLE, ...POD_TROUBLE, ...ENDINGS] as const;
const PARTS_TROUBLE = ['etcd-no-leader', 'static-pod-crash-looping', ...API_TROUBLE] as const;

/**
 * Maps a cause to the rules whose findings are expected to disappear with it. Rules that are
 * not listed explain nothing. If several causes apply, the order in rules.ts decides.
 */
const EXPLAINS: Readonly<Record<string, readonly string[]>> = {
  'disk-io-errors': ['container-runtime-down', 'kubelet-down', 'disk-slow', ...PARTS_TROUBLE],
  'disk-full': [
    'container-runtime-down',
    'kubelet-down',
    'start-refused',
    'image-pull-failing',
    'etcd-alarm',
    ...PARTS_TROUBLE,
  ],
  'memory-pressure': PARTS_TROUBLE,
  'clock-skew': ['certificate-not-yet-valid', 'certificate-expired', ...PARTS_TROUBLE],
  'certificate-expired': ['kubelet-down', ...PARTS_TROUBLE],
  'certificate-not-yet-valid': ['kubelet-down', ...PARTS_TROUBLE],
  'dns-record-missing': ['image-pull-failing', 'cluster-operator-degraded', ...ENDINGS],
  'node-ip-changed': ['kubelet-down', ...API_TROUBLE],
  'disk-refused': ENDINGS,
  'manifest-rejected': ENDINGS,
  'bootstrap-left-over': ENDINGS,
  'start-refused': ['kubelet-down', ...API_TROUBLE],
  'container-runtime-down': ['start-refused', 'kubelet-down', ...PARTS_TROUBLE],
  'image-pull-failing': PARTS_TROUBLE,
  'etcd-alarm': API_TROUBLE,
  'etcd-no-leader': ['static-pod-crash-looping', ...API_TROUBLE],
  'static-pod-crash-looping': API_TROUBLE,
  'kubelet-down': API_TROUBLE,
  'api-not-answering': [...NODE_TROUBLE, ...POD_TROUBLE, ...ENDINGS],
  'kubelet-not-registered': ['csr-pending', ...POD_TROUBLE, ...ENDINGS],
  'network-plugin-not-ready': ['node-not-ready', ...POD_TROUBLE, ...ENDINGS],
  'node-not-ready': [...POD_TROUBLE, ...ENDINGS],
  'csr-pending': ENDINGS,
  'unit-failed': ['step-failed', 'step-waiting'],
};

/** Clocks of log lines and conditions differ by up to this much; a consequence may be noticed first. */
const NOTICED_LATER_MS = 10 * 60_000;

type Dated = Pick<Finding, 'rule' | 'severity' | 'sinceMs'>;

/** The rule that explains a finding, among those with failing findings. */
export function causeOf(
  finding: Dated,
  all: readonly Dated[],
  order: readonly string[],
): string | undefined {
  const causes = all
    .filter(({ rule, severity }) => severity === 'failing' && rule !== finding.rule)
    .filter(({ rule }) => order.indexOf(rule) < order.indexOf(finding.rule))
    .filter(({ rule }) => EXPLAINS[rule]?.includes(finding.rule) === true)
    .filter((cause) => !isLater(cause, finding));
  return order.find((rule) => causes.some((cause) => cause.rule === rule));
}

const isLater = (cause: Dated, { sinceMs }: Dated): boolean =>
  cause.sinceMs !== undefined &&
  sinceMs !== undefined &&
  cause.sinceMs > sinceMs + NOTICED_LATER_MS;

/** A rule with less detail would only repeat what these say about the same line of a file. */
const TELLS_ALL = [
  'manifest-rejected',
  'disk-refused',
  'bootstrap-left-over',
  'node-ip-changed',
] as const;
const GENERAL = ['start-refused', 'step-failed'];

export const repeats = (general: string, specific: string): boolean =>
  GENERAL.includes(general) && TELLS_ALL.some((rule) => rule === specific);
