import { isRecord } from '../../base/json.ts';
import { isPathLike } from '../../base/path-like.ts';
import { BRIDGE } from '../../host/internal-bridge.ts';
import { readDocument } from '../file/document.ts';
import { foundText } from '../file/fault.ts';
import { valueAt } from '../file/schema-faults.ts';
import { withoutNulls } from '../file/site-fields.ts';
import { addressMisfits } from '../site/addresses/judge.ts';
import { nmstateMisfits } from '../site/nmstate/document.ts';
import type { Misfit } from '../site/nmstate/misfit.ts';
import { interfacesOf } from '../site/nmstate/references.ts';
import type { SomeSiteFields } from './schema.ts';

/** The field with the nmstate document. */
export const NMSTATE_FIELD = 'raw_nm_state_config';
const FIELD = NMSTATE_FIELD;

/** The nmstate document of a configuration, which may be given as text; undefined if there is none, or it is not readable. */
export function nmstateOf(fields: SomeSiteFields): Record<string, unknown> | undefined {
  const given = fields[FIELD];
  if (typeof given !== 'string') return given && withoutNulls(given);
  const { value, faults } = readDocument(given);
  return isRecord(value) && faults.length === 0 ? withoutNulls(value) : undefined;
}

/** What is wrong with it. */
export function nmstateFaults(fields: SomeSiteFields): Misfit[] {
  const given = fields[FIELD];
  if (given === undefined) return [];
  if (typeof given === 'string') {
    const syntax = textFaults(given);
    if (syntax.length > 0) return syntax;
  }
  const document = nmstateOf(fields);
  if (document === undefined) {
    const found = isPathLike(`${given}`) ? 'the path of a file' : 'something else';
    const fix = 'Write interfaces, routes and dns-resolver below it.';
    return [{ path: [FIELD], expected: 'an nmstate document', found, fix }];
  }
  const structure = [...nmstateMisfits(document, 'hostname'), ...ofBridge(document)];
  const misfits =
    structure.length > 0 ? structure : addressMisfits(document, machineNetworks(fields));
  return misfits.map((misfit) => ({
    ...misfit,
    path: [FIELD, ...misfit.path],
    // Inside of a text, the position of a value is unknown to the file.
    ...(typeof given === 'string' && misfit.found === undefined
      ? { found: foundText(valueAt(document, misfit.path)) }
      : {}),
  }));
}

/** Only where the site says what they are. */
function machineNetworks({ machine_networks: networks = [] }: SomeSiteFields) {
  return networks.length === 0
    ? undefined
    : { networks, field: 'machine_networks', isDefault: false };
}

const textFaults = (text: string): Misfit[] =>
  readDocument(text).faults.map(({ position, field, expected, found, fix }) => ({
    path: [FIELD],
    expected,
    found: `${found} at ${field} in line ${position?.line ?? 1} of the text`,
    fix,
  }));

/** Its address is the node's, at every site. */
const ofBridge = (document: Record<string, unknown>): Misfit[] =>
  interfacesOf(document)
    .filter(({ name }) => name === BRIDGE)
    .map(({ path }) => ({
      path: [...path, 'name'],
      expected: `an interface other than ${BRIDGE}, which has the internal address`,
      fix: 'Remove it.',
    }));
