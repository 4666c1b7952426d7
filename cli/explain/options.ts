import { suggest } from '../../lib/base/errors/suggest.ts';
import { type Fault, foundText } from '../../lib/config/file/fault.ts';
import {
  FIRST_RELEASE,
  LATEST_RELEASE,
  parseTopologyRelease,
  type Release,
} from '../../lib/config/topology/release.ts';
import {
  CONTROL_PLANE_NODES,
  PLATFORMS,
  type TopologyInputs,
} from '../../lib/config/topology/row-for.ts';

/** As commander gives them. */
export interface ExplainOptions {
  /** Path of an install-config.yaml. */
  readonly config?: string;
  /** Path of a bootstrap Ignition config that openshift-install made. */
  readonly fromIgnition?: string;
  readonly compute?: string;
  readonly laterWorkers?: string;
  readonly platform?: string;
  readonly kind?: 'kubernetes' | 'openshift';
  readonly release?: string;
  readonly manifests?: true;
  readonly json?: true;
}

export const PLATFORM_NAMES = [...PLATFORMS.keys()].join(', ');

/** Options that exclude each other, each with what it is about. */
export function exclusionFaults(options: ExplainOptions): Fault[] {
  const numbers = described(options);
  const sources = [
    ...(options.config === undefined ? [] : ['--config']),
    ...(options.fromIgnition === undefined ? [] : ['--from-ignition']),
    ...numbers.slice(0, 1),
  ];
  const faults: Fault[] = [];
  if (sources.length > 1) {
    const fix = 'Leave out the others.';
    faults.push({ field: 'options', expected: 'one source', found: sources.join(', '), fix });
  }
  const openshiftOnly = [
    ...(options.release === undefined ? [] : ['--release']),
    ...(options.manifests === undefined ? [] : ['--manifests']),
    ...(options.fromIgnition === undefined ? [] : ['--from-ignition']),
  ];
  const [first] = openshiftOnly;
  if (options.kind === 'kubernetes' && first !== undefined) {
    const fix = `Leave out --kind or ${first}.`;
    faults.push({ field: '--kind', expected: `openshift with ${first}`, found: 'kubernetes', fix });
  }
  const about = [
    ...openshiftOnly,
    ...(options.laterWorkers === undefined ? [] : ['--later-workers']),
  ];
  if (sources.length === 0 && (about.length > 0 || options.kind !== undefined)) {
    const fix = 'Describe the cluster with --config, --from-ignition or --compute.';
    faults.push({
      field: about[0] ?? '--kind',
      expected: 'a cluster that it is about',
      found: 'none',
      fix,
    });
  }
  return faults;
}

/** The options among these that were given. */
function described({ compute, platform }: ExplainOptions): string[] {
  return Object.entries({ '--compute': compute, '--platform': platform }).flatMap(
    ([name, value]) => (value === undefined ? [] : [name]),
  );
}

export type Read<Value> =
  | { readonly value: Value; readonly faults: readonly [] }
  | { readonly value?: undefined; readonly faults: readonly Fault[] };

/** The cluster of --compute and --platform; undefined if none is given. */
export function inputsOfOptions(
  options: ExplainOptions,
): Read<Omit<TopologyInputs, 'laterWorkers'> | undefined> {
  if (described(options).length === 0) return { value: undefined, faults: [] };
  const compute = count('--compute', options.compute, 0);
  const platform = PLATFORMS.get(options.platform ?? 'none');
  const faults = [
    ...compute.faults,
    ...(platform === undefined ? [notAPlatform({ field: '--platform' }, options.platform)] : []),
  ];
  if (compute.value === undefined || platform === undefined || faults.length > 0) return { faults };
  return { value: { platform, compute: compute.value }, faults: [] };
}

type Place = Pick<Fault, 'field' | 'position'>;

export function notOneNode(place: Place, found: number): Fault {
  const fix = 'Set it to 1: these topologies are those of one control-plane node.';
  return { ...place, expected: `${CONTROL_PLANE_NODES}`, found: `${found}`, fix };
}

export function notAPlatform(place: Place, found: unknown): Fault {
  const near = typeof found === 'string' ? suggest(found, [...PLATFORMS.keys()]) : undefined;
  const fix =
    near === undefined
      ? 'Use one of them: openshift-install refuses one control-plane node on the others.'
      : `Did you mean ${near}?`;
  return { ...place, expected: `one of ${PLATFORM_NAMES}`, found: foundText(found), fix };
}

/** More would not be a cluster with one control-plane node any more. */
const MOST_WORKERS = 5000;

export function isCount(value: unknown): value is number {
  return (
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_WORKERS
  );
}

export function notACount(place: Place, found: unknown): Fault {
  const expected = `an integer from 0 to ${MOST_WORKERS}`;
  return { ...place, expected, found: foundText(found), fix: 'Write the number of nodes.' };
}

export function count(field: string, text: string | undefined, fallback: number): Read<number> {
  if (text === undefined) return { value: fallback, faults: [] };
  const value = /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  return isCount(value) ? { value, faults: [] } : { faults: [notACount({ field }, text)] };
}

export function releaseOf(text: string): Read<Release> {
  const value = parseTopologyRelease(text);
  if (value !== undefined) return { value, faults: [] };
  const expected = `a release of OpenShift from ${FIRST_RELEASE} on, such as ${LATEST_RELEASE}`;
  const fix = 'Write it as MAJOR.MINOR.';
  return { faults: [{ field: '--release', expected, found: foundText(text), fix }] };
}
