import { readDocument } from '../../lib/config/file/document.ts';
import { type Fault, inOrder, onePerPlace } from '../../lib/config/file/fault.ts';
import { otherKind } from '../../lib/config/file/other-kind.ts';
import { placeholderFaults } from '../../lib/config/file/placeholder.ts';
import { type SchemaIssue, schemaFaults } from '../../lib/config/file/schema-faults.ts';
import { soundFields } from '../../lib/config/file/sound-fields.ts';
import { readDiskVariable } from './disk-variable.ts';
import { INSTALL_CONFIG } from './file-name.ts';
import { refusedField } from './not-supported.ts';
import { refine } from './refine.ts';
import { installConfigSchema, type SomeInstallFields, someInstallFieldsSchema } from './schema.ts';
import { type InstallSettings, settingsOf } from './translate.ts';

const INSTALL_CONFIG_KIND = { schema: installConfigSchema, refused: refusedField };

type ReadSettings = { ok: true; settings: InstallSettings } | { ok: false; faults: Fault[] };

/**
 * Reads the text of install-config.yaml and the value of DISK_VARIABLE, and finds
 * all faults of both at once: in the YAML, in each field, between fields. A host that
 * does not write a disk need not name one.
 */
export function readInstallSettings(
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
  const fields = Object.keys(installConfigSchema.shape);
  const other = otherKind(value, { file: INSTALL_CONFIG, kind: 'InstallConfig', fields });
  if (other !== undefined) return { ok: false, faults: [other] };
  const parsed = installConfigSchema.safeParse(value);
  const issues = parsed.success ? [] : parsed.error.issues;
  const sound = parsed.success ? parsed.data : soundPart(value, issues);
  faults.push(
    ...placeholderFaults(document),
    ...schemaFaults(issues, document, INSTALL_CONFIG_KIND),
    ...refine(sound, document, variable, writesDisk),
  );
  if (!parsed.success || variable === undefined || faults.length > 0) {
    return { ok: false, faults: inOrder(onePerPlace(faults)) };
  }
  return { ok: true, settings: settingsOf(parsed.data, variable) };
}

/** Sections whose fields are all optional: an invalid field leaves the others usable. */
const SECTIONS: readonly PropertyKey[] = ['networking', 'bootstrapInPlace'];

/** The fields without issues. */
function soundPart(value: unknown, issues: readonly SchemaIssue[]): SomeInstallFields {
  const { data } = someInstallFieldsSchema.safeParse(soundFields(value, issues, SECTIONS));
  return data ?? {};
}
