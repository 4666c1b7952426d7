import { isRecord } from '../../lib/base/json.ts';
import { type ConfigDocument, readDocument } from '../../lib/config/file/document.ts';
import { type Fault, fieldName, inOrder } from '../../lib/config/file/fault.ts';
import { otherKind } from '../../lib/config/file/other-kind.ts';
import { foundAt, valueAt } from '../../lib/config/file/schema-faults.ts';
import {
  CONTROL_PLANE_NODES,
  PLATFORMS,
  type TopologyInputs,
} from '../../lib/config/topology/row-for.ts';
import { INSTALL_CONFIG } from '../install-config/file-name.ts';
import { installConfigSchema } from '../install-config/schema.ts';
import { isCount, notACount, notAPlatform, notOneNode, type Read } from './options.ts';

type Path = readonly (string | number)[];

/** Of a pool that states none, as in the installer (openshift/installer, pkg/types/defaults). */
const DEFAULT_REPLICAS = 3;

/**
 * What the topology depends on in an install-config.yaml. Everything else in it may be
 * wrong, and installations are explained that `sno create` does not make: with workers, on
 * other platforms.
 */
export function inputsOfConfig(text: string): Read<Omit<TopologyInputs, 'laterWorkers'>> {
  const document = readDocument(text);
  if (document.value === undefined && document.faults.length > 0) {
    return { faults: inOrder(document.faults) };
  }
  const fields = Object.keys(installConfigSchema.shape);
  const other = otherKind(document.value ?? {}, {
    file: INSTALL_CONFIG,
    kind: 'InstallConfig',
    fields,
  });
  if (other !== undefined) return { faults: [other] };
  const controlPlane = replicasAt(['controlPlane', 'replicas'], document);
  const compute = computeIn(document);
  const platform = platformIn(document);
  const faults = [
    ...document.faults,
    ...controlPlane.faults,
    ...(controlPlane.value === undefined || controlPlane.value === CONTROL_PLANE_NODES
      ? []
      : [notOneNode(placeOf(['controlPlane', 'replicas'], document), controlPlane.value)]),
    ...compute.faults,
    ...platform.faults,
  ];
  if (compute.value === undefined || platform.value === undefined || faults.length > 0) {
    return { faults: inOrder(faults) };
  }
  return { value: { platform: platform.value, compute: compute.value }, faults: [] };
}

const placeOf = (path: Path, document: ConfigDocument): Pick<Fault, 'field' | 'position'> => ({
  position: document.positionOf(path),
  field: fieldName(path),
});

function replicasAt(path: Path, document: ConfigDocument): Read<number> {
  const value = valueAt(document.value, path) ?? DEFAULT_REPLICAS;
  if (isCount(value)) return { value, faults: [] };
  return { faults: [notACount(placeOf(path, document), value)] };
}

/** The workers of all pools; without any pool, the installer makes one. */
function computeIn(document: ConfigDocument): Read<number> {
  const pools = valueAt(document.value, ['compute']) ?? [];
  if (!Array.isArray(pools)) {
    const expected = 'a list of pools';
    const found = foundAt(['compute'], document, expected);
    const fix = 'Write compute: [{name: worker, replicas: 0}].';
    return { faults: [{ ...placeOf(['compute'], document), expected, found, fix }] };
  }
  if (pools.length === 0) return { value: DEFAULT_REPLICAS, faults: [] };
  const counts = pools.map((_, index) => replicasAt(['compute', index, 'replicas'], document));
  const faults = counts.flatMap((count) => count.faults);
  if (faults.length > 0) return { faults };
  return { value: counts.reduce((sum, { value = 0 }) => sum + value, 0), faults: [] };
}

function platformIn(document: ConfigDocument): Read<TopologyInputs['platform']> {
  const value = valueAt(document.value, ['platform']);
  const names = isRecord(value) ? Object.keys(value) : [];
  const [name, second] = names;
  const platform = name === undefined || second !== undefined ? undefined : PLATFORMS.get(name);
  if (platform !== undefined) return { value: platform, faults: [] };
  return { faults: [notAPlatform(placeOf(['platform'], document), names.join(', ') || undefined)] };
}
