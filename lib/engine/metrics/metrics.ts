interface MetricEntry {
  /** What its HELP line says. */
  readonly help: string;
  readonly labels: readonly string[];
  /** The program that writes it. */
  readonly writtenBy: readonly string[];
}

/**
 * Every metric of a host, all of them gauges. Names follow Prometheus' rules: base units, and moments instead of
 * ages, which the query computes. docs/reference/metrics.md is written from this table.
 */
export const METRICS = {
  sno_agent_last_run_timestamp_seconds: {
    help: 'When the last run of the agent ended, as Unix time.',
    labels: ['agent'],
    writtenBy: ['sno-renew', 'sno-backup', 'sno-backup-push', 'sno-approve'],
  },
  sno_agent_last_run_success: {
    help: 'Whether the last run of the agent succeeded.',
    labels: ['agent'],
    writtenBy: ['sno-renew', 'sno-backup', 'sno-backup-push', 'sno-approve'],
  },
  sno_certificate_not_after_timestamp_seconds: {
    help: 'When the certificate expires, as Unix time; of several in one file, the one that expires first.',
    labels: ['certificate', 'kind', 'renewed_by'],
    writtenBy: ['sno-renew'],
  },
  sno_certificate_not_before_timestamp_seconds: {
    help: 'From when on the certificate is valid, as Unix time: when it was last renewed.',
    labels: ['certificate', 'kind', 'renewed_by'],
    writtenBy: ['sno-renew'],
  },
  sno_certificate_renewal_failed: {
    help: 'Whether the last attempt to renew the certificate failed.',
    labels: ['certificate'],
    writtenBy: ['sno-renew'],
  },
  sno_medium_ca_in_use: {
    help: 'Whether the certificate of the API server is signed by a CA whose key was on the medium (serving), and whether the CA of the first auth/kubeconfig is trusted (laptop-admin).',
    labels: ['ca'],
    writtenBy: ['sno-renew'],
  },
  sno_kubelet_serving_request_pending: {
    help: "Whether the kubelet's request for its next serving certificate was left without a certificate.",
    labels: [],
    writtenBy: ['sno-renew'],
  },
  sno_backups: {
    help: 'Number of backups on this host, by state.',
    labels: ['state'],
    writtenBy: ['sno-backup'],
  },
  sno_backup_newest_timestamp_seconds: {
    help: 'When the newest complete backup was made, as Unix time; absent if there is none.',
    labels: [],
    writtenBy: ['sno-backup'],
  },
  sno_backup_newest_size_bytes: {
    help: 'Size of the newest complete backup; absent if there is none.',
    labels: [],
    writtenBy: ['sno-backup'],
  },
  sno_backup_stored_timestamp_seconds: {
    help: 'When the newest backup was made that is stored where backup-to.json says and was read back, as Unix time; absent if there is none.',
    labels: [],
    writtenBy: ['sno-backup-push'],
  },
  sno_address_moved: {
    help: 'Whether the host has lost an address of its Node and does not follow it, by the registered addresses and what it has instead.',
    labels: ['registered', 'found'],
    writtenBy: ['sno-address'],
  },
  sno_signing_requests_left: {
    help: 'Number of certificate signing requests that sno-approve saw and left pending, by the rule that they violate; at most a hundred of unknown hosts are counted.',
    labels: ['rule'],
    writtenBy: ['sno-approve'],
  },
  sno_steady: {
    help: 'Whether the host was steady when wait-steady looked last.',
    labels: [],
    writtenBy: ['wait-steady'],
  },
  sno_steady_judged_timestamp_seconds: {
    help: 'When wait-steady looked last, as Unix time; before the last boot, it says nothing.',
    labels: [],
    writtenBy: ['wait-steady'],
  },
  sno_steady_since_timestamp_seconds: {
    help: 'Since when nothing has changed, as Unix time; absent if something moved or was unknown.',
    labels: [],
    writtenBy: ['wait-steady'],
  },
  sno_steady_findings: {
    help: 'Number of objects that kept the host from being steady, by kind.',
    labels: ['kind'],
    writtenBy: ['wait-steady'],
  },
} as const satisfies Readonly<Record<string, MetricEntry>>;

export type MetricName = keyof typeof METRICS;

type LabelsOf<Name extends MetricName> = Readonly<
  Record<(typeof METRICS)[Name]['labels'][number], string>
>;

/** One value of a metric. */
export interface Sample {
  readonly name: MetricName;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A sample with the labels that its metric has; moments are given as Date, conditions as boolean. */
export function sample<Name extends MetricName>(
  name: Name,
  labels: LabelsOf<Name>,
  value: number | boolean | Date,
): Sample {
  return { name, labels, value: value instanceof Date ? value.getTime() / 1000 : Number(value) };
}
