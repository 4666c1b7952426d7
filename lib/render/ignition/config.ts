import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { schemaWords } from '../../base/errors/schema-words.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import { brokenAt, tooManyLevels } from '../../base/json-fault.ts';

/**
 * The parts of an Ignition config (spec 3.x,
 * https://coreos.github.io/ignition/specs/) that the agents read or write. All
 * objects are loose: everything else in a foreign config is preserved.
 */
export const resourceSchema = z.looseObject({
  source: z.string().optional(),
  /** `gzip`, or empty for none. */
  compression: z.enum(['', 'gzip']).optional(),
  /** `sha512-<hex>` (or `sha256-<hex>`) of the decompressed bytes. */
  verification: z
    .looseObject({
      hash: z
        .string()
        .regex(
          /^(sha512-[0-9a-f]{128}|sha256-[0-9a-f]{64})$/,
          'is not sha512-<hex> or sha256-<hex>',
        )
        .optional(),
    })
    .optional(),
});

const owner = z.looseObject({ id: z.number().int().optional(), name: z.string().optional() });

const node = {
  path: z.string().refine(isCleanPath, 'is not a clean absolute path'),
  overwrite: z.boolean().optional(),
  user: owner.optional(),
  group: owner.optional(),
};
/** Permission bits as a decimal number, as in JSON; Ignition sets none of the special bits. */
const mode = z.number().int().min(0).max(0o7777).optional();

export const fileSchema = z.looseObject({
  ...node,
  mode,
  contents: resourceSchema.optional(),
  append: z.array(resourceSchema).optional(),
});
export const directorySchema = z.looseObject({ ...node, mode });
export const linkSchema = z.looseObject({
  ...node,
  target: z.string().min(1, 'is empty').optional(),
  hard: z.boolean().optional(),
});
export const dropinSchema = z.looseObject({
  name: z.string().regex(/^[^/]+\.conf$/, 'is not the name of a .conf file'),
  contents: z.string().optional(),
});
export const unitSchema = z.looseObject({
  name: z
    .string()
    .regex(
      /^[^/\s]+\.(service|socket|device|mount|automount|swap|target|path|timer|snapshot|slice|scope)$/,
      'is not a systemd unit name',
    ),
  enabled: z.boolean().optional(),
  mask: z.boolean().optional(),
  contents: z.string().optional(),
  dropins: z.array(dropinSchema).optional(),
});
export const userSchema = z.looseObject({
  name: z.string().min(1, 'is empty'),
  sshAuthorizedKeys: z.array(z.string()).optional(),
  groups: z.array(z.string()).optional(),
});

export const configSchema = z.looseObject({
  ignition: z.looseObject({
    version: z.string().regex(/^3\.[0-5]\.0$/, 'is not a spec version from 3.0.0 to 3.5.0'),
    config: z
      .looseObject({
        merge: z.array(resourceSchema).optional(),
        replace: resourceSchema.optional(),
      })
      .optional(),
  }),
  storage: z
    .looseObject({
      directories: z.array(directorySchema).optional(),
      files: z.array(fileSchema).optional(),
      links: z.array(linkSchema).optional(),
    })
    .optional(),
  systemd: z.looseObject({ units: z.array(unitSchema).optional() }).optional(),
  passwd: z.looseObject({ users: z.array(userSchema).optional() }).optional(),
});

export type IgnitionResource = z.infer<typeof resourceSchema>;
export type File = z.infer<typeof fileSchema>;
export type Directory = z.infer<typeof directorySchema>;
export type Link = z.infer<typeof linkSchema>;
export type Dropin = z.infer<typeof dropinSchema>;
export type IgnitionUnit = z.infer<typeof unitSchema>;
export type User = z.infer<typeof userSchema>;
export type IgnitionConfig = z.infer<typeof configSchema>;

/** A fault in a config: its JSON path and a description. */
export interface ConfigFault {
  at: string;
  problem: string;
}

/** Parses a config against the schema only, without its contents, or returns its faults. */
export function readConfig(
  text: string,
): { ok: true; config: IgnitionConfig } | { ok: false; faults: ConfigFault[] } {
  if (text.trim() === '') return { ok: false, faults: [{ at: '(file)', problem: 'is empty' }] };
  const json = parseJson(text);
  if (json === undefined) {
    return { ok: false, faults: [{ at: '(file)', problem: `is not JSON: ${brokenAt(text)}` }] };
  }
  const levels = tooManyLevels(json);
  if (levels !== undefined)
    return { ok: false, faults: [{ at: '(file)', problem: `has ${levels}` }] };
  const parsed = configSchema.safeParse(withoutNulls(json));
  if (parsed.success) return { ok: true, config: parsed.data };
  const faults = parsed.error.issues.map((issue) => ({
    at: jsonPath(issue.path),
    problem: schemaWords(issue),
  }));
  return { ok: false, faults };
}

/**
 * Parses a config that must exist and must not be empty: a response without entries
 * would install a host that never becomes a node. `origin` names it in errors, such
 * as its URL.
 */
export function parseConfig(text: string, origin: string): IgnitionConfig {
  const read = readConfig(text);
  if (!read.ok) throw invalidConfig(origin, read.faults);
  if (isEmptyConfig(read.config)) {
    throw new Failure('fatal', `The Ignition config from ${origin} is empty`, {
      expected: 'files, units, users or a config to merge',
      found: 'none of them',
    });
  }
  return read.config;
}

export function invalidConfig(origin: string, faults: readonly ConfigFault[]): Failure {
  const lines = faults.map(({ at, problem }) => `\n  ${at} ${problem}`).join('');
  const faulty = faults.length === 1 ? 'an error' : `${faults.length} errors`;
  return new Failure('fatal', `The Ignition config from ${origin} has ${faulty}:${lines}`);
}

function isEmptyConfig({ ignition, ...sections }: IgnitionConfig): boolean {
  const entries = Object.values(sections).flatMap((section) =>
    isRecord(section) ? Object.values(section) : [section],
  );
  const references = [ignition.config?.merge, ignition.config?.replace?.source];
  return [...entries, ...references].every(
    (entry) => entry === undefined || (Array.isArray(entry) && entry.length === 0),
  );
}

/** Compact JSON with a final newline; the same config always gives the same bytes. */
export function serializeConfig(config: IgnitionConfig): string {
  return `${JSON.stringify(config)}\n`;
}

/** The highest of several spec versions, all `3.x.0`. */
export function highestVersion(...versions: readonly string[]): string {
  return `3.${Math.max(...versions.map(minor))}.0`;
}

/** Whether a reader that supports `supported` can read a config of `version`. */
export function isReadBy(version: string, supported: string): boolean {
  return minor(version) <= minor(supported);
}

/** The N of 3.N.0. */
function minor(version: string): number {
  return Number(version.split('.')[1]);
}

export function isCleanPath(path: string): boolean {
  if (!path.startsWith('/') || path.includes('\0')) return false;
  return path
    .slice(1)
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..');
}

export function jsonPath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return '(file)';
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

/** Of few levels. Ignition is written in Go: a null is the same as an omitted field, and in a list an entry without fields. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) =>
      item === null ? [] : [[key, withoutNulls(item)]],
    ),
  );
}
