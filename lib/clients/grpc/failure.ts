import { status } from '@grpc/grpc-js';
import { Failure, type FailureKind } from '../../base/errors/failure.ts';

/** A call that a gRPC server refused or did not answer, with the status code for callers. */
export class RpcFailure extends Failure {
  /** The gRPC status code. */
  readonly status: status;

  constructor(kind: FailureKind, status: status, what: string, cause: unknown) {
    super(kind, what, { code: 'rpc-failed', cause, tellsCause: true });
    this.name = 'RpcFailure';
    this.status = status;
  }
}

/** Codes for which the same call would be refused again. */
const finalCodes: ReadonlySet<status> = new Set([
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.ALREADY_EXISTS,
  status.PERMISSION_DENIED,
  status.OUT_OF_RANGE,
  status.UNIMPLEMENTED,
  status.DATA_LOSS,
  status.UNAUTHENTICATED,
]);

/** Turns an error of grpc-js into one that names the server and the call. */
export function rpcFailure(server: string, method: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'number')) return error;
  const code = error.code;
  const details = 'details' in error && typeof error.details === 'string' ? error.details : '';
  const reason = details === '' ? (status[code] ?? `code ${code}`) : details;
  const kind = finalCodes.has(code) ? 'fatal' : 'retry';
  return new RpcFailure(kind, code, `${server}: ${method} failed: ${reason}`, error);
}

/** Whether the error is a refused call with this status code. */
export function isRpcFailure(error: unknown, code: status): error is RpcFailure {
  return error instanceof RpcFailure && error.status === code;
}
