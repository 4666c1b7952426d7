/** What an API server does with a write, as far as the agents' writes depend on it. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

export interface Stored {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** A kind that is checked as its API server checks it. Of others, whatever is sent is stored. */
export interface ServedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  /** Defined by a CustomResourceDefinition: no strategic merge patch, no update without a version. */
  readonly isCustom: boolean;
  /** A PUT of the object leaves the status alone. */
  readonly hasStatus: boolean;
  /** The fields that it knows, and their values. What it does not name is pruned. */
  readonly schema: z.ZodType;
  /** The field that must not change, and what it was, such as `type: Opaque`. */
  changedImmutable?(before: Stored, after: Stored): string | undefined;
}

export interface Write {
  readonly method: string;
  /** The name in the path. */
  readonly name: string;
  readonly subresource: string | undefined;
  readonly contentType: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface Refused {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
}

/** `object`: what is stored; undefined: it is deleted. */
export type Written =
  | { readonly object: Stored | undefined; readonly pruned: readonly string[] }
  | { readonly refused: Refused };

const refuse = (code: number, reason: string, message: string): Written => ({
  refused: { code, reason, message },
});

const preconditionsSchema = z.looseObject({
  preconditions: z.looseObject({
    uid: z.string().optional(),
    resourceVersion: z.string().optional(),
  }),
});

export function written(before: Stored | undefined, write: Write, kind?: ServedKind): Written {
  if (write.method === 'POST') return created(before, write, kind);
  const isApply = write.contentType === 'application/apply-patch+yaml';
  if (write.method === 'PATCH' && isApply) return applied(before, write, kind);
  if (before === undefined) return refuse(404, 'NotFound', `"${write.name}" not found`);
  if (write.method === 'DELETE') return deleted(before, write);
  if (write.method === 'PATCH') return patched(before, write, kind);
  if (!isStored(write.body)) return refuse(400, 'BadRequest', 'the body is no object');
  return updated(before, write.body, write, kind);
}

function created(before: Stored | undefined, { body }: Write, kind?: ServedKind): Written {
  if (!isStored(body)) return refuse(400, 'BadRequest', 'the body is no object');
  const { name, resourceVersion } = body.metadata;
  if (before !== undefined) return refuse(409, 'AlreadyExists', `"${name}" already exists`);
  if (resourceVersion !== undefined) {
    const message = 'resourceVersion should not be set on objects to be created';
    return refuse(500, '', message);
  }
  const { status: _, ...without } = body;
  return checked(kind?.hasStatus === true ? { ...without, metadata: body.metadata } : body, kind);
}

function deleted({ metadata }: Stored, { body, name }: Write): Written {
  const { preconditions } = preconditionsSchema.safeParse(body).data ?? {};
  for (const field of ['uid', 'resourceVersion'] as const) {
    const wanted = preconditions?.[field];
    if (wanted !== undefined && wanted !== metadata[field]) {
      const differs = `${name}: Precondition failed: ${field} in precondition: ${wanted}, in object meta: ${metadata[field]}`;
      return refuse(409, 'Conflict', differs);
    }
  }
  return { object: undefined, pruned: [] };
}

function patched(before: Stored, write: Write, kind?: ServedKind): Written {
  const { contentType, body } = write;
  const isMerge = contentType === 'application/merge-patch+json';
  const isStrategic = contentType === 'application/strategic-merge-patch+json';
  if (!isMerge && !(isStrategic && kind?.isCustom !== true)) {
    return refuse(415, 'UnsupportedMediaType', `the body of the request was ${contentType}`);
  }
  // Of the strategic one, only what it has in common with the other.
  const after = mergePatch(before, body);
  return isStored(after)
    ? updated(before, after, write, kind)
    : refuse(400, 'BadRequest', 'the patch leaves no object');
}

/** Server-side apply by one manager alone: what it has sent is there, the rest stays. */
function applied(before: Stored | undefined, write: Write, kind?: ServedKind): Written {
  const { query, body, name } = write;
  if (!isStored(body)) return refuse(400, 'BadRequest', 'the body is no object');
  if (query.fieldManager === undefined) {
    return refuse(422, 'Invalid', 'fieldManager: Required value: is required for apply patch');
  }
  if (before === undefined) return created(undefined, write, kind);
  const after = mergePatch(before, body);
  return isStored(after) ? updated(before, after, write, kind) : refuse(400, 'BadRequest', name);
}

function updated(before: Stored, body: Stored, write: Write, kind?: ServedKind): Written {
  if (kind === undefined) return { object: body, pruned: [] };
  const { name, uid, resourceVersion } = body.metadata;
  if (name !== write.name) {
    const differs = `the name of the object (${name}) does not match the name on the URL (${write.name})`;
    return refuse(400, 'BadRequest', differs);
  }
  if (resourceVersion === undefined && kind.isCustom) {
    const needed = `"${name}" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update`;
    return refuse(422, 'Invalid', needed);
  }
  const isStale =
    (resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion) ||
    (uid !== undefined && uid !== before.metadata.uid);
  if (isStale) {
    const changed = `Operation cannot be fulfilled on "${name}": the object has been modified; please apply your changes to the latest version and try again`;
    return refuse(409, 'Conflict', changed);
  }
  const { status, ...others } = body;
  if (write.subresource === 'status') {
    return checked({ ...before, ...(status === undefined ? {} : { status }) }, kind);
  }
  const after: Stored = kind.hasStatus
    ? {
        ...others,
        metadata: body.metadata,
        ...(before.status === undefined ? {} : { status: before.status }),
      }
    : body;
  const immutable = kind.changedImmutable?.(before, after);
  if (immutable === undefined) return checked(after, kind);
  return refuse(422, 'Invalid', `"${name}" is invalid: ${immutable}: field is immutable`);
}

function checked(object: Stored, kind?: ServedKind): Written {
  if (kind === undefined) return { object, pruned: [] };
  const { apiVersion, kind: name, metadata, ...fields } = object;
  if (apiVersion !== kind.apiVersion || name !== kind.kind) {
    return refuse(400, 'BadRequest', `expected ${kind.kind} of ${kind.apiVersion}`);
  }
  const { data, error } = kind.schema.safeParse(fields);
  if (error !== undefined) {
    const causes = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    return refuse(422, 'Invalid', `${name} "${metadata.name}" is invalid: ${causes.join(', ')}`);
  }
  const kept = z.record(z.string(), z.unknown()).parse(data);
  return { object: { apiVersion, kind: name, metadata, ...kept }, pruned: lost(fields, kept) };
}

/** The paths of what the second one does not have of the first. */
function lost(before: unknown, after: unknown, path: readonly string[] = []): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isFields(before) || !isFields(after)) return [path.join('.')];
  return Object.keys(before).flatMap((key) => lost(before[key], after[key], [...path, key]));
}

/** RFC 7396. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch) || Array.isArray(patch)) return patch;
  const merged: Record<string, unknown> =
    isFields(target) && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

export const isStored = (body: unknown): body is Stored => isFields(body) && 'metadata' in body;
