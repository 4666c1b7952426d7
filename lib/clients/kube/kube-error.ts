import { z } from 'zod';
import type { FailureCode } from '../../base/errors/codes.ts';
import { describeError } from '../../base/errors/failure.ts';
import { parseJson } from '../../base/json.ts';

/**
 * Why a request failed:
 * - `unreachable`: no complete response (refused, cut, TLS, request deadline);
 * - `busy`: the server asks for a retry (429, any 5xx);
 * - `not-found`: 404, of the object, its namespace or its resource;
 * - `conflict`: 409, it already exists or was changed concurrently;
 * - `expired`: 410, the resource version is too old to continue from;
 * - `too-long`: the response has more bytes than are read;
 * - `rejected`: any other refusal; the same request will be refused again.
 */
type KubeErrorKind =
  | 'unreachable'
  | 'busy'
  | 'not-found'
  | 'conflict'
  | 'expired'
  | 'too-long'
  | 'rejected';

/** The parts of a `v1` Status that decide what to do next. */
const statusSchema = z.looseObject({
  kind: z.literal('Status'),
  message: z.string().optional(),
  reason: z.string().optional(),
  code: z.number().optional(),
  details: z
    .looseObject({
      causes: z.array(z.looseObject({ reason: z.string().optional() })).optional(),
    })
    .optional(),
});

interface KubeErrorDetails {
  /** HTTP status, absent if there was no response. */
  code?: number;
  /** The Status' reason, such as `AlreadyExists` or `Forbidden`. */
  reason?: string | undefined;
  /** Reasons of the Status' causes, such as `NamespaceTerminating`. */
  causes?: readonly string[];
  /** What `Retry-After` asked for. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** The only error that API requests throw, apart from the caller's own abort reason. */
export class KubeError extends Error {
  /** As a failure's code (lib/base/errors/codes.ts). */
  readonly failureCode = 'api-error' satisfies FailureCode;
  readonly kind: KubeErrorKind;
  readonly code: number | undefined;
  readonly reason: string;
  readonly causes: readonly string[];
  readonly retryAfterMs: number | undefined;

  constructor(kind: KubeErrorKind, message: string, details: KubeErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'KubeError';
    this.kind = kind;
    this.code = details.code;
    this.reason = details.reason ?? '';
    this.causes = details.causes ?? [];
    this.retryAfterMs = details.retryAfterMs;
  }
}

export function isKubeError(error: unknown, ...kinds: KubeErrorKind[]): error is KubeError {
  return error instanceof KubeError && (kinds.length === 0 || kinds.includes(error.kind));
}

/** A request without a response; `request` is its method and path. */
export function unreachable(request: string, cause: unknown): KubeError {
  return new KubeError('unreachable', `${request}: ${describeError(cause)}`, { cause });
}

/** A response of which no more is read; `request` is its method and path. */
export function tooLong(request: string, mostBytes: number): KubeError {
  return new KubeError('too-long', `${request}: the response has more than ${mostBytes} bytes`);
}

/**
 * A response other than success. The body is a Status, or text from a proxy in
 * front of the API.
 */
export function errorFromAnswer(
  request: string,
  code: number,
  body: string,
  retryAfter?: string,
): KubeError {
  const status = statusSchema.safeParse(parseJson(body)).data;
  const text = status?.message ?? (body.trim().slice(0, 300) || 'no explanation');
  const seconds = Number(retryAfter);
  return new KubeError(kindOf(code), `${request}: ${code} ${text}`, {
    code,
    reason: status?.reason,
    causes: (status?.details?.causes ?? []).flatMap(({ reason }) => reason ?? []),
    retryAfterMs: seconds >= 0 ? seconds * 1000 : undefined,
  });
}

/** The Status that a watch delivers in an `ERROR` event. */
export function errorFromWatch(request: string, object: unknown): KubeError {
  const code = statusSchema.safeParse(object).data?.code ?? 500;
  return errorFromAnswer(request, code, JSON.stringify(object));
}

function kindOf(code: number): KubeErrorKind {
  if (code === 404) return 'not-found';
  if (code === 409) return 'conflict';
  if (code === 410) return 'expired';
  return code === 429 || code >= 500 ? 'busy' : 'rejected';
}
