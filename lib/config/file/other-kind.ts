import { suggest } from '../../base/errors/suggest.ts';
import { isRecord } from '../../base/json.ts';
import type { Fault } from './fault.ts';

/** How files of other programs are known: by their top level. */
const OTHERS: readonly {
  readonly is: string;
  readonly fits: (value: Readonly<Record<string, unknown>>) => boolean;
}[] = [
  { is: 'an Ignition config', fits: ({ ignition }) => isRecord(ignition) },
  {
    is: 'a Butane config',
    fits: ({ variant, version }) => typeof variant === 'string' && version !== undefined,
  },
  {
    is: 'a machine configuration of Talos',
    fits: ({ version, machine, cluster }) =>
      version === 'v1alpha1' && (isRecord(machine) || isRecord(cluster)),
  },
  {
    is: 'a configuration of k3s or RKE2',
    fits: (value) => !('apiVersion' in value) && K3S.some((name) => name in value),
  },
  {
    is: 'a network configuration of nmstate',
    fits: (value) => Array.isArray(value.interfaces) && !('metadata' in value),
  },
  {
    is: 'a network configuration of netplan',
    fits: ({ network }) => isRecord(network) && 'ethernets' in network,
  },
  { is: 'a file that sops has encrypted', fits: ({ sops }) => isRecord(sops) && 'mac' in sops },
  {
    is: 'an install-config.yaml',
    fits: (value) => 'baseDomain' in value && 'metadata' in value && 'controlPlane' in value,
  },
  {
    is: 'a site-config.yaml',
    fits: (value) => 'api_version' in value && 'cluster_name' in value,
  },
];

/** Of its configuration file (k3s server --help), with names that nothing here has. */
const K3S = [
  ...['write-kubeconfig-mode', 'write-kubeconfig', 'cluster-init', 'tls-san', 'node-label'],
  ...['disable', 'flannel-backend', 'etcd-expose-metrics', 'cluster-cidr', 'kubelet-arg', 'cni'],
];

/** Of what no field is known, so many are named; more than the others are not compared. */
const [MOST_NAMED, MOST_COMPARED] = [5, 100];

/**
 * One fault for a file that is of another kind altogether: a fault for each of its fields would hide that. `own`:
 * the name of the file, its `kind` if it has one, and the names of its fields.
 */
export function otherKind(
  value: unknown,
  own: { readonly file: string; readonly kind?: string; readonly fields: readonly string[] },
): Fault | undefined {
  const found = kindOf(value, own);
  if (found === undefined) return undefined;
  return {
    position: { line: 1, column: 1 },
    field: '(file)',
    expected: `the contents of ${own.file}`,
    found,
    fix: `Write ${own.file} as docs/reference/${own.file.replace('.yaml', '.md')} describes it.`,
  };
}

function kindOf(value: unknown, own: Parameters<typeof otherKind>[1]): string | undefined {
  // What an empty file lacks is said field by field.
  if (value === undefined || value === null) return undefined;
  if (!isRecord(value)) return Array.isArray(value) ? 'a list' : 'a text without fields';
  const { kind, apiVersion } = value;
  if (typeof kind === 'string' && kind !== own.kind && typeof apiVersion === 'string') {
    return `${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${kind.slice(0, 60)} (${apiVersion.slice(0, 60)})`;
  }
  const other = OTHERS.find(({ fits, is }) => !is.endsWith(own.file) && fits(value));
  const names = Object.keys(value);
  const isOwn =
    own.fields.some((name) => name in value) ||
    names.slice(0, MOST_COMPARED).some((name) => suggest(name, own.fields) !== undefined);
  if (other !== undefined || isOwn || names.length === 0) return other?.is;
  const named = names.slice(0, MOST_NAMED).map((name) => JSON.stringify(name.slice(0, 60)));
  return `none of its fields, but ${named.join(', ')}`;
}
