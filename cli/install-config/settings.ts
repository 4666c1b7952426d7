import { isRecord } from '../../lib/json.ts';
import { readDiskVariable } from './disk-variable.ts';
import { readDocument } from './document.ts';
import { type Fault, inOrder } from './fault.ts';
import { refine } from './refine.ts';
import { installConfigSchema, type SomeFields, someFieldsSchema } from './schema.ts';
import { type Issue, pathsOf, schemaFaults } from './schema-faults.ts';
import { type InstallSettings, settingsOf } from './translate.ts';

type ReadSettings = { ok: true; settings: InstallSettings } | { ok: false; faults: Fault[] };

/**
 * Reads the text of install-config.yaml and the value of DISK_VARIABLE, and finds
 * all faults of both at once: in the YAML, in each field, between fields. A host that
 * does not write a disk need not name one.
 */
export function readSettings(
  text: string,
  diskVariable: string | undefined,
  { writesDisk }: { readonly writesDisk: boolean } = { writesDisk: true },
): ReadSettings {
  const document = readDocument(text);
  const given = readDiskVariable(diskVariable);
  const variable = 'fault' in given ? undefined : given;
  const faults = [...document.faults, ...('fault' in given ? [given.fault] : [])];
  if (document.value === undefined && document.faults.length > 0) {
    return { ok: false, faults: inOrder(faults) };
  }
  const value = document.value ?? {};
  const parsed = installConfigSchema.safeParse(value);
  const issues = parsed.success ? [] : parsed.error.issues;
  const sound = parsed.success ? parsed.data : soundPart(value, issues);
  faults.push(...schemaFaults(issues, document), ...refine(sound, document, variable, writesDisk));
  if (!parsed.success || variable === undefined || faults.length > 0) {
    return { ok: false, faults: inOrder(onePerPlace(faults)) };
  }
  return { ok: true, settings: settingsOf(parsed.data, variable) };
}

/** Sections whose fields are all optional: an invalid field leaves the others usable. */
const SECTIONS: readonly PropertyKey[] = ['networking', 'bootstrapInPlace'];

/** The fields without issues. */
function soundPart(value: unknown, issues: readonly Issue[]): SomeFields {
  if (!isRecord(value)) return {};
  const wrong = new Set(issues.flatMap(pathsOf).map((path) => sectionField(path).join(' ')));
  const fieldsIn = (mapping: Record<string, unknown>, above: readonly string[]) =>
    Object.entries(mapping).filter(([name]) => !wrong.has([...above, name].join(' ')));
  const sound = fieldsIn(value, []).map(([name, field]) => {
    const isSection = SECTIONS.includes(name) && isRecord(field);
    return [name, isSection ? Object.fromEntries(fieldsIn(field, [name])) : field];
  });
  const { data } = someFieldsSchema.safeParse(Object.fromEntries(sound));
  return data ?? {};
}

function sectionField([first = '', second]: readonly PropertyKey[]): string[] {
  const isInside = SECTIONS.includes(first) && second !== undefined;
  return isInside ? [String(first), String(second)] : [String(first)];
}

/** A YAML fault of a field suffices. */
function onePerPlace(faults: readonly Fault[]): Fault[] {
  const seen = new Map<string, Fault>();
  for (const fault of faults) {
    const place = JSON.stringify([fault.position, fault.field]);
    if (!seen.has(place)) seen.set(place, fault);
  }
  return [...seen.values()];
}
